//! The keeper: the process that owns an agent's terminal and outlives both the person's terminal and
//! the hub.
//!
//! One thread does it all, in one loop over everything that can be read or written, so that no key
//! waits for another thread and nothing can come between two parts of a notice.
mod attach;
mod control;
mod facts;
mod frame;
mod peer;
mod prefix;
mod program;
mod protocol;
mod records;
mod server;
mod socket;
mod stream;
mod terminal;
mod typing;

pub use attach::{Ended, attach, own_size};
pub use control::{Control, ControlError};
pub use facts::{Facts, Standing};
pub use program::{Kind, Pace, Plan};
pub use protocol::{Answer, Refusal, Request, SeenFacts, TypeNotice, is_typeable};
pub use records::{Records, Typed};
pub use server::{Keeper, Orders};
pub use socket::{bind, connect, is_own};
