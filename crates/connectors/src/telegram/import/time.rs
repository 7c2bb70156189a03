//! When something was said.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use protocol::Timestamp;

/// The moment of a message: in seconds where the export says so, otherwise by the clock on the wall
/// of whoever exported it.
pub(super) fn moment(
    seconds: Option<i64>,
    written: Option<&str>,
    zone: &TimeZone,
) -> Option<Timestamp> {
    let exact = seconds.filter(|seconds| *seconds > 0).and_then(|s| s.checked_mul(1000));
    exact.map(Timestamp::from_ms).or_else(|| by_wall_clock(written?, zone))
}

fn by_wall_clock(written: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(moment) = written.parse::<Timestamp>() {
        return Some(moment);
    }
    let wall: DateTime = written.parse().ok()?;
    let moment = wall.to_zoned(zone.clone()).ok()?.timestamp();
    Some(Timestamp::from_ms(moment.as_millisecond()))
}
