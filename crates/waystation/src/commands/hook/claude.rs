//! Claude Code's hooks: what its session does, and that a turn has begun because of a wake.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use supervisor::lanes::claude::transcript::{Mark, Watch};
use supervisor::limits::TRANSCRIPT_LOOK_EVERY;

use super::event::Event;
use super::program::Program;
use super::report::{self, Reporter};
use crate::cli::HookArgs;
use crate::paths::Place;

/// How long a transcript is watched for a turn.
const TURN_PATIENCE: Duration = Duration::from_secs(20);
/// How long the hub may take to hear of it.
const REPORT_PATIENCE: Duration = Duration::from_secs(10);

/// Reports one event.
pub(super) async fn run(place: &Place, args: &HookArgs) -> Result<()> {
    let event = Event::read(std::io::stdin().lock())?;
    let program = Program::claude(&event);
    tell(place, args, &event, &program).await
}

/// Tells the hub of an event: first of wakes whose turn has begun, since somebody measures that.
pub(super) async fn tell(
    place: &Place,
    args: &HookArgs,
    event: &Event,
    program: &Program,
) -> Result<()> {
    let Some(doing) = event.doing() else { return Ok(()) };
    let reporter = Reporter::new(place, args.agent.as_deref(), Some(&event.session_id))?;
    let telling = async {
        let mut client = reporter.connect().await?;
        let mut told = Ok(());
        for wake in event.wakes() {
            told = told.and(report::turn_started(&mut client, wake, None).await);
        }
        let heartbeat = reporter.heartbeat(program, event, doing);
        report::call(&mut client, "heartbeat_session", &heartbeat).await?;
        told
    };
    report::within(super::HOOK_BUDGET, telling).await
}

/// A notice whose turn is waited for.
pub(super) struct Watched {
    /// The wake.
    pub(super) wake: String,
    /// Which attempt of it.
    pub(super) attempt: Option<i64>,
    /// The session, by Claude Code's own name.
    pub(super) session: String,
    /// Its transcript.
    pub(super) transcript: PathBuf,
}

/// Waits until a notice is in a turn, and reports it. One that is still queued when the time is over
/// is reported by the hook of its own turn.
pub(super) async fn watch(place: &Place, args: &HookArgs, watched: Watched) -> Result<()> {
    let mut transcript = Watch::new(watched.transcript, &watched.wake);
    let looking = async {
        while transcript.look() != Some(Mark::InTurn) {
            tokio::time::sleep(TRANSCRIPT_LOOK_EVERY).await;
        }
    };
    if tokio::time::timeout(TURN_PATIENCE, looking).await.is_err() {
        anyhow::bail!("no turn began because of {}", watched.wake);
    }
    let reporter = Reporter::new(place, args.agent.as_deref(), Some(&watched.session))?;
    report::within(REPORT_PATIENCE, async {
        let mut client = reporter.connect().await?;
        report::turn_started(&mut client, &watched.wake, watched.attempt).await
    })
    .await
}
