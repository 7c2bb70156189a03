//! What identity promises: which tokens become which callers, and every trap that must not work.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails where it is")]
#![expect(clippy::indexing_slicing, reason = "the tests know the shape of what they made")]

mod fake_issuer;
mod key_sets;
mod outside;
mod properties;
mod times;
mod traps;
mod world;
