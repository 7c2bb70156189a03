//! What services say, on its way in: known again or taken once, routed, and made into an envelope and
//! work in the transaction that the service's answer waits for.
mod keys;
mod route;
mod take;
mod words;

pub(crate) use take::{Incoming, Received, Taker};
