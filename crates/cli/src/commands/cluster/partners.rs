//! `twicetold cluster partners`: the second door of `cluster pairs` on an executor.

use std::io;

use anyhow::Result;
use clap::Args;
use twicetold_cluster::{Candidates, PartnerColumns, PartnerRow, Sheet as Table};
use twicetold_detect::{Asking, MOST};

use super::entries::broken;
use crate::commands::pairs::MethodArgs;
use crate::failure::Exit;
use crate::output::Output;
use crate::report::pairs::score_text;
use crate::sheet::refuse_terminal;

/// Compare texts with the candidates that an engine found for them
///
/// Reads an Arrow stream on stdin: each text that asks (what = 0, or 3 if its walk was stopped), behind it its
/// candidates in the order in which pairs would meet them (what = 1), then the one that ties large groups together (what = 2). Writes
/// the partners as an Arrow stream. cluster pairs calls it on the executors.
#[derive(Debug, Args)]
pub(super) struct PartnersArgs {
    #[command(flatten)]
    methods: MethodArgs,

    /// How many partners of one text are listed; 0 for all
    #[arg(long, value_name = "N", default_value_t = MOST)]
    most: usize,
}

/// What a row is about.
const CANDIDATE: i32 = 1;
const TIE: i32 = 2;
const STOPPED: i32 = 3;

pub(super) fn run(args: &PartnersArgs) -> Result<Exit> {
    let sought = args.methods.sought()?;
    refuse_terminal(&Output::Stdout, "an Arrow stream")?;
    let most = (args.most > 0).then_some(args.most);
    let mut asking: Vec<Asking<'_>> = sought
        .iter()
        .map(|sought| Asking::new(sought, most))
        .collect();
    let mut candidates = Candidates::new(Box::new(io::stdin().lock()));
    Output::Stdout.pass_on(|out| {
        let mut table = Table::new(out, PartnerColumns::default())?;
        let mut cut = None;
        while let Some(some) = candidates.next_rows().map_err(|why| broken(&why))? {
            for row in some {
                let (method, a, b) = (row.method, row.asker, row.number);
                let number = usize::try_from(method).ok();
                let asking = number.and_then(|number| asking.get_mut(number));
                let Some(asking) = asking else {
                    return Err(broken("it names a method that the command does not").into());
                };
                let score = match row.what {
                    CANDIDATE => asking.meet(b, row.keys, row.body),
                    TIE => asking.tie(b, row.keys, row.body),
                    _ => {
                        cut.take().map_or(Ok(()), |row| table.push(row))?;
                        asking.ask(row.keys, row.body, row.what == STOPPED);
                        None
                    }
                };
                if let Some(score) = score {
                    table.push(PartnerRow {
                        method,
                        a,
                        b: Some(b),
                        score: Some(score_text(score)),
                    })?;
                }
                // Told when all of its candidates were seen.
                cut = asking.is_cut().then_some(PartnerRow {
                    method,
                    a,
                    b: None,
                    score: None,
                });
            }
        }
        cut.map_or(Ok(()), |row| table.push(row))?;
        Ok(table.finish()?)
    })?;
    Ok(Exit::Done)
}
