//! What does each method cost per message? `cost FOLDER`
//!
//! Reads every file of a folder as a message and prints, for each method, the microseconds per message of
//! sketching and of comparing, and how large sketches are.

use std::hint::black_box;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use twicetold_methods::blocks::Blocks;
use twicetold_methods::imatch::{Imatch, Removal};
use twicetold_methods::simhash::SimHash;
use twicetold_methods::winnow::Winnow;
use twicetold_model::{Document, Form, Method, Sketch};

fn methods() -> Vec<(&'static str, Box<dyn Method>)> {
    let fitted = Imatch {
        removal: Removal::FITTED,
        copies: 20,
        ..Imatch::default()
    };
    vec![
        ("winnow", Box::new(Winnow::default())),
        ("imatch", Box::new(Imatch::default())),
        ("imatch fitted", Box::new(fitted)),
        ("blocks", Box::new(Blocks::default())),
        ("simhash", Box::new(SimHash::default())),
    ]
}

fn main() -> std::io::Result<()> {
    let folder = std::env::args()
        .nth(1)
        .ok_or_else(|| Error::other("usage: cost FOLDER"))?;
    let mut files = Vec::new();
    list(Path::new(&folder), &mut files)?;
    files.sort();
    let start = Instant::now();
    let read = |file: &PathBuf| Ok(twicetold_mail::read(Form::Mail, &std::fs::read(file)?));
    let documents = files
        .iter()
        .map(read)
        .collect::<std::io::Result<Vec<Document>>>()?;
    let mut out = std::io::stdout().lock();
    let text: usize = documents.iter().map(|document| document.text.len()).sum();
    let each = |start: Instant, n: usize| start.elapsed().as_secs_f64() * 1e6 / n.max(1) as f64;
    writeln!(
        out,
        "{} messages, {} bytes of text each",
        documents.len(),
        text / documents.len().max(1)
    )?;
    writeln!(out, "reading: {:.1} µs", each(start, documents.len()))?;
    writeln!(
        out,
        "| method | sketched | sketch µs | compare µs | keys | bytes |"
    )?;
    for (name, method) in methods() {
        let start = Instant::now();
        let sketches: Vec<Sketch> = documents
            .iter()
            .filter_map(|document| method.sketch(document))
            .collect();
        let sketching = each(start, documents.len());
        let start = Instant::now();
        for pair in sketches.windows(2) {
            black_box(method.compare(&pair[0], &pair[1]));
        }
        let comparing = each(start, sketches.len());
        let n = sketches.len().max(1) as f64;
        let keys = sketches
            .iter()
            .map(|sketch| sketch.keys.len())
            .sum::<usize>() as f64
            / n;
        let bytes = sketches
            .iter()
            .map(|sketch| sketch.to_bytes().len())
            .sum::<usize>() as f64
            / n;
        writeln!(
            out,
            "| {name} | {:.1} % | {sketching:.2} | {comparing:.2} | {keys:.1} | {bytes:.0} |",
            100.0 * n / documents.len().max(1) as f64
        )?;
    }
    Ok(())
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?
        } else {
            files.push(path)
        }
    }
    Ok(())
}
