//! Those of keepers and terminals.

use std::time::Duration;

/// A lone ESC that nothing followed for so long was the key itself.
pub const ESCAPE_PATIENCE: Duration = Duration::from_millis(50);
/// Bytes of a terminal's report that are looked at; a longer one is a key nobody knows.
pub const REPORT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Typed characters that are counted; who typed more has a draft until it is sent.
pub const DRAFT_CHARS_MAX: usize = 64 * 1024;

/// How long nothing may have been printed before a program counts as waiting.
pub const STILL: Duration = Duration::from_millis(500);
/// The longest notice that is typed; the kernel's line discipline takes no more at once.
pub const TYPED_BYTES_MAX: usize = 4_000;
/// How long after the last letter Enter comes at the earliest: programs take an Enter that follows
/// at once for a part of what was pasted.
pub const ENTER_AFTER: Duration = Duration::from_millis(250);
/// How long nothing may have been printed after the echo before Enter comes.
pub const ECHO_STILL: Duration = Duration::from_millis(60);
/// How long an echo is waited for before Enter comes without it.
pub const ECHO_PATIENCE: Duration = Duration::from_secs(2);
/// Output that counts as the echo of a key.
pub const ECHO_OF_KEY: Duration = Duration::from_millis(300);
/// Notices that a keeper remembers having typed.
pub const REMEMBERED_WAKES_MAX: usize = 4_096;

/// Bytes read from a terminal before those who watch it get them.
pub const OUTPUT_BATCH_BYTES: usize = 64 * 1024;
/// So many bytes within [`FLOOD_WINDOW`] are a flood.
pub const FLOOD_BYTES: usize = 128 * 1024;
/// The time in which they are counted.
pub const FLOOD_WINDOW: Duration = Duration::from_millis(20);
/// How long the next page of a flood is waited for.
pub const FLOOD_PATIENCE: Duration = Duration::from_millis(1);
/// Bytes that wait for one watcher before the program has to wait for it.
pub const BACKLOG_BYTES_MAX: usize = 1024 * 1024;
/// How long a watcher may hold the program up before it is shown the screen anew instead.
pub const STALL_PATIENCE: Duration = Duration::from_secs(10);
/// Bytes typed ahead before those who type have to wait.
pub const INPUT_BYTES_MAX: usize = 64 * 1024;
/// Output that waits to be drawn on the screen's model before some of it is skipped.
pub const UNDRAWN_BYTES_MAX: usize = 256 * 1024;
/// What is left of it then: enough for many screens.
pub const UNDRAWN_BYTES_KEPT: usize = 64 * 1024;
/// Output drawn at once, between two looks for keys.
pub const DRAW_BYTES: usize = 4 * 1024;
/// How long a program may take to paint its screen after its window changed.
pub const REPAINT_PATIENCE: Duration = Duration::from_secs(2);
/// How long the window keeps another size to make a program paint.
pub const NUDGE: Duration = Duration::from_millis(40);
/// How long nothing must happen before some of it is drawn.
pub const DRAW_AFTER: Duration = Duration::from_millis(1);
/// How often a keeper looks whether it is time for something, while something is under way.
pub const TICK_BUSY: Duration = Duration::from_millis(10);
/// The same while a program has been printing.
pub const TICK_AWAKE: Duration = Duration::from_millis(100);
/// The same while nothing happens.
pub const TICK_ASLEEP: Duration = Duration::from_secs(1);
/// Rows from the bottom that are searched for a dialog.
pub const DIALOG_ROWS: usize = 24;

/// Connections to a keeper at once.
pub const PEERS_MAX: usize = 64;
/// The longest request to a keeper.
pub const REQUEST_BYTES_MAX: usize = 64 * 1024;
/// The longest frame.
pub const FRAME_BYTES_MAX: usize = 1024 * 1024;
/// How long a keeper takes to answer a question that needs no waiting.
pub const ANSWER_PATIENCE: Duration = Duration::from_secs(10);
/// How long a program waits for somebody who watches before it starts without.
pub const FIRST_WATCHER_PATIENCE: Duration = Duration::from_secs(5);
/// How long what is left of a program's output is waited for after it ended.
pub const LAST_WORDS_PATIENCE: Duration = Duration::from_millis(500);
/// How long a program may take to end after it was told to.
pub const END_PATIENCE: Duration = Duration::from_secs(5);
/// How long a keeper lives on so that the last watchers read how it ended.
pub const FAREWELL_PATIENCE: Duration = Duration::from_secs(2);
/// The longest line of a program that speaks JSON.
pub const STREAM_LINE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The longest log of such a program; then it begins anew.
pub const CHILD_LOG_BYTES_MAX: u64 = 8 * 1024 * 1024;
