//! Times as people and models write them: `2025-01-13`, `7d`, `yesterday`, `1700000000`.
//!
//! The reader is strict where a guess would move the moment without a word: an offset or a zone
//! that cannot be honoured is refused, never dropped.

use jiff::civil::{Date, DateTime, ISOWeekDate, Weekday};
use jiff::fmt::temporal::Pieces;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Span, ToSpan, Zoned};

use crate::limits::chats as limits;
use crate::time::Timestamp;
use crate::validate::Invalid;

/// What [`parse`] takes, for the descriptions of parameters and for its error.
pub const FORMS: &str = "an RFC 3339 time (2025-01-13T09:30:00Z, 2025-01-13T09:30:00+02:00), \
    a date or local time (2025-01-13, 2025-01-13T09:30), a month or week (2025-01, 2025-W03), \
    a time back from now (7d, 2h30m, 90 minutes, 1 week ago, 1.5d, P7D), \
    a word (now, today, yesterday, monday, last week, last month), \
    seconds or milliseconds since 1970 (1736760600, 1736760600000) \
    or an e-mail date (Mon, 13 Jan 2025 09:30:00 +0000)";

/// Reads a moment; dates and words are meant in `zone`.
///
/// - A date, week or month is its first moment. `today` and `yesterday` are such dates, `monday` is
///   the latest Monday, today included, and `last week`, `last month` and `last year` begin where
///   the calendar's do.
/// - A length of time is always counted back from now, with or without a sign or `ago`. Days and
///   longer follow the calendar, so that `7d` keeps the hour across a change of clocks; a fraction
///   of a day or week is so many hours.
/// - Ten digits are seconds since 1970, thirteen are milliseconds, eight are a date, and
///   `1700000000.000100` is a message's time as Slack writes it.
pub fn parse(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, Invalid> {
    let text = text.trim();
    if text.is_empty() || text.len() > limits::WHEN_BYTES_MAX {
        return Err(unreadable());
    }
    let here = jiff::Timestamp::from_millisecond(now.as_ms())
        .map_err(|_| Invalid("cannot be read while the hub's clock is wrong".into()))?
        .to_zoned(zone.clone());
    let lower = text.to_lowercase();
    let moment = if let Some(date) = word(&lower, &here) {
        start_of(date?, zone)?
    } else if lower == "now" {
        now
    } else if let Some(moment) = epoch(text) {
        moment
    } else if let Some(date) = week_or_month(&lower) {
        start_of(date?, zone)?
    } else if let Ok(pieces) = Pieces::parse(text) {
        place(text, &pieces, zone)?
    } else if let Some(span) = span(text, &lower)? {
        back(&here, span)?
    } else {
        jiff::fmt::rfc2822::DateTimeParser::new()
            .parse_timestamp(text)
            .map(|moment| Timestamp::from_ms(moment.as_millisecond()))
            .map_err(|_| unreadable())?
    };
    within_reach(moment, now)
}

/// Refuses a range that holds nothing: `since` is inclusive, `before` is exclusive.
pub fn check_range(
    since: Option<Timestamp>,
    before: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), Invalid> {
    if let (Some(since), Some(before)) = (since, before)
        && since >= before
    {
        return Err(Invalid(format!(
            "since must be before before: since is {since}, before is {before}"
        )));
    }
    match since {
        Some(since) if since.ms_since(now) > limits::SINCE_AHEAD_MS_MAX => {
            Err(Invalid(format!("since must not be in the future: since is {since}, now is {now}")))
        }
        _ => Ok(()),
    }
}

fn unreadable() -> Invalid {
    Invalid(format!("must be a time in one of these forms: {FORMS}"))
}

fn too_far() -> Invalid {
    Invalid(format!("must lie within 100 years of now, as {FORMS}"))
}

fn within_reach(moment: Timestamp, now: Timestamp) -> Result<Timestamp, Invalid> {
    let reach_ms = limits::WHEN_DAYS_MAX.saturating_mul(24 * 3600 * 1000);
    if now.ms_since(moment).saturating_abs() > reach_ms {
        return Err(too_far());
    }
    Ok(moment)
}

fn moment_of(zoned: &Zoned) -> Timestamp {
    Timestamp::from_ms(zoned.timestamp().as_millisecond())
}

/// The first moment of a day; where clocks skip midnight that is not midnight.
fn start_of(date: Date, zone: &TimeZone) -> Result<Timestamp, Invalid> {
    date.to_zoned(zone.clone())
        .and_then(|day| day.start_of_day())
        .map(|day| moment_of(&day))
        .map_err(|_| too_far())
}

/// The day a word means, seen from here.
fn word(lower: &str, here: &Zoned) -> Option<Result<Date, Invalid>> {
    let today = here.date();
    let monday = |weeks_back: i64| {
        let day = i64::from(today.weekday().to_monday_zero_offset());
        today.checked_sub((day + 7 * weeks_back).days())
    };
    let date = match lower {
        "today" => Ok(today),
        "yesterday" => today.yesterday(),
        "tomorrow" => today.tomorrow(),
        "this week" => monday(0),
        "last week" => monday(1),
        "this month" => Ok(today.first_of_month()),
        "last month" => today.first_of_month().checked_sub(1.month()),
        "this year" => Ok(today.first_of_year()),
        "last year" => today.first_of_year().checked_sub(1.year()),
        _ => {
            let (name, from) = match lower.strip_prefix("last ") {
                Some(name) => (name, today.yesterday()),
                None => (lower, Ok(today)),
            };
            let wanted = weekday(name)?;
            from.and_then(|from| from.checked_sub(from.weekday().since(wanted).days()))
        }
    };
    Some(date.map_err(|_| too_far()))
}

fn weekday(name: &str) -> Option<Weekday> {
    Some(match name {
        "monday" | "mon" => Weekday::Monday,
        "tuesday" | "tue" => Weekday::Tuesday,
        "wednesday" | "wed" => Weekday::Wednesday,
        "thursday" | "thu" => Weekday::Thursday,
        "friday" | "fri" => Weekday::Friday,
        "saturday" | "sat" => Weekday::Saturday,
        "sunday" | "sun" => Weekday::Sunday,
        _ => return None,
    })
}

/// Whether text is so many ASCII digits.
fn is_digits(text: &str, count: std::ops::RangeInclusive<usize>) -> bool {
    count.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Seconds or milliseconds since 1970, told apart by their length.
fn epoch(text: &str) -> Option<Timestamp> {
    if is_digits(text, 13..=13) {
        return text.parse().ok().map(Timestamp::from_ms);
    }
    let (seconds, fraction) = match text.split_once('.') {
        Some((seconds, fraction)) if is_digits(fraction, 1..=9) => (seconds, fraction),
        Some(_) => return None,
        None => (text, "0"),
    };
    if !is_digits(seconds, 10..=10) {
        return None;
    }
    let ms = scaled("0", fraction, 3)?;
    seconds.parse::<i64>().ok()?.checked_mul(1000)?.checked_add(ms).map(Timestamp::from_ms)
}

/// `whole.fraction` in units of ten to the minus `places`; further digits are dropped.
fn scaled(whole: &str, fraction: &str, places: usize) -> Option<i64> {
    let digits: String = fraction.chars().chain(std::iter::repeat('0')).take(places).collect();
    format!("{whole}{digits}").parse().ok()
}

/// `2025-01`, `2025-W03` and `2025-W03-2`, which the reader of dates does not know.
fn week_or_month(lower: &str) -> Option<Result<Date, Invalid>> {
    let (year, rest) = lower.split_at_checked(4)?;
    if !is_digits(year, 4..=4) {
        return None;
    }
    let year: i16 = year.parse().ok()?;
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    if let Some(rest) = rest.strip_prefix('w') {
        let (week, day) = rest.split_at_checked(2)?;
        let day = match day {
            "" => "1",
            day => day.strip_prefix('-').unwrap_or(day),
        };
        if !is_digits(week, 2..=2) || !is_digits(day, 1..=1) {
            return None;
        }
        let day = Weekday::from_monday_one_offset(day.parse().ok()?);
        let week = week.parse().ok()?;
        let date = day.and_then(|day| ISOWeekDate::new(year, week, day)).map(ISOWeekDate::date);
        return Some(date.map_err(|_| unreadable()));
    }
    if lower.len() != 7 || !is_digits(rest, 2..=2) {
        return None;
    }
    Some(Date::new(year, rest.parse().ok()?, 1).map_err(|_| unreadable()))
}

/// The moment of a written date with what stands beside it. What has no offset and no zone is meant
/// in `zone`.
fn place(text: &str, pieces: &Pieces<'_>, zone: &TimeZone) -> Result<Timestamp, Invalid> {
    if pieces.time_zone_annotation().is_some() {
        // The bundled zones, because this crate reads no files.
        return jiff::fmt::temporal::DateTimeParser::new()
            .parse_zoned_with(&TimeZoneDatabase::bundled(), text)
            .map(|zoned| moment_of(&zoned))
            .map_err(|_| unreadable());
    }
    match (pieces.time(), pieces.to_numeric_offset()) {
        (None, None) => start_of(pieces.date(), zone),
        (None, Some(_)) => Err(unreadable()),
        (Some(time), Some(offset)) => offset
            .to_timestamp(DateTime::from_parts(pieces.date(), time))
            .map(|moment| Timestamp::from_ms(moment.as_millisecond()))
            .map_err(|_| too_far()),
        (Some(time), None) => DateTime::from_parts(pieces.date(), time)
            .to_zoned(zone.clone())
            .map(|zoned| moment_of(&zoned))
            .map_err(|_| too_far()),
    }
}

/// A length of time, without its sign: it always lies in the past.
fn span(text: &str, lower: &str) -> Result<Option<Span>, Invalid> {
    // A colon is a time of day, which as a length would be quite another moment; a plus would lie
    // in the future.
    if text.contains(':') || text.starts_with('+') {
        return Ok(None);
    }
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    if unsigned.starts_with(['P', 'p']) && !lower.starts_with("past") {
        return Ok(text.to_uppercase().parse::<Span>().ok().map(Span::abs));
    }
    let is_unit = |letters: &str| letters == "M";
    if text.split(|c: char| !c.is_alphabetic()).any(is_unit) && !lower.contains('h') {
        return Err(Invalid(
            "must say m for minutes or mo for months, not M, as 30m or 1mo".into(),
        ));
    }
    let counted = lower.strip_prefix("last ").or_else(|| lower.strip_prefix("past "));
    let length = counted.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let length = length.unwrap_or(lower);
    if let Some(span) = fraction(length) {
        return Ok(Some(span));
    }
    Ok(length.parse::<Span>().ok().map(Span::abs))
}

/// `1.5d` or `0.5 weeks ago` as hours; the calendar has no half days.
fn fraction(lower: &str) -> Option<Span> {
    let (whole, rest) = lower.strip_prefix('-').unwrap_or(lower).split_once('.')?;
    let unit_at = rest.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = rest.split_at_checked(unit_at)?;
    let unit = unit.strip_suffix(" ago").unwrap_or(unit).trim();
    let unit_ms: i64 = match unit {
        "d" | "day" | "days" => 24 * 3600 * 1000,
        "w" | "wk" | "wks" | "week" | "weeks" => 7 * 24 * 3600 * 1000,
        _ => return None,
    };
    if !is_digits(whole, 1..=6) || !is_digits(digits, 1..=9) {
        return None;
    }
    let millionths = scaled(whole, digits, 6)?;
    let ms = i128::from(millionths).checked_mul(i128::from(unit_ms))? / 1_000_000;
    Span::new().try_milliseconds(i64::try_from(ms).ok()?).ok()
}

fn back(here: &Zoned, span: Span) -> Result<Timestamp, Invalid> {
    here.checked_sub(span).map(|zoned| moment_of(&zoned)).map_err(|_| too_far())
}
