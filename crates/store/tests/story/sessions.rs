//! Which sessions are forgotten: those that nobody heard of for long, and that nothing refers to.

use protocol::{SessionStatus, WakeId, WakeState};
use waystation_store::{SessionKey, SessionRow, WakeRow};

use crate::place::{Place, WORKSPACE, at, on_both, unique};

on_both! {
    an_old_session_stays_while_its_agent_is_being_woken
    a_walk_through_sessions_takes_a_few_at_a_time
}

fn session(agent: &str, name: &str, heartbeat_ms: i64) -> SessionRow {
    SessionRow {
        workspace: WORKSPACE.to_owned(),
        agent: agent.to_owned(),
        session: name.to_owned(),
        runtime: "codex_cli".to_owned(),
        runtime_version: None,
        cwd: None,
        managed: false,
        resumable: false,
        status: SessionStatus::Idle,
        heartbeat: at(heartbeat_ms),
        vendor_session: None,
        host: None,
        pid: None,
        pid_started: None,
        boot_id: None,
        transcript: None,
        human: None,
        has_draft: None,
        has_dialog: None,
        parked_by: None,
        parked_until: None,
    }
}

/// Walks through all sessions, and forgets what is over before a moment; answers the names of those.
async fn forget(place: &Place, before_ms: i64) -> Vec<String> {
    let (mut after, mut gone) = (SessionKey::default(), Vec::new());
    loop {
        let from = after.clone();
        let portion = place.write(move |tx| tx.old_sessions(&from, at(before_ms), 2)).await;
        let Some(portion) = portion else { return gone };
        for key in portion.over {
            gone.push(key.session.clone());
            assert_eq!(place.write(move |tx| tx.forget_session(&key, at(before_ms))).await, 1);
        }
        after = portion.upto;
    }
}

async fn an_old_session_stays_while_its_agent_is_being_woken(place: Place) {
    let thread_row = place.thread().await;
    let mut wake = WakeRow {
        row: 0,
        id: WakeId::new(at(0), unique()),
        workspace: WORKSPACE.to_owned(),
        thread_row,
        thread_id: protocol::ThreadId::new(at(0), unique()),
        agent: "woken".to_owned(),
        state: WakeState::Requested,
        reason: "new_unread_messages".to_owned(),
        asked: false,
        asked_by: String::new(),
        asked_role: String::new(),
        prompt: None,
        force: None,
        fail_on_human: false,
        through_seq: 1,
        again_seq: None,
        requested: at(0),
        due: at(0),
        attempt: 0,
        failures: 0,
        host: None,
        lease: None,
        session: None,
        lane: None,
        handing: None,
        why: None,
        deferred: None,
        handed: None,
        turn: None,
        ended: None,
    };
    let asked = wake.clone();
    assert!(place.write(move |tx| tx.insert_wake(&asked)).await);
    place
        .write(|tx| {
            tx.record_heartbeat(&session("woken", "a", 0))?;
            tx.record_heartbeat(&session("woken", "b", 1))
        })
        .await;
    assert!(forget(&place, 1_000).await.is_empty());
    wake.row = place
        .write(|tx| tx.lock_open_wakes_of(WORKSPACE, "woken", 1))
        .await
        .first()
        .map(|wake| wake.row)
        .unwrap();
    wake.state = WakeState::Cancelled;
    wake.ended = Some(at(2));
    place.write(move |tx| tx.update_wake(&wake)).await;
    assert_eq!(forget(&place, 1).await, ["a"], "the other one is not that old");
    assert_eq!(forget(&place, 1_000).await, ["b"]);
    place.close().await;
}

async fn a_walk_through_sessions_takes_a_few_at_a_time(place: Place) {
    let reports = [("x", "1", 5), ("x", "2", 50), ("y", "3", 6), ("y", "4", 7), ("z", "5", 70)];
    place
        .write(move |tx| {
            reports
                .iter()
                .try_for_each(|(agent, name, ms)| tx.record_heartbeat(&session(agent, name, *ms)))
        })
        .await;
    assert_eq!(forget(&place, 50).await, ["1", "3", "4"]);
    assert!(forget(&place, 50).await.is_empty());
    place.close().await;
}
