//! What tests share: throw-away stores, a manual clock, running hubs.

#![forbid(unsafe_code)]

pub mod postgres;
