//! Completions and the manual page.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::cli::Cli;

/// Prints completions for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "waystation", &mut text);
    crate::output::line(String::from_utf8_lossy(&text).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page of the program, or of one of its commands.
pub(crate) fn manual(words: &[String]) -> Result<ExitCode> {
    // The command `help` would have no page of its own.
    let mut program = Cli::command().disable_help_subcommand(true);
    // Only now does each command know the whole of its name.
    program.build();
    let mut command = &program;
    for word in words {
        command = command.find_subcommand(word).with_context(|| {
            format!("there is no command {}; waystation --help lists them", words.join(" "))
        })?;
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    crate::output::line(String::from_utf8_lossy(&text).trim_end())?;
    Ok(ExitCode::SUCCESS)
}
