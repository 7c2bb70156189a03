//! Whether a session lives and what it does, by every sign there is.

use std::path::Path;

use super::cli::Claude;
use super::records::{self, Record};
use super::{folder, identity, start};
use crate::process;
use crate::session::{Activity, Human, Lane, Life, Seen, Session};

/// What the program's own records say.
pub(super) struct Recorded {
    /// Whether the session lives.
    pub(super) life: Life,
    /// What it does, where it says so.
    pub(super) activity: Option<Activity>,
}

impl Claude {
    /// Looks for every sign of life. Death is proven only where each process that ever had the
    /// session is gone.
    pub(super) fn recorded(&self, session: &Session) -> Recorded {
        let reported = session.process.as_ref().map(process::life);
        let Some(vendor_id) = session.vendor_id.as_deref() else {
            return Recorded { life: reported.unwrap_or(Life::Unknown), activity: None };
        };
        if start::is_at_work(&self.program, vendor_id) {
            return Recorded { life: Life::Live, activity: Some(Activity::Busy) };
        }
        let folder = folder::of_session(session, &self.folder);
        let Some(records) = records::of_session(folder, vendor_id) else {
            return Recorded { life: Life::Unknown, activity: None };
        };
        let of = |life: Life| records.iter().find(|record| record.life() == life);
        if let Some(living) = of(Life::Live) {
            return Recorded { life: Life::Live, activity: living.activity() };
        }
        let life = match (of(Life::Unknown), reported) {
            (None, Some(life)) => of_process(folder, session, life),
            // Nobody reported a process, but one that was killed left its record.
            (None, None) if !records.is_empty() => Life::Dead,
            (Some(_), _) | (None, None) => Life::Unknown,
        };
        Recorded { life, activity: None }
    }

    /// What is seen without asking a keeper.
    pub(super) fn seen(&self, session: &Session) -> Seen {
        let recorded = self.recorded(session);
        let can_be_resumed = session.is_resumable
            && session.vendor_id.as_deref().is_some_and(identity::is_valid)
            && session.cwd.is_some();
        let lanes = match recorded.life {
            Life::Dead if can_be_resumed => vec![Lane::ClaudeResume],
            _ => Vec::new(),
        };
        let activity = recorded.activity.unwrap_or(session.reported);
        Seen { life: recorded.life, activity, human: Human::Unseen, lanes }
    }
}

/// A process that lives may have gone on to another session: `/clear` and `/resume` do that. Then this
/// session has no process any more.
fn of_process(folder: &Path, session: &Session, life: Life) -> Life {
    let record = |pid: u32| records::of_process(folder, pid);
    let now = session.process.as_ref().and_then(|process| record(process.pid));
    let is_elsewhere =
        |record: Record| record.session_id.is_some() && record.session_id != session.vendor_id;
    match life {
        Life::Live if now.is_some_and(is_elsewhere) => Life::Dead,
        life => life,
    }
}
