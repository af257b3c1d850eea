//! Why has a message its verdict, passage by passage?

use std::ops::Range;
use std::sync::Arc;

use twicetold_model::{Residue, ResidueKind};
use twicetold_source::Collection;

use crate::align::find;
use crate::comparable::Comparable;
use crate::cover::{hold, residue_kind, words_of};
use crate::scan::Scan;
use crate::show::bytes_of;

/// A proof with its texts, for people.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// The passages of the message in the order of its text, matched or not.
    pub passages: Vec<ShownPassage>,
}

/// A stretch of a message, and where it stands elsewhere.
#[derive(Clone, Debug)]
pub struct ShownPassage {
    /// The text as it stands in the message, white space folded.
    pub text: String,
    /// The number of the witness in the scan, and the text as it stands there; `None` if it stands nowhere else.
    pub there: Option<(u32, String)>,
    /// If it stands nowhere else: what it is.
    pub residue: Option<ResidueKind>,
    /// Whether the two texts differ by more than case, white space and quote marks.
    pub changed: bool,
}

/// Each residue as a reader would see it.
pub(crate) fn shown_each(text: &Comparable, residue: &[Residue]) -> Vec<String> {
    residue.iter().map(|r| shown(text, &r.words)).collect()
}

/// A stretch of a message as a reader would see it on one line: quote marks and line ends gone.
pub(crate) fn shown(text: &Comparable, words: &Range<u32>) -> String {
    let stretch = bytes_of(text, words);
    let whole = text
        .document
        .text
        .get(stretch.start as usize..stretch.end as usize)
        .unwrap_or_default();
    let lines = whole.split('\n').enumerate().map(|(n, line)| {
        let marks = if n == 0 {
            0
        } else {
            twicetold_mail::segment::quote_marks(line).1
        };
        line.get(marks..).unwrap_or(line)
    });
    lines
        .flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Shows why the message with this number in `scan` got its verdict, passage by passage.
pub fn explain(collection: &Collection, scan: &Scan, message: u32) -> Explanation {
    let again = |m: u32| -> Option<Comparable> {
        let found = scan.messages.get(m as usize)?;
        let raw = collection.read(&found.location).ok()?;
        Some(Comparable::new(twicetold_mail::read(raw.form, &raw.bytes)))
    };
    let (Some(text), Some(judged)) = (again(message), scan.messages.get(message as usize)) else {
        return Explanation::default();
    };
    let held: Vec<_> = judged
        .verdict
        .witnesses
        .iter()
        .filter_map(|w| Some(hold(&text, w.message, Arc::new(again(w.message)?))))
        .collect();
    let passages = text
        .units
        .iter()
        .enumerate()
        .map(|(n, unit)| {
            let here = shown(&text, &unit.words);
            let found = held.iter().find_map(|h| {
                let place = match unit.content {
                    true => h.places[n],
                    false => find(&text, unit, &h.text, None),
                }?;
                Some((h.message, shown(&h.text, &words_of(&h.text, place))))
            });
            let bare = |s: &str| {
                s.trim_matches(|c: char| !c.is_alphanumeric())
                    .to_lowercase()
            };
            let known = judged
                .verdict
                .residue
                .iter()
                .find(|r| r.words == unit.words)
                .map(|r| r.kind);
            ShownPassage {
                changed: found
                    .as_ref()
                    .is_some_and(|(_, there)| bare(there) != bare(&here)),
                residue: found
                    .is_none()
                    .then(|| known.unwrap_or_else(|| residue_kind(unit))),
                text: here,
                there: found,
            }
        })
        .collect();
    Explanation { passages }
}
