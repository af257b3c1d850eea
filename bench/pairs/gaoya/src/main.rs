//! Near duplicates of JSON lines with gaoya: `gaoya-pairs TEXTS.jsonl PAIRS.tsv`
//!
//! Three-word runs, 128 MinHashes in 32 bands of 4, pairs by look-up, a Jaccard estimate of .5 or more.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};

use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32};
use serde::Deserialize;

#[derive(Deserialize)]
struct Line {
    id: String,
    text: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (texts, pairs) = (args.next().ok_or("TEXTS")?, args.next().ok_or("PAIRS")?);
    let hasher = MinHasher32::new(32 * 4);
    let mut index: MinHashIndex<u32, usize> = MinHashIndex::new(32, 4, 0.5);
    let mut ids = Vec::new();
    let mut out = BufWriter::new(File::create(pairs)?);
    for line in BufReader::with_capacity(1 << 20, File::open(texts)?).lines() {
        let line: Line = serde_json::from_str(&line?)?;
        let text = line.text.to_lowercase();
        let words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let signature = hasher.create_signature(words.windows(3));
        for &other in index.query(&signature) {
            writeln!(out, "{}\t{}", ids[other], line.id)?;
        }
        index.insert(ids.len(), signature);
        ids.push(line.id);
    }
    out.flush()?;
    Ok(())
}
