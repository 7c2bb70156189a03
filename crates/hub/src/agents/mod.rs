//! Agents: who is there, in which session, how it does, and who runs it.
mod heartbeat_session;
mod list_agents;
mod list_sessions;
mod open_session;
mod process;
mod view;

pub use heartbeat_session::HeartbeatSession;
pub use list_agents::ListAgents;
pub use list_sessions::ListSessions;
pub use open_session::OpenSession;
