//! The binary: command line, configuration and wiring. Behaviour lives in the hub.
#![forbid(unsafe_code)]

mod address;
mod agentd;
mod cli;
mod commands;
mod config;
mod failure;
mod host;
mod logs;
mod output;
mod owner;
mod paint;
mod paths;
mod reach;
mod recipe;
mod surroundings;
mod table;

use std::process::ExitCode;

use clap::Parser;

/// Posts make many small allocations on several threads, and glibc's allocator shows it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Whatever this program writes is for its owner's eyes only.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::of_words(&error),
    };
    match commands::run(cli) {
        Ok(code) => code,
        Err(error) => failure::report(&error),
    }
}
