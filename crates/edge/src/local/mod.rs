//! The private socket: how commands and stdio servers on this machine reach the one process that owns
//! the data folder. File permissions are its credential; the kernel keeps everyone else out.
mod bridge;
mod client;
mod listener;

pub use bridge::{Bridge, Connect};
pub use client::{Client, ClientError};
pub use listener::{Greeting, Sockets, serve};
