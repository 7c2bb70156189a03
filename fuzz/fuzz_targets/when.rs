//! Anything at all as a time; it is understood or refused, at any time of day.
#![no_main]

use protocol::Timestamp;
use protocol::chat::when;

libfuzzer_sys::fuzz_target!(|input: (i64, &str)| {
    let now = Timestamp::from_ms(input.0.rem_euclid(4_000_000_000_000));
    drop(when::parse(input.1, now, &jiff::tz::TimeZone::UTC));
});
