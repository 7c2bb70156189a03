//! The maximums of this crate. Units stand last in the name.

/// Ancestors of a hook that are looked at to find the CLI that called it.
pub const ANCESTORS_MAX: usize = 32;
/// How long a program's records are asked whether a notice arrived before a person must look, in
/// milliseconds.
pub const ARRIVAL_PATIENCE_MS: i64 = 60_000;
