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

fn main() -> ExitCode {
    match commands::run(commands::Cli::parse()) {
        Ok(exit) => exit.into(),
        Err(error) => failure::tell(&error).into(),
    }
}
