//! All behaviour of Waystation: operations, the catalogue that is their one door, and duties.
#![forbid(unsafe_code)]

pub mod audit;
