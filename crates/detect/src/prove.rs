//! Do kept messages say everything that this one says?
//!
//! Asked in the order that answers soonest. Most sentences that stand elsewhere stand there word for word, and the
//! records know which: no text is read for those. A sentence that no kept message has word for word is *hard*: it may
//! stand there misspelt, or cut otherwise, or nowhere. Hard sentences are looked for first, each in the few messages
//! most like to have it, and the first that is not found decides: the message stays. Only when every sentence has a place
//! are witnesses chosen, read as a whole, and the proof made.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::cmp::Reverse;
use std::sync::{Arc, MutexGuard, PoisonError};

use twicetold_index::Filter;
use twicetold_model::{Category, Witness};

use crate::align::find;
use crate::cache::{Reader, Writer};
use crate::check;
use crate::comparable::Comparable;
use crate::cover::{Held, category, combine, content, hold, proof, residue, witnesses};
use crate::hard::{Hard, Open};
use crate::keepset::{Kept, Walk};
use crate::memo::{Question as Asked, write_yes_or_no, yes_or_no};
use crate::options::Numbering;
use crate::proven::{Proven, read_proven, write_proven};
use crate::record::Told;
use crate::seldom::Detail;
use crate::shared::Leading;
use crate::versions::counterpart;

/// How many messages that share fingerprints are looked at for one message.
pub(crate) const CANDIDATES: usize = 12;
/// How many messages of its conversation are asked about a message of a few words.
const LOOKED_AT_IN_THREAD: usize = 4;
/// Of how many that have the rarest sentence all may have every sentence.
const COMMON: usize = 32;
/// In how many messages a hard sentence is looked for: those that share most of its pairs.
const LIKELY: usize = 4;
/// How many messages that have every sentence are read before several are tried together.
const SINGLES: usize = 4;
/// How many holders of a sentence are considered for a combined cover.
const HOLDERS: usize = 8;

/// A kept message that may have a sentence with some words altered.
struct Related<'s> {
    message: u32,
    /// How many sentences it has word for word.
    sentences: usize,
    /// Its word pairs: at hand, since every sentence is looked for in everybody's.
    pairs: &'s Filter,
}

/// One message, what is kept, and what has been found out so far.
struct Question<'q, 's> {
    walk: &'q Walk<'s>,
    kept: &'q Kept,
    a: u32,
    /// Its sentences and word pairs.
    detail: &'q Detail,
    /// For each sentence the number by which it is known who has it word for word, if it says something and others have it.
    numbers: Vec<Option<u32>>,
    /// A kept message that may not be asked.
    without: u32,
    /// Messages that may hold much of it, the best first, once they are asked for.
    likely: OnceCell<Vec<u32>>,
    /// These, and everybody who has a sentence of it word for word.
    related: OnceCell<Vec<Related<'s>>>,
    /// Hard sentences that were found: the sentence, and who has it.
    found: Vec<(usize, u32)>,
    /// A text could not be read.
    unread: Cell<bool>,
}

impl<'s> Walk<'s> {
    /// All word pairs of a message.
    fn pairs(&self, m: u32) -> &'s Filter {
        let said = &self.records[m as usize].said;
        said.pairs.get_or_init(|| self.aside.pairs(&said.seldom))
    }

    /// The messages that a key leads to, in the order of the walk.
    fn led_to(&self, leading: &Leading<u64>, key: u64) -> impl Iterator<Item = u32> {
        let ranks = leading.holders(key).iter();
        ranks.map(|&rank| self.order[rank as usize])
    }

    /// Whether word pairs may decide early. The shortcuts know stable pairs only.
    pub(crate) fn shortcuts(&self) -> bool {
        self.options.shortcuts && self.options.numbering == Numbering::Stable
    }

    /// Its sentences and word pairs; `None` if they cannot be read back.
    fn detail(&self, a: u32) -> Option<Cow<'_, Detail>> {
        self.aside.detail(&self.records[a as usize].said.seldom)
    }

    /// The checksum of a message's bytes.
    fn print(&self, m: u32) -> u128 {
        self.records[m as usize].print
    }

    fn lock_hard(&self) -> MutexGuard<'_, Hard> {
        self.hard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets which sentence of these messages nobody had.
    pub(crate) fn forget_missed(&self, messages: &[u32]) {
        let mut hard = self.lock_hard();
        for message in messages {
            hard.missed.remove(message);
        }
    }

    /// Tries to prove that kept messages other than `without` cover `a`.
    pub(crate) fn prove(&self, a: u32, kept: &Kept, without: u32) -> Option<Proven> {
        self.ask(a, kept, without, |mut question| question.answer())
    }

    /// Tries to prove that kept messages cover `a`, of which only those in `near` were not kept when it was asked last.
    pub(crate) fn prove_by(&self, a: u32, near: &[u32], kept: &Kept) -> Option<Proven> {
        if near.is_empty() {
            return None;
        }
        self.ask(a, kept, u32::MAX, |mut question| {
            let _ = question.likely.set(near.to_vec());
            // The sentence that nobody had then is looked for in the new ones only.
            if self.shortcuts() && question.misses_still(&question.hard()) {
                return None;
            }
            question.likely.take();
            question.related.take();
            question.answer()
        })
    }

    fn ask(
        &self,
        a: u32,
        kept: &Kept,
        without: u32,
        answer: impl FnOnce(Question<'_, '_>) -> Option<Proven>,
    ) -> Option<Proven> {
        let record = &self.records[a as usize];
        if record.is_empty() || (self.shortcuts() && self.new[a as usize]) {
            return None;
        }
        // It may have to be read back from a file: once is enough.
        let detail = self.detail(a)?;
        let number = |told: &Told| match told.is_content() {
            true => self.leads.sentences.number(told.hash),
            false => None,
        };
        answer(Question {
            detail: &detail,
            numbers: detail.told.iter().map(number).collect(),
            walk: self,
            kept,
            a,
            without,
            likely: OnceCell::new(),
            related: OnceCell::new(),
            found: Vec::new(),
            unread: Cell::new(false),
        })
    }

    /// Whether a message of a few words may mean the same in `b`: from the same sender on the same subject, or in the same
    /// conversation.
    fn may_witness(&self, a: u32, b: u32) -> bool {
        let x = &self.records[a as usize];
        let same_thread = || self.threads[a as usize] == self.threads[b as usize];
        let same_sender = || {
            let y = &self.records[b as usize];
            x.sender != 0 && x.sender == y.sender && x.topic == y.topic
        };
        !x.said.short || same_thread() || same_sender()
    }

    /// Whether a message of a few words means the same in the witness: the same sender on the same subject, or the same
    /// conversation and quoted there.
    fn in_context(&self, a: u32, text: &Comparable, held: &Held) -> bool {
        let (x, y) = (
            &self.records[a as usize],
            &self.records[held.message as usize],
        );
        let same_sender = x.sender != 0 && check::same_sender(text, &held.text);
        let same_topic = x.topic != 0 && x.topic == y.topic;
        let same_thread = self.threads[a as usize] == self.threads[held.message as usize];
        (same_sender && (same_topic || same_thread)) || (same_thread && held.quotes_own_text(text))
    }
}

impl<'s> Question<'_, 's> {
    fn answer(&mut self) -> Option<Proven> {
        let walk = self.walk;
        let record = &walk.records[self.a as usize];
        let hard = self.hard();
        if record.said.short && self.likely().is_empty() {
            return None;
        }
        if !hard.is_empty() {
            self.find_hard(&hard)?;
        }
        let mut pool: Vec<u32> = Vec::new();
        let found = self.found.iter().map(|&(_, b)| b);
        for b in found
            .chain(self.likely().iter().copied())
            .chain(self.of_the_rarest())
        {
            if !pool.contains(&b) {
                pool.push(b);
            }
        }
        let singles: Vec<u32> = pool.iter().copied().filter(|&b| self.has_all(b)).collect();
        let several = self.several(&mut pool);
        if singles.is_empty() && several.is_none() {
            return None;
        }
        let asked = || self.asked(&singles, several.as_deref(), &pool);
        // Messages have other numbers in the next scan: the answer names them by their place.
        let places = self.places(&singles, several.as_deref(), &pool);
        let place = |m: u32| places.iter().position(|&b| b == m).unwrap_or(usize::MAX);
        let write = |out: &mut Writer, proven: &Option<Proven>| write_proven(out, proven, place);
        let find = || {
            let proven = self.judge(&singles, several.as_deref(), &pool);
            (!self.unread.get()).then_some(proven)
        };
        let read = |from: &mut Reader<'_>| read_proven(from, &places);
        walk.memo.ask(asked, read, write, find)?
    }

    /// Reads the texts of those who seem to hold the message, and proves it.
    fn judge(&self, singles: &[u32], several: Option<&[u32]>, pool: &[u32]) -> Option<Proven> {
        let text = self.text(self.a)?;
        let mut held: Vec<Held> = Vec::new();
        for &b in singles.iter().take(SINGLES) {
            let Some(one) = self.hold(&text, b) else {
                continue;
            };
            if one.is_complete(&text)
                && let Some(proven) = self.conclude(&text, &[&one])
            {
                return Some(proven);
            }
            held.push(one);
        }
        self.together(&text, held, several?, pool)
    }

    /// The text of a message; notes if it can no longer be read.
    fn text(&self, m: u32) -> Option<Arc<Comparable>> {
        let text = self.walk.library.get(m);
        self.unread.set(self.unread.get() || text.is_none());
        text
    }

    /// Every message that [`Self::judge`] may ask, in a fixed order.
    fn places(&self, singles: &[u32], several: Option<&[u32]>, pool: &[u32]) -> Vec<u32> {
        let record = &self.walk.records[self.a as usize];
        let mut places: Vec<u32> = singles.iter().take(SINGLES).copied().collect();
        places.extend(several.unwrap_or_default());
        places.extend(pool.iter().take(SINGLES));
        places.extend(record.things().filter_map(|thing| self.holder(thing)));
        places
    }

    /// What [`Self::judge`] asks, and everything that the answer depends on.
    fn asked(&self, singles: &[u32], several: Option<&[u32]>, pool: &[u32]) -> Asked {
        let walk = self.walk;
        let record = &walk.records[self.a as usize];
        // Of a message of a few words it matters who is in the same conversation.
        let print = |&b: &u32| {
            let stranger =
                record.said.short && walk.threads[b as usize] != walk.threads[self.a as usize];
            walk.print(b) ^ u128::from(stranger)
        };
        let mut asked = Asked::new("covered")
            .of(walk.print(self.a))
            .with(walk.options.max_witnesses)
            .of_each(singles.iter().take(SINGLES).map(print))
            .with(usize::from(several.is_some()))
            .of_each(several.unwrap_or_default().iter().map(print))
            .of_each(pool.iter().take(SINGLES).map(print));
        for thing in record.things() {
            let holder = self.holder(thing);
            asked = asked
                .with(usize::from(holder.is_some()))
                .of(holder.as_ref().map_or(0, print));
        }
        asked
    }

    /// A kept message that has this attachment or link.
    fn holder(&self, thing: u64) -> Option<u32> {
        let mut holders = self.walk.led_to(&self.walk.leads.things, thing);
        holders.find(|&b| b != self.a && b != self.without && self.may_hold(b))
    }

    /// Whether a message may be asked.
    fn may_ask(&self, b: u32) -> bool {
        b != self.a && b != self.without && self.may_hold(b) && self.walk.may_witness(self.a, b)
    }

    /// Whether a message is kept, and stays at least as surely as this one.
    fn may_hold(&self, b: u32) -> bool {
        let permanence = |n: u32| self.walk.records[n as usize].permanence;
        self.kept.has(b) && permanence(b).can_hold(permanence(self.a))
    }

    /// The kept messages that have a sentence word for word, as far as it leads to them and they may be asked.
    fn holders(&self, sentence: usize) -> impl Iterator<Item = u32> {
        let sentences = &self.walk.leads.sentences;
        let ranks = self.numbers[sentence].map_or(&[][..], |number| sentences.numbered(number));
        let holders = ranks.iter().map(|&rank| self.walk.order[rank as usize]);
        holders.filter(|&b| self.may_ask(b))
    }

    /// The sentences that say something, by their numbers.
    fn content(&self) -> impl Iterator<Item = usize> {
        let told = self.detail.told.iter().enumerate();
        told.filter(|(_, t)| t.is_content()).map(|(n, _)| n)
    }

    /// Sentences that no kept message is known to have word for word.
    fn hard(&self) -> Vec<usize> {
        self.content()
            .filter(|&n| !self.detail.told[n].answers())
            .filter(|&n| self.holders(n).next().is_none())
            .collect()
    }

    fn likely(&self) -> &[u32] {
        self.likely.get_or_init(|| self.likely_messages())
    }

    /// The messages that share most fingerprints with this one; for one of a few words, which may have no fingerprint in
    /// a message that quotes it, those of its conversation besides: first the ones that answer it.
    fn likely_messages(&self) -> Vec<u32> {
        let walk = self.walk;
        let record = &walk.records[self.a as usize];
        let mut likely = walk.near(self.a, CANDIDATES, |b| self.may_ask(b));
        if record.said.short {
            let id = record.id;
            let answers = |b: &u32| {
                id.is_some_and(|id| walk.records[*b as usize].references.contains(&id.get()))
            };
            let own = walk
                .leads
                .conversations
                .keys(walk.ranks[self.a as usize])
                .iter();
            let ranks = own.flat_map(|&number| walk.leads.conversations.numbered(number));
            let mut members: Vec<u32> = ranks
                .map(|&rank| walk.order[rank as usize])
                .filter(|b| self.may_ask(*b) && !likely.contains(b))
                .collect();
            members.sort_by_key(|b| !answers(b));
            members.truncate(LOOKED_AT_IN_THREAD);
            likely.extend(members);
        }
        likely
    }

    /// Looks for each hard sentence; `None` if one is nowhere to be found.
    fn find_hard(&mut self, hard: &[usize]) -> Option<()> {
        if self.misses_still(hard) {
            return None;
        }
        let detail = self.detail;
        // Who is to be asked about each, before anyone is: nobody about one decides.
        let mut asked: Vec<(Open<'_>, Vec<u32>)> = Vec::with_capacity(hard.len());
        for unit in Open::of(detail, |n| hard.binary_search(&n).is_ok()) {
            let holders = self.likely_holders(unit);
            if holders.is_empty() {
                return self.give_up(unit);
            }
            asked.push((unit, holders));
        }
        // The fewest to ask first.
        asked.sort_by_key(|(unit, holders)| (holders.len(), unit.number));
        for (unit, holders) in asked {
            let mut holders = holders.into_iter();
            match holders.find(|&b| self.stands_in(unit.number, b)) {
                Some(holder) => self.found.push((unit.number, holder)),
                None => return self.give_up(unit),
            }
        }
        Some(())
    }

    /// Remembers which sentence nobody has.
    fn give_up(&self, unit: Open<'_>) -> Option<()> {
        let mut hard = self.walk.lock_hard();
        hard.missed.insert(self.a, unit.number as u32);
        None
    }

    /// Whether the sentence that nobody had before is one that nobody has now.
    fn misses_still(&self, hard: &[usize]) -> bool {
        let missed = self.walk.lock_hard().missed.get(&self.a).copied();
        let missed = missed.filter(|&n| hard.binary_search(&(n as usize)).is_ok());
        missed.is_some_and(|missed| {
            Open::of(self.detail, |n| n == missed as usize).all(|unit| {
                let mut holders = self.likely_holders(unit).into_iter();
                !holders.any(|b| self.stands_in(unit.number, b))
            })
        })
    }

    /// Whether a sentence stands in `b`.
    fn stands_in(&self, number: usize, b: u32) -> bool {
        let walk = self.walk;
        let place = (self.a, number as u32, b);
        if walk.lock_hard().absent.contains(&place) {
            return false;
        }
        let asked = || {
            let sentence = Asked::new("stands").of(walk.print(self.a)).with(number);
            sentence.of(walk.print(b))
        };
        let stands = walk.memo.ask(asked, yes_or_no, write_yes_or_no, || {
            let (text, there) = (walk.library.get(self.a)?, walk.library.get(b)?);
            let unit = text.units.get(number)?;
            Some(find(&text, unit, &there, None).is_some())
        });
        if stands == Some(false) {
            walk.lock_hard().absent.insert(place);
        }
        stands == Some(true)
    }

    /// The kept messages that may have a sentence: those with nearly all of its pairs, most first.
    fn likely_holders(&self, unit: Open<'_>) -> Vec<u32> {
        // How many it has, as long as it can have enough.
        let count = |pairs: &Filter| {
            let has = |&number: &u32| pairs.may_contain(u64::from(number));
            if !unit.facts.iter().all(has) {
                return None;
            }
            let mut missing = 0;
            for pair in unit.pairs {
                missing += usize::from(!has(pair));
                if missing + unit.least > unit.pairs.len() {
                    return None;
                }
            }
            let count = unit.pairs.len() - missing;
            let is_like = count > 0 || unit.pairs.is_empty();
            is_like.then_some(count)
        };
        let related = self.related().iter();
        let mut holders: Vec<(usize, usize, u32)> = related
            .filter_map(|one| Some((count(one.pairs)?, one.sentences, one.message)))
            .collect();
        // Of those that have as many of its pairs, whoever has most of the message.
        holders.sort_unstable_by_key(|&(n, sentences, b)| (Reverse((n, sentences)), b));
        holders.truncate(LIKELY);
        holders.into_iter().map(|(_, _, b)| b).collect()
    }

    /// Everybody who may have a sentence with some words altered, sorted: who has one of the others word for word, or much of all of it.
    fn related(&self) -> &[Related<'s>] {
        self.related.get_or_init(|| {
            let mut related: Vec<u32> = self.content().flat_map(|n| self.holders(n)).collect();
            related.extend_from_slice(self.likely());
            related.sort_unstable();
            let each = related.chunk_by(|a, b| a == b);
            each.map(|same| Related {
                message: same[0],
                sentences: same.len(),
                pairs: self.walk.pairs(same[0]),
            })
            .collect()
        })
    }

    /// Those who have the sentence that fewest kept messages have: who has every sentence is among them.
    fn of_the_rarest(&self) -> Vec<u32> {
        let lists = self.content().map(|n| (self.holders(n).count(), n));
        let rarest = lists.filter(|(count, _)| *count > 0).min_by_key(|l| l.0);
        let holders = rarest.map(|(_, n)| self.holders(n).take(COMMON));
        holders.into_iter().flatten().collect()
    }

    /// Whether `b` is known to have a sentence.
    fn has(&self, b: u32, n: usize) -> bool {
        let keys = || self.walk.leads.sentences.keys(self.walk.ranks[b as usize]);
        self.numbers[n].is_some_and(|number| keys().binary_search(&number).is_ok())
            || self.found.contains(&(n, b))
    }

    fn has_all(&self, b: u32) -> bool {
        self.content().all(|n| self.has(b, n))
    }

    /// Messages that have every sentence together, as far as the records know; what an answer answers is left to the
    /// proof.
    fn several(&self, pool: &mut Vec<u32>) -> Option<Vec<u32>> {
        let all = &self.detail.told;
        let mut open: Vec<usize> = self.content().filter(|&n| !all[n].answers()).collect();
        let mut chosen: Vec<u32> = Vec::new();
        let gain = |b: u32, open: &[usize]| -> u32 {
            let has = open.iter().filter(|&&n| self.has(b, n));
            has.map(|&n| all[n].len()).sum()
        };
        while let Some(&first) = open.first() {
            // The first of equally good ones: the pool has a fixed order.
            let best = pool.iter().rev().max_by_key(|&&b| gain(b, &open)).copied();
            let Some(best) = best.filter(|&b| gain(b, &open) > 0) else {
                let holders = self.holders(first);
                let fresh = holders.filter(|b| !pool.contains(b));
                let fresh: Vec<u32> = fresh.take(HOLDERS).collect();
                if fresh.is_empty() {
                    return None;
                }
                pool.extend(fresh);
                continue;
            };
            if chosen.len() == self.walk.options.max_witnesses {
                return None;
            }
            chosen.push(best);
            open.retain(|&n| !self.has(best, n));
        }
        (!chosen.is_empty() || !pool.is_empty()).then_some(chosen)
    }

    /// Reads the chosen messages, and a few more if they do not suffice, and proves what they hold together.
    fn together(
        &self,
        text: &Arc<Comparable>,
        mut held: Vec<Held>,
        chosen: &[u32],
        pool: &[u32],
    ) -> Option<Proven> {
        let most = self.walk.options.max_witnesses;
        for &b in chosen {
            if held.iter().all(|h| h.message != b) {
                held.extend(self.hold(text, b));
            }
        }
        let mut more = pool.iter().take(SINGLES);
        let chosen = loop {
            if let Some(chosen) = combine(text, &held, most) {
                break chosen;
            }
            let &b = more.find(|&&b| held.iter().all(|h| h.message != b))?;
            held.extend(self.hold(text, b));
        };
        let chosen: Vec<&Held> = chosen.into_iter().map(|n| &held[n]).collect();
        if chosen.len() > 1 && chosen.iter().any(|one| contradicts(text, one)) {
            return None;
        }
        self.conclude(text, &chosen)
    }

    /// What `b` holds of the message, if it may be a witness for it at all.
    fn hold(&self, text: &Comparable, b: u32) -> Option<Held> {
        let held = hold(text, b, self.text(b)?);
        let short = self.walk.records[self.a as usize].said.short;
        (!short || self.walk.in_context(self.a, text, &held)).then_some(held)
    }

    /// The last questions: attachments, links, facts outside the text, and the proof itself.
    fn conclude(&self, text: &Comparable, chosen: &[&Held]) -> Option<Proven> {
        let records = self.walk.records;
        let record = &records[self.a as usize];
        let has = |thing: u64| {
            chosen.iter().any(|h| {
                let witness = &records[h.message as usize];
                witness.said.attachments.binary_search(&thing).is_ok() || h.text.has_fact(thing)
            })
        };
        if record.subject_facts.iter().any(|&fact| !has(fact)) {
            return None;
        }
        let mut holders: Vec<u32> = Vec::new();
        for thing in record.things() {
            if !has(thing) {
                holders.push(self.holder(thing)?);
            }
        }
        holders.sort_unstable();
        holders.dedup();
        let proof = proof(text, chosen);
        let texts: Vec<&Comparable> = chosen.iter().map(|h| h.text.as_ref()).collect();
        if !check::holds(text, &texts, &proof) {
            return None;
        }
        let mut witnesses = witnesses(text, chosen);
        let category = if holders.is_empty() {
            category(text, chosen)
        } else {
            Category::Combined
        };
        for holder in holders {
            if witnesses.iter().all(|w| w.message != holder) {
                let containment = self.hold(text, holder).map_or(0, |h| h.words(text)) as f64
                    / text.says().max(1) as f64;
                witnesses.push(Witness {
                    message: holder,
                    containment,
                });
            }
        }
        Some(Proven {
            category,
            witnesses,
            residue: residue(text, chosen),
        })
    }
}

/// Whether a witness of a combined cover says something else where it does not say what the message says: another order
/// number in the same sentence. Facts put together from such witnesses would no longer belong together.
pub(crate) fn contradicts(text: &Comparable, held: &Held) -> bool {
    content(text)
        .filter(|&(n, _)| held.places[n].is_none())
        .filter_map(|(_, unit)| Some((unit, counterpart(text, unit, &held.text)?)))
        .any(|(unit, (same, differs_in_fact))| differs_in_fact && same * 3 >= unit.len() * 2)
}
