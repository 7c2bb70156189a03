//! Fakes of the services that connectors talk to. They behave: they block, refuse, ask for patience,
//! deliver twice and hang up, as the real ones do.

mod server;
pub mod slack;

pub use server::FakeServer;
pub use slack::SlackFake;
