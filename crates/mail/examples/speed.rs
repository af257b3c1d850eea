//! How fast is mail read? `speed PATH…` prints bytes per second of reading, beside what parsing and
//! decoding alone take (`mailparse`), and, where there is any, what cutting the HTML into tokens
//! (`html5gum`) and the text into words (`icu_segmenter`) takes.
//!
//! `speed --digests PATH…` prints a checksum of everything that reading finds in each message instead:
//! two versions that read alike print the same. `speed --once PATH…` reads once and prints how many
//! bytes and words, for programs that count instructions.

use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use html5gum::Tokenizer;
use icu_segmenter::{WordSegmenter, options::WordBreakInvariantOptions};
use twicetold_mail::{html, mime, read};
use twicetold_model::{Document, Form};

/// How often each piece of work is done.
const RUNS: usize = 5;

/// A message and where it was found.
struct Mail {
    name: String,
    bytes: Vec<u8>,
}

fn main() -> std::io::Result<()> {
    let (options, paths): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let mut out = std::io::stdout().lock();
    for path in paths {
        let mut mails = Vec::new();
        collect(Path::new(&path), &mut mails)?;
        match options.first().map(String::as_str) {
            Some("--digests") => {
                for mail in &mails {
                    writeln!(out, "{} {}", digest(&mail.bytes), mail.name)?;
                }
            }
            Some("--once") => {
                let mut words = 0;
                for mail in &mails {
                    words += read(Form::Mail, &mail.bytes).words.len();
                }
                writeln!(out, "{} bytes, {words} words", total(&mails))?;
            }
            _ => rates(&path, &mails, &mut out)?,
        }
    }
    Ok(())
}

fn total(mails: &[Mail]) -> usize {
    mails.iter().map(|mail| mail.bytes.len()).sum()
}

/// Prints the rates for one collection.
fn rates(path: &str, mails: &[Mail], out: &mut impl Write) -> std::io::Result<()> {
    let bytes = total(mails) as f64 / 1e6;
    let reading = best(mails, |mail| {
        black_box(read(Form::Mail, &mail.bytes));
    });
    let parsing = best(mails, |mail| {
        if let Ok(parsed) = mailparse::parse_mail(&mail.bytes) {
            parts(&parsed, &mut |part| {
                if part.ctype.mimetype.starts_with("text/") {
                    black_box(part.get_body().ok());
                } else {
                    black_box(part.get_body_raw().ok());
                }
            });
        }
    });
    writeln!(
        out,
        "{path}: {} messages, {bytes:.1} MB; read {:.1} MB/s, mailparse alone {:.1} MB/s, {:.2} times its time",
        mails.len(),
        bytes / reading,
        bytes / parsing,
        reading / parsing,
    )?;
    let pages = pages(mails);
    let page_bytes = pages.iter().map(String::len).sum::<usize>() as f64 / 1e6;
    if page_bytes > 0.1 {
        let tokens = best(&pages, |page| {
            black_box(Tokenizer::new(page.as_str()).flatten().count());
        });
        let seen = best(&pages, |page| {
            black_box(html::read(page));
        });
        writeln!(
            out,
            "  HTML {page_bytes:.1} MB: html5gum alone {:.1} MB/s, pages to text {:.1} MB/s, {:.2} times",
            page_bytes / tokens,
            page_bytes / seen,
            seen / tokens,
        )?;
    }
    let texts: Vec<String> = mails.iter().map(|m| mime::open(&m.bytes).text).collect();
    let text_bytes = texts.iter().map(String::len).sum::<usize>() as f64 / 1e6;
    let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
    let words = best(&texts, |text| {
        black_box(segmenter.segment_str(text).count());
    });
    writeln!(
        out,
        "  text {text_bytes:.1} MB: icu_segmenter alone {:.1} MB/s, {:.2} of the time of reading",
        text_bytes / words,
        words / reading,
    )
}

/// Seconds that something takes for all mails or texts. Other programs are at work on most machines, so the work is cut into
/// pieces, each is done several times, and its best time counts.
fn best<T>(all: &[T], mut work: impl FnMut(&T)) -> f64 {
    const PIECES: usize = 200;
    let pieces = all.chunks(all.len().div_ceil(PIECES).max(1));
    let mut times = vec![f64::MAX; pieces.len()];
    for _ in 0..RUNS {
        for (piece, best) in pieces.clone().zip(&mut times) {
            let start = Instant::now();
            piece.iter().for_each(&mut work);
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    times.iter().sum()
}

fn parts(mail: &mailparse::ParsedMail<'_>, found: &mut impl FnMut(&mailparse::ParsedMail<'_>)) {
    found(mail);
    for part in &mail.subparts {
        parts(part, found);
    }
}

/// The HTML parts of all mails.
fn pages(mails: &[Mail]) -> Vec<String> {
    let mut pages = Vec::new();
    for mail in mails {
        if let Ok(parsed) = mailparse::parse_mail(&mail.bytes) {
            parts(&parsed, &mut |part| {
                if part.ctype.mimetype == "text/html" {
                    pages.extend(part.get_body().ok());
                }
            });
        }
    }
    pages
}

/// The messages below a path, in order: mbox files are cut at their "From " lines.
fn collect(path: &Path, mails: &mut Vec<Mail>) -> std::io::Result<()> {
    if path.is_dir() {
        let mut inside: Vec<PathBuf> = std::fs::read_dir(path)?
            .map(|entry| entry.map(|e| e.path()))
            .collect::<Result<_, _>>()?;
        inside.sort();
        return inside.iter().try_for_each(|path| collect(path, mails));
    }
    let bytes = std::fs::read(path)?;
    let name = path.display().to_string();
    if path.extension().is_none_or(|e| e != "mbox") {
        mails.push(Mail { name, bytes });
        return Ok(());
    }
    let mut start = 0;
    let cuts = memchr::memmem::find_iter(&bytes, b"\n\nFrom ").map(|at| at + 2);
    for (n, end) in cuts.chain([bytes.len()]).enumerate() {
        mails.push(Mail {
            name: format!("{name}#{n}"),
            bytes: bytes[start..end].to_vec(),
        });
        start = end;
    }
    Ok(())
}

/// A checksum of all that is found in some bytes, read as mail and as text.
fn digest(bytes: &[u8]) -> blake3::Hash {
    let mut hash = blake3::Hasher::new();
    for form in [Form::Mail, Form::Text] {
        let document = read(form, bytes);
        add(&mut hash, &document);
    }
    hash.update(format!("{:?}", html::tags::layout_of(Form::Mail, bytes)).as_bytes());
    hash.finalize()
}

fn add(hash: &mut blake3::Hasher, document: &Document) {
    hash.update(document.text.as_bytes());
    for word in &document.words {
        hash.update(&word.hash.to_le_bytes());
        hash.update(&word.start.to_le_bytes());
        hash.update(&word.end.to_le_bytes());
        hash.update(format!("{:?}{:?}", word.kind, word.flags).as_bytes());
    }
    for sentence in &document.sentences {
        hash.update(&sentence.words.start.to_le_bytes());
        hash.update(&sentence.words.end.to_le_bytes());
        hash.update(&sentence.segment.to_le_bytes());
    }
    let rest = (
        &document.envelope,
        &document.segments,
        &document.attachments,
        &document.links,
        document.language,
        &document.layout,
        &document.problems,
    );
    hash.update(format!("{rest:?}").as_bytes());
}
