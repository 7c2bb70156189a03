//! The way of a finding from report to resolution, and whose word counts.

use protocol::ThreadStatus;
use serde_json::json;

use super::story::{AUTHOR, REVIEWER, Story, id};
use crate::threads::summary::{HighlightKind, ItemState};

#[test]
fn the_samples_of_the_specification_come_out_byte_for_byte() {
    let mut story = Story::default();
    let first = story.report(json!({
        "body": "Blocking issue found in null fallback",
        "severity": "high",
        "file": "lib/features/profile/data/mappers/user_mapper.dart",
        "line": 42,
        "task_id": "TASK-219"
    }));
    let second = story.report_high();
    assert_eq!(story.sentence(), "2 blocking findings reported; both open.");
    let item = &story.items()[0];
    assert_eq!((item.seq, item.message_id), (first, id(first)));
    assert_eq!(
        item.location.as_deref(),
        Some("lib/features/profile/data/mappers/user_mapper.dart:42")
    );
    assert_eq!(item.text, "Blocking issue found in null fallback");
    assert_eq!(item.severity.as_deref(), Some("high"));
    let fix = story.fix(json!({ "finding_id": id(first), "commit": "abc1234" }));
    story.verify(json!({ "reply_to": fix }));
    let fix = story.fix(json!({ "reply_to": second, "body": "Pushed def5678." }));
    assert_eq!(
        story.sentence(),
        "2 blocking findings reported; 1 resolved after commit abc1234, \
         1 fixed, awaiting re-review."
    );
    assert!(story.is_disputed());
    story.verify(json!({ "reply_to": fix }));
    let summary = story.fold.summary(ThreadStatus::Resolved);
    assert_eq!(
        summary.summary,
        "2 blocking findings reported; both resolved after commits abc1234 and def5678."
    );
    assert!(!story.is_disputed());
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["open_items"], json!([]));
    assert_eq!(json["last_status"], json!("resolved"));
    assert_eq!(json["through_seq"], json!(6));
}

#[test]
fn one_fix_may_settle_several_findings_at_once() {
    let mut story = Story::default();
    let findings = [story.report_high(), story.report_high(), story.report_high()];
    let fix = story.fix(json!({ "fixes": findings, "commits": ["abc1234", "def5678"] }));
    assert_eq!(story.sentence(), "3 blocking findings reported; all fixed, awaiting re-review.");
    story.verify(json!({ "reply_to": fix }));
    assert_eq!(
        story.sentence(),
        "3 blocking findings reported; all resolved after commits abc1234 and def5678."
    );
}

#[test]
fn commits_are_named_in_the_order_they_were_pushed() {
    let mut story = Story::default();
    let (first, second) = (story.report_high(), story.report_high());
    story.fix(json!({ "finding_id": second, "commit": "fff0000" }));
    story.fix(json!({ "finding_id": first, "commit": "aaa0000" }));
    story.verify(json!({ "finding_ids": [first, second] }));
    assert!(story.sentence().ends_with("after commits fff0000 and aaa0000."));
}

#[test]
fn minor_findings_are_told_from_blocking_ones() {
    let mut story = Story::default();
    story.report(json!({ "severity": "low" }));
    story.report(json!({ "severity": "high" }));
    story.report(json!({}));
    assert_eq!(
        story.sentence(),
        "1 blocking and 2 minor findings reported; all open (1 blocking)."
    );
    let order: Vec<i64> = story.items().iter().map(|item| item.seq).collect();
    assert_eq!(order, [2, 1, 3]);
}

#[test]
fn a_minor_finding_is_a_dispute_too() {
    let mut story = Story::default();
    assert!(!story.is_disputed());
    story.report(json!({ "severity": "low" }));
    assert!(story.is_disputed());
}

#[test]
fn the_author_of_the_fix_cannot_verify_it() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.fix(json!({ "finding_id": finding, "commit": "abc1234" }));
    story.event(AUTHOR, "finding_verified", json!({ "finding_id": finding }));
    let item = &story.items()[0];
    assert_eq!(item.state, ItemState::Fixed);
    assert_eq!(item.commits, ["abc1234"]);
    assert_eq!(
        item.note.as_deref(),
        Some("verified at seq 3 by the author of a fix, which does not count")
    );
    assert!(story.is_disputed());
    story.event("third_agent", "finding_verified", json!({ "finding_id": finding }));
    assert!(!story.is_disputed());
}

#[test]
fn a_reporter_who_fixes_its_own_finding_cannot_verify_it() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.event(REVIEWER, "fix_pushed", json!({ "finding_id": finding }));
    story.verify(json!({ "finding_id": finding }));
    assert_eq!(story.items()[0].state, ItemState::Fixed);
    assert!(story.is_disputed());
}

#[test]
fn a_reporter_whose_own_fix_was_turned_down_may_withdraw_its_finding() {
    let mut story = Story::default();
    let finding = story.report_high();
    let fix = story.event(REVIEWER, "fix_pushed", json!({ "finding_id": finding }));
    story.event(AUTHOR, "finding_rejected", json!({ "finding_id": finding, "scope": "fix" }));
    // Praise for the fix that was turned down is no withdrawal.
    story.verify(json!({ "reply_to": fix }));
    let item = &story.items()[0];
    assert_eq!(item.state, ItemState::Open);
    assert!(item.note.as_deref().unwrap().contains("a fix that was rejected"));
    story.event(AUTHOR, "finding_verified", json!({ "finding_id": finding }));
    assert_eq!(story.items()[0].state, ItemState::Open);
    story.verify(json!({ "finding_id": finding }));
    assert_eq!(story.sentence(), "1 blocking finding reported; resolved without a commit.");
    assert!(!story.is_disputed());
}

#[test]
fn no_order_of_events_lets_an_author_verify_a_standing_fix() {
    let moves = [
        (REVIEWER, "fix_pushed", json!({ "finding_id": 1 })),
        (AUTHOR, "fix_pushed", json!({ "finding_id": 1 })),
        (REVIEWER, "finding_rejected", json!({ "finding_id": 1, "scope": "fix" })),
        (AUTHOR, "finding_rejected", json!({ "finding_id": 1, "scope": "fix" })),
        (AUTHOR, "finding_rejected", json!({ "finding_id": 1, "scope": "finding" })),
        (REVIEWER, "finding_verified", json!({ "finding_id": 1 })),
        (AUTHOR, "finding_verified", json!({ "finding_id": 1 })),
    ];
    let (length, mut praised) = (5_u32, 0);
    for order in 0..moves.len().pow(length) {
        let mut story = Story::default();
        story.report_high();
        let mut authors = Vec::new();
        for place in 0..length {
            let (by, event, facts) = &moves[order / moves.len().pow(place) % moves.len()];
            let is_fixed = story.items().first().map(|item| item.state) == Some(ItemState::Fixed);
            story.event(by, event, facts.clone());
            if *event == "fix_pushed" {
                authors.push(*by);
            } else if *event == "finding_verified" && is_fixed && authors.contains(by) {
                praised += 1;
                assert_eq!(story.items()[0].state, ItemState::Fixed, "order {order}");
            }
        }
    }
    assert!(praised > 1_000, "the test no longer asks: {praised}");
}

#[test]
fn the_first_of_many_authors_cannot_verify_their_fixes_either() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.event("author_0", "fix_pushed", json!({ "finding_id": finding }));
    for number in 0..40 {
        let author = format!("author_{number}");
        story.event(&author, "fix_pushed", json!({ "finding_id": finding }));
    }
    for number in 0..40 {
        let author = format!("author_{number}");
        story.event(&author, "finding_verified", json!({ "finding_id": finding }));
        assert!(story.is_disputed(), "{author}");
    }
    story.verify(json!({ "finding_id": finding }));
    assert!(!story.is_disputed());
}

#[test]
fn an_author_of_any_fix_cannot_verify_the_sum_of_them() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.fix(json!({ "finding_id": finding, "commit": "abc1234" }));
    story.event("helper", "fix_pushed", json!({ "finding_id": finding, "commit": "def5678" }));
    story.event(AUTHOR, "finding_verified", json!({ "finding_id": finding }));
    assert!(story.is_disputed());
    story.verify(json!({ "finding_id": finding }));
    assert!(story.sentence().ends_with("resolved after commits abc1234 and def5678."));
}

#[test]
fn a_reporter_may_close_its_finding_without_a_fix() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.verify(json!({ "finding_id": finding, "body": "Not a problem after all." }));
    assert_eq!(story.sentence(), "1 blocking finding reported; resolved without a commit.");
    assert!(!story.is_disputed());
}

#[test]
fn nobody_else_closes_a_finding_without_a_fix() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.event(AUTHOR, "finding_verified", json!({ "finding_id": finding }));
    let item = &story.items()[0];
    assert_eq!(item.state, ItemState::Open);
    assert!(item.note.as_deref().unwrap().contains("at seq 2 without a fix"));
}

#[test]
fn a_fix_after_the_verification_reopens_nothing_and_is_not_credited() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.verify(json!({ "reply_to": finding }));
    story.fix(json!({ "finding_id": finding, "commit": "abc1234" }));
    assert_eq!(story.sentence(), "1 blocking finding reported; resolved without a commit.");
    story.fix(json!({ "commit": "def5678" }));
    assert!(story.items().is_empty() && !story.is_disputed());
}

#[test]
fn doubled_events_count_once() {
    let mut story = Story::default();
    let finding = story.report_high();
    for _ in 0..2 {
        story.fix(json!({ "finding_id": finding, "commit": "abc1234" }));
    }
    for _ in 0..2 {
        story.verify(json!({ "finding_id": finding }));
    }
    assert_eq!(story.sentence(), "1 blocking finding reported; resolved after commit abc1234.");
    assert!(story.items().is_empty());
}

#[test]
fn a_request_for_another_look_moves_nothing_but_is_shown() {
    let mut story = Story::default();
    let finding = story.report_high();
    let fix = story.fix(json!({ "finding_id": finding }));
    let asked = json!({ "reply_to": fix, "body": "Please look again" });
    story.event(AUTHOR, "re_review_requested", asked);
    let item = &story.items()[0];
    assert_eq!(item.state, ItemState::Fixed);
    assert_eq!(item.note.as_deref(), Some("re-review requested at seq 3"));
    let shown = &story.summary().highlights[0];
    assert_eq!((shown.kind, shown.seq), (HighlightKind::ReReviewRequest, 3));
    assert_eq!(shown.text, "Please look again");
    story.verify(json!({ "reply_to": 3 }));
    assert!(story.items().is_empty() && story.summary().highlights.is_empty());
}

#[test]
fn a_finding_after_the_resolution_makes_a_dispute_again() {
    let mut story = Story::default();
    let finding = story.report_high();
    story.verify(json!({ "reply_to": finding }));
    story.event(REVIEWER, "thread_resolved", json!({}));
    assert!(!story.is_disputed());
    story.report_high();
    assert!(story.is_disputed());
    assert_eq!(
        story.items()[0].note.as_deref(),
        Some("reported after the thread was resolved at seq 3")
    );
    assert_eq!(
        story.sentence(),
        "2 blocking findings reported; 1 resolved without a commit, 1 open."
    );
}

#[test]
fn a_finding_is_late_while_the_thread_is_resolved_whoever_resolved_it() {
    use ThreadStatus::{Active, Blocked, Closed, Resolved};
    let late = "reported after the thread was resolved at seq";
    for (moves, resolved_at) in [
        (vec![Resolved], Some(1)),
        (vec![Resolved, Active], None),
        (vec![Resolved, Blocked], None),
        (vec![Resolved, Closed, Active], None),
        (vec![Resolved, Active, Resolved], Some(3)),
        (vec![Blocked, Resolved], Some(2)),
    ] {
        let mut story = Story::default();
        for to in &moves {
            story.move_to(*to);
        }
        story.report_high();
        let told = resolved_at.map(|seq| format!("{late} {seq}"));
        assert_eq!(story.items()[0].note, told, "{moves:?}");
    }
}

#[test]
fn an_event_that_resolves_the_thread_is_cited_and_not_what_the_hub_says_of_it() {
    let mut story = Story::default();
    let resolved = story.event(REVIEWER, "thread_resolved", json!({}));
    story.move_to(ThreadStatus::Resolved);
    // Said once more, it is only talk.
    story.event(AUTHOR, "thread_resolved", json!({}));
    story.report_high();
    let cited = format!("reported after the thread was resolved at seq {resolved}");
    assert_eq!(story.items()[0].note.as_deref(), Some(cited.as_str()));
    story.move_to(ThreadStatus::Active);
    story.report_high();
    assert_eq!(story.items()[0].note.as_deref(), Some(cited.as_str()), "it was late then");
    assert_eq!(story.items()[1].note, None);
}

#[test]
fn resolving_the_thread_settles_no_finding() {
    let mut story = Story::default();
    story.report_high();
    story.event("operator", "thread_resolved", json!({}));
    assert!(story.is_disputed());
    assert_eq!(story.fold.summary(ThreadStatus::Resolved).open_items.len(), 1);
}
