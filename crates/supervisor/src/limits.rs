//! The maximums of this crate. Units stand last in the name.

/// Ancestors of a hook that are looked at to find the CLI that called it.
pub const ANCESTORS_MAX: usize = 32;
