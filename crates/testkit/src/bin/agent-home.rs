//! Makes a home for a real CLI: `agent-home codex|claude HOME FOLDER MODEL`, where the CLI will work in
//! FOLDER. Prints its environment, one `NAME=value` a line.

#![forbid(unsafe_code)]

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use waystation_testkit::agent_home::{AgentHome, Cli};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [cli, home, folder, model] = args.as_slice() else {
        bail!("agent-home codex|claude HOME FOLDER MODEL")
    };
    let cli = Cli::named(cli).context("homes are for codex or claude")?;
    let home = AgentHome::make(cli, Path::new(home), Path::new(folder), model)?;
    let mut out = std::io::stdout().lock();
    for (name, value) in &home.env {
        writeln!(out, "{name}={value}")?;
    }
    Ok(())
}
