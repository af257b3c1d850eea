//! A whole result as bytes.

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::FixedState;
use rayon::prelude::*;
use twicetold_model::{Category, Location, Residue, ResidueKind, Standing, Verdict, Witness};

use super::bytes::{Reader, Writer};
use super::records::{form_number, form_of, problems, read_problems};
use crate::scan::{Scan, ScannedMessage};

/// How many messages are written in one piece.
const PIECE: usize = 4096;

/// How many [`pieces`] there are.
pub(super) fn count(scan: &Scan) -> usize {
    scan.messages.len().div_ceil(PIECE)
}

/// The messages of a scan, some at a time; troubles are not written, since what had trouble is read again.
pub(super) fn pieces(scan: &Scan) -> impl Iterator<Item = Writer> {
    // All of it may be too much to hold: no more pieces are made than there are threads.
    let some = scan.messages.chunks(PIECE * rayon::current_num_threads());
    some.flat_map(|some| {
        let pieces: Vec<Writer> = some.par_chunks(PIECE).map(piece).collect();
        pieces
    })
}

fn piece(messages: &[ScannedMessage]) -> Writer {
    let mut out = Writer::default();
    out.list(messages.iter(), |out, message| {
        out.text(&message.location.path);
        out.maybe(message.location.offset, Writer::number);
        out.byte(form_number(message.form));
        out.number(message.bytes);
        out.maybe(message.message_id.as_deref(), Writer::text);
        out.text(&message.subject);
        out.text(&message.from);
        out.maybe(message.date, |out, date| out.hash(date as u64));
        out.maybe(message.thread.as_deref(), Writer::text);
        out.byte(standing_number(message.verdict.standing));
        out.list(message.verdict.witnesses.iter(), witness);
        residues(out, &message.verdict.residue);
        texts(out, &message.residue);
        problems(out, &message.problems);
    });
    out
}

/// The messages of a scan, from its pieces.
pub(super) fn read(pieces: impl ExactSizeIterator<Item = Option<Vec<u8>>>) -> Option<Scan> {
    // A path is held once for all messages of a file, a name once for all of a conversation, as far as they stand in one piece.
    let some = |from: &mut Reader<'_>| {
        let mut last: Arc<str> = "".into();
        let mut names: HashSet<Arc<str>, FixedState> = HashSet::default();
        from.list(|from| read_message(from, &mut last, &mut names))
    };
    let messages = from_pieces(pieces, some, |m| &m.verdict)?;
    let count = messages.len() as u64;
    Some(Scan {
        messages,
        troubles: Vec::new(),
        reread: Vec::new(),
        remembered: count,
        settled: count,
    })
}

fn read_message(
    from: &mut Reader<'_>,
    last: &mut Arc<str>,
    names: &mut HashSet<Arc<str>, FixedState>,
) -> Option<ScannedMessage> {
    let path = from.str()?;
    if **last != *path {
        *last = path.into();
    }
    Some(ScannedMessage {
        location: Location {
            path: Arc::clone(last),
            offset: from.maybe(Reader::number)?,
        },
        form: form_of(from.byte()?)?,
        bytes: from.number()?,
        message_id: from.maybe(Reader::text)?,
        subject: from.text()?,
        from: from.text()?,
        date: from.maybe(Reader::hash)?.map(|date| date as i64),
        thread: from.maybe(Reader::str)?.map(|name| named(names, name)),
        verdict: read_verdict(from)?,
        residue: from.list(Reader::text)?,
        problems: read_problems(from)?,
    })
}

/// The name that is held for all.
fn named(names: &mut HashSet<Arc<str>, FixedState>, name: &str) -> Arc<str> {
    let known = names.get(name).cloned();
    known.unwrap_or_else(|| {
        let name: Arc<str> = name.into();
        names.insert(Arc::clone(&name));
        name
    })
}

/// What was decided about a message.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    /// The text of each residue.
    pub(crate) residue: Vec<String>,
}

/// What was decided about the messages of a scan, from its pieces.
pub(super) fn read_judged(
    pieces: impl ExactSizeIterator<Item = Option<Vec<u8>>>,
) -> Option<Vec<Judged>> {
    let judged = |from: &mut Reader<'_>| {
        from.str()?;
        from.maybe(Reader::number)?;
        from.byte()?;
        from.number()?;
        from.maybe(Reader::str)?;
        from.str()?;
        from.str()?;
        from.maybe(Reader::hash)?;
        from.maybe(Reader::str)?;
        let judged = Judged {
            verdict: read_verdict(from)?,
            residue: from.list(Reader::text)?,
        };
        read_problems(from)?;
        Some(judged)
    };
    from_pieces(pieces, |from| from.list(judged), |judged| &judged.verdict)
}

/// What `read` makes of each piece of a scan, one behind the other, if all witnesses are messages of it.
fn from_pieces<T: Send>(
    mut pieces: impl ExactSizeIterator<Item = Option<Vec<u8>>>,
    read: impl Fn(&mut Reader<'_>) -> Option<Vec<T>> + Sync,
    verdict: impl Fn(&T) -> &Verdict,
) -> Option<Vec<T>> {
    let read = |piece: Option<Vec<u8>>| {
        let piece = piece?;
        let mut from = Reader::new(&piece);
        read(&mut from).filter(|_| from.is_done())
    };
    let threads = rayon::current_num_threads();
    let mut all = Vec::new();
    while pieces.len() > 0 {
        // No more pieces are held than there are threads, besides what is made of them.
        let some: Vec<Option<Vec<u8>>> = pieces.by_ref().take(threads).collect();
        let made: Vec<Option<Vec<T>>> = some.into_par_iter().map(&read).collect();
        for own in made {
            let own = own?;
            if all.is_empty() {
                // All but the last are as long as the first. If there is no room for so many, the number is wrong, and there will not be so many.
                let _ = all.try_reserve_exact(own.len().saturating_mul(pieces.len() + threads));
            }
            all.extend(own);
        }
    }
    // A number that leads nowhere would be believed by everyone who asks for the witness.
    let mut witnesses = all.iter().flat_map(|one| &verdict(one).witnesses);
    let all_there = witnesses.all(|w| (w.message as usize) < all.len());
    all_there.then_some(all)
}

fn read_verdict(from: &mut Reader<'_>) -> Option<Verdict> {
    Some(Verdict {
        standing: standing_of(from.byte()?)?,
        witnesses: from.list(read_witness)?,
        residue: read_residues(from)?,
    })
}

pub(crate) fn witness(out: &mut Writer, witness: &Witness) {
    out.number(u64::from(witness.message));
    out.hash(witness.containment.to_bits());
}

pub(crate) fn read_witness(from: &mut Reader<'_>) -> Option<Witness> {
    Some(Witness {
        message: from.small()?,
        containment: f64::from_bits(from.hash()?),
    })
}

pub(crate) fn residues(out: &mut Writer, residues: &[Residue]) {
    out.list(residues.iter(), |out, residue| {
        out.range(&residue.words);
        out.byte(match residue.kind {
            ResidueKind::Content => 0,
            ResidueKind::Fact => 1,
            ResidueKind::Greeting => 2,
            ResidueKind::Attribution => 3,
            ResidueKind::Boilerplate => 4,
        });
    });
}

pub(crate) fn read_residues(from: &mut Reader<'_>) -> Option<Vec<Residue>> {
    from.list(|from| {
        Some(Residue {
            words: from.range()?,
            kind: match from.byte()? {
                0 => ResidueKind::Content,
                1 => ResidueKind::Fact,
                2 => ResidueKind::Greeting,
                3 => ResidueKind::Attribution,
                4 => ResidueKind::Boilerplate,
                _ => return None,
            },
        })
    })
}

pub(crate) fn texts(out: &mut Writer, texts: &[String]) {
    out.list(texts.iter(), |out, text| out.text(text));
}

pub(crate) fn category_number(category: Category) -> u8 {
    let place = Category::ALL.iter().position(|&c| c == category);
    place.unwrap_or_default() as u8
}

pub(crate) fn category_of(number: u8) -> Option<Category> {
    Category::ALL.get(usize::from(number)).copied()
}

fn standing_number(standing: Standing) -> u8 {
    match standing {
        Standing::Unique => 0,
        Standing::Version => 1,
        Standing::Unreadable => 2,
        Standing::Redundant(category) => 3 + category_number(category),
    }
}

fn standing_of(number: u8) -> Option<Standing> {
    Some(match number {
        0 => Standing::Unique,
        1 => Standing::Version,
        2 => Standing::Unreadable,
        more => Standing::Redundant(category_of(more - 3)?),
    })
}
