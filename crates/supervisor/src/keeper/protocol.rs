//! What is said on a keeper's socket: a line of JSON each way, or after `attach` frames until the end.

use serde::{Deserialize, Serialize};

use crate::pty::Manner;
use crate::screen::Size;
use crate::session::{Activity, Human};
use std::time::Duration;

/// What a keeper is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Watch the terminal and type into it.
    Attach {
        /// The size of the window.
        size: Size,
        /// Whether a person sits there.
        manner: Manner,
    },
    /// What is seen of the session.
    Look {},
    /// Type a notice and press Enter, if nobody is disturbed by it.
    Type(TypeNotice),
    /// Say a notice to a program that speaks JSON.
    Say {
        /// Which wake this is.
        wake_id: String,
        /// What to say.
        text: String,
    },
    /// Whether a notice was handed to the program.
    HasArrived {
        /// Which wake.
        wake_id: String,
    },
    /// A turn began because of this wake, by the word of whoever saw it.
    Turn(String),
    /// Wait until that is said.
    AwaitTurn {
        /// Which wake.
        wake_id: String,
        /// How long.
        patience_ms: u64,
    },
    /// End the program and start it anew.
    Restart {},
    /// End the program.
    Stop {},
}

/// A notice to type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypeNotice {
    /// Which wake this is.
    pub wake_id: String,
    /// The line.
    pub typed: String,
    /// How long the human must have been quiet.
    pub quiet_ms: u64,
}

/// What a keeper answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It was done, or had been done before.
    Done,
    /// What is seen.
    Seen(SeenFacts),
    /// Yes or no.
    Is(bool),
    /// Nothing was sent.
    Refused(Refusal),
    /// Something was sent, and Enter was not pressed.
    Unsure(String),
    /// The request makes no sense here.
    Wrong(String),
}

/// Why a notice was not typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Something is half typed, or was typed a moment ago.
    HumanInputBusy,
    /// The program asks its human something.
    DialogOpen,
    /// The program is at work, or another one is in front.
    TurnRunning,
    /// Nobody knows what the screen shows.
    ScreenUnknown,
    /// The program has ended, or is stopped.
    NotRunning,
}

impl Refusal {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HumanInputBusy => "human_input_busy",
            Self::DialogOpen => "dialog_open",
            Self::TurnRunning => "turn_running",
            Self::ScreenUnknown => "screen_unknown",
            Self::NotRunning => "not_running",
        }
    }
}

/// What a keeper sees of its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFacts {
    /// Whether the program runs.
    pub running: bool,
    /// `idle`, `busy`, `dialog` or `unknown`.
    pub activity: String,
    /// Whether something is half typed.
    pub draft: bool,
    /// How long ago a human typed; nothing when nobody has.
    pub quiet_ms: Option<u64>,
    /// How many watch.
    pub watchers: usize,
    /// Whether the program speaks JSON instead of drawing on a terminal.
    pub streams: bool,
    /// The program's process.
    pub pid: Option<u32>,
}

impl SeenFacts {
    /// What the program is doing.
    pub fn activity(&self) -> Activity {
        match self.activity.as_str() {
            "idle" => Activity::Idle,
            "busy" => Activity::Busy,
            "dialog" => Activity::Dialog,
            _ => Activity::Unknown,
        }
    }

    /// What its human is doing.
    pub fn human(&self) -> Human {
        let quiet = self.quiet_ms.map(Duration::from_millis);
        match (self.draft, quiet) {
            (true, quiet) => Human::Draft(quiet.unwrap_or_default()),
            (false, Some(quiet)) => Human::Quiet(quiet),
            (false, None) => Human::Unseen,
        }
    }
}

/// The name of an activity.
pub(crate) const fn activity_name(activity: Activity) -> &'static str {
    match activity {
        Activity::Idle => "idle",
        Activity::Busy => "busy",
        Activity::Dialog => "dialog",
        Activity::Unknown => "unknown",
    }
}

/// Whether a line may be typed: nothing but letters, digits and the signs of our own template.
pub fn is_typeable(line: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" _.,:;()[]-".contains(&byte);
    !line.is_empty() && line.len() <= crate::limits::TYPED_BYTES_MAX && line.bytes().all(is_plain)
}
