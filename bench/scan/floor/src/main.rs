//! `scan-floor tokens FOLDER` and `scan-floor segments FOLDER`: what a folder of messages, one a file, takes if mailparse
//! decodes every text and html5gum cuts the HTML into tokens, or icu_segmenter every text into words, and nothing else. `scan-floor files FOLDER`: the same without either.
//! `scan-floor parse MBOX`: splits an mbox and lets mailparse parse every message and decode every part, on as many
//! threads as RAYON_NUM_THREADS says. `scan-floor grow FOLDER MBOX MEGABYTES ROUND [EVERY]`: makes a large mbox out of the
//! first ROUND megabytes of a folder of messages, several times over, each time with other names and words, so that copies, quotes and threads stay what they
//! are within each round and rounds have next to nothing to do with one another. With EVERY, only one word in so many is
//! another one: then every message has near copies in the other rounds.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["parse", mbox] => parse(Path::new(mbox)),
        ["tokens", folder] => texts(Path::new(folder), tokens),
        ["segments", folder] => texts(Path::new(folder), segments),
        ["files", folder] => texts(Path::new(folder), |text, _html| text.len()),
        ["grow", folder, mbox, megabytes, round, ref every @ ..] => {
            let number = |text: &str| text.parse::<u64>().map_err(io::Error::other);
            let every = every.first().map_or(Ok(1), |every| number(every))?;
            let (most, round) = (number(megabytes)? << 20, number(round)? << 20);
            grow(Path::new(folder), Path::new(mbox), most, round, every.max(1))
        }
        ["spread", mbox, maildir] => spread(Path::new(mbox), Path::new(maildir)),
        _ => Err(io::Error::other("usage: scan-floor parse MBOX | tokens FOLDER | segments FOLDER | files FOLDER | grow FOLDER MBOX MEGABYTES ROUND [EVERY] | spread MBOX MAILDIR")),
    }
}

/// The messages of an mbox whose lines were escaped when it was written.
fn messages(bytes: &[u8]) -> Vec<&[u8]> {
    let mut starts: Vec<usize> = memchr::memmem::find_iter(bytes, b"\nFrom ").map(|at| at + 1).collect();
    starts.insert(0, 0);
    starts.push(bytes.len());
    starts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn parse(mbox: &Path) -> io::Result<()> {
    let bytes = fs::read(mbox)?;
    let all = messages(&bytes);
    let decoded: usize = all
        .par_iter()
        .map(|message| {
            let after = memchr::memchr(b'\n', message).map_or(0, |at| at + 1);
            mailparse::parse_mail(&message[after..]).map_or(0, |mail| bodies(&mail))
        })
        .sum();
    println!("{} messages, {decoded} bytes of text", all.len());
    Ok(())
}

fn bodies(mail: &mailparse::ParsedMail<'_>) -> usize {
    let own = match mail.subparts.is_empty() {
        true if mail.ctype.mimetype.starts_with("text/") => mail.get_body().map_or(0, |body| body.len()),
        true => mail.get_body_raw().map_or(0, |body| body.len()),
        false => 0,
    };
    own + mail.subparts.iter().map(bodies).sum::<usize>()
}

/// Decodes every text of every message and hands it over with whether it is HTML; adds up what comes back.
fn texts(folder: &Path, take: impl Fn(&str, bool) -> usize + Sync) -> io::Result<()> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    let pieces: usize = files
        .par_iter()
        .map(|file| {
            let bytes = fs::read(file).unwrap_or_default();
            mailparse::parse_mail(&bytes).map_or(0, |mail| each_text(&mail, &take))
        })
        .sum();
    println!("{} messages, {pieces} pieces", files.len());
    Ok(())
}

fn each_text(mail: &mailparse::ParsedMail<'_>, take: &impl Fn(&str, bool) -> usize) -> usize {
    let kind = &mail.ctype.mimetype;
    let own = match mail.subparts.is_empty() && kind.starts_with("text/") {
        true => mail.get_body().map_or(0, |body| take(&body, kind == "text/html")),
        false => 0,
    };
    own + mail.subparts.iter().map(|part| each_text(part, take)).sum::<usize>()
}

fn tokens(text: &str, html: bool) -> usize {
    if html { html5gum::Tokenizer::new(text).count() } else { 0 }
}

fn segments(text: &str, _html: bool) -> usize {
    icu_segmenter::WordSegmenter::new_auto(Default::default()).segment_str(text).count()
}

fn grow(folder: &Path, mbox: &Path, most: u64, round: u64, every: u64) -> io::Result<()> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let mut size = 0;
    for (n, file) in files.iter().enumerate() {
        size += fs::metadata(file)?.len();
        if size >= round {
            files.truncate(n + 1);
            break;
        }
    }
    let mut out = BufWriter::with_capacity(1 << 20, File::create(mbox)?);
    let mut written = 0;
    for round in 0_u64.. {
        for (n, file) in files.iter().enumerate() {
            if written >= most {
                return out.flush();
            }
            let changed = changed(&fs::read(file)?, round, every);
            written += changed.len() as u64;
            writeln!(out, "From grown@example.org Thu Jan  1 00:00:{:02} 1970", n % 60)?;
            for line in changed.split_inclusive(|&byte| byte == b'\n') {
                if line.starts_with(b"From ") {
                    out.write_all(b">")?;
                }
                out.write_all(line)?;
            }
            out.write_all(b"\n\n")?;
        }
    }
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

/// Words by which headers and quotations are known.
const KEPT: [&str; 28] = [
    "ascii", "base", "boundary", "charset", "content", "date", "disposition", "encoding", "forwarded", "from", "html", "inline", "message", "mime",
    "multipart", "original", "plain", "printable", "quoted", "received", "references", "reply", "sent", "subject", "text", "transfer", "version", "wrote",
];

/// A message in another round: of the words of four letters and more one in `every` becomes another one, always the same
/// within the round, in headers as well, so that whatever was equal stays equal.
fn changed(message: &[u8], round: u64, every: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 64);
    if round == 0 {
        return message.to_vec();
    }
    for word in message.chunk_by(|a, b| a.is_ascii_alphabetic() == b.is_ascii_alphabetic()) {
        let hash = word
            .iter()
            .fold(round.wrapping_mul(0x9e37_79b9_7f4a_7c15), |hash, byte| {
                (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
            });
        let kept = || KEPT.iter().any(|kept| word.eq_ignore_ascii_case(kept.as_bytes()));
        if word.len() >= 4 && word[0].is_ascii_alphabetic() && hash % every == 0 && !kept() {
            // Its first letters stay what they were, so that it is still short or long, and a name a name.
            out.extend_from_slice(&word[..2]);
            let mut rest = hash >> 8;
            for _ in 2..word.len() {
                out.push(b'a' + (rest % 26) as u8);
                rest = rest.rotate_right(5) ^ 0x5bd1;
            }
        } else {
            out.extend_from_slice(word);
        }
    }
    out
}

/// Writes the messages of an mbox as a Maildir, for peers that read nothing else.
fn spread(mbox: &Path, maildir: &Path) -> io::Result<()> {
    for folder in ["cur", "new", "tmp"] {
        fs::create_dir_all(maildir.join(folder))?;
    }
    let bytes = fs::read(mbox)?;
    for (n, message) in messages(&bytes).into_iter().enumerate() {
        let after = memchr::memchr(b'\n', message).map_or(0, |at| at + 1);
        fs::write(maildir.join("cur").join(format!("{n:08}.grown:2,S")), &message[after..])?;
    }
    Ok(())
}
