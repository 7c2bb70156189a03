//! The sealer at work: in order, once, soon, and beside others.

use std::sync::Arc;

use protocol::{Timestamp, limits};
use ring::rand::SystemRandom;
use store::Engine;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use waystation_hub::audit::{SealKey, Sealer, TrustedKeys, page};

use crate::trail::{Database, Dice, NOON_MS, Trail};

#[test]
fn a_long_backlog_becomes_several_seals() {
    let trail = Trail::new(Engine::Sqlite);
    let count = limits::AUDIT_SEAL_ENTRIES_MAX + 10;
    trail.add_entries(&mut Dice::new(3), i64::try_from(count).unwrap());
    assert_eq!(trail.seal(1), count);
    assert_eq!(trail.seal(2), 0);
    let report = trail.verify();
    assert_eq!((report.problem, report.seals, report.entries), (None, 2, count as u64));
}

#[test]
fn several_hubs_on_one_database_make_one_chain() {
    let mut trail = Trail::new(Engine::Postgres);
    let other_keys = trail.folder.path().join("other");
    let other = SealKey::open(&other_keys, &SystemRandom::new()).unwrap();
    trail.keys.add_folder(&other_keys).unwrap();
    let sealers = [trail.sealer.clone(), Sealer::new(trail.store.clone(), other)];
    let mut dice = Dice::new(4);
    let mut sealed = 0;
    for second in 0..20 {
        trail.add_entries(&mut dice, 7);
        let now = Timestamp::from_ms(NOON_MS + second);
        let both = async { tokio::join!(sealers[0].seal_once(now), sealers[1].seal_once(now)) };
        let (one, two) = trail.runtime.block_on(both);
        sealed += one.unwrap() + two.unwrap();
    }
    assert_eq!(sealed, 140);
    let report = trail.verify();
    assert_eq!((report.problem, report.entries, report.unsealed), (None, 140, 0));
}

/// Begins a change whose entry has a lower number than those that commit before it.
fn enter_late(client: &mut postgres::Client) -> postgres::Transaction<'_> {
    let mut late = client.transaction().unwrap();
    late.batch_execute(
        "SELECT pg_advisory_xact_lock_shared(7730741);
         INSERT INTO audit (at_ms, workspace, actor, role, session, jti, request_id, action, object,
             outcome, request, response)
         VALUES (1, 'w', 'a', 'r', 's', 'j', '', 'late', '', 'ok', '', '')",
    )
    .unwrap();
    late
}

/// A later number that commits first.
fn enter_early(tx: &mut store::Tx<'_>) -> Result<(), store::StoreError> {
    tx.insert_audit(&store::AuditEntry {
        at: Timestamp::from_ms(2),
        workspace: "w",
        actor: "a",
        role: "r",
        session: "s",
        jti: "j",
        request_id: b"",
        action: "early",
        object: "",
        outcome: "ok",
        request: b"",
        response: b"",
        salt: b"",
        detail: None,
        detail_commitment: None,
    })
}

/// Waits until a task waits for the changes under way, or has ended without.
fn wait_for_waiter(late: &mut postgres::Transaction<'_>, task: &tokio::task::AbortHandle) {
    let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    while !task.is_finished() && late.query_one(waiting, &[]).unwrap().get::<_, i64>(0) == 0 {}
}

#[test]
fn an_entry_that_commits_late_is_not_left_out() {
    let mut trail = Trail::new(Engine::Postgres);
    let Database::Postgres(client) = &mut trail.database else { unreachable!("asked for it") };
    let mut late = enter_late(client);
    trail.runtime.block_on(trail.store.write(enter_early)).unwrap();
    let sealer = trail.sealer.clone();
    let mut tasks = tokio::task::JoinSet::new();
    let task = tasks.spawn_on(
        async move { sealer.seal_once(Timestamp::from_ms(NOON_MS)).await.unwrap() },
        trail.runtime.handle(),
    );
    wait_for_waiter(&mut late, &task);
    late.commit().unwrap();
    assert_eq!(trail.runtime.block_on(tasks.join_next()).unwrap().unwrap(), 2);
    let report = trail.verify();
    assert_eq!((report.problem, report.seals, report.entries), (None, 1, 2));
}

#[test]
fn whoever_follows_the_trail_misses_no_entry_that_commits_late() {
    // From its beginning, and from its newest entry on.
    for after in [Some(0), None] {
        let mut trail = Trail::new(Engine::Postgres);
        let Database::Postgres(client) = &mut trail.database else { unreachable!("asked for it") };
        let mut late = enter_late(client);
        trail.runtime.block_on(trail.store.write(enter_early)).unwrap();
        let store = trail.store.clone();
        let mut tasks = tokio::task::JoinSet::new();
        let read = async move { page(&store, "w", after, 10).await.unwrap() };
        let task = tasks.spawn_on(read, trail.runtime.handle());
        wait_for_waiter(&mut late, &task);
        late.commit().unwrap();
        let read = trail.runtime.block_on(tasks.join_next()).unwrap().unwrap();
        let actions: Vec<&str> = read.iter().map(|row| row.action.as_str()).collect();
        assert_eq!(actions, ["late", "early"], "after {after:?}");
    }
}

/// Starts a sealer's loop and hands over what stops it, rings it and awaits it.
fn start(trail: &Trail) -> (CancellationToken, Arc<Notify>, tokio::task::JoinSet<()>) {
    let (stop, bell) = (CancellationToken::new(), Arc::new(Notify::new()));
    let mut tasks = tokio::task::JoinSet::new();
    let run =
        trail.sealer.clone().run(|| Timestamp::from_ms(NOON_MS), stop.clone(), Arc::clone(&bell));
    tasks.spawn_on(run, trail.runtime.handle());
    (stop, bell, tasks)
}

fn wait_for_seals(trail: &Trail, id: i64) {
    let reached = async {
        loop {
            let work = |tx: &mut store::Tx<'_>| {
                Ok::<_, store::StoreError>(tx.seal_head()?.map_or(0, |head| head.id))
            };
            if trail.store.read(work).await.unwrap() >= id {
                return;
            }
        }
    };
    let limit = std::time::Duration::from_secs(20);
    trail.runtime.block_on(async { tokio::time::timeout(limit, reached).await }).unwrap();
}

#[test]
fn the_duty_seals_what_was_left_what_is_rung_for_and_what_comes_last() {
    let trail = Trail::new(Engine::Sqlite);
    let mut dice = Dice::new(5);
    trail.add_entries(&mut dice, 3);
    let (stop, bell, mut tasks) = start(&trail);
    wait_for_seals(&trail, 1);
    trail.add_entries(&mut dice, 4);
    bell.notify_one();
    wait_for_seals(&trail, 2);
    trail.add_entries(&mut dice, 5);
    stop.cancel();
    trail.runtime.block_on(tasks.join_next()).unwrap().unwrap();
    let report = trail.verify();
    assert_eq!((report.problem, report.seals, report.entries), (None, 3, 12));
}

#[test]
fn a_trail_sealed_with_a_key_of_its_own_verifies_with_the_public_half_alone() {
    let mut trail = Trail::grown(Engine::Sqlite);
    trail.keys = TrustedKeys::default();
    let id = trail.keys.add_base64(&trail.sealer.key().public_base64()).unwrap();
    assert_eq!(id, trail.sealer.key().id());
    assert!(trail.verify().is_good());
}
