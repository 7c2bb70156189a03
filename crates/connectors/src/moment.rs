//! The moment it is, for what a service judges by its own clock: signatures and tokens.

/// Seconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "a receiver compares it with the real time, whatever clock the hub has"
)]
pub(crate) fn this_second() -> i64 {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since_1970.ok().and_then(|passed| i64::try_from(passed.as_secs()).ok()).unwrap_or_default()
}
