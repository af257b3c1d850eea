//! Makes the lexicon that comes with the program: `lexicon OUT FOLDER FOLDER…`.
//!
//! Every folder is one collection of mail, one message a file. Copies of a text count once, and only
//! words that at least two collections have are taken, each in several messages: a lexicon of a language
//! rather than of one office and the people in it.

use std::collections::HashSet;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};

use twicetold_methods::imatch::{LexiconBuilder, Range, unique_words};
use twicetold_model::Form;

/// In how many messages of a collection a word must occur.
const LEAST: u32 = 3;

/// How many words the secondary lexicon gets.
const SECONDARY: usize = 24_000;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments
        .next()
        .ok_or_else(|| Error::other("usage: lexicon OUT FOLDER…"))?;
    let mut seen = HashSet::new();
    let mut collections = Vec::new();
    for folder in arguments {
        let mut files = Vec::new();
        list(Path::new(&folder), &mut files)?;
        files.sort();
        let mut builder = LexiconBuilder::default();
        for file in files {
            let document = twicetold_mail::read(Form::Mail, &std::fs::read(file)?);
            if seen.insert(unique_words(&document)) {
                builder.add(&document);
            }
        }
        collections.push(builder);
    }
    let mut all = LexiconBuilder::default();
    collections
        .iter()
        .for_each(|collection| all.merge(collection.clone()));
    all.retain(|word| {
        collections
            .iter()
            .filter(|c| c.count(word) >= LEAST)
            .count()
            >= 2
    });
    let lexicon = all.build(Range::MAIL, SECONDARY);
    let bytes = lexicon.to_bytes();
    writeln!(
        std::io::stdout(),
        "{} documents, {} primary words, {} secondary words, {} bytes",
        lexicon.documents(),
        lexicon.primary(),
        lexicon.secondary(),
        bytes.len()
    )?;
    std::fs::write(out, bytes)
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
