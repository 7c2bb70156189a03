//! Fakes of the services that connectors talk to. They behave: they block, refuse, ask for patience,
//! deliver twice and hang up, as the real ones do.

mod calling;
pub mod github;
mod model;
pub mod openproject;
mod receiver;
pub mod sentry;
mod server;
mod services;
mod signal;
pub mod slack;
pub mod telegram;
mod trouble;
mod whatsapp;

pub use calling::{Answered, post};
pub use github::GithubFake;
pub use model::{FakeModel, Heard, Rule, Script, Step, read_journal};
pub use openproject::OpenProjectFake;
pub use receiver::{Called, FakeReceiver};
pub use sentry::SentryFake;
pub use server::FakeServer;
pub use services::FakeServices;
pub use signal::FakeSignal;
pub use slack::SlackFake;
pub use telegram::FakeTelegram;
pub use trouble::{Refusal, Trouble};
pub use whatsapp::{FakeHook, FakeWhatsApp};
