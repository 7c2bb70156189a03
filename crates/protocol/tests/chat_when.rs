//! What a caller may write where a time is asked for.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use jiff::tz::{TimeZone, TimeZoneDatabase};
use proptest::prelude::*;
use waystation_protocol::Timestamp;
use waystation_protocol::chat::when::{check_range, parse};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A Wednesday, half a day after midnight in London and fourteen hours after it in Helsinki.
fn now() -> Timestamp {
    at("2025-01-15T12:00:00Z")
}

fn zone(name: &str) -> TimeZone {
    TimeZoneDatabase::bundled().get(name).unwrap()
}

fn helsinki() -> TimeZone {
    zone("Europe/Helsinki")
}

/// Each text means its moment, seen from Helsinki.
fn means(cases: &[(&str, &str)]) {
    for (text, moment) in cases {
        assert_eq!(parse(text, now(), &helsinki()).as_ref(), Ok(&at(moment)), "{text}");
    }
}

fn refuses(cases: &[&str]) {
    for text in cases {
        let read = parse(text, now(), &helsinki());
        assert!(read.is_err(), "{text} was read as {}", read.unwrap());
    }
}

#[test]
fn a_time_with_an_offset_keeps_it() {
    means(&[
        ("2025-01-13T00:00:00Z", "2025-01-13T00:00:00Z"),
        ("2025-01-13T00:00:00+05:00", "2025-01-12T19:00:00Z"),
        ("2025-01-13t00:00:00-08:00", "2025-01-13T08:00:00Z"),
        ("2025-01-13 00:00:00.250Z", "2025-01-13T00:00:00.250Z"),
        ("20250113T000000Z", "2025-01-13T00:00:00Z"),
        ("  2025-01-13T00:00:00Z\n", "2025-01-13T00:00:00Z"),
    ]);
}

#[test]
fn a_time_with_a_zone_is_meant_there() {
    means(&[
        ("2025-01-13T00:00[America/New_York]", "2025-01-13T05:00:00Z"),
        ("2025-01-13[America/New_York]", "2025-01-13T05:00:00Z"),
        ("2025-01-13T00:00-05:00[America/New_York]", "2025-01-13T05:00:00Z"),
    ]);
}

#[test]
fn an_offset_or_zone_that_cannot_be_honoured_is_refused_not_dropped() {
    refuses(&[
        "2025-01-13T00:00[Nowhere/Land]",
        "2025-01-13T00:00+05:00[America/New_York]",
        "2025-01-13T00:00+99:00",
        "2025-01-13+02:00",
        "2025-01-13Z",
    ]);
}

#[test]
fn a_date_or_local_time_is_meant_in_the_callers_zone() {
    means(&[
        ("2025-01-13", "2025-01-12T22:00:00Z"),
        ("20250113", "2025-01-12T22:00:00Z"),
        ("2025-07-13", "2025-07-12T21:00:00Z"),
        ("2025-01-13T09:30", "2025-01-13T07:30:00Z"),
        ("2025-01-13 09:30:15", "2025-01-13T07:30:15Z"),
        ("2025-01", "2024-12-31T22:00:00Z"),
        ("2025-W03", "2025-01-12T22:00:00Z"),
        ("2025-w03-3", "2025-01-14T22:00:00Z"),
        ("2025W03", "2025-01-12T22:00:00Z"),
        ("2020-W53", "2020-12-27T22:00:00Z"),
    ]);
}

#[test]
fn a_day_begins_with_its_first_moment_where_clocks_skip_midnight() {
    let read = parse("2024-09-08", now(), &zone("America/Santiago"));
    assert_eq!(read, Ok(at("2024-09-08T04:00:00Z")));
}

#[test]
fn a_length_of_time_lies_in_the_past() {
    means(&[
        ("7d", "2025-01-08T12:00:00Z"),
        ("7D", "2025-01-08T12:00:00Z"),
        ("-7d", "2025-01-08T12:00:00Z"),
        ("7 days", "2025-01-08T12:00:00Z"),
        ("last 7 days", "2025-01-08T12:00:00Z"),
        ("past 24 hours", "2025-01-14T12:00:00Z"),
        ("2h30m", "2025-01-15T09:30:00Z"),
        ("2H30M", "2025-01-15T09:30:00Z"),
        ("2h 30m", "2025-01-15T09:30:00Z"),
        ("90 minutes", "2025-01-15T10:30:00Z"),
        ("1 week ago", "2025-01-08T12:00:00Z"),
        ("1 Week Ago", "2025-01-08T12:00:00Z"),
        ("1.5h", "2025-01-15T10:30:00Z"),
        ("1.5d", "2025-01-14T00:00:00Z"),
        ("-1.5D", "2025-01-14T00:00:00Z"),
        ("0.5 weeks ago", "2025-01-12T00:00:00Z"),
        ("1mo", "2024-12-15T12:00:00Z"),
        ("1y", "2024-01-15T12:00:00Z"),
        ("100y", "1925-01-15T12:00:00Z"),
        ("P7D", "2025-01-08T12:00:00Z"),
        ("p7d", "2025-01-08T12:00:00Z"),
        ("-P7D", "2025-01-08T12:00:00Z"),
        ("P1M", "2024-12-15T12:00:00Z"),
        ("PT36H", "2025-01-14T00:00:00Z"),
        ("0s", "2025-01-15T12:00:00Z"),
    ]);
}

#[test]
fn days_keep_the_hour_when_clocks_change_and_hours_do_not() {
    let after_the_change = at("2025-03-31T09:00:00Z");
    let read = |text| parse(text, after_the_change, &helsinki());
    assert_eq!(read("7d"), Ok(at("2025-03-24T10:00:00Z")));
    assert_eq!(read("168h"), Ok(at("2025-03-24T09:00:00Z")));
}

#[test]
fn words_follow_the_callers_calendar() {
    means(&[
        ("now", "2025-01-15T12:00:00Z"),
        ("today", "2025-01-14T22:00:00Z"),
        ("Yesterday", "2025-01-13T22:00:00Z"),
        ("tomorrow", "2025-01-15T22:00:00Z"),
        ("this week", "2025-01-12T22:00:00Z"),
        ("last week", "2025-01-05T22:00:00Z"),
        ("this month", "2024-12-31T22:00:00Z"),
        ("last month", "2024-11-30T22:00:00Z"),
        ("last year", "2023-12-31T22:00:00Z"),
        ("monday", "2025-01-12T22:00:00Z"),
        ("wednesday", "2025-01-14T22:00:00Z"),
        ("last wednesday", "2025-01-07T22:00:00Z"),
        ("thursday", "2025-01-08T22:00:00Z"),
        ("sun", "2025-01-11T22:00:00Z"),
    ]);
}

#[test]
fn today_differs_between_zones() {
    let late = at("2025-01-15T23:00:00Z");
    assert_eq!(parse("today", late, &TimeZone::UTC), Ok(at("2025-01-15T00:00:00Z")));
    assert_eq!(parse("today", late, &helsinki()), Ok(at("2025-01-15T22:00:00Z")));
}

#[test]
fn digits_are_told_apart_by_their_number() {
    means(&[
        ("1700000000", "2023-11-14T22:13:20Z"),
        ("1700000000123", "2023-11-14T22:13:20.123Z"),
        ("1700000000.000100", "2023-11-14T22:13:20Z"),
        ("1700000000.5", "2023-11-14T22:13:20.500Z"),
    ]);
    refuses(&["0", "7", "2025", "170000000", "17000000000", "1700000000.", "1700000000.x"]);
}

#[test]
fn an_e_mail_date_is_read() {
    means(&[
        ("Mon, 13 Jan 2025 09:30:00 +0200", "2025-01-13T07:30:00Z"),
        ("13 Jan 2025 09:30:00 GMT", "2025-01-13T09:30:00Z"),
    ]);
    refuses(&["Tue, 13 Jan 2025 09:30:00 +0200"]);
}

#[test]
fn what_could_mean_two_things_is_refused() {
    refuses(&["1M", "30 M", "14:30", "14:30:00", "+7d", "in 7 days", "01/02/2025", "1.5mo"]);
    let refused = parse("1M", now(), &helsinki()).unwrap_err();
    assert!(refused.0.contains("1mo"), "{refused}");
}

#[test]
fn nonsense_is_refused_with_the_valid_forms() {
    refuses(&[
        "",
        " ",
        "invalid-date",
        "2025-13-01",
        "2025-02-30",
        "2025-13",
        "2025-W54",
        "P",
        "-",
    ]);
    let refused = parse("invalid-date", now(), &helsinki()).unwrap_err().0;
    for example in ["2025-01-13T09:30:00Z", "7d", "yesterday", "1736760600", "2025-W03", "P7D"] {
        assert!(refused.contains(example), "{example} is missing in {refused}");
    }
    assert!(!refused.contains('\n') && !refused.contains("  "), "{refused}");
}

#[test]
fn every_example_of_the_error_is_valid() {
    let forms = waystation_protocol::chat::when::FORMS;
    let examples: Vec<&str> = forms
        .split('(')
        .skip(1)
        .filter_map(|part| part.split_once(')'))
        .flat_map(|(inside, _)| {
            let separator = if inside.starts_with("Mon, ") { "; " } else { ", " };
            inside.split(separator).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(examples.len(), 21, "{examples:?}");
    for example in examples {
        assert!(parse(example, now(), &helsinki()).is_ok(), "{example}");
    }
}

#[test]
fn what_lies_more_than_a_hundred_years_away_is_refused() {
    refuses(&["101y", "2000w 100y", "0001-01-01", "1900-01-01T00:00:00Z", "9999-12-31", "P9999Y"]);
    refuses(&["9999999999", "9999999999999", "999999.5w", "99999999999999999999d"]);
}

#[test]
fn a_range_must_hold_something() {
    let (early, late) = (at("2025-01-01T00:00:00Z"), at("2025-01-02T00:00:00Z"));
    assert_eq!(check_range(Some(early), Some(late), now()), Ok(()));
    assert_eq!(check_range(None, Some(at("2030-01-01T00:00:00Z")), now()), Ok(()));
    assert_eq!(check_range(None, None, now()), Ok(()));
    for (since, before) in [(late, early), (early, early)] {
        let refused = check_range(Some(since), Some(before), now()).unwrap_err();
        assert!(refused.0.starts_with("since must be before before"), "{refused}");
    }
}

#[test]
fn since_must_not_be_in_the_future_beyond_what_clocks_differ() {
    assert_eq!(check_range(Some(now().plus_ms(30_000)), None, now()), Ok(()));
    let refused = check_range(Some(now().plus_ms(30_001)), None, now()).unwrap_err();
    assert!(refused.0.starts_with("since must not be in the future"), "{refused}");
}

/// Text that is nearly a time: pieces of valid forms in any order.
fn nearly_a_time() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "2025",
        "-01",
        "-13",
        "T",
        "09:30",
        ":00",
        "Z",
        "+02:00",
        "[Europe/Helsinki]",
        "[",
        "-W03",
        "7",
        "d",
        "h",
        "1.5",
        ".",
        "P",
        "W",
        "mo",
        " ",
        "ago",
        "last",
        "week",
        "monday",
        "now",
        "1700000000",
        "Mon, ",
        "13 Jan 2025",
        "(",
        "\u{0}",
        "ä",
        "%",
        "-",
        "99999999999999999999",
    ]);
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused_without_a_panic(
        text in prop_oneof![any::<String>(), nearly_a_time()],
        now_ms in any::<i64>(),
    ) {
        let zones = [TimeZone::UTC, helsinki(), zone("America/Santiago"), zone("Pacific/Apia")];
        for zone in &zones {
            drop(parse(&text, Timestamp::from_ms(now_ms), zone));
            if let Ok(moment) = parse(&text, now(), zone) {
                let years = moment.ms_since(now()).abs() / (1000 * 3600 * 24 * 366);
                prop_assert!(years <= 100);
            }
        }
    }

    #[test]
    fn what_the_hub_prints_reads_back(ms in -1_300_000_000_000_i64..4_000_000_000_000) {
        let moment = Timestamp::from_ms(ms);
        prop_assert_eq!(parse(&moment.to_string(), now(), &helsinki()), Ok(moment));
    }

    #[test]
    fn a_span_is_never_ahead_of_now(
        count in 0_u32..36_000,
        unit in prop::sample::select(vec!["s", "m", "h", "d", " days", " hours ago", "D"]),
        sign in prop::sample::select(vec!["", "-"]),
    ) {
        let text = format!("{sign}{count}{unit}");
        if let Ok(moment) = parse(&text, now(), &helsinki()) {
            prop_assert!(moment <= now());
        } else {
            prop_assert!(sign == "-" && unit.ends_with("ago"), "{}", text);
        }
    }

    #[test]
    fn an_epoch_is_itself(ms in 1_000_000_000_000_i64..4_000_000_000_000) {
        prop_assert_eq!(parse(&ms.to_string(), now(), &helsinki()), Ok(Timestamp::from_ms(ms)));
        let whole = Timestamp::from_ms(ms / 1000 * 1000);
        prop_assert_eq!(parse(&(ms / 1000).to_string(), now(), &helsinki()), Ok(whole));
    }

    #[test]
    fn a_date_is_the_first_moment_of_its_day(days in -16_000_i64..30_000) {
        let date = jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(days)).unwrap();
        let zone = helsinki();
        let moment = parse(&date.to_string(), now(), &zone).unwrap();
        let day = |ms| jiff::Timestamp::from_millisecond(ms).unwrap().to_zoned(zone.clone()).date();
        prop_assert_eq!(day(moment.as_ms()), date);
        prop_assert_eq!(day(moment.as_ms() - 1000), date.yesterday().unwrap());
    }
}
