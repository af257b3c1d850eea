//! A few messages have come or gone: what has to be asked again?
//!
//! A scan whose mail is that of the last one with a few messages more or less does not count everything anew. `came` finds what came, what stands where it stood, and what is gone. What the last scan
//! kept of how its messages are related is loaded; `gone` counts anew what those had that are gone; `watched` says who has something of what those have that came, `merge` puts them into the lists of who has what, and `asked` says
//! for whom a list leads to others than it did. From there the walk goes as ever, but what was decided `before` is asked again only where something is different. The
//! verdicts are those of a whole scan.

mod asked;
mod before;
mod came;
mod gone;
mod merge;
#[cfg(test)]
mod tests;
mod watched;

use rayon::prelude::*;
use twicetold_index::{Seen, Times, Twice};
use twicetold_methods::winnow::Winnow;
use twicetold_source::Collection;

use crate::aside::{Aside, Stored};
use crate::cache::{Course, Judged, Keeping, Opened, Part, Unchanged};
use crate::hard::tells_news;
use crate::leads::{Leads, Told};
use crate::near::{Fingerprints, Nearby};
use crate::options::{Numbering, Options};
use crate::part::pairs_in;
use crate::placed::Placed;
use crate::progress::{Progress, Stage};
use crate::proven::Proven;
use crate::record::Record;
use crate::scan::{Ready, troubles};
use crate::seldom::Detail;
use crate::shared::{Lists, Shared};
use asked::Asked;
use came::{Came, Changes, Uncounted};
use gone::{Gone, recounted};
use merge::{Merged, merged};

pub(crate) use before::Before;
pub(crate) use watched::Watched;

/// How many records one thread loads at a time,
const LOADED: usize = 1024;
/// and how many times as many are under way.
const LOADING: usize = 16;
/// If more than this have something of what came or is gone, it takes less time to ask everybody.
const LOOKED_AT: usize = 1024;

/// What the last scan left, and what came since: everything that is known before anybody is asked. `None` if everything has to be counted anew.
pub(crate) fn amended(
    cache: &mut Opened,
    unchanged: &Unchanged,
    collection: &Collection,
    options: &Options,
    progress: &dyn Progress,
) -> Option<Ready<'static>> {
    let related = cache.related()?;
    let slots = Twice::bits_for(pairs_in(collection.total_bytes()));
    if options.numbering != Numbering::Stable || !cache.was_asked(options) {
        return None;
    }
    progress.begin(Stage::Reading, collection.total_bytes());
    // Splitting a mailbox leaves threads time: what was related is loaded beside it.
    let changes = || Changes::since(cache, unchanged, collection, options, progress);
    let fingerprints = || related.lists::<u32>(Part::Fingerprints);
    let others = || {
        let sentences = related.lists::<u64>(Part::Sentences)?;
        Some((sentences, related.pairs()?, related.course()?))
    };
    let (changes, (fingerprints, others)) =
        rayon::join(changes, || rayon::join(fingerprints, others));
    let Changes {
        stay,
        places,
        mut came,
        gone,
        before,
        known,
    } = changes?;
    cache.forget_files();
    let cache = &*cache;
    let (fingerprints, (sentences, seen, course)) = (fingerprints?, others?);
    if seen.slots() != slots || !fits(&course, before) {
        return None;
    }
    let mut amending = Amending {
        winnow: Winnow {
            window: options.window,
        },
        seen,
        fingerprints,
        sentences,
        course,
    };
    let gone = Gone::of(&gone, cache)?;
    let fallen = match gone.is_empty() {
        true => Vec::new(),
        false => recounted(&gone, &places, &came, cache, &mut amending.seen)?,
    };
    let mut watched = amending.watched(&came);
    fallen.iter().for_each(|&slot| watched.add_number(slot));
    let mut uncounted = Uncounted::of(&mut came);
    // Records in the order of their places; those that came between those that stay.
    let mut records = Vec::with_capacity(stay.len() + came.len());
    let mut members = Members::default();
    let remembered = stay.len() as u64 + known;
    let mut coming = came.into_iter().map(|one| one.record).peekable();
    let mut numbers = stay.into_iter();
    for some in places.chunks(LOADED * LOADING) {
        let loaded: Vec<Vec<Option<(Record, bool)>>> = some
            .par_chunks(LOADED)
            .map(|some| cache.at_hand(some, &watched))
            .collect();
        for (one, number) in loaded.into_iter().flatten().zip(numbers.by_ref()) {
            let (record, has_some) = one?;
            while let Some(one) = coming.next_if(|one| one.location < record.location) {
                members.push(None, true);
                records.push(one);
            }
            uncounted.meet(&record, cache)?;
            members.push(Some(number), has_some);
            records.push(record);
        }
    }
    for one in coming {
        members.push(None, true);
        records.push(one);
    }
    drop(places);
    if members.looked_at.iter().filter(|&&again| again).count() > LOOKED_AT {
        return None;
    }
    uncounted.count(&mut amending.seen);
    progress.begin(Stage::Relating, records.len() as u64);
    let placed = Placed::of(&records, options, None);
    let aside = Aside::beyond(u64::MAX).beside(cache.records());
    let told = placed.told(&records, &aside, options);
    let judged = || cache.last_judged(options);
    let (leads, new, before) = amending.relate(&told, members, &gone, cache.keeping(), judged)?;
    Some(Ready {
        records,
        troubles: troubles(collection),
        aside,
        remembered,
        placed,
        leads,
        new,
        before: Some(before),
        whole: None,
    })
}

/// Whether all of this is about the same messages: so many.
fn fits(course: &Course, count: usize) -> bool {
    let below = |numbers: &[u32]| numbers.iter().all(|&n| (n as usize) < count);
    let witnesses = |proven: &Option<Proven>| {
        let mut all = proven.iter().flat_map(|proven| &proven.witnesses);
        all.all(|witness| (witness.message as usize) < count)
    };
    course.threads.len() == count
        && course.new.len() == count
        && course.outcomes.len() == course.order.len()
        && course.outcomes.iter().all(|outcome| outcome.is_possible())
        && below(&course.order)
        && below(&course.threads)
        && below(&course.hopeful)
        && course
            .before
            .iter()
            .all(|(&n, proven)| below(&[n]) && witnesses(proven))
}

/// The messages of this scan and what they were in the last one.
#[derive(Default)]
pub(super) struct Members {
    /// For each its number in the last scan.
    pub(super) were: Vec<Option<u32>>,
    /// For each whether it is looked at again: it came, or it has something of what those have that came, or had that are gone.
    pub(super) looked_at: Vec<bool>,
}

impl Members {
    fn push(&mut self, was: Option<u32>, looked_at: bool) {
        self.were.push(was);
        self.looked_at.push(looked_at);
    }

    /// For each message of the last scan, so many, its number in this one; `u32::MAX` if it is not there.
    fn now(&self, count: usize) -> Vec<u32> {
        let mut now = vec![u32::MAX; count];
        for (n, was) in (0..).zip(&self.were) {
            if let Some(was) = was {
                now[*was as usize] = n;
            }
        }
        now
    }
}

/// What the last scan left.
struct Amending {
    winnow: Winnow,
    /// Which word pairs were seen, with those that came.
    seen: Seen,
    fingerprints: Lists<u32>,
    sentences: Lists<u64>,
    course: Course,
}

impl Amending {
    /// What has to be looked for in all messages: what one message had that one has which came, so that it is no longer alone with it.
    fn watched(&self, came: &[Came]) -> Watched {
        let mut watched = Watched::new(self.seen.slots());
        for one in came {
            for &pair in &one.pairs {
                // What only moved was counted before.
                if !one.moved && self.seen.times(u64::from(pair)) == Times::Once {
                    watched.add_number(pair);
                }
            }
            let Stored::Here(seldom) = &one.record.said.seldom else {
                continue;
            };
            for fingerprint in seldom.detail.fingerprints(self.winnow) {
                if self.fingerprints.keys.binary_search(&fingerprint).is_err()
                    && self.seen.times(u64::from(fingerprint)) != Times::Never
                {
                    watched.add_number(fingerprint);
                }
            }
            for told in &seldom.detail.told {
                if self.sentences.keys.binary_search(&told.hash).is_err() {
                    watched.add_sentence(told.hash);
                }
            }
        }
        watched
    }

    /// Whether a message holds a fact or a run of words that no other has.
    fn is_new(&self, record: &Record, detail: &Detail) -> bool {
        let single = |numbers: &[u32]| {
            let alone = |&&number: &&u32| !self.seen.contains(u64::from(number));
            numbers.iter().filter(alone).count()
        };
        single(&record.said.facts) > 0 || tells_news(detail, single)
    }

    /// Who is related to whom now, which is kept for the next scan, and who has to be asked again. `None` if everything has to be counted anew.
    fn relate(
        self,
        told: &Told<'_>,
        members: Members,
        gone: &[Gone],
        keeping: Option<&Keeping>,
        judged: impl FnOnce() -> Option<Vec<Judged>> + Send,
    ) -> Option<(Leads, Vec<bool>, Before)> {
        let Self {
            seen,
            fingerprints,
            sentences,
            course,
            ..
        } = &self;
        let now = members.now(course.threads.len());
        // For each place in the last walk that in this one.
        let rank_now = |&was: &u32| match now[was as usize] {
            u32::MAX => u32::MAX,
            n => told.ranks[n as usize],
        };
        let ranks: Vec<u32> = course.order.iter().map(rank_now).collect();
        let was_asked = course.were_asked();
        // One that stood behind another and now stands for itself has keys that nobody has looked for.
        let stood_behind = |&a: &u32| {
            let was = members.were[a as usize];
            was.is_some_and(|was| !was_asked[was as usize])
        };
        if told.order.iter().any(stood_behind) {
            return None;
        }
        let was_new = |was: &Option<u32>| was.is_some_and(|was| course.new[was as usize]);
        let mut new: Vec<bool> = members.were.iter().map(was_new).collect();
        let mut newness_changed = Vec::new();
        let (mut more_fingerprints, mut more_sentences) = (Vec::new(), Vec::new());
        for n in (0..told.records.len()).filter(|&n| members.looked_at[n]) {
            let (record, rank) = (&told.records[n], told.ranks[n]);
            let detail = told.aside.detail(&record.said.seldom)?;
            let is_new = self.is_new(record, &detail);
            if members.were[n].is_some() && is_new != new[n] {
                newness_changed.push(n as u32);
            }
            new[n] = is_new;
            if rank != u32::MAX {
                let own = detail.fingerprints(self.winnow).into_iter();
                let own = own.filter(|&key| seen.contains(u64::from(key)));
                more_fingerprints.extend(own.map(|key| (key, rank)));
                more_sentences.extend(detail.told.iter().map(|told| (told.hash, rank)));
            }
        }
        let (by_fingerprint, by_sentence) = rayon::join(
            || merged(fingerprints, &ranks, more_fingerprints),
            || merged(sentences, &ranks, more_sentences),
        );
        let (by_fingerprint, by_sentence) = (by_fingerprint?, by_sentence?);
        let Self {
            seen,
            course,
            fingerprints,
            sentences,
            ..
        } = self;
        drop((fingerprints, sentences));
        let keep = || {
            if let Some(keeping) = keeping {
                keeping.seen(seen);
                keeping.lists(Part::Fingerprints, &by_fingerprint.lists);
                keeping.lists(Part::Sentences, &by_sentence.lists);
            }
        };
        let count = told.order.len();
        let (of, ()) = rayon::join(|| by_fingerprint.lists.holders.turned(count), keep);
        let mut asked = Asked::new(
            told,
            &members,
            &course,
            &now,
            &ranks,
            &new,
            &newness_changed,
        );
        asked.by_conversations();
        asked.by_things(gone);
        asked.by_sentences(&by_sentence);
        let Merged { lists, touched } = by_fingerprint;
        let nearby = || {
            let shared = Shared::without_keys(lists.holders, of);
            let counted = Fingerprints::of(told.records, told.order, shared);
            asked.by_fingerprints(&touched, &counted);
            (Nearby::Counted(Box::new(counted)), asked.again)
        };
        let others = || {
            let sentences = told.leading(&new, by_sentence.lists);
            let things = told.leading(&new, Lists::of(told.things(), told.ranks));
            let conversations = told.leading(&new, Lists::of(told.conversations(), told.ranks));
            (sentences, things, conversations, judged())
        };
        let ((nearby, again), others) = rayon::join(nearby, others);
        let (sentences, things, conversations, judged) = others;
        let judged = judged.filter(|judged| judged.len() == now.len())?;
        let leads = Leads {
            nearby,
            sentences,
            things,
            conversations,
        };
        let before = Before::of(judged, course, &now, members, again);
        Some((leads, new, before))
    }
}
