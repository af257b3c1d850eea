//! What the last scan decided, as far as it holds still.
//!
//! What was decided about a message rests on whom its keys lead to, and on what was decided about those before it was asked. Where all of that is as it was, so is
//! the decision. Where it is not, the message is asked again; and if something else comes out, so are those who may see it.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::FixedState;
use twicetold_model::{Standing, Verdict, Witness};

use super::Members;
use crate::cache::{Course, Judged};
use crate::keepset::{BATCH, Kept, Outcome, Walk};
use crate::near::Nearby;
use crate::proven::Proven;
use crate::scan::ScannedMessage;
use crate::versions::Nearness;

/// What the last scan decided about the messages that are still there. All are known by their numbers in this scan.
pub(crate) struct Before {
    /// What the last scan decided about its messages. Witnesses have their numbers in this scan.
    judged: Vec<Judged>,
    /// For each message of this scan its number in the last one.
    were: Vec<Option<u32>>,
    /// For each message its place in the last walk and what the first walk decided; `None` if it was not asked.
    outcomes: Vec<Option<(u32, Outcome)>>,
    /// What the first walk had decided where the second one decided otherwise.
    first: HashMap<u32, Option<Proven>, FixedState>,
    /// For each message whether what the first walk kept might cover it.
    hopeful: Vec<bool>,
    /// For each message whether it is asked again.
    asked: Vec<bool>,
    /// Of which others have been told already that something else was decided.
    told: Vec<bool>,
}

impl Before {
    /// What the last scan found, on the way that it took. `now` has for each of its messages the number in this scan, and `asked` says of which
    /// messages it does not hold.
    pub(super) fn of(
        mut judged: Vec<Judged>,
        course: Course,
        now: &[u32],
        members: Members,
        mut asked: Vec<bool>,
    ) -> Self {
        let count = members.were.len();
        let renumber = |witnesses: &mut [Witness]| {
            let mut all_there = true;
            for witness in witnesses {
                witness.message = now[witness.message as usize];
                all_there &= witness.message != u32::MAX;
            }
            all_there
        };
        let mut outcomes = vec![None; count];
        for ((&a, outcome), place) in course.order.iter().zip(course.outcomes).zip(0..) {
            if let Some(known) = outcomes.get_mut(now[a as usize] as usize) {
                *known = Some((place, outcome));
            }
        }
        let mut hopeful = vec![false; count];
        for a in course.hopeful {
            if let Some(hopeful) = hopeful.get_mut(now[a as usize] as usize) {
                *hopeful = true;
            }
        }
        let mut first: HashMap<u32, Option<Proven>, FixedState> = HashMap::default();
        for (a, mut proven) in course.before {
            let a = now[a as usize];
            if a != u32::MAX {
                let all_there = proven.as_mut().is_none_or(|p| renumber(&mut p.witnesses));
                asked[a as usize] |= !all_there;
                first.insert(a, proven);
            }
        }
        for (judged, &n) in judged.iter_mut().zip(now) {
            // Whoever rests on a message that is not there is asked, whatever else.
            let all_there = renumber(&mut judged.verdict.witnesses);
            if let Some(asked) = asked.get_mut(n as usize) {
                *asked |= !all_there;
            }
        }
        Self {
            told: vec![false; count],
            judged,
            were: members.were,
            outcomes,
            first,
            hopeful,
            asked,
        }
    }

    /// What the last scan decided about a message.
    fn last(&self, a: u32) -> Option<&Judged> {
        let was = self.were[a as usize]?;
        self.judged.get(was as usize)
    }

    /// What the first walk decided about a message, if that holds still.
    pub(crate) fn outcome(&self, a: u32) -> Option<Outcome> {
        let (_, outcome) = self.outcomes[a as usize].filter(|_| !self.asked[a as usize])?;
        Some(outcome)
    }

    /// Why the first walk let a message go.
    pub(crate) fn proof(&self, a: u32) -> Option<Proven> {
        if let Some(first) = self.first.get(&a) {
            return first.clone();
        }
        let verdict = &self.last(a)?.verdict;
        match verdict.standing {
            Standing::Redundant(category) => Some(Proven {
                category,
                witnesses: verdict.witnesses.clone(),
                residue: verdict.residue.clone(),
            }),
            _ => None,
        }
    }

    /// Whether what the first walk kept may cover a message; `None` if that has to be asked.
    pub(crate) fn is_hopeful(&self, a: u32) -> Option<bool> {
        let known = self.outcome(a).is_some();
        known.then(|| self.hopeful[a as usize])
    }

    /// Whether a message was found to be a copy of `first`; `None` if they have not been compared.
    pub(crate) fn is_copy(&self, message: u32, first: u32) -> Option<bool> {
        // Only one that was asked stood for others.
        self.outcomes[first as usize]?;
        let was = self.outcomes[message as usize].is_none();
        let last = self.last(message).filter(|_| was)?;
        Some(matches!(last.verdict.standing, Standing::Redundant(_)))
    }

    /// What a message that is kept shares with the kept message nearest to it, `None` if that has to be asked. Told once.
    pub(crate) fn take_nearness(&mut self, a: u32) -> Option<Option<Nearness>> {
        self.outcome(a)?;
        let was = self.were[a as usize]?;
        let last = self.judged.get_mut(was as usize)?;
        let is_version = last.verdict.standing == Standing::Version;
        if !is_version && last.verdict.residue.is_empty() {
            return Some(None);
        }
        let witnesses = std::mem::take(&mut last.verdict.witnesses);
        Some(Some(Nearness {
            version_of: witnesses.into_iter().next().filter(|_| is_version),
            residue: std::mem::take(&mut last.verdict.residue),
            shown: std::mem::take(&mut last.residue),
        }))
    }

    /// The words of each residue of a message, if its residue is what it was.
    pub(crate) fn residue(&self, a: u32, verdict: &Verdict) -> Option<Vec<String>> {
        let last = self.last(a)?;
        (last.verdict.residue == verdict.residue).then(|| last.residue.clone())
    }

    /// For each message, of those that the last scan found, the one it was; `None` if it was not there.
    pub(crate) fn messages_of(
        self,
        last: Vec<ScannedMessage>,
    ) -> impl Iterator<Item = Option<ScannedMessage>> {
        // Both are in the order of their places.
        let mut last = (0..).zip(last);
        let mut find = move |was: u32| last.find(|(n, _)| *n == was).map(|(_, message)| message);
        self.were.into_iter().map(move |was| find(was?))
    }

    /// About how many messages nobody had to be asked.
    pub(crate) fn settled(&self) -> u64 {
        let known = self.were.iter().zip(&self.asked);
        known
            .filter(|(was, asked)| was.is_some() && !**asked)
            .count() as u64
    }

    /// Before the walk: a message that is in another batch than it was is asked again, and so are those of either batch who may see it.
    pub(crate) fn begin(&mut self, walk: &Walk<'_>) {
        let batch = |place: u32| place as usize / BATCH;
        let moved = (0_u32..).zip(walk.order).filter_map(|(rank, &a)| {
            let (was, _) = self.outcomes[a as usize]?;
            let (was, is) = (batch(was), batch(rank));
            (was != is).then_some((was, is, a))
        });
        let moved: Vec<(usize, usize, u32)> = moved.collect();
        // Those who went from one batch to another stand one behind the other.
        for group in moved.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (was, is, _) = group[0];
            let group: Vec<u32> = group.iter().map(|one| one.2).collect();
            for &a in &group {
                self.asked[a as usize] = true;
            }
            // No more have come or gone than a batch holds: those that were in its batch are in one beside it.
            let from = was.min(is).saturating_sub(1) * BATCH;
            let to = ((was.max(is) + 2) * BATCH).min(walk.order.len());
            let Self {
                outcomes, asked, ..
            } = self;
            who_sees(walk, &group, from..to, |seer| {
                let b = walk.order[seer as usize] as usize;
                let then = outcomes[b].map(|(place, _)| batch(place));
                asked[b] |= then == Some(was) || batch(seer) == is;
            });
        }
    }

    /// Compares what was decided about a batch with what had been decided, and has those asked who may see a difference. Whether some of
    /// this batch are among them that were not asked.
    pub(crate) fn note(&mut self, walk: &Walk<'_>, batch: &[u32], decided: &[Outcome]) -> bool {
        let mut changed = Vec::new();
        for (&a, &decided) in batch.iter().zip(decided) {
            let before = self.outcomes[a as usize].map(|(_, outcome)| outcome);
            if before.is_some_and(|before| before != decided) && !self.told[a as usize] {
                self.told[a as usize] = true;
                changed.push(a);
            }
        }
        let asked = |before: &Self| batch.iter().filter(|&&a| before.asked[a as usize]).count();
        let count = asked(self);
        self.ask_who_sees(walk, &changed);
        asked(self) > count
    }

    /// After both walks: whoever may see a message that is kept and was not, or is not and was, is asked what it shares with others.
    pub(crate) fn settle(&mut self, walk: &Walk<'_>, kept: &Kept) {
        let was_kept = |last: &Judged| !matches!(last.verdict.standing, Standing::Redundant(_));
        let changed: Vec<u32> = walk
            .order
            .iter()
            .copied()
            .filter(|&a| {
                let last = self.last(a);
                last.is_some_and(|last| was_kept(last) != kept.has(a))
            })
            .collect();
        for &a in &changed {
            self.asked[a as usize] = true;
        }
        self.ask_who_sees(walk, &changed);
    }

    fn ask_who_sees(&mut self, walk: &Walk<'_>, changed: &[u32]) {
        let asked = &mut self.asked;
        who_sees(walk, changed, 0..walk.order.len(), |rank| {
            asked[walk.order[rank as usize] as usize] = true;
        });
    }
}

/// The places, as far as they are in this part of the walk, of those who may see one of these messages when they are asked: all of them, and some more.
fn who_sees(walk: &Walk<'_>, seen: &[u32], part: Range<usize>, mut each: impl FnMut(u32)) {
    if seen.is_empty() {
        return;
    }
    let ranks: Vec<u32> = seen.iter().map(|&a| walk.ranks[a as usize]).collect();
    if let Nearby::Counted(fingerprints) = &walk.leads.nearby {
        for &rank in &ranks {
            fingerprints.who_finds(rank, |seer| {
                if part.contains(&(seer as usize)) {
                    each(seer);
                }
            });
        }
    }
    for leading in [
        &walk.leads.sentences,
        &walk.leads.things,
        &walk.leads.conversations,
    ] {
        let mut numbers: Vec<u32> = Vec::new();
        for &rank in &ranks {
            let own = leading.keys(rank).iter().copied();
            numbers.extend(own.filter(|&n| leading.numbered(n).binary_search(&rank).is_ok()));
        }
        if numbers.is_empty() {
            continue;
        }
        numbers.sort_unstable();
        numbers.dedup();
        for rank in part.clone() {
            let mut own = leading.keys(rank as u32).iter();
            if own.any(|number| numbers.binary_search(number).is_ok()) {
                each(rank as u32);
            }
        }
    }
}
