//! Whether a notice ever reached a session, by what the program wrote down.

use std::io::ErrorKind;
use std::path::PathBuf;

use super::cli::Claude;
use super::transcript::{self, Found, Mark};
use super::{identity, start};
use crate::session::{Life, Session};

impl Claude {
    /// Whether the session has the notice, or one that was started for it.
    pub(super) fn has_notice(&self, session: &Session, wake_id: &str) -> Option<bool> {
        let anew = self.has_arrived_anew(wake_id);
        match session.vendor_id {
            Some(_) if anew != Some(true) => self.has_arrived_here(session, wake_id),
            _ => anew,
        }
    }

    /// Whether this session's transcript has it.
    fn has_arrived_here(&self, session: &Session, wake_id: &str) -> Option<bool> {
        let path = self.transcript(session);
        let found = match path.map(|path| transcript::search(&path, wake_id)) {
            Some(Ok(found)) => found,
            Some(Err(error)) if error.kind() == ErrorKind::NotFound => Found::Nothing,
            // It writes none before its first turn.
            None if session.vendor_id.is_some() => Found::Nothing,
            Some(Err(_)) | None => return None,
        };
        match found {
            Found::Marked(Mark::InTurn) => Some(true),
            // What was queued dies with the process.
            Found::Marked(Mark::Queued) => Some(self.recorded(session).life != Life::Dead),
            Found::Nothing => Some(false),
            Found::TooLong => None,
        }
    }

    /// Whether a session that was started for this wake has it.
    fn has_arrived_anew(&self, wake_id: &str) -> Option<bool> {
        let vendor_id = identity::of_wake(wake_id);
        let Some(path) = transcript::path_of(&self.folder, &vendor_id) else {
            return Some(start::is_at_work(&self.program, &vendor_id));
        };
        match transcript::search(&path, wake_id).ok()? {
            Found::Marked(Mark::InTurn) => Some(true),
            Found::Marked(Mark::Queued) | Found::Nothing => {
                Some(start::is_at_work(&self.program, &vendor_id))
            }
            Found::TooLong => None,
        }
    }

    fn transcript(&self, session: &Session) -> Option<PathBuf> {
        if let Some(path) = &session.transcript {
            return Some(path.clone());
        }
        transcript::path_of(&self.folder, session.vendor_id.as_deref()?)
    }
}
