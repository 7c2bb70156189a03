//! What tests share: throw-away stores, a manual clock, running hubs.

#![forbid(unsafe_code)]

pub mod agent_home;
pub mod fakes;
pub mod hub;
pub mod naughty;
pub mod postgres;
pub mod redis;
pub mod scripted;
pub mod strays;
pub mod terminal;
mod watchdog;

pub use crate::hub::{
    Connectors, MakeKeeper, ManualClock, On, TestHub, caller, caller_in, generous,
};
