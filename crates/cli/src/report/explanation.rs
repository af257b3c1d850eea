//! The proof of one verdict for people, passage by passage.

use std::io::{self, Write};

use twicetold_detect::{Explanation, Scan, ShownPassage};

use super::escape::{self, visible, visible_path};
use super::units::{counted, moment_for_people, size};
use super::words::{leftover, verdict};
use crate::terminal::Paint;

const WIDTH: usize = 80;

/// Writes what a message is, what was decided about it, and why.
pub(crate) fn write(
    out: &mut dyn Write,
    scan: &Scan,
    number: u32,
    explanation: &Explanation,
    paint: Paint,
) -> io::Result<()> {
    let Some(message) = scan.messages.get(number as usize) else {
        return Ok(());
    };
    writeln!(
        out,
        "{}",
        paint.strong(&visible_path(&message.location.to_string()))
    )?;
    let known = [
        ("From", visible(message.from.trim(), escape::PATH)),
        (
            "Date",
            message.date.and_then(moment_for_people).unwrap_or_default(),
        ),
        ("Subject", visible(message.subject.trim(), escape::PATH)),
        (
            "Message-ID",
            visible_path(message.message_id.as_deref().unwrap_or_default()),
        ),
        ("Size", size(message.bytes)),
    ];
    for (name, value) in known.iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(out, "  {}  {value}", paint.faint(&format!("{name:<10}")))?;
    }
    for problem in &message.problems {
        let problem = visible(&problem.what, escape::RESIDUE);
        writeln!(
            out,
            "  {}  {problem}",
            paint.warn(&format!("{:<10}", "Problem"))
        )?;
    }
    writeln!(out)?;
    write_wrapped(out, &verdict(scan, number, message), "")?;

    write_passages(out, scan, explanation, paint)
}

fn write_passages(
    out: &mut dyn Write,
    scan: &Scan,
    explanation: &Explanation,
    paint: Paint,
) -> io::Result<()> {
    if explanation.passages.is_empty() {
        return Ok(());
    }
    let count = counted(explanation.passages.len() as u64, "passage", "passages");
    writeln!(out, "\n{}", paint.strong(&format!("Its {count}")))?;
    let mut heading = String::new();
    for (at, passage) in explanation.passages.iter().enumerate() {
        let (next, there) = placed(scan, passage, paint);
        // Most passages in a row stand in the same message, which is named once.
        if next != heading {
            writeln!(out, "  {next}")?;
            heading = next;
        }
        let text = visible(&passage.text, escape::PASSAGE);
        write_wrapped(out, &format!("{:>6}. {text}", at + 1), "        ")?;
        if let Some(there) = there.filter(|_| passage.changed) {
            let there = visible(there, escape::PASSAGE);
            write_wrapped(out, &format!("        there: {there}"), "        ")?;
        }
    }
    Ok(())
}

/// Where a passage stands, or what it is, and its text there.
fn placed<'a>(scan: &Scan, passage: &'a ShownPassage, paint: Paint) -> (String, Option<&'a str>) {
    let there = passage.there.as_ref().and_then(|(number, text)| {
        scan.messages
            .get(*number as usize)
            .map(|witness| (witness, text))
    });
    match there {
        Some((witness, text)) => {
            let place = visible_path(&witness.location.to_string());
            (format!("{} {place}", paint.go("stands in")), Some(text))
        }
        None => {
            let what = passage
                .residue
                .map_or("found in no other message", leftover);
            (format!("{} {what}", paint.stay("its own:")), None)
        }
    }
}

/// Breaks a text between words so that it fits the width; later lines start with `indent`.
fn write_wrapped(out: &mut dyn Write, text: &str, indent: &str) -> io::Result<()> {
    let mut line = String::new();
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        if used + length > WIDTH && !line.trim().is_empty() {
            writeln!(out, "{}", line.trim_end())?;
            line.clear();
            line.push_str(indent);
            used = indent.len();
        }
        line.push_str(word);
        used += word.chars().count();
    }
    writeln!(out, "{}", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken_between_words() {
        let mut out = Vec::new();
        write_wrapped(&mut out, &"word ".repeat(40), "  ").unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(
            out.lines().all(|line| line.chars().count() <= WIDTH),
            "{out}"
        );
        assert_eq!(out.lines().count(), 3);
        assert!(out.lines().skip(1).all(|line| line.starts_with("  word")));
        assert_eq!(out.split_whitespace().count(), 40);
    }

    #[test]
    fn a_word_longer_than_the_width_stays_whole() {
        let mut out = Vec::new();
        write_wrapped(&mut out, &format!("a {} b", "x".repeat(200)), "").unwrap();
        assert_eq!(String::from_utf8(out).unwrap().lines().count(), 3);
    }
}
