//! The state stays small and the counts stay right, however long a thread is.

use serde_json::json;

use super::story::{AUTHOR, Story, id};
use crate::threads::summary::{Fold, ItemState};
use protocol::limits::summary as limits;

#[test]
fn resolved_findings_beyond_the_limit_stay_in_the_counts() {
    let mut story = Story::default();
    for number in 0..1_000 {
        let finding = story.report_high();
        let commit = format!("abc{number:04}");
        let fix = story.fix(json!({ "finding_id": finding, "commit": commit }));
        story.verify(json!({ "reply_to": fix }));
    }
    assert_eq!(
        story.sentence(),
        "1000 blocking findings reported; all resolved after commits abc0800, abc0801, \
         abc0802, abc0803, abc0804 and 995 more."
    );
    assert!(!story.is_disputed() && story.items().is_empty());
}

#[test]
fn a_commit_shared_by_forgotten_findings_is_counted_once() {
    let mut story = Story::default();
    for _ in 0..5 {
        let findings: Vec<i64> = (0..100).map(|_| story.report_high()).collect();
        let fix = story.fix(json!({ "fixes": findings, "commit": "abc1234" }));
        story.verify(json!({ "reply_to": fix }));
    }
    assert_eq!(
        story.sentence(),
        "500 blocking findings reported; all resolved after commit abc1234."
    );
}

#[test]
fn open_findings_beyond_the_limit_stay_a_dispute() {
    let mut story = Story::default();
    let minor = story.report(json!({ "severity": "low" }));
    let blocking: Vec<i64> = (0..limits::FINDINGS_MAX).map(|_| story.report_high()).collect();
    let summary = story.summary();
    assert_eq!(
        summary.summary,
        "200 blocking and 1 minor findings reported; all open (200 blocking)."
    );
    assert_eq!(summary.open_items.len(), limits::OPEN_ITEMS_MAX);
    assert_eq!(summary.omitted.open_items, 151);
    story.verify(json!({ "finding_ids": blocking }));
    assert!(story.is_disputed());
    story.verify(json!({ "finding_id": id(minor) }));
    assert_eq!(story.items()[0].state, ItemState::Unlinked);
    assert!(story.is_disputed());
}

#[test]
fn a_bare_event_is_not_given_to_the_only_kept_finding_when_others_were_forgotten() {
    let mut story = Story::default();
    story.report(json!({ "severity": "low" }));
    let blocking: Vec<i64> = (0..limits::FINDINGS_MAX).map(|_| story.report_high()).collect();
    story.verify(json!({ "finding_ids": &blocking[1..] }));
    story.fix(json!({}));
    let states: Vec<ItemState> = story.items().iter().map(|item| item.state).collect();
    assert_eq!(states, [ItemState::Open, ItemState::Unlinked]);
}

#[test]
fn an_answer_to_a_forgotten_open_finding_is_listed_and_to_a_resolved_one_is_moot() {
    for (resolve_first, listed) in [(json!({}), 0), (json!({ "finding_id": "unknown" }), 1)] {
        let mut story = Story::default();
        let first = story.report(json!({ "severity": "low" }));
        let reply = story.chat_reply(AUTHOR, "On it.", first);
        story.verify(resolve_first);
        let blocking: Vec<i64> = (0..limits::FINDINGS_MAX).map(|_| story.report_high()).collect();
        story.verify(json!({ "finding_ids": blocking }));
        story.fix(json!({ "reply_to": reply, "body": "late" }));
        let late = story.items().iter().filter(|item| item.text == "late").count();
        assert_eq!(late, listed);
    }
}

#[test]
fn a_rejection_that_would_open_a_forgotten_finding_is_listed() {
    for (event, name_the_fix, listed) in [
        ("finding_rejected", "reply_to", 1),
        ("finding_rejected", "finding_id", 1),
        ("finding_verified", "reply_to", 0),
    ] {
        let mut story = Story::default();
        story.report_high();
        let fix = story.fix(json!({}));
        story.verify(json!({}));
        let others: Vec<i64> = (0..limits::FINDINGS_MAX).map(|_| story.report_high()).collect();
        story.verify(json!({ "finding_ids": others }));
        assert!(!story.is_disputed());
        story.event("third_agent", event, json!({ name_the_fix: fix }));
        assert_eq!(story.items().len(), listed, "{event} with {name_the_fix}");
        assert_eq!(story.is_disputed(), listed == 1);
    }
}

#[test]
fn the_fullest_state_stays_below_its_limit() {
    let mut story = Story::default();
    let quotes = "\"\\".repeat(2_000);
    let sender = |number: i64| format!("{number}{}", "\"".repeat(127));
    let mut findings = Vec::new();
    for number in 0..limits::FORGOTTEN_COMMITS_MAX {
        let commits: Vec<String> = (0..4).map(|each| format!("{number}-{each}")).collect();
        let finding = story.report_high();
        story.fix(json!({ "finding_id": finding, "commits": commits }));
        story.verify(json!({ "finding_id": finding }));
    }
    for number in 0..300 {
        let facts = json!({ "body": quotes, "severity": quotes, "file": quotes, "line": quotes,
            "task_id": quotes, "finding_id": quotes, "blocking": true });
        let finding = story.event(&sender(number), "finding_reported", facts);
        findings.push(finding);
        for round in 0..8 {
            let commits: Vec<String> =
                (0..16).map(|each| format!("{number}-{round}-{each}-{}", "x".repeat(40))).collect();
            let facts = json!({ "finding_id": finding, "commits": commits });
            story.event(&sender(number - round), "fix_pushed", facts);
        }
        story.event(AUTHOR, "finding_rejected", json!({ "finding_id": 9_999, "body": quotes }));
        let names = ["@a", "@b", "@c", "@d"].map(|name| name.to_owned() + &"é".repeat(60));
        let names = names.join(" ");
        story.chat(&sender(number), &format!("{names} decided {quotes}?"));
        story.chat(&sender(number), &format!("{names} decided {quotes}."));
    }
    for _ in 0..600 {
        story.fix(json!({ "fixes": &findings[100..] }));
    }
    let bytes = story.fold.to_json().len();
    assert!(bytes > limits::STATE_BYTES_MAX / 2, "the test no longer fills the state: {bytes}");
    assert!(bytes < limits::STATE_BYTES_MAX, "{bytes}");
}

#[test]
fn a_state_of_other_rules_or_none_is_read_as_the_beginning() {
    let mut story = Story::default();
    story.report_high();
    let json = story.fold.to_json();
    assert_eq!(Fold::from_json(&json), story.fold);
    let made_by = |rules: u32| {
        let other =
            json.replacen(&format!("\"rules\":{}", Fold::RULES), &format!("\"rules\":{rules}"), 1);
        assert_ne!(other, json);
        other
    };
    let (older, newer) = (made_by(Fold::RULES - 1), made_by(Fold::RULES + 1));
    for unreadable in [older.as_str(), newer.as_str(), "", "null", "{}", "[]"] {
        assert_eq!(Fold::from_json(unreadable).through_seq(), 0);
    }
}
