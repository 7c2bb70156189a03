//! Hostile text by every way in, an agent that obeys all of it, and services that see nothing without a
//! human's yes.

mod channels;
mod github_payloads;
mod obedient;
mod proof;
mod texts;
mod world;
