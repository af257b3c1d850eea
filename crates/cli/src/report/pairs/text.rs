//! Pairs and groups for people.

use std::io::{self, Write};

use twicetold_detect::Pair;

use super::Report;
use crate::report::escape::visible_path;
use crate::report::row::rounded;
use crate::report::units::counted;
use crate::terminal::Paint;

/// Writes every text that has partners, the partners below it, and what there is in all.
pub(crate) fn write(out: &mut dyn Write, report: &Report<'_>, paint: Paint) -> io::Result<()> {
    if report.groups {
        write_groups(out, report, paint)?;
    } else {
        write_pairs(out, report, paint)?;
    }
    let (pairs, looking) = (report.pairs, report.looking);
    let read = counted(pairs.len() as u64, "text", "texts");
    if pairs.first() < pairs.len() {
        let second = counted((pairs.len() - pairs.first()) as u64, "text", "texts");
        let first = counted(pairs.first() as u64, "text", "texts");
        writeln!(out, "{first} compared with {second}.")?;
    } else {
        writeln!(out, "{read} compared with each other.")?;
    }
    for (number, sought) in (0..).zip(&looking.methods) {
        let mine = || pairs.pairs.iter().filter(|pair| pair.method == number);
        let found = counted(mine().count() as u64, "pair", "pairs");
        let name = sought.method.name();
        let least = rounded(sought.threshold);
        let verified = match looking.verify {
            None => String::new(),
            Some(verify) => {
                let held = mine().filter(|pair| report.verified(pair) == Some(true));
                let (check, least) = (verify.check.name(), rounded(verify.threshold));
                format!(
                    ", {} of them verified by {check} ({least} or more)",
                    held.count()
                )
            }
        };
        writeln!(
            out,
            "{}: {found} with a score of {least} or more{verified}.",
            paint.strong(name)
        )?;
    }
    Ok(())
}

fn write_pairs(out: &mut dyn Write, report: &Report<'_>, paint: Paint) -> io::Result<()> {
    let name = |text: u32| visible_path(&report.pairs.name(text));
    for partners in report.pairs.pairs.chunk_by(|x, y| x.a == y.a) {
        writeln!(out, "{}", paint.strong(&name(partners[0].a)))?;
        for seen in partners.chunk_by(|x, y| x.b == y.b) {
            let by: Vec<String> = seen
                .iter()
                .map(|pair| format!("{} {:.3}", report.method(pair.method), pair.score))
                .collect();
            let checked = check(report, &seen[0], paint);
            writeln!(
                out,
                "  {}  {}{checked}",
                name(seen[0].b),
                paint.faint(&by.join(", "))
            )?;
        }
    }
    if !report.pairs.pairs.is_empty() {
        writeln!(out)?;
    }
    Ok(())
}

fn check(report: &Report<'_>, pair: &Pair, paint: Paint) -> String {
    let (Some(verify), Some(held)) = (report.looking.verify, report.verified(pair)) else {
        return String::new();
    };
    let by = match pair.checked {
        Some(checked) => format!("{} {checked:.3}", verify.check.name()),
        None => "could not be read again".to_owned(),
    };
    if held {
        format!("  {}", paint.stay(&format!("verified: {by}")))
    } else {
        format!("  {}", paint.warn(&format!("not verified: {by}")))
    }
}

fn write_groups(out: &mut dyn Write, report: &Report<'_>, paint: Paint) -> io::Result<()> {
    let groups = report.groups();
    for (number, group) in (1..).zip(&groups) {
        let methods: Vec<&str> = group.methods.iter().map(|&n| report.method(n)).collect();
        let size = counted(group.texts.len() as u64, "text", "texts");
        let title = format!("group {}: {size}", u32::to_string(&number));
        writeln!(
            out,
            "{}  {}",
            paint.strong(&title),
            paint.faint(&methods.join(", "))
        )?;
        for &text in &group.texts {
            writeln!(out, "  {}", visible_path(&report.pairs.name(text)))?;
        }
    }
    if !groups.is_empty() {
        let texts: usize = groups.iter().map(|group| group.texts.len()).sum();
        writeln!(
            out,
            "\n{} in {}.",
            counted(texts as u64, "text", "texts"),
            counted(groups.len() as u64, "group", "groups")
        )?;
    }
    Ok(())
}
