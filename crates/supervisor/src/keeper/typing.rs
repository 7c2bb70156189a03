//! Typing a notice: the text, a pause until it was echoed, and one Enter, which the program must take.
//! What humans type before Enter waits, so that nothing comes between.

use std::time::Instant;

use super::terminal::Terminal;
use crate::limits::ECHO_PATIENCE;

/// A notice whose text was typed and whose Enter is to come.
pub(super) struct Typing {
    pub(super) wake_id: String,
    /// Those who wait for it.
    pub(super) peers: Vec<u64>,
    /// What humans typed meanwhile.
    pub(super) held: Vec<u8>,
    began: Instant,
}

/// A notice whose Enter was pressed. Keys that nobody has read yet are lost with the terminal.
pub(super) struct Entered {
    pub(super) wake_id: String,
    /// Those who wait for it.
    pub(super) peers: Vec<u64>,
    pub(super) since: Instant,
}

impl Entered {
    /// Whether the program has taken it: it has read every key, and answered on its screen unless it
    /// is one that shows nothing.
    pub(super) fn is_taken(&self, terminal: &Terminal, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.since);
        !terminal.has_unread_keys()
            && (terminal.has_printed_since(self.since) || passed >= ECHO_PATIENCE)
    }
}

/// How it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Wait,
    /// Press Enter.
    Enter,
    /// A dialog opened: Enter would answer it.
    GiveUp,
}

impl Typing {
    /// Types the text; as a paste where the program asked for pastes to be marked.
    pub(super) fn begin(
        terminal: &mut Terminal,
        wake_id: String,
        line: &str,
        peer: u64,
        now: Instant,
    ) -> Self {
        if terminal.modes.marks_pastes() {
            terminal.type_keys(format!("\x1b[200~{line}\x1b[201~").as_bytes());
        } else {
            terminal.type_keys(line.as_bytes());
        }
        Self { wake_id, peers: vec![peer], held: Vec::new(), began: now }
    }

    /// Whether it is time for Enter.
    pub(super) fn next(&self, terminal: &mut Terminal, now: Instant) -> Next {
        let passed = now.saturating_duration_since(self.began);
        let echoed = terminal.has_printed_since(self.began)
            && terminal.is_still_for(now) >= terminal.pace.echo_still;
        if passed < terminal.pace.enter_after || (!echoed && passed < ECHO_PATIENCE) {
            Next::Wait
        } else if terminal.shows_dialog() {
            Next::GiveUp
        } else {
            Next::Enter
        }
    }
}
