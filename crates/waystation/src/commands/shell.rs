//! Completions and the manual page.

use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;

use crate::cli::Cli;

/// Prints completions for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "waystation", &mut text);
    crate::output::line(String::from_utf8_lossy(&text).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page.
pub(crate) fn manual() -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut text)?;
    crate::output::line(String::from_utf8_lossy(&text).trim_end())?;
    Ok(ExitCode::SUCCESS)
}
