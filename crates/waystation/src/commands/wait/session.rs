//! The session that a waiter is parked for: whether it is still there, and what it does.

use std::time::Duration;

use supervisor::lanes::claude::records::{self, Record};
use supervisor::{Activity, Life, life};

use crate::commands::hook::event::{Doing, Event};
use crate::commands::hook::note;
use crate::commands::hook::program::Program;
use crate::commands::hook::report::{self, Reporter};

/// How often the session's own record is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often the registry hears of a session that does nothing; two minutes of silence make it offline.
const BEAT_EVERY: Duration = Duration::from_secs(45);
/// How long the registry may take to hear of it.
const BEAT_PATIENCE: Duration = Duration::from_secs(10);

/// A session, and who speaks for it.
pub(super) struct Session {
    /// Who speaks for it.
    pub(super) reporter: Reporter,
    /// The program it runs in.
    pub(super) program: Program,
    /// What the waiter was parked with.
    pub(super) event: Event,
}

impl Session {
    /// What it did when the waiter was parked.
    pub(super) fn first(&self) -> Doing {
        self.event.doing().unwrap_or(Doing::IDLE)
    }

    /// Whether there is still somebody to wake: the process lives and has not gone on to another
    /// session, as `/clear` makes it do without ending its hooks.
    pub(super) fn is_there(&self) -> bool {
        let is_dead = |process| life(process) == Life::Dead;
        if self.program.process.as_ref().is_some_and(is_dead) {
            return false;
        }
        let named = self.record().and_then(|record| record.session_id);
        named.is_none_or(|named| named == self.event.session_id)
    }

    /// Tells the registry what the session does.
    pub(super) async fn beat(&self, doing: Doing) {
        let telling = async {
            let mut client = self.reporter.connect().await?;
            let heartbeat = self.reporter.heartbeat(&self.program, &self.event, doing);
            report::call(&mut client, "heartbeat_session", &heartbeat).await
        };
        if let Err(error) = report::within(BEAT_PATIENCE, telling).await {
            note(&self.reporter.place, "wait", &error);
        }
    }

    /// Watches the session until it is gone. A turn that its human breaks off ends without a hook, so
    /// only the program's own record tells that it is idle again.
    pub(super) async fn ended(&self) {
        let mut known = self.record().and_then(|record| record.activity());
        let mut silent = Duration::ZERO;
        while self.is_there() {
            let seen = self.record().and_then(|record| record.activity());
            let is_due = silent >= BEAT_EVERY;
            if seen != known || is_due {
                self.beat(seen.map_or(self.first(), doing)).await;
                known = seen;
                silent = Duration::ZERO;
            }
            tokio::time::sleep(LOOK_EVERY).await;
            silent += LOOK_EVERY;
        }
        // One that was killed cannot say so itself.
        if self.program.process.as_ref().is_some_and(|process| life(process) == Life::Dead) {
            self.beat(Doing::OFFLINE).await;
        }
    }

    fn record(&self) -> Option<Record> {
        let process = self.program.process.as_ref()?;
        records::of_process(self.program.folder.as_deref()?, process.pid)
    }
}

fn doing(activity: Activity) -> Doing {
    match activity {
        Activity::Busy => Doing::ACTIVE,
        Activity::Dialog => Doing::ASKING,
        Activity::Idle | Activity::Unknown => Doing::IDLE,
    }
}
