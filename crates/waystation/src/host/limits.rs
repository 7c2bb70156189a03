//! The maximums of a host. Units stand last in the name.

use std::time::Duration;

/// Wakes that a host works on at once.
pub(super) const JOBS_MAX: usize = 64;
/// How long a claim waits for something to do, in milliseconds.
pub(super) const CLAIM_WAIT_MS: u64 = 25_000;
/// Wakes claimed at once.
pub(super) const CLAIM_MAX: usize = 16;
/// The first pause after the hub could not be asked; it doubles.
pub(super) const HUB_PAUSE: Duration = Duration::from_millis(50);
/// The longest such pause.
pub(super) const HUB_PAUSE_MAX: Duration = Duration::from_secs(2);
/// How long the hub may take to answer anything but a claim.
pub(super) const ANSWER_PATIENCE: Duration = Duration::from_secs(15);
/// How often a wake that is worked on is reported again, so that nobody else gets it.
pub(super) const LEASE_RENEW_EVERY: Duration = Duration::from_secs(10);
/// How often a session in a turn is looked at.
pub(super) const BUSY_LOOK_EVERY: Duration = Duration::from_secs(1);
/// When a session that cannot be reached is looked at again, in milliseconds.
pub(super) const QUEUE_LOOK_MS: i64 = 15_000;
/// How long a turn may take to begin after its notice was handed over.
pub(super) const TURN_PATIENCE: Duration = Duration::from_secs(30);
/// How often the hub is asked meanwhile whether the wake has ended.
pub(super) const ENDED_LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a look at a session may take.
pub(super) const LOOK_PATIENCE: Duration = Duration::from_secs(10);
/// How long the records may take to say whether a notice arrived.
pub(super) const ARRIVAL_PATIENCE: Duration = Duration::from_secs(30);
/// How long handing over may take before nobody knows what became of it.
pub(super) const HAND_PATIENCE: Duration = Duration::from_mins(2);
/// How long a program may take to be started under a keeper.
pub(super) const START_PATIENCE: Duration = Duration::from_secs(30);
/// When it is looked at again after that, in milliseconds, unless it says something before.
pub(super) const STARTED_LOOK_MS: i64 = 1_000;
/// How often a started process is looked at.
pub(super) const CHILD_LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often its session reports that it is alive.
pub(super) const CHILD_HEARTBEAT_EVERY: Duration = Duration::from_secs(30);
/// How long a host that is told to stop waits for what it is handing over.
pub(super) const STOP_PATIENCE: Duration = Duration::from_secs(10);
/// Connections to the hub that are kept open while nobody uses them.
pub(super) const IDLE_CONNECTIONS_MAX: usize = 8;
/// Characters of a session's name.
pub(super) const SESSION_CHARS_MAX: usize = 128;
