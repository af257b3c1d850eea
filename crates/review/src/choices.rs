//! Who stays and who goes.
//!
//! Begins as the scan decided. The user may change it, and one thing holds after every change: each message that goes
//! rests on messages that stay, which hold everything it says. A choice for which that cannot be proved is refused, with what would be lost.

use std::collections::{BTreeMap, BTreeSet};

use twicetold_detect::{Cover, Lost, Scan};
use twicetold_model::{Category, Standing, Verdict, Witness};

use crate::catalogue::Catalogue;

/// How many messages that rest on one that is to go are proved anew for one choice.
const MOST_RESTING: usize = 2_000;
/// How many messages that stay are asked whether they hold a message.
const MOST_ASKED: usize = 48;
/// How many choices can be taken back.
const MOST_STEPS: usize = 1_000;

/// Somebody who can tell whether these messages hold everything that one says.
pub(crate) type Ask<'a> = &'a dyn Fn(u32, &[u32]) -> Result<Cover, Lost>;

/// Why a message goes: in which way, and what holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Basis {
    pub(crate) category: Category,
    pub(crate) witnesses: Vec<Witness>,
}

/// A choice that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The message that was to go.
    pub(crate) chosen: u32,
    /// What would be lost, of it or of a message that rests on it.
    pub(crate) lost: Lost,
}

/// The choices.
#[derive(Debug)]
pub(crate) struct Choices {
    /// Whether each message goes.
    gone: Vec<bool>,
    /// Where messages rest on others than in the scan.
    moved: BTreeMap<u32, Basis>,
    /// The messages that go, under each message they rest on.
    resting: BTreeMap<u32, BTreeSet<u32>>,
    /// What each choice replaced, the latest last.
    steps: Vec<Vec<(u32, Option<Basis>)>>,
}

impl Choices {
    /// As the scan decided.
    pub(crate) fn of(scan: &Scan) -> Self {
        let mut choices = Self {
            gone: vec![false; scan.messages.len()],
            moved: BTreeMap::new(),
            resting: BTreeMap::new(),
            steps: Vec::new(),
        };
        for (n, message) in scan.messages.iter().enumerate() {
            if let Some(basis) = scanned(&message.verdict) {
                choices.gone[n] = true;
                for witness in &basis.witnesses {
                    let resting = choices.resting.entry(witness.message).or_default();
                    resting.insert(n as u32);
                }
            }
        }
        choices
    }

    /// Whether a message goes.
    pub(crate) fn goes(&self, message: u32) -> bool {
        self.gone.get(message as usize).copied().unwrap_or(false)
    }

    /// Why a message goes; `None` if it stays.
    pub(crate) fn basis(&self, scan: &Scan, message: u32) -> Option<Basis> {
        if !self.goes(message) {
            return None;
        }
        let moved = self.moved.get(&message).cloned();
        moved.or_else(|| scanned(&scan.messages[message as usize].verdict))
    }

    /// Whether the user chose otherwise than the scan.
    pub(crate) fn differs(&self, scan: &Scan, message: u32) -> bool {
        let standing = scan.messages[message as usize].verdict.standing;
        self.goes(message) != matches!(standing, Standing::Redundant(_))
    }

    /// The messages that go because of this one.
    pub(crate) fn resting_on(&self, message: u32) -> impl Iterator<Item = u32> + '_ {
        self.resting.get(&message).into_iter().flatten().copied()
    }

    /// How many messages go.
    pub(crate) fn count(&self) -> usize {
        self.gone.iter().filter(|&&goes| goes).count()
    }

    /// How many choices can be taken back.
    pub(crate) fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Keeps messages. That loses nothing, ever. How many went before.
    pub(crate) fn keep(&mut self, scan: &Scan, messages: impl IntoIterator<Item = u32>) -> usize {
        let mut step = Vec::new();
        for message in messages {
            if self.goes(message) {
                step.push((message, self.basis(scan, message)));
                self.put(scan, message, None);
            }
        }
        let count = step.len();
        self.remember(step);
        count
    }

    /// Lets one message go, if nothing is lost by it.
    pub(crate) fn remove(
        &mut self,
        scan: &Scan,
        catalogue: &Catalogue,
        message: u32,
        ask: Ask<'_>,
    ) -> Result<(), Refusal> {
        let step = self.try_remove(scan, catalogue, message, ask)?;
        self.remember(step);
        Ok(())
    }

    /// Lets go of those for which the scan's own proof still stands, without asking anybody; the others are returned.
    pub(crate) fn remove_proved(&mut self, scan: &Scan, messages: &[u32]) -> (usize, Vec<u32>) {
        let (mut step, mut open) = (Vec::new(), Vec::new());
        for &message in messages {
            if self.goes(message) {
                continue;
            }
            let basis = scanned(&scan.messages[message as usize].verdict);
            let proved = basis.filter(|b| b.witnesses.iter().all(|w| !self.goes(w.message)));
            // Something may rest on it since the user chose it as the survivor.
            match proved.filter(|_| !self.resting.contains_key(&message)) {
                Some(basis) => {
                    step.push((message, None));
                    self.put(scan, message, Some(basis));
                }
                None => open.push(message),
            }
        }
        let count = step.len();
        self.remember(step);
        (count, open)
    }

    /// Keeps a message and lets go, in its place, of those it rests on.
    pub(crate) fn survive(
        &mut self,
        scan: &Scan,
        catalogue: &Catalogue,
        message: u32,
        ask: Ask<'_>,
    ) -> Result<(), Refusal> {
        let Some(basis) = self.basis(scan, message) else {
            return Ok(());
        };
        let mut step = vec![(message, Some(basis.clone()))];
        self.put(scan, message, None);
        for witness in &basis.witnesses {
            match self.try_remove(scan, catalogue, witness.message, ask) {
                Ok(more) => step.extend(more),
                Err(refusal) => {
                    self.restore(scan, step);
                    return Err(refusal);
                }
            }
        }
        self.remember(step);
        Ok(())
    }

    /// Takes the last choice back; how many messages it concerned.
    pub(crate) fn take_back(&mut self, scan: &Scan) -> Option<usize> {
        let step = self.steps.pop()?;
        let count = step.len();
        self.restore(scan, step);
        Some(count)
    }

    /// The scan with these choices as its verdicts: what a plan is made of.
    pub(crate) fn applied_to(&self, scan: &Scan) -> Scan {
        let mut scan = scan.clone();
        for (n, message) in scan.messages.iter_mut().enumerate() {
            let n = n as u32;
            let redundant = matches!(message.verdict.standing, Standing::Redundant(_));
            match (self.goes(n), self.moved.get(&n)) {
                (true, Some(basis)) => {
                    message.verdict.standing = Standing::Redundant(basis.category);
                    message.verdict.witnesses.clone_from(&basis.witnesses);
                }
                (false, _) if redundant => message.verdict.standing = Standing::Unique,
                _ => {}
            }
        }
        scan
    }

    fn try_remove(
        &mut self,
        scan: &Scan,
        catalogue: &Catalogue,
        message: u32,
        ask: Ask<'_>,
    ) -> Result<Vec<(u32, Option<Basis>)>, Refusal> {
        if self.goes(message) {
            return Ok(Vec::new());
        }
        let refuse = |lost| Refusal {
            chosen: message,
            lost,
        };
        let resting: Vec<u32> = self.resting_on(message).collect();
        let mut step = vec![(message, None)];
        let basis = self.prove(scan, catalogue, message, &resting, message, ask);
        let basis = basis.map_err(refuse)?;
        if resting.len() > MOST_RESTING {
            return Err(refuse(Lost {
                message,
                passages: Vec::new(),
                why: format!(
                    "{} messages that go rest on it, too many to prove anew at once; keep some of them first",
                    resting.len()
                ),
            }));
        }
        let mut again = vec![(message, basis)];
        for &other in &resting {
            let basis = self.prove(scan, catalogue, other, &resting, message, ask);
            step.push((other, self.basis(scan, other)));
            again.push((other, basis.map_err(refuse)?));
        }
        for (n, basis) in again {
            self.put(scan, n, Some(basis));
        }
        Ok(step)
    }

    /// A reason for `message` to go that does not need `without`.
    fn prove(
        &self,
        scan: &Scan,
        catalogue: &Catalogue,
        message: u32,
        siblings: &[u32],
        without: u32,
        ask: Ask<'_>,
    ) -> Result<Basis, Lost> {
        let stays = |w: u32| w != without && w != message && !self.goes(w);
        let verdict = &scan.messages[message as usize].verdict;
        // What the scan proved needs no new proof.
        if let Some(basis) = scanned(verdict)
            && basis.witnesses.iter().all(|w| stays(w.message))
        {
            return Ok(basis);
        }
        let now = self.basis(scan, message);
        let now: Vec<u32> = now
            .iter()
            .flat_map(|b| &b.witnesses)
            .map(|w| w.message)
            .collect();
        let known: Vec<u32> = verdict.witnesses.iter().map(|w| w.message).collect();
        let held = known
            .iter()
            .chain(&now)
            .chain([&without])
            .flat_map(|&w| catalogue.resting(w));
        let near = known
            .iter()
            .chain(&now)
            .chain(catalogue.resting(message))
            .chain(siblings)
            .chain(held)
            .chain(catalogue.thread(message));
        let mut asked: Vec<u32> = Vec::new();
        for &one in near.filter(|&&w| stays(w)) {
            if asked.len() == MOST_ASKED {
                break;
            }
            if !asked.contains(&one) {
                asked.push(one);
            }
        }
        ask(message, &asked).map(|cover| Basis {
            category: cover.category,
            witnesses: cover.witnesses,
        })
    }

    fn put(&mut self, scan: &Scan, message: u32, basis: Option<Basis>) {
        let before = self.basis(scan, message);
        for witness in before.iter().flat_map(|b| &b.witnesses) {
            if let Some(resting) = self.resting.get_mut(&witness.message) {
                resting.remove(&message);
                if resting.is_empty() {
                    self.resting.remove(&witness.message);
                }
            }
        }
        self.gone[message as usize] = basis.is_some();
        self.moved.remove(&message);
        if let Some(basis) = basis {
            for witness in &basis.witnesses {
                let resting = self.resting.entry(witness.message).or_default();
                resting.insert(message);
            }
            if scanned(&scan.messages[message as usize].verdict).as_ref() != Some(&basis) {
                self.moved.insert(message, basis);
            }
        }
    }

    fn restore(&mut self, scan: &Scan, step: Vec<(u32, Option<Basis>)>) {
        for (message, basis) in step.into_iter().rev() {
            self.put(scan, message, basis);
        }
    }

    fn remember(&mut self, step: Vec<(u32, Option<Basis>)>) {
        if !step.is_empty() {
            self.steps.push(step);
        }
        if self.steps.len() > MOST_STEPS {
            self.steps.remove(0);
        }
    }
}

/// The proof that the scan found.
fn scanned(verdict: &Verdict) -> Option<Basis> {
    match verdict.standing {
        Standing::Redundant(category) => Some(Basis {
            category,
            witnesses: verdict.witnesses.clone(),
        }),
        _ => None,
    }
}
