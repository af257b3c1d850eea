//! `twicetold eval all`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use twicetold_eval::{EXPERIMENTS, Findings};

use super::{CommonArgs, bench, make, print, refuse_if_nothing_is_there_for, watch};
use crate::commands::TalkArgs;
use crate::commands::engine::use_threads;
use crate::failure::{Advice, Exit};
use crate::report::escape::visible;
use crate::terminal::talk;

/// Make every experiment for which there is a corpus, and a page of all tables and pictures
///
/// An experiment whose corpus is not there is left out, and named.
#[derive(Debug, Args)]
pub(super) struct AllArgs {
    #[command(flatten)]
    common: CommonArgs,

    /// Only these experiments
    #[arg(long, value_name = "NAME[,NAME]...", value_delimiter = ',')]
    only: Vec<String>,

    /// The page to write; pictures go beside it, into a folder of the same name [default: results.md in --out]
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

pub(super) fn run(args: &AllArgs, how: TalkArgs) -> Result<Exit> {
    refuse_if_nothing_is_there_for(&args.common, &Default::default())?;
    let known = |name: &&String| EXPERIMENTS.iter().any(|known| known.name == name.as_str());
    if let Some(unknown) = args.only.iter().find(|name| !known(name)) {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|known| known.name).collect();
        let what = format!("there is no experiment {unknown}");
        let hint = format!("there are {}", names.join(", "));
        return Err(Advice::new(what, hint).usage().into_error());
    }
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|one| one == name);
    use_threads(args.common.threads)?;
    let bar = watch::Steps::new(how.quiet);
    let mut bench = bench(&args.common, &bar)?;
    let (mut found, mut absent) = (Vec::new(), Vec::new());
    for experiment in EXPERIMENTS.iter().filter(|known| wanted(known.name)) {
        match make(experiment, &mut bench, how) {
            Ok(findings) => {
                findings.write(&args.common.out).map_err(super::told)?;
                found.push(findings);
            }
            Err(error) => absent.push(format!("{} was left out: {error}", experiment.name)),
        }
    }
    bar.finish();
    for line in &absent {
        talk(&format!("warning: {}", visible(line, 500)));
    }
    if found.is_empty() {
        let data = args.common.data.display();
        return Err(Advice::new(
            format!("no experiment could be made with {data}"),
            "docs/eval.md says which corpora are used and how they are laid out",
        )
        .into_error());
    }
    for (n, findings) in found.iter().enumerate() {
        if n > 0 {
            println_blank()?;
        }
        print(findings)?;
    }
    let page = args.page.clone();
    let page = page.unwrap_or_else(|| args.common.out.join("results.md"));
    write_page(&page, &found)?;
    if !how.quiet {
        let page = page.display().to_string();
        talk(&format!("the page is {}", visible(&page, 240)));
    }
    Ok(if absent.is_empty() {
        Exit::Done
    } else {
        Exit::Partly
    })
}

fn println_blank() -> Result<()> {
    use std::io::Write;
    writeln!(std::io::stdout().lock()).context("cannot write to stdout")
}

/// Writes the page, and the pictures into a folder beside it.
fn write_page(page: &Path, found: &[Findings]) -> Result<()> {
    let stem = page
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let stem = stem.unwrap_or_else(|| "results".to_owned());
    let pictures = page.with_file_name(&stem);
    let advice = || {
        Advice::new(
            format!("cannot write the page {}", page.display()),
            "check that the folder exists and that you may write there",
        )
    };
    fs::create_dir_all(&pictures).with_context(advice)?;
    let mut text = HEAD.to_owned();
    for findings in found {
        text.push('\n');
        text.push_str(&findings.markdown(&stem));
        for chart in &findings.charts {
            let svg = chart.svg().map_err(super::told)?;
            fs::write(pictures.join(format!("{}.svg", chart.name)), svg).with_context(advice)?;
        }
    }
    fs::write(page, text).with_context(advice)
}

const HEAD: &str = "\
# Results

The papers' experiments, made by `twicetold eval` with the engine that users use; [eval.md](eval.md) says how each is made. Figures in
columns named *paper* are printed in the papers, all others were measured. Where the corpus is not the paper's, the level cannot be compared,
only the shape: what grows, what falls, and what makes the difference.

This page is written by the following command, from the corpora that [eval.md](eval.md#corpora) names, in some ten minutes on two cores. Every random choice follows from
`--seed 1`: it comes out the same everywhere.

```sh
twicetold eval all --data CORPORA --page docs/results.md
```
";
