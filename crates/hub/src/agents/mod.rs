//! Agents: who is there, in which session, and how it does.
mod heartbeat_session;
mod list_sessions;

pub use heartbeat_session::HeartbeatSession;
pub use list_sessions::ListSessions;
