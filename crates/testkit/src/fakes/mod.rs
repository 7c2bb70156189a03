//! Fakes of the services that connectors talk to. They behave: they block, refuse, ask for patience,
//! deliver twice and hang up, as the real ones do.

mod server;
mod signal;
pub mod slack;
pub mod telegram;
mod whatsapp;

pub use server::FakeServer;
pub use signal::FakeSignal;
pub use slack::SlackFake;
pub use telegram::FakeTelegram;
pub use whatsapp::{FakeHook, FakeWhatsApp};
