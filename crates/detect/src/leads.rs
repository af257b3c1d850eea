//! Who can be asked about a message?
//!
//! By its fingerprints, its sentences, its attachments and links, and its conversation: as far as they lead, in a collection or in a part
//! of one that is told what it sees in the whole.

use rayon::prelude::*;
use twicetold_index::{Rows, Twice};
use twicetold_methods::winnow::Winnow;

use crate::aside::Aside;
use crate::cache::{Keeping, Part};
use crate::hard::tells_news;
use crate::near::{Fingerprints, Nearby};
use crate::part::Whole;
use crate::record::Record;
use crate::seldom::Detail;
use crate::shared::{Holding, Leading, Likely, Lists, PIECE, Reach, Shared, add_likely};
use crate::threads::conversation;

/// What leads from messages to others.
#[derive(Debug, Default)]
pub(crate) struct Leads {
    /// Who shares fingerprints with whom.
    pub(crate) nearby: Nearby,
    /// The sentences that several messages have.
    pub(crate) sentences: Leading<u64>,
    /// The attachments and links that several messages have.
    pub(crate) things: Leading<u64>,
    /// The conversations that several messages are in.
    pub(crate) conversations: Leading<u64>,
}

/// What is known of messages before anybody is asked.
pub(crate) struct Told<'t> {
    pub(crate) records: &'t [Record],
    /// The messages in the order in which they are asked.
    pub(crate) order: &'t [u32],
    /// For each message its place there; `u32::MAX` if another one stands for it.
    pub(crate) ranks: &'t [u32],
    /// For each message its conversation.
    pub(crate) threads: &'t [u32],
    pub(crate) aside: &'t Aside,
    pub(crate) winnow: Winnow,
    /// Where it is kept who shares what, if it is.
    pub(crate) keeping: Option<&'t Keeping>,
    /// If this is a part of a larger collection: what is known from the whole.
    pub(crate) whole: Option<&'t Whole<'t>>,
}

/// What one look at the sentences and word pairs of each message tells: they may have to be read back from a file.
#[derive(Debug)]
pub(crate) struct Looks {
    /// For each message whether it holds a fact or a run of words that no other has, so that nothing can cover it.
    new: Vec<bool>,
    /// The fingerprints of each message of the walk, and
    fingerprints: Likely<u32>,
    /// its sentences, as far as others may have them.
    sentences: Likely<u64>,
}

impl Looks {
    /// Looks at every message. `pairs` and `sentences` know at least the word pairs and the sentences that several messages have.
    pub(crate) fn at(told: &Told<'_>, pairs: &Twice, sentences: &Twice) -> Self {
        let records = told.records.par_chunks(PIECE);
        let some = records.zip(told.ranks.par_chunks(PIECE));
        let pieces: Vec<Piece> = some
            .map(|(records, ranks)| {
                let mut piece = Piece::default();
                let mut onward = told.aside.onward();
                for (record, &rank) in records.iter().zip(ranks) {
                    // Nobody asks about one for which another stands, but in a later scan.
                    if rank == u32::MAX && told.keeping.is_none() {
                        piece.pass();
                        continue;
                    }
                    let seldom = &record.said.seldom;
                    // One of which its sentences are no longer known stays.
                    let detail = match record.shown {
                        None => onward.detail(seldom),
                        Some(_) => told.aside.detail(seldom),
                    };
                    told.look(
                        record,
                        detail.as_deref(),
                        rank,
                        pairs,
                        sentences,
                        &mut piece,
                    );
                }
                piece.fingerprints.shrink_to_fit();
                piece.sentences.shrink_to_fit();
                piece
            })
            .collect();
        let mut new = Vec::with_capacity(told.records.len());
        let (mut fingerprints, mut sentences) = (Vec::new(), Vec::new());
        for piece in pieces {
            new.extend(piece.new);
            fingerprints.push(piece.fingerprints);
            sentences.push(piece.sentences);
        }
        Self {
            new,
            fingerprints: Likely::of(fingerprints),
            sentences: Likely::of(sentences),
        }
    }
}

/// What one look at some messages tells.
#[derive(Default)]
struct Piece {
    new: Vec<bool>,
    fingerprints: Rows,
    sentences: Rows<u64>,
}

impl Piece {
    /// Passes over a message that nobody asks about.
    fn pass(&mut self) {
        self.new.push(true);
        add_likely(&mut self.fingerprints, Vec::new(), None);
        add_likely(&mut self.sentences, Vec::new(), None);
    }
}

impl Leads {
    /// Finds out; and for each message whether it stays in any case, since it holds what no other has.
    pub(crate) fn of(told: &Told<'_>, looks: Looks) -> (Self, Vec<bool>) {
        let Looks {
            new,
            fingerprints,
            sentences,
        } = looks;
        let nearby = || match told.whole {
            Some(whole) => Nearby::Known(whole.near(told.records, told.order)),
            None => Nearby::Counted(Box::new(told.fingerprints(fingerprints))),
        };
        let others = || {
            let sentences = Lists::of(sentences, told.ranks);
            if let Some(keeping) = told.keeping {
                keeping.lists(Part::Sentences, &sentences);
            }
            let [things, conversations] =
                [told.things(), told.conversations()].map(|keys| Lists::of(keys, told.ranks));
            [sentences, things, conversations].map(|lists| told.leading(&new, lists))
        };
        // Each has stretches that one thread goes alone.
        let (nearby, [sentences, things, conversations]) = rayon::join(nearby, others);
        let leads = Self {
            nearby,
            sentences,
            things,
            conversations,
        };
        (leads, new)
    }
}

impl Told<'_> {
    /// Looks at a message.
    fn look(
        &self,
        record: &Record,
        detail: Option<&Detail>,
        rank: u32,
        pairs: &Twice,
        sentences: &Twice,
        piece: &mut Piece,
    ) {
        let known = self.whole.map_or(pairs, Whole::pairs);
        let new = known.count_single(&record.said.facts) > 0
            || detail.is_none_or(|detail| tells_news(detail, |pairs| known.count_single(pairs)));
        let detail = detail.filter(|_| rank != u32::MAX);
        let fingerprints = match self.whole {
            Some(_) => Vec::new(),
            None => detail.map_or_else(Vec::new, |detail| detail.fingerprints(self.winnow)),
        };
        let own = detail.map_or(&[][..], |detail| &detail.told).iter();
        let own = own.map(|told| told.hash).collect();
        piece.new.push(new);
        add_likely(&mut piece.fingerprints, fingerprints, Some(pairs));
        add_likely(&mut piece.sentences, own, Some(sentences));
    }

    /// The attachments and links of each message of the walk.
    pub(crate) fn things(&self) -> Likely<u64> {
        self.each(|_, record| record.things().collect())
    }

    /// The conversation of each message of the walk.
    pub(crate) fn conversations(&self) -> Likely<u64> {
        self.each(|a, record| {
            let thread = self.whole.and_then(|whole| whole.thread(record));
            let thread = thread.unwrap_or(u64::from(self.threads[a as usize]));
            vec![conversation(thread)]
        })
    }

    /// The keys of each message of the walk.
    fn each(&self, keys: impl Fn(u32, &Record) -> Vec<u64>) -> Likely<u64> {
        let mut pieces = Vec::new();
        let mut all = self.records.iter().zip(self.ranks).zip(0..).peekable();
        while all.peek().is_some() {
            let mut rows = Rows::default();
            for ((record, &rank), a) in all.by_ref().take(PIECE) {
                let own = match rank {
                    u32::MAX => Vec::new(),
                    _ => keys(a, record),
                };
                add_likely(&mut rows, own, None);
            }
            pieces.push(rows);
        }
        Likely::of(pieces)
    }

    fn fingerprints(&self, likely: Likely<u32>) -> Fingerprints {
        let lists = Lists::of(likely, self.ranks);
        if let Some(keeping) = self.keeping {
            keeping.lists(Part::Fingerprints, &lists);
        }
        let shared = Shared::by_numbers(lists, self.order.len());
        Fingerprints::of(self.records, self.order, shared)
    }

    /// Whom keys lead to.
    pub(crate) fn leading(&self, new: &[bool], lists: Lists<u64>) -> Leading<u64> {
        let reach = Reach::USUAL;
        // Whom a key leads to is known from the whole, or else counted here.
        let leads = |holding: Holding<'_, u64>| {
            let message = self.order[holding.rank as usize] as usize;
            match self.whole {
                Some(whole) => whole.leads(&self.records[message], holding.key()),
                None => reach.shows(holding.frequency, holding.place, new[message]),
            }
        };
        Shared::of(lists, self.order.len()).leading(reach.shown.max(reach.few) as usize, leads)
    }
}
