//! Codex: how its sessions are seen and woken.
//!
//! A session is a *thread*. While somebody works on it, one process writes to it: an app server that
//! many terminals share, an app server of the session's own, a terminal by itself, or `codex exec`.
//! App servers take turns over a socket, which touches nobody's keyboard. A thread that nobody writes
//! to is resumed with `codex exec resume`, and Codex itself refuses that while somebody does.

mod bind;
mod cli;
mod command;
mod exec;
mod known;
mod limits;
mod locks;
mod look;
pub mod private;
mod queue;
mod rollout;
mod socket;
mod thread_id;
mod threads;
mod version;

pub use bind::bind;
pub use cli::Codex;
pub use command::bare;
pub use known::Known;
pub use socket::shared_socket;
pub use thread_id::ThreadId;
pub use version::{Abilities, Version};

/// Whether a thread is a session of somebody's. Codex also opens threads for itself, such as to find a
/// title for a task, and writes none of them down; and an agent opens some for its helpers.
pub fn is_session(home: &std::path::Path, id: &ThreadId) -> bool {
    rollout::find(home, id, None, rollout::Age::Any).is_some_and(|found| rollout::is_main(&found))
}
