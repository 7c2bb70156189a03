//! The private socket: how commands and stdio servers on this machine reach the one process that owns
//! the data folder. File permissions are its credential; the kernel keeps everyone else out.
mod approvals;
mod bridge;
mod client;
mod listener;
mod relay;
mod routes;

pub use bridge::{Bridge, Connect, Connection};
pub use client::{Called, Client, ClientError};
pub(crate) use listener::greeted;
pub use listener::{Greeting, GreetingError, Sockets, identify, serve};
pub use relay::{Relayed, Upstream, relay};
pub use routes::{Owner, OwnerInfo};
pub(crate) use routes::{call, routes};

pub use crate::trace::Marks;
