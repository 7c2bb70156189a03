//! Each rung, and each reason to leave it.

use super::*;

const START_MS: i64 = 1_000_000;

/// The first step for one session.
fn first(terms: Terms, session: Candidate) -> Step {
    next(&mut Ladder::new(terms, None, None), &[session], START_MS)
}

fn hand(lane: Lane) -> Step {
    Step::Hand { lane, session: 0 }
}

#[test]
fn the_first_step_follows_what_was_seen() {
    use Activity::{Busy, Dialog, Idle, Unknown};
    let recheck = |reason| Step::Defer { until_ms: START_MS + 5_000, reason };
    let queue = |reason| Step::Queue { reason };
    let codex = [Lane::CodexSocket, Lane::CodexQueue];
    let pty = [Lane::Pty];
    let none = Human::Unseen;
    let rows = [
        ("idle, native", live(Idle, none, &codex), hand(Lane::CodexSocket)),
        ("unclear, native", live(Unknown, none, &codex), hand(Lane::CodexSocket)),
        ("idle, a child", live(Idle, none, &[Lane::ClaudeStream]), hand(Lane::ClaudeStream)),
        ("long quiet", live(Idle, quiet(20), &pty), hand(Lane::Pty)),
        ("quiet, not long", live(Idle, quiet(19), &pty), recheck("human_input_busy")),
        ("quiet, native", live(Idle, quiet(19), &codex), recheck("human_input_busy")),
        ("old draft", live(Idle, draft(3_600), &pty), recheck("human_input_busy")),
        ("draft, native", live(Idle, draft(0), &codex), recheck("human_input_busy")),
        ("dialog", live(Dialog, quiet(100), &pty), recheck("dialog_open")),
        ("busy", live(Busy, none, &codex), Step::WaitForTurnEnd { session: 0 }),
        ("busy, terminal", live(Busy, quiet(99), &pty), Step::WaitForTurnEnd { session: 0 }),
        ("busy, no lane", live(Busy, none, &[]), queue("unreachable")),
        ("live, no lane", live(Idle, none, &[]), queue("unreachable")),
        ("live, hub's lane", live(Idle, none, &[Lane::ClaudeRewake]), queue("unreachable")),
        ("live, only to resume", live(Idle, none, &[Lane::CodexResume]), queue("unreachable")),
        ("dead", dead(&[Lane::ClaudeResume]), hand(Lane::ClaudeResume)),
        ("dead, a live lane", dead(&[Lane::Pty]), Step::StartNew),
        ("dead, not resumable", dead(&[]), Step::StartNew),
    ];
    for (what, session, step) in rows {
        assert_eq!(first(terms(), session), step, "{what}");
    }
}

#[test]
fn consent_ends_the_ladder_where_it_is_missing() {
    let neither = Terms { may_resume: false, may_start: false, ..terms() };
    let fail = |reason| Step::Fail { reason, is_final: true };
    assert_eq!(first(neither.clone(), dead(&[Lane::CodexResume])), fail("resume_not_allowed"));
    assert_eq!(first(neither.clone(), dead(&[])), fail("nothing_to_resume"));
    assert_eq!(next(&mut Ladder::new(neither, None, None), &[], 0), fail("no_session"));
    let only_start = Terms { may_resume: false, ..terms() };
    assert_eq!(first(only_start, dead(&[Lane::CodexResume])), Step::StartNew);
    assert_eq!(next(&mut Ladder::new(terms(), None, None), &[], 0), Step::StartNew);
}

#[test]
fn a_session_of_which_nothing_is_known_is_never_resumed_and_blocks_only_while_it_is_fresh() {
    let lanes = [Lane::CodexResume];
    let mut unknown = seen(Life::Unknown, Activity::Unknown, Human::Unseen, &lanes);
    assert_eq!(first(terms(), unknown.clone()), Step::Queue { reason: "unreachable" });
    unknown.is_fresh = false;
    assert_eq!(first(terms(), unknown.clone()), Step::StartNew);
    let sessions = [unknown, dead(&[Lane::ClaudeResume])];
    let step = next(&mut Ladder::new(terms(), None, None), &sessions, 0);
    assert_eq!(step, Step::Hand { lane: Lane::ClaudeResume, session: 1 });
}

#[test]
fn a_live_session_that_cannot_be_reached_keeps_a_dead_one_from_being_resumed() {
    let sessions = [dead(&[Lane::CodexResume]), live(Activity::Idle, Human::Unseen, &[])];
    let step = next(&mut Ladder::new(terms(), None, None), &sessions, 0);
    assert_eq!(step, Step::Queue { reason: "unreachable" });
}

#[test]
fn closed_lanes_lead_down_rung_by_rung_and_then_to_a_retry() {
    let mut ladder = Ladder::new(terms(), None, None);
    let idle = live(Activity::Idle, Human::Unseen, &[Lane::CodexSocket, Lane::CodexQueue]);
    assert_eq!(next(&mut ladder, std::slice::from_ref(&idle), 0), hand(Lane::CodexSocket));
    ladder.learn(closed(0, Lane::CodexSocket), 0);
    assert_eq!(next(&mut ladder, std::slice::from_ref(&idle), 0), hand(Lane::CodexQueue));
    ladder.learn(closed(0, Lane::CodexQueue), 0);
    assert_eq!(next(&mut ladder, &[idle], 0), Step::Queue { reason: "unreachable" });
    // It dies: now it may be resumed, and after that somebody new may come.
    let gone = [dead(&[Lane::CodexResume])];
    assert_eq!(next(&mut ladder, &gone, 0), hand(Lane::CodexResume));
    ladder.learn(closed(0, Lane::CodexResume), 0);
    assert_eq!(next(&mut ladder, &gone, 0), Step::StartNew);
    ladder.learn(Outcome::NotStarted { why: None }, 0);
    let end = Step::Fail { reason: "lanes_failed", is_final: false };
    assert_eq!(next(&mut ladder, &gone, 0), end);
}

#[test]
fn what_can_never_be_started_fails_for_good_and_says_why_unless_another_lane_may_open_again() {
    let mut ladder = Ladder::new(terms(), None, None);
    assert_eq!(next(&mut ladder, &[dead(&[])], 0), Step::StartNew);
    ladder.learn(Outcome::NotStarted { why: Some("no_start_command") }, 0);
    let end = Step::Fail { reason: "no_start_command", is_final: true };
    assert_eq!(next(&mut ladder, &[dead(&[])], 0), end);
    let mut ladder = Ladder::new(terms(), None, None);
    ladder.learn(closed(0, Lane::CodexResume), 0);
    ladder.learn(Outcome::NotStarted { why: Some("no_start_command") }, 0);
    let again = Step::Fail { reason: "lanes_failed", is_final: false };
    assert_eq!(next(&mut ladder, &[dead(&[Lane::CodexResume])], 0), again);
}

#[test]
fn a_human_is_waited_for_a_minute_then_native_goes_on_and_the_keyboard_is_given_up() {
    for (lane, at_the_end) in [
        (Lane::CodexSocket, hand(Lane::CodexSocket)),
        (Lane::Pty, Step::Queue { reason: "human_input_busy" }),
    ] {
        let mut ladder = Ladder::new(terms(), None, None);
        let typing = [live(Activity::Idle, draft(1), &[lane])];
        let mut now_ms = START_MS;
        let mut looks = 0;
        while let Step::Defer { until_ms, .. } = next(&mut ladder, &typing, now_ms) {
            assert!(until_ms > now_ms && until_ms <= START_MS + 60_000);
            now_ms = until_ms;
            looks += 1;
        }
        assert_eq!((looks, now_ms), (12, START_MS + 60_000));
        assert_eq!(next(&mut ladder, &typing, now_ms), at_the_end);
        // Whoever takes it up again knows since when the human was waited for.
        let mut again = Ladder::new(terms(), None, ladder.deferred_since_ms());
        assert_eq!(next(&mut again, &typing, now_ms + 1), at_the_end);
        let calm = [live(Activity::Idle, quiet(20), &[lane])];
        assert_eq!(next(&mut again, &calm, now_ms + 2), hand(lane));
    }
}

#[test]
fn force_skips_the_quiet_window_and_never_a_draft_under_the_keyboard_or_a_dialog() {
    let idle = |human, lane| live(Activity::Idle, human, &[lane]);
    assert_eq!(first(forced(), idle(quiet(0), Lane::Pty)), hand(Lane::Pty));
    assert_eq!(first(forced(), idle(draft(0), Lane::CodexQueue)), hand(Lane::CodexQueue));
    let draft = first(forced(), idle(draft(0), Lane::Pty));
    assert!(matches!(draft, Step::Defer { reason: "human_input_busy", .. }), "{draft:?}");
    let dialog = first(forced(), live(Activity::Dialog, quiet(99), &[Lane::Pty]));
    assert!(matches!(dialog, Step::Defer { reason: "dialog_open", .. }), "{dialog:?}");
}

#[test]
fn whoever_does_not_want_to_wait_for_a_human_is_told_at_once() {
    let typing = live(Activity::Idle, quiet(3), &[Lane::CodexSocket]);
    let refused = Step::Fail { reason: "human_input_busy", is_final: true };
    assert_eq!(first(hasty(), typing), refused);
    let calm = live(Activity::Idle, quiet(30), &[Lane::CodexSocket]);
    assert_eq!(first(hasty(), calm), hand(Lane::CodexSocket));
}

#[test]
fn a_busy_session_is_waited_for_however_long_it_takes() {
    let mut ladder = Ladder::new(terms(), None, None);
    let busy = [live(Activity::Busy, quiet(1), &[Lane::Pty]), dead(&[Lane::CodexResume])];
    for day in 0..100 {
        let step = next(&mut ladder, &busy, day * 86_400_000);
        assert_eq!(step, Step::WaitForTurnEnd { session: 0 });
    }
    let idle = [live(Activity::Idle, quiet(30), &[Lane::Pty])];
    assert_eq!(next(&mut ladder, &idle, 100 * 86_400_000), hand(Lane::Pty));
}

#[test]
fn a_lane_that_refuses_for_now_is_tried_again_until_the_longest_deferral() {
    let mut ladder = Ladder::new(terms(), None, None);
    let idle = [live(Activity::Idle, quiet(30), &[Lane::Pty])];
    let refusal = |why| Outcome::NotNow { session: name(0), lane: Lane::Pty, why };
    let mut now_ms = START_MS;
    let mut hands = 0;
    loop {
        match next(&mut ladder, &idle, now_ms) {
            Step::Hand { .. } => {
                hands += 1;
                ladder.learn(refusal("screen_unknown"), now_ms);
            }
            Step::Defer { until_ms, reason } => {
                assert_eq!(reason, "screen_unknown");
                now_ms = until_ms;
            }
            step => {
                assert_eq!(step, Step::Queue { reason: "screen_unknown" });
                break;
            }
        }
    }
    assert_eq!((hands, now_ms), (12, START_MS + 60_000));
    let mut ladder = Ladder::new(terms(), None, None);
    for hour in 0..50 {
        let now_ms = hour * 3_600_000;
        assert_eq!(next(&mut ladder, &idle, now_ms), hand(Lane::Pty), "a turn may take long");
        ladder.learn(refusal("turn_running"), now_ms);
        assert_eq!(next(&mut ladder, &idle, now_ms), Step::WaitForTurnEnd { session: 0 });
    }
}

#[test]
fn after_a_crash_the_records_are_asked_first_and_silence_is_no_leave_to_repeat() {
    let idle = [live(Activity::Idle, Human::Unseen, &[Lane::CodexSocket])];
    let mut ladder = Ladder::new(terms(), Some(Lane::CodexSocket), None);
    let verify = Step::VerifyArrival { lane: Lane::CodexSocket };
    assert_eq!(next(&mut ladder, &idle, START_MS), verify);
    ladder.learn(Outcome::Arrival(Some(false)), START_MS);
    assert_eq!(next(&mut ladder, &idle, START_MS), hand(Lane::CodexSocket));

    let mut ladder = Ladder::new(terms(), Some(Lane::CodexSocket), None);
    let mut now_ms = START_MS;
    for _ in 0..100 {
        match next(&mut ladder, &idle, now_ms) {
            step if step == verify => ladder.learn(Outcome::Arrival(None), now_ms),
            Step::AskAgain { until_ms, .. } => now_ms = until_ms,
            step => {
                assert_eq!(step, Step::Fail { reason: "arrival_unknown", is_final: true });
                return;
            }
        }
    }
    panic!("asking the records must end");
}

#[test]
fn a_lane_that_broke_off_is_asked_about_before_the_next_one_is_tried() {
    let idle = [live(Activity::Idle, Human::Unseen, &[Lane::CodexSocket, Lane::CodexQueue])];
    let mut ladder = Ladder::new(terms(), None, None);
    assert_eq!(next(&mut ladder, &idle, 0), hand(Lane::CodexSocket));
    ladder.learn(Outcome::Unsure { session: name(0), lane: Lane::CodexSocket }, 0);
    assert_eq!(next(&mut ladder, &idle, 0), Step::VerifyArrival { lane: Lane::CodexSocket });
    ladder.learn(Outcome::Arrival(Some(false)), 0);
    assert_eq!(next(&mut ladder, &idle, 0), hand(Lane::CodexQueue));
    let mut ladder = Ladder::new(terms(), None, None);
    assert_eq!(next(&mut ladder, &[], 0), Step::StartNew);
    ladder.learn(Outcome::Unsure { session: String::new(), lane: Lane::ClaudeNew }, 0);
    assert_eq!(next(&mut ladder, &[], 0), Step::VerifyArrival { lane: Lane::ClaudeNew });
    ladder.learn(Outcome::Arrival(Some(false)), 0);
    assert_eq!(next(&mut ladder, &[], 0), Step::Fail { reason: "lanes_failed", is_final: false });
}
