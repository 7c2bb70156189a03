//! Threads and who may enter them: what a change finds is what stands there, whatever came before it.

use std::sync::Arc;

use protocol::{ThreadId, ThreadStatus};
use waystation_store::{Engine, StoreError, Tx};

use crate::place::{Place, at, on_both};

const AGENTS: [&str; 3] = ["ada", "ben", "cleo"];

/// One change of many, chosen by a number; every fourth fails after it has written.
fn change(tx: &mut Tx<'_>, id: ThreadId, choice: usize) -> Result<(), StoreError> {
    let agent = AGENTS[choice / 7 % AGENTS.len()];
    let Some(mut access) = tx.lock_thread(id, agent)? else { return Ok(()) };
    match choice % 7 {
        0 => tx.add_participant(access.thread.row, agent, at(1_000))?,
        1 => tx.remove_participant(access.thread.row, agent)?,
        2 => tx.let_in(access.thread.row, agent, at(1_000))?,
        _ => {
            access.thread.head_seq += 1;
            access.thread.last_speaker = Some(agent.to_owned());
            access.thread.status = [ThreadStatus::Active, ThreadStatus::Blocked][choice / 5 % 2];
            tx.update_thread(&access.thread)?;
        }
    }
    if choice % 4 == 3 { Err(StoreError::Closed) } else { Ok(()) }
}

async fn what_a_change_finds_is_what_stands_there(place: Place) {
    let place = Arc::new(place);
    let mut ids = Vec::new();
    for _ in 0..3 {
        let row = place.thread().await;
        let found = place.write(move |tx| tx.thread_by_row(row, "")).await;
        ids.push(found.unwrap().thread.id);
    }
    let mut random = 7_usize;
    for _ in 0..60 {
        let mut changes = tokio::task::JoinSet::new();
        for _ in 0..12 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
            let (id, choice, place) = (ids[random % 3], (random >> 33) % 1_000, Arc::clone(&place));
            changes.spawn(async move { place.store.write(move |tx| change(tx, id, choice)).await });
        }
        for done in changes.join_all().await {
            assert!(matches!(done, Ok(()) | Err(StoreError::Closed)), "{done:?}");
        }
        for id in ids.clone() {
            for agent in AGENTS {
                let (locked, plain) = place
                    .write(move |tx| Ok((tx.lock_thread(id, agent)?, tx.thread(id, agent)?)))
                    .await;
                assert_eq!(locked, plain);
            }
        }
    }
}

async fn a_thread_s_version_moves_on_with_each_change_and_only_then(place: Place) {
    let row = place.thread().await;
    let found = place.write(move |tx| tx.thread_by_row(row, "")).await;
    let id = found.unwrap().thread.id;
    let Some(before) = place.store.thread_version(row) else {
        // Others may write to this database without our knowing.
        assert_eq!(place.store.engine(), Engine::Postgres);
        return;
    };
    place.write(move |tx| tx.thread(id, "ada").map(drop)).await;
    assert_eq!(place.store.thread_version(row), Some(before));
    let mut last = before;
    for choice in [0, 1, 2, 4] {
        place.write(move |tx| change(tx, id, choice)).await;
        let version = place.store.thread_version(row).unwrap();
        assert!(version > last, "change {choice} went unnoticed");
        last = version;
    }
}

on_both! {
    what_a_change_finds_is_what_stands_there
    a_thread_s_version_moves_on_with_each_change_and_only_then
}
