//! Runs the fake model until it is ended: `fake-model SCRIPT JOURNAL [FOLDER OF BODIES]`.
//! Prints where it is reached.

#![forbid(unsafe_code)]

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use waystation_testkit::fakes::{FakeModel, Script};

#[tokio::main]
async fn main() -> Result<()> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let script = args.next().context("name a script")?;
    let journal = args.next().context("name a journal")?;
    let script = std::fs::read(&script).with_context(|| format!("reading {}", script.display()))?;
    let script: Script = serde_json::from_slice(&script).context("the script is no good")?;
    let model = FakeModel::start(script, journal, args.next()).await;
    writeln!(std::io::stdout(), "{}", model.url())?;
    std::future::pending::<()>().await;
    Ok(())
}
