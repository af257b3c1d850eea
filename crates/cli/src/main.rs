//! `twicetold`, the command: finds e-mail that tells you nothing new.
//!
//! Only talks to people: it takes their wishes from the command line, hands them to the engine and
//! shows what comes back. It decides nothing about a message.

mod accounts;
mod commands;
mod failure;
mod feed;
mod fetching;
mod on_server;
mod output;
mod report;
mod sheet;
mod terminal;

use std::process::ExitCode;

use clap::Parser;
use twicetold_memory::Bounded;

/// Hands out the memory of the program: what a scan may not use stands in a file.
#[global_allocator]
static MEMORY: Bounded = Bounded;

fn main() -> ExitCode {
    match commands::run(commands::Cli::parse()) {
        Ok(exit) => exit.into(),
        Err(error) => failure::tell(&error).into(),
    }
}
