//! Runs fakes of GitHub, Sentry, OpenProject, Slack and a receiver of webhooks until it is ended. Prints
//! as one line of JSON where they are, what links to them are given, and where they are told what to do.

#![forbid(unsafe_code)]

use std::io::Write;

use anyhow::Result;
use waystation_testkit::fakes::FakeServices;

#[tokio::main]
async fn main() -> Result<()> {
    let services = FakeServices::start().await;
    writeln!(std::io::stdout(), "{}", services.about())?;
    std::future::pending::<()>().await;
    Ok(())
}
