//! Turns of a CLI that has no hooks we know.

use anyhow::Result;

use super::event::{Doing, Event};
use super::program::Program;
use super::report::{self, Reporter};
use crate::cli::{HookArgs, TurnHappened};
use crate::paths::Place;

/// Reports a turn of whoever the environment says we are.
pub(super) async fn run(
    place: &Place,
    args: &HookArgs,
    happened: TurnHappened,
    runtime: String,
) -> Result<()> {
    let doing = match happened {
        TurnHappened::Start => Doing::ACTIVE,
        TurnHappened::End => Doing::IDLE,
        TurnHappened::Leave => Doing::OFFLINE,
    };
    let reporter = Reporter::new(place, args.agent.as_deref(), None)?;
    report::within(super::HOOK_BUDGET, async {
        let mut client = reporter.connect().await?;
        let heartbeat = reporter.heartbeat(&Program::other(runtime), &Event::default(), doing);
        report::call(&mut client, "heartbeat_session", &heartbeat).await.map(drop)
    })
    .await
}
