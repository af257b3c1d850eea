//! `twicetold man`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use clap_mangen::Man;

use super::Cli;
use crate::failure::{Advice, Exit};
use crate::output::Output;

/// Write the manual pages
///
/// One page for twicetold and one for each of its commands, into a folder; or, without --out, one
/// after the other to stdout.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct ManArgs {
    /// The folder to write twicetold.1, twicetold-scan.1 and the others to
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold man --out ~/.local/share/man/man1
  twicetold man | man -l -";

pub(super) fn run(args: &ManArgs) -> Result<Exit> {
    let pages = pages().context("cannot make the manual pages")?;
    match &args.out {
        None => Output::Stdout
            .write(|out| pages.iter().try_for_each(|page| out.write_all(&page.text)))?,
        Some(folder) => pages.iter().try_for_each(|page| page.save(folder))?,
    }
    Ok(Exit::Done)
}

struct Page {
    file: String,
    text: Vec<u8>,
}

impl Page {
    fn save(&self, folder: &Path) -> Result<()> {
        let hint = "create the folder first, or name one that you may write to";
        if !folder.is_dir() {
            let what = format!("there is no folder {}", folder.display());
            return Err(Advice::new(what, hint).into_error());
        }
        let path = folder.join(&self.file);
        Output::open(Some(&path))?.write(|out: &mut dyn Write| out.write_all(&self.text))
    }
}

/// The page of the program, then those of its commands.
fn pages() -> io::Result<Vec<Page>> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    add_pages("twicetold", &program, &mut pages)?;
    Ok(pages)
}

/// The page of a command, then those of the commands below it.
fn add_pages(name: &str, command: &clap::Command, pages: &mut Vec<Page>) -> io::Result<()> {
    pages.push(page(name, command.clone())?);
    let below = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set());
    for below in below.filter(|below| below.get_name() != "help") {
        add_pages(&format!("{name}-{}", below.get_name()), below, pages)?;
    }
    Ok(())
}

fn page(name: &str, command: clap::Command) -> io::Result<Page> {
    let man = Man::new(command.display_name(name.to_owned()));
    let mut text = Vec::new();
    man.render(&mut text)?;
    Ok(Page {
        file: format!("{name}.1"),
        text,
    })
}
