//! How much changing of words does each method bear? `found SPAM_FOLDER HAM_FOLDER`
//!
//! Takes 200 different spam messages, changes some of their words, and prints the share of changed copies
//! that are still near duplicates of the message they come from, and how many ham messages are taken for
//! one of the 200. Vocabulary for insertions and substitutions comes from ham. Same input, same output.

use std::collections::HashSet;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};

use twicetold_methods::blocks::{Blocks, Formula};
use twicetold_methods::imatch::{Imatch, Removal};
use twicetold_methods::simhash::{Features, SimHash, Weights};
use twicetold_methods::winnow::{Winnow, mix};
use twicetold_model::{Document, Form, Method, Sketch};

/// What is done to a word that is to be changed.
#[derive(Clone, Copy)]
enum Edit {
    Mixed,
    Substitute,
}

const CHANGES: [(&str, Edit, f64); 5] = [
    ("mixed 1 %", Edit::Mixed, 0.01),
    ("mixed 5 %", Edit::Mixed, 0.05),
    ("mixed 10 %", Edit::Mixed, 0.10),
    ("mixed 20 %", Edit::Mixed, 0.20),
    ("subst. 10 %", Edit::Substitute, 0.10),
];

/// A method, what it is called in the table, and when two messages are near duplicates.
type Row = (String, Box<dyn Method>, f64);

fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for features in Features::ALL {
        for (weights, stop_words) in [
            (Weights::Frequency, true),
            (Weights::Frequency, false),
            (Weights::Presence, true),
        ] {
            for k in [3, 5, 8] {
                let method = SimHash {
                    features,
                    weights,
                    stop_words,
                    distance: k,
                };
                let stop = if stop_words {
                    ""
                } else {
                    " without stop words"
                };
                let name = format!("simhash {} {weights:?}{stop} k={k}", features.name());
                rows.push((name, Box::new(method), 1.0 - f64::from(k) / 64.0));
            }
        }
    }
    let fitted = |words| Removal::Fitted { p: 0.33, words };
    for (copies, removal, votes) in [
        (0, Removal::Same { p: 0.33 }, 1),
        (2, Removal::Same { p: 0.33 }, 1),
        (5, Removal::Same { p: 0.33 }, 1),
        (10, Removal::Same { p: 0.33 }, 1),
        (20, Removal::Same { p: 0.33 }, 1),
        (10, Removal::Same { p: 0.5 }, 1),
        (10, fitted(8), 1),
        (10, fitted(12), 1),
        (10, fitted(16), 1),
        (20, fitted(8), 1),
        (20, fitted(12), 1),
        (20, fitted(12), 2),
        (20, fitted(16), 1),
    ] {
        let method = Imatch {
            copies,
            removal,
            votes,
            ..Imatch::default()
        };
        rows.push((
            format!("imatch K={copies} {removal:?} votes={votes}"),
            Box::new(method),
            f64::MIN_POSITIVE,
        ));
    }
    for (ratio, least_words) in [(5, 5), (15, 5), (20, 5), (10, 3), (10, 8)] {
        let method = Imatch {
            ratio,
            least_words,
            ..Imatch::default()
        };
        rows.push((
            format!("imatch K=10 ratio={ratio} least={least_words}"),
            Box::new(method),
            f64::MIN_POSITIVE,
        ));
    }
    for percent in [30, 50, 60, 90] {
        let name = format!("blocks t=.{percent}");
        rows.push((
            name,
            Box::new(Blocks {
                formula: Formula::Matched,
                ..Blocks::default()
            }),
            f64::from(percent) / 100.0,
        ));
    }
    rows.push(("winnow t=.5".into(), Box::new(Winnow::default()), 0.5));
    rows
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut folder = || {
        arguments
            .next()
            .ok_or_else(|| Error::other("usage: found SPAM HAM"))
    };
    let (spam, ham) = (read(&folder()?)?, read(&folder()?)?);
    let known = different(&spam, 200);
    let vocabulary = vocabulary(&ham);
    let variants: Vec<Vec<Document>> = CHANGES
        .iter()
        .map(|&(_, edit, rate)| {
            let change = |(n, document): (usize, &Document)| {
                let text = changed(&document.text, &vocabulary, edit, rate, n as u64);
                with_text(document, &text)
            };
            known.iter().enumerate().map(change).collect()
        })
        .collect();
    let mut out = std::io::stdout().lock();
    let names: Vec<&str> = CHANGES.iter().map(|(name, ..)| *name).collect();
    writeln!(
        out,
        "{} known, {} ham\n| method | sketched | {} | ham alarms |",
        known.len(),
        ham.len(),
        names.join(" | ")
    )?;
    for (name, method, threshold) in rows() {
        let sketches: Vec<Option<Sketch>> = known.iter().map(|d| method.sketch(d)).collect();
        let near = |a: &Option<Sketch>, b: &Option<Sketch>| match (a, b) {
            (Some(a), Some(b)) => method.compare(a, b).resemblance >= threshold,
            _ => false,
        };
        write!(out, "| {name} | {}", sketches.iter().flatten().count())?;
        for variants in &variants {
            let found = variants
                .iter()
                .zip(&sketches)
                .filter(|(v, s)| near(&method.sketch(v), s))
                .count();
            write!(out, " | {:.3}", found as f64 / known.len() as f64)?;
        }
        let alarms = ham
            .iter()
            .map(|d| method.sketch(d))
            .filter(|h| sketches.iter().any(|s| near(h, s)))
            .count();
        writeln!(out, " | {alarms} |")?;
    }
    Ok(())
}

fn with_text(document: &Document, text: &str) -> Document {
    let mut read = twicetold_mail::read(Form::Text, text.as_bytes());
    read.envelope.subject.clone_from(&document.envelope.subject);
    read
}

/// Every message of a folder, its visible text read as if it were all there is.
fn read(folder: &str) -> std::io::Result<Vec<Document>> {
    let mut files = Vec::new();
    list(Path::new(folder), &mut files)?;
    files.sort();
    files
        .iter()
        .map(|file| {
            let mail = twicetold_mail::read(Form::Mail, &std::fs::read(file)?);
            Ok(with_text(&mail, &mail.text))
        })
        .collect()
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

/// Messages of 120 to 3,000 words that share little with each other.
fn different(documents: &[Document], most: usize) -> Vec<Document> {
    let mut seen = HashSet::new();
    let mut kept = Vec::new();
    for document in documents {
        let words = document.words.iter().map(|word| word.hash);
        let triples: HashSet<u64> = Features::Triples.of(words).into_iter().collect();
        let shared = triples
            .iter()
            .filter(|triple| seen.contains(*triple))
            .count();
        if (120..=3000).contains(&document.words.len())
            && shared * 5 <= triples.len()
            && kept.len() < most
        {
            seen.extend(triples);
            kept.push(document.clone());
        }
    }
    kept
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || c == '\''
}

fn vocabulary(documents: &[Document]) -> Vec<String> {
    let mut words: Vec<String> = documents
        .iter()
        .take(600)
        .flat_map(|d| d.text.split(|c| !is_letter(c)))
        .filter(|word| word.len() > 1 && word.is_ascii())
        .map(str::to_lowercase)
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The text with about `rate` of its words changed.
fn changed(text: &str, vocabulary: &[String], edit: Edit, rate: f64, seed: u64) -> String {
    let mut state = mix(seed.wrapping_add(1));
    let mut draw = |below: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(state) % below.max(1) as u64) as usize
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_letter) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !is_letter(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        out.push_str(before);
        let hit = (draw(1 << 30) as f64) < rate * (1_u64 << 30) as f64;
        let kind = match (hit, edit) {
            (false, _) => 3,
            (true, Edit::Mixed) => draw(3),
            (true, Edit::Substitute) => 0,
        };
        let new = vocabulary
            .get(draw(vocabulary.len()))
            .map(String::as_str)
            .unwrap_or_default();
        match kind {
            0 => out.push_str(new),
            1 => out.extend([word, " ", new]),
            2 => {}
            _ => out.push_str(word),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
