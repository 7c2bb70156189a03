//! The contract of a connector and the HTTP toolkit they share.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod toolkit;
