//! Hands that reach files and folders as well as servers: a plan may name messages of both, and the journals of both lie together.

use std::path::{Path, PathBuf};

use twicetold_model::RawMessage;

use super::on_server::Place;
use super::step::Step;
use super::{Failure, Hands, Local, LocalSpot, Prepared, Ready, Settled, Watch};
use crate::plan::{Named, Plan, Removal};

/// Hands for files and folders, and others for servers.
pub struct Both<'p, S> {
    plan: Option<&'p Plan>,
    local: Local<'p>,
    server: S,
    /// Whether the group at hand lies on a server.
    on_server: bool,
}

/// Where a message was found.
#[derive(Debug)]
pub enum Side<S> {
    /// On this machine.
    Local(Box<LocalSpot>),
    /// On a server.
    Server(S),
}

impl<'p, S: Hands> Both<'p, S> {
    /// Hands for both; the plan is the one that they know, if they know one.
    pub fn new(plan: Option<&'p Plan>, local: Local<'p>, server: S) -> Self {
        Self {
            plan,
            local,
            server,
            on_server: false,
        }
    }

    fn is_on_server(&self, number: usize) -> bool {
        self.plan
            .and_then(|plan| plan.removals.get(number))
            .is_some_and(|removal| removal.message.is_on_server())
    }
}

fn on_server(group: &[&Removal]) -> bool {
    group.first().is_some_and(|r| r.message.is_on_server())
}

impl<S: Hands> Hands for Both<'_, S> {
    type Spot = Side<S::Spot>;

    fn groups(&self, chosen: &[usize]) -> Vec<Vec<usize>> {
        let (there, here): (Vec<usize>, Vec<usize>) = chosen
            .iter()
            .copied()
            .partition(|&number| self.is_on_server(number));
        let mut groups = self.local.groups(&here);
        groups.extend(self.server.groups(&there));
        groups
    }

    fn lock_file(&self, group: &[&Removal]) -> Option<(PathBuf, String)> {
        if on_server(group) {
            self.server.lock_file(group)
        } else {
            self.local.lock_file(group)
        }
    }

    fn hold(&mut self, group: &[&Removal], only_looking: bool) -> Result<(), Failure> {
        self.on_server = on_server(group);
        // Witnesses of the group may lie on a server in any case.
        self.server.hold(group, only_looking)?;
        if self.on_server {
            Ok(())
        } else {
            self.local.hold(group, only_looking)
        }
    }

    fn release(&mut self) {
        self.server.release();
        self.local.release();
    }

    fn read(&mut self, named: &Named) -> Result<(RawMessage<'static>, Self::Spot), Failure> {
        if named.is_on_server() {
            let (raw, spot) = self.server.read(named)?;
            Ok((raw, Side::Server(spot)))
        } else {
            let (raw, spot) = self.local.read(named)?;
            Ok((raw, Side::Local(Box::new(spot))))
        }
    }

    fn prepare<'r>(&mut self, ready: Vec<Ready<'r, Self::Spot>>) -> Result<Prepared<'r>, Failure> {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        let mut refused = Vec::new();
        for one in ready {
            let (mut local, mut server) = (Vec::new(), Vec::new());
            let mut leaving = None;
            for witness in one.witnesses {
                match witness {
                    Side::Local(spot) => {
                        leaving = leaving.or_else(|| self.local.is_leaving(&spot));
                        local.push(*spot);
                    }
                    Side::Server(spot) => server.push(spot),
                }
            }
            let removal = one.removal;
            if let Some(failure) = leaving {
                refused.push((removal, failure));
                continue;
            }
            // What lies on the other side holds what the message says; flags do not go over to it.
            match one.spot {
                Side::Local(spot) => here.push(Ready {
                    removal,
                    spot: *spot,
                    witnesses: local,
                }),
                Side::Server(spot) => there.push(Ready {
                    removal,
                    spot,
                    witnesses: server,
                }),
            }
        }
        let mut prepared = if self.on_server {
            self.server.prepare(there)?
        } else {
            self.local.prepare(here)?
        };
        prepared.refused.extend(refused);
        Ok(prepared)
    }

    fn owes(&self) -> Option<Option<(PathBuf, String)>> {
        self.local.owes().or_else(|| self.server.owes())
    }

    fn remainder(&mut self) -> Option<Result<Step, Failure>> {
        if self.local.owes().is_some() {
            self.local.remainder()
        } else {
            self.server.remainder()
        }
    }

    fn finish(&mut self) -> Vec<String> {
        let mut told = self.local.finish();
        told.extend(self.server.finish());
        told
    }

    fn carry_out(&mut self, step: &Step, watch: &dyn Watch) -> Settled {
        match step {
            Step::Server(_) => self.server.carry_out(step, watch),
            Step::Files(_) | Step::Rewrite(_) => self.local.carry_out(step, watch),
        }
    }

    fn settle(&mut self, step: &Step, places: &[Place]) -> Settled {
        match step {
            Step::Server(_) => self.server.settle(step, places),
            Step::Files(_) | Step::Rewrite(_) => self.local.settle(step, places),
        }
    }

    fn lock_file_of(&self, step: &Step) -> Option<(PathBuf, String)> {
        match step {
            Step::Server(_) => self.server.lock_file_of(step),
            Step::Files(_) | Step::Rewrite(_) => self.local.lock_file_of(step),
        }
    }

    fn take_back(
        &mut self,
        step: &Step,
        out: &[usize],
        places: &[Place],
        watch: &dyn Watch,
    ) -> Settled {
        match step {
            Step::Server(_) => self.server.take_back(step, out, places, watch),
            Step::Files(_) | Step::Rewrite(_) => self.local.take_back(step, out, places, watch),
        }
    }

    fn unlock(&mut self, path: &Path, token: &str) {
        self.local.unlock(path, token);
    }
}
