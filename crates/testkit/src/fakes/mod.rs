//! Fakes of the services that connectors talk to. They behave: they block, refuse, ask for patience,
//! deliver twice and hang up, as the real ones do.

mod model;
mod server;
mod signal;
pub mod slack;
pub mod telegram;
mod whatsapp;

pub use model::{FakeModel, Heard, Rule, Script, Step, read_journal};
pub use server::FakeServer;
pub use signal::FakeSignal;
pub use slack::SlackFake;
pub use telegram::FakeTelegram;
pub use whatsapp::{FakeHook, FakeWhatsApp};
