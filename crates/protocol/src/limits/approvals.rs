//! The maximums of what humans decide, and of their terminals. Units stand last in the name.

use std::time::Duration;

/// Why an agent wants something, in bytes.
pub const PROPOSAL_WHY_BYTES_MAX: usize = 4 * 1024;
/// A remark of a human about a proposal, in bytes.
pub const PROPOSAL_COMMENT_BYTES_MAX: usize = 16 * 1024;
/// Steps of one proposal that are shown.
pub const PROPOSAL_STEPS_MAX: usize = 200;
/// Proposals of which one turn of the reminders takes care.
pub const PROPOSALS_PER_TURN_MAX: usize = 100;
/// How often the reminders look by themselves.
pub const REMINDERS_LOOK_EVERY: Duration = Duration::from_secs(2);
/// How long a service may take to open its editor; what opens it is good for three seconds.
pub const EDITOR_OPEN_TIMEOUT: Duration = Duration::from_millis(2_500);
/// How long the human behind an MCP client may take to answer.
pub const ELICITATION_TIMEOUT: Duration = Duration::from_mins(10);
/// The text of a draft in a message that asks, in characters.
pub const PROPOSAL_SHOWN_CHARS_MAX: usize = 8_000;
/// Rules of the policy about approvals.
pub const APPROVAL_RULES_MAX: usize = 200;

/// Rounds of PBKDF2 over the operator's passphrase.
pub const PASSPHRASE_ROUNDS: u32 = 600_000;
/// The shortest passphrase, in characters.
pub const PASSPHRASE_CHARS_MIN: usize = 8;
/// The longest passphrase, in bytes.
pub const PASSPHRASE_BYTES_MAX: usize = 1_024;
/// How long a terminal stays unlocked, in milliseconds.
pub const TERMINAL_UNLOCKED_MS: i64 = 5 * 60_000;
/// Terminals that are unlocked at the same time.
pub const TERMINALS_UNLOCKED_MAX: usize = 16;
/// The wait after the first wrong passphrase, in milliseconds; it doubles with each.
pub const PASSPHRASE_WAIT_MS: i64 = 1_000;
/// The longest wait after wrong passphrases, in milliseconds.
pub const PASSPHRASE_WAIT_MS_MAX: i64 = 60_000;
/// The address of a page that an action goes to, in characters.
pub const PLACE_CHARS_MAX: usize = 2_048;
