//! The rules as tables: who is woken by what, when, and by whose leave.

use serde_json::json;

use super::*;

fn policy(set: &Value) -> WakePolicy {
    overlaid(&WakePolicy::default(), set.as_object().unwrap()).unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp::from_ms(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
}

const TALK: News<'_> =
    News { by: "author", kind: MessageKind::Chat, body: "hello", moves_thread: false };
const NAMED: News<'_> = News { body: "what do you say, @reviewer?", ..TALK };
const EVENT: News<'_> = News { kind: MessageKind::Event, ..TALK };
const MOVED: News<'_> = News {
    kind: MessageKind::System,
    body: "author set this thread from active to blocked: @reviewer",
    moves_thread: true,
    ..TALK
};
const PAUSED: News<'_> =
    News { by: "waystation", kind: MessageKind::System, body: "paused", ..TALK };

#[test]
fn what_wakes_an_agent_is_what_its_policy_says() {
    use Cause::{Mention, Status, Unread};
    let all = json!(["unread", "mention", "status"]);
    let table = [
        (all.clone(), TALK, Some(Unread)),
        (all.clone(), EVENT, Some(Unread)),
        (all.clone(), NAMED, Some(Mention)),
        (all.clone(), MOVED, Some(Status)),
        (all, PAUSED, None),
        (json!(["unread"]), NAMED, Some(Unread)),
        (json!(["unread"]), MOVED, None),
        (json!(["mention"]), TALK, None),
        (json!(["mention"]), NAMED, Some(Mention)),
        (json!(["mention"]), MOVED, None),
        (json!(["status"]), NAMED, None),
        (json!(["status"]), MOVED, Some(Status)),
        (json!([]), NAMED, None),
    ];
    for (on, news, expected) in table {
        let policy = policy(&json!({ "on": on }));
        assert_eq!(cause(&policy, "reviewer", &news), expected, "{on} {news:?}");
        if news.by == "author" {
            let own = News { body: "@author", ..news };
            assert_eq!(cause(&policy, "author", &own), None, "nobody wakes itself");
        }
    }
}

#[test]
fn a_mention_is_a_whole_word() {
    for text in [
        "@reviewer",
        "hi @reviewer",
        "(@reviewer)",
        "@reviewer.",
        "@reviewer: look",
        "@reviewer,",
        "@reviewer's",
        "cc:@reviewer",
        "\u{201c}@reviewer\u{201d}",
        "@reviewer-",
        "@reviewer2 or @reviewer",
        "**@reviewer**",
    ] {
        assert!(mentions(text, "reviewer"), "{text}");
    }
    for text in [
        "reviewer",
        "@ reviewer",
        "me@reviewer",
        "@reviewer2",
        "@reviewer_b",
        "@reviewer-b",
        "@reviewer.b",
        "@reviewer@host",
        "@@reviewer",
        "x/@reviewer",
        "@Reviewer",
        "",
        "@",
        "@reviewe",
        "@reviewerä",
    ] {
        assert!(!mentions(text, "reviewer"), "{text}");
    }
    assert!(mentions("@team/reviewer+1:x and", "team/reviewer+1:x"));
    assert!(mentions("für @ähre!", "ähre"));
    assert!(!mentions("@", ""));
}

#[test]
fn agents_that_only_talk_to_each_other_are_left_alone() {
    let hops = |agent_turns| Hops { agent_turns, is_paused: false };
    let usual = policy(&json!({ "hops_max": 3 }));
    let table = [
        (&usual, hops(0), Ear::Open),
        (&usual, hops(3), Ear::Open),
        (&usual, hops(4), Ear::Looping),
        (&usual, Hops { agent_turns: 0, is_paused: true }, Ear::Shut),
        (&policy(&json!({ "hops_max": 0 })), hops(1_000), Ear::Open),
        (&policy(&json!({ "enabled": false })), hops(0), Ear::Shut),
    ];
    for (policy, hops, expected) in table {
        assert_eq!(ear(policy, hops), expected, "{hops:?}");
    }
}

#[test]
fn quiet_hours_end_in_the_morning_of_their_zone() {
    let night = |zone: &str| json!({ "from": "22:00", "to": "07:00", "zone": zone });
    let noon = |zone: &str| json!({ "from": "12:00", "to": "13:30", "zone": zone });
    let table = [
        (night("UTC"), "2026-02-17T21:59:59Z", None),
        (night("UTC"), "2026-02-17T22:00:00Z", Some("2026-02-18T07:00:00Z")),
        (night("UTC"), "2026-02-18T00:00:00Z", Some("2026-02-18T07:00:00Z")),
        (night("UTC"), "2026-02-18T06:59:59Z", Some("2026-02-18T07:00:00Z")),
        (night("UTC"), "2026-02-18T07:00:00Z", None),
        (night("Europe/Berlin"), "2026-02-17T21:00:00Z", Some("2026-02-18T06:00:00Z")),
        (night("Europe/Berlin"), "2026-07-17T20:00:00Z", Some("2026-07-18T05:00:00Z")),
        // The night in which clocks go forward, and the one in which they go back.
        (night("Europe/Berlin"), "2026-03-28T22:00:00Z", Some("2026-03-29T05:00:00Z")),
        (night("Europe/Berlin"), "2026-10-24T22:00:00Z", Some("2026-10-25T06:00:00Z")),
        (noon("Asia/Tokyo"), "2026-02-17T02:59:59Z", None),
        (noon("Asia/Tokyo"), "2026-02-17T03:00:00Z", Some("2026-02-17T04:30:00Z")),
        (noon("Asia/Tokyo"), "2026-02-17T04:30:00Z", None),
        // An end in an hour that does not exist, and one that comes twice.
        (
            json!({ "from": "22:00", "to": "02:30", "zone": "Europe/Berlin" }),
            "2026-03-28T23:00:00Z",
            Some("2026-03-29T01:30:00Z"),
        ),
        (
            json!({ "from": "22:00", "to": "02:30", "zone": "Europe/Berlin" }),
            "2026-10-25T01:15:00Z",
            None,
        ),
    ];
    for (hours, now, until) in table {
        let hours: QuietHours = serde_json::from_value(hours).unwrap();
        assert_eq!(quiet_until(&hours, at(now)), until.map(at), "{hours:?} {now}");
    }
}

#[test]
fn a_wake_over_the_budget_waits_for_its_turn() {
    let now = at("2026-02-17T12:00:00Z");
    let two = policy(&json!({ "per_hour_max": 2 }));
    let ago = |minutes: i64| now.plus_ms(-minutes * 60_000);
    let free = Due { at: now, held: None };
    let waits = |at| Due { at, held: Some(Held::Budget) };
    let table = [
        (vec![], free),
        (vec![ago(1)], free),
        (vec![ago(1), ago(30)], waits(now.plus_ms(30 * 60_000))),
        (vec![ago(1), ago(60)], free),
        // Wakes that wait themselves count when they are due.
        (vec![ago(-30), ago(10)], waits(now.plus_ms(50 * 60_000))),
        (vec![ago(-50), ago(-30)], waits(now.plus_ms(90 * 60_000))),
    ];
    for (newest_due, expected) in table {
        assert_eq!(due(&two, now, &newest_due), expected, "{newest_due:?}");
    }
}

#[test]
fn quiet_hours_hold_what_the_budget_lets_through() {
    let hours = json!({ "from": "13:00", "to": "14:00", "zone": "UTC" });
    let policy = policy(&json!({ "per_hour_max": 1, "quiet_hours": hours }));
    let now = at("2026-02-17T12:30:00Z");
    let held = Due { at: at("2026-02-17T14:00:00Z"), held: Some(Held::QuietHours) };
    assert_eq!(due(&policy, now, &[]), Due { at: now, held: None });
    assert_eq!(due(&policy, now, &[at("2026-02-17T12:20:00Z")]), held, "its turn is at 13:20");
    assert_eq!(due(&policy, at("2026-02-17T13:10:00Z"), &[]), held);
}

#[test]
fn consent_is_given_always_when_asked_or_never() {
    let table = [
        (Consent::Always, true, true),
        (Consent::WhenAsked, false, true),
        (Consent::Never, false, false),
    ];
    for (consent, by_post, when_asked) in table {
        assert_eq!((consents(consent, false), consents(consent, true)), (by_post, when_asked));
    }
}

#[test]
fn what_is_set_lies_over_what_held_before() {
    let agent = policy(&json!({ "on": ["mention"], "per_hour_max": 5 }));
    let muted = json!({ "enabled": false });
    let thread = overlaid(&agent, muted.as_object().unwrap()).unwrap();
    assert_eq!(thread, WakePolicy { enabled: false, ..agent.clone() });
    let cleared = json!({ "quiet_hours": null });
    assert_eq!(overlaid(&agent, cleared.as_object().unwrap()).unwrap(), agent);
}

#[test]
fn a_policy_that_makes_no_sense_is_refused_by_field() {
    let hours = |from: &str, to: &str, zone: &str| json!({ "quiet_hours": { "from": from, "to": to, "zone": zone } });
    for (set, field) in [
        (json!({ "enabled": 1 }), "policy.enabled"),
        (json!({ "on": ["always"] }), "policy.on[0]"),
        (json!({ "on": ["unread", "unread", "unread", "unread"] }), "policy.on"),
        (json!({ "per_hour_max": 0 }), "policy.per_hour_max"),
        (json!({ "per_hour_max": 3_601 }), "policy.per_hour_max"),
        (json!({ "hops_max": -1 }), "policy.hops_max"),
        (json!({ "resume": "maybe" }), "policy.resume"),
        (json!({ "colour": "red" }), "policy.colour"),
        (hours("22:00", "22:00", "UTC"), "policy.quiet_hours.to"),
        (hours("24:00", "07:00", "UTC"), "policy.quiet_hours.from"),
        (hours("9:00", "07:00", "UTC"), "policy.quiet_hours.from"),
        (hours("+9:00", "07:00", "UTC"), "policy.quiet_hours.from"),
        (hours("22:00", "07:60", "UTC"), "policy.quiet_hours.to"),
        (hours("22:00", "07:00", "Middle/Earth"), "policy.quiet_hours.zone"),
        (hours("22:00", "07:00", "../../etc/passwd"), "policy.quiet_hours.zone"),
        (hours("22:00", "07:00", ""), "policy.quiet_hours.zone"),
    ] {
        let error = overlaid(&WakePolicy::default(), set.as_object().unwrap()).unwrap_err();
        let body = error.body("req".to_owned());
        assert_eq!(body.field.as_deref(), Some(field), "{set}: {}", body.message);
    }
}

#[test]
fn an_agent_may_only_choose_to_be_woken_less() {
    let night = json!({ "from": "22:00", "to": "07:00", "zone": "UTC" });
    let stands = policy(&json!({ "on": ["unread", "mention"], "per_hour_max": 10, "hops_max": 5 }));
    for (set, is_less) in [
        (json!({}), true),
        (json!({ "enabled": false }), true),
        (json!({ "on": ["mention"] }), true),
        (json!({ "on": ["status"] }), false),
        (json!({ "per_hour_max": 9 }), true),
        (json!({ "per_hour_max": 11 }), false),
        (json!({ "hops_max": 5 }), true),
        (json!({ "hops_max": 0 }), false),
        (json!({ "quiet_hours": night }), true),
        (json!({ "resume": "never", "new_session": "never" }), true),
        (json!({ "new_session": "always" }), false),
    ] {
        let chosen = overlaid(&stands, set.as_object().unwrap()).unwrap();
        assert_eq!(is_narrower(&chosen, &stands), is_less, "{set}");
    }
    let asleep = policy(&json!({ "enabled": false, "quiet_hours": night }));
    assert!(!is_narrower(&policy(&json!({ "quiet_hours": night })), &asleep));
    assert!(!is_narrower(&policy(&json!({ "enabled": false })), &asleep), "the night is given up");
}
