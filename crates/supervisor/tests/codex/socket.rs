//! The socket: one turn, only into an idle thread, and honest about what became of it.

use std::time::Duration;

use serde_json::json;
use waystation_supervisor::{Activity, AgentCli, Lane, LaneError, Life, Session};

use crate::fake::{Fake, Habit, ID, begin_rollout};
use crate::{codex_with, gone, notice, session};

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn an_idle_thread_gets_the_notice_as_a_turn_of_its_own() {
    for habit in [Habit::Good, Habit::Chatty] {
        let home = tempfile::tempdir().unwrap();
        let fake = Fake::shared(home.path(), habit);
        let (codex, session) = (codex_with(home.path(), "codex"), session(home.path()));
        let seen = codex.look(&session).await;
        assert_eq!((seen.life, seen.activity), (Life::Live, Activity::Idle));
        assert_eq!(seen.lanes, [Lane::CodexSocket, Lane::CodexQueue]);
        assert_eq!(codex.has_arrived(&session, "wk_1").await, Some(false));

        let notice = notice("wk_1");
        let lane = Lane::CodexSocket;
        let handed = codex.hand(lane, &session, &notice).await.unwrap();
        assert_eq!(handed.vendor_id.as_deref(), Some(ID));
        assert!(codex.turn_began(lane, &session, &notice, &handed, PATIENCE).await);
        assert_eq!(codex.has_arrived(&session, "wk_1").await, Some(true));
        assert_eq!(codex.has_arrived(&session, "wk_2").await, Some(false));
        let turns = fake.asked("turn/start");
        assert_eq!(turns.len(), 1);
        assert_eq!(turns[0]["clientUserMessageId"], "wk_1");
        assert_eq!(turns[0]["input"][0]["text"], notice.text);
        // Nothing that subscribes, steers, answers for the human or changes a thread.
        let allowed =
            ["initialize", "initialized", "thread/queue/list", "thread/read", "turn/start"];
        assert_eq!(fake.methods(), allowed);
    }
}

#[tokio::test]
async fn a_thread_in_a_turn_or_a_dialog_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let fake = Fake::shared(home.path(), Habit::Good);
    let (codex, session) = (codex_with(home.path(), "codex"), session(home.path()));
    for (flags, activity, reason) in [
        (json!([]), Activity::Busy, "turn_running"),
        (json!(["waitingOnApproval"]), Activity::Dialog, "dialog_open"),
        (json!(["waitingOnUserInput"]), Activity::Dialog, "dialog_open"),
    ] {
        fake.set(|state| state.status = json!({"type": "active", "activeFlags": flags}));
        assert_eq!(codex.look(&session).await.activity, activity);
        for lane in [Lane::CodexSocket, Lane::CodexQueue] {
            let refused = codex.hand(lane, &session, &notice("wk_1")).await;
            assert!(matches!(refused, Err(LaneError::NotNow { why }) if why == reason));
        }
    }
    assert!(fake.asked("turn/start").is_empty());
    // After an error of the model the thread waits for its human again.
    fake.set(|state| state.status = json!({"type": "systemError"}));
    assert_eq!(codex.look(&session).await.activity, Activity::Idle);
}

#[tokio::test]
async fn a_connection_that_breaks_off_leaves_it_to_the_records() {
    for (habit, arrived) in [(Habit::TakesAndHangsUp, true), (Habit::DropsAndHangsUp, false)] {
        let home = tempfile::tempdir().unwrap();
        let fake = Fake::shared(home.path(), habit);
        let (codex, session) = (codex_with(home.path(), "codex"), session(home.path()));
        let result = codex.hand(Lane::CodexSocket, &session, &notice("wk_1")).await;
        assert!(matches!(result, Err(LaneError::Unsure { lane: Lane::CodexSocket, .. })));
        assert_eq!(codex.has_arrived(&session, "wk_1").await, Some(arrived));
        assert_eq!(fake.asked("turn/start").len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_never_comes_is_waited_for_only_so_long() {
    let home = tempfile::tempdir().unwrap();
    let fake = Fake::shared(home.path(), Habit::TakesAndSleeps);
    let (codex, mut session) = (codex_with(home.path(), "codex"), session(home.path()));
    let result = codex.hand(Lane::CodexSocket, &session, &notice("wk_1")).await;
    assert!(matches!(result, Err(LaneError::Unsure { .. })));
    assert_eq!(codex.has_arrived(&session, "wk_1").await, Some(true));

    fake.set(|state| state.habit = Habit::Silent);
    begin_rollout(home.path(), "0.166.0");
    session.process = Some(gone());
    let seen = codex.look(&session).await;
    assert_eq!(seen.life, Life::Unknown, "whoever is silent may still hold the thread");
    assert!(seen.lanes.is_empty());
    let result = codex.hand(Lane::CodexResume, &session, &notice("wk_2")).await;
    assert!(matches!(result, Err(LaneError::Closed { lane: Lane::CodexResume, .. })));
}

#[tokio::test]
async fn garbage_closes_the_lane_and_proves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let fake = Fake::shared(home.path(), Habit::Garbage);
    begin_rollout(home.path(), "0.166.0");
    let (codex, mut session) = (codex_with(home.path(), "codex"), session(home.path()));
    session.process = Some(gone());
    assert_eq!(codex.look(&session).await.life, Life::Unknown);
    let result = codex.hand(Lane::CodexSocket, &session, &notice("wk_1")).await;
    assert!(matches!(result, Err(LaneError::Closed { .. })));
    assert!(fake.asked("turn/start").is_empty());
}

#[tokio::test]
async fn a_server_that_cannot_or_will_not_start_turns_closes_the_lane() {
    for (habit, word) in [(Habit::Old, "update"), (Habit::Refuses, "no input is taken")] {
        let home = tempfile::tempdir().unwrap();
        let _fake = Fake::shared(home.path(), habit);
        let (codex, session) = (codex_with(home.path(), "codex"), session(home.path()));
        let result = codex.hand(Lane::CodexSocket, &session, &notice("wk_1")).await;
        let Err(LaneError::Closed { why, .. }) = result else { panic!("{result:?}") };
        assert!(why.contains(word), "{why}");
        assert_eq!(codex.has_arrived(&session, "wk_1").await, Some(false));
    }
}

#[tokio::test]
async fn a_thread_that_takes_no_turns_has_no_lane() {
    let home = tempfile::tempdir().unwrap();
    let fake = Fake::shared(home.path(), Habit::Good);
    fake.set(|state| state.takes_turns = false);
    let (codex, session) = (codex_with(home.path(), "codex"), session(home.path()));
    let seen = codex.look(&session).await;
    assert!(seen.life == Life::Live && seen.lanes.is_empty());
    let result = codex.hand(Lane::CodexSocket, &session, &notice("wk_1")).await;
    assert!(matches!(result, Err(LaneError::Closed { .. })));
}

#[tokio::test]
async fn what_waits_in_the_queue_has_arrived() {
    let home = tempfile::tempdir().unwrap();
    let fake = Fake::shared(home.path(), Habit::Good);
    let queued = json!({"id": "q", "input": [{"type": "text", "text": notice("wk_1").typed}]});
    fake.set(|state| state.queued.push(queued));
    let (codex, session) = (codex_with(home.path(), "codex"), session(home.path()));
    assert_eq!(codex.has_arrived(&session, "wk_1").await, Some(true));
    assert_eq!(codex.has_arrived(&session, "wk_2").await, Some(false));
}

#[tokio::test]
async fn the_session_s_own_server_is_asked_before_the_shared_one() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run/sess_1");
    let own = Fake::at(home.path(), &run.join("codex.sock"), Habit::Good);
    let shared = Fake::shared(home.path(), Habit::Good);
    let (codex, mut session) = (codex_with(home.path(), "codex"), session(home.path()));
    session.keeper = Some(run.join("keeper.sock"));
    codex.hand(Lane::CodexSocket, &session, &notice("wk_1")).await.unwrap();
    assert_eq!((own.asked("turn/start").len(), shared.asked("turn/start").len()), (1, 0));

    // People go on to another thread in the same terminal: what it shows counts.
    let left = "01a1dfac-c6ae-7861-9fab-bcfdd1d9c000";
    own.set(|state| state.status = json!({"type": "idle"}));
    let before = Session { vendor_id: Some(left.to_owned()), ..session.clone() };
    assert_eq!(codex.look(&before).await.lanes, [Lane::CodexSocket, Lane::CodexQueue]);
    let handed = codex.hand(Lane::CodexSocket, &before, &notice("wk_3")).await.unwrap();
    assert_eq!(handed.vendor_id.as_deref(), Some(ID));
    assert_eq!(codex.has_arrived(&before, "wk_3").await, Some(true));

    // A thread that its own server has let go of is looked for on the shared one.
    own.set(|state| state.is_loaded = false);
    codex.hand(Lane::CodexSocket, &session, &notice("wk_2")).await.unwrap();
    assert_eq!(shared.asked("turn/start").len(), 1);
}

#[tokio::test]
async fn the_records_tell_the_life_of_a_thread_that_no_server_has() {
    let home = tempfile::tempdir().unwrap();
    let (codex, mut session) = (codex_with(home.path(), "codex"), session(home.path()));
    assert_eq!(codex.look(&session).await.life, Life::Unknown, "no records, no proof");

    begin_rollout(home.path(), "0.166.0");
    assert_eq!(codex.look(&session).await.life, Life::Unknown, "nobody holds locks here");
    session.process = Some(gone());
    let seen = codex.look(&session).await;
    assert_eq!((seen.life, seen.lanes), (Life::Dead, vec![Lane::CodexResume]));

    let locks = home.path().join("thread-writer-locks");
    std::fs::create_dir(&locks).unwrap();
    session.process = None;
    assert_eq!(codex.look(&session).await.life, Life::Dead, "a lock that nobody holds is proof");
    begin_rollout(home.path(), "0.99.0");
    assert_eq!(codex.look(&session).await.life, Life::Unknown, "an older Codex holds no locks");

    let lock = std::fs::File::create(locks.join(format!("{ID}.lock"))).unwrap();
    lock.lock().unwrap();
    for process in [None, Some(gone())] {
        session.process = process;
        let seen = codex.look(&session).await;
        assert_eq!((seen.life, seen.lanes), (Life::Live, vec![Lane::CodexQueue]));
        let result = codex.hand(Lane::CodexResume, &session, &notice("wk_1")).await;
        assert!(matches!(result, Err(LaneError::Closed { .. })), "a live session is not resumed");
    }
}
