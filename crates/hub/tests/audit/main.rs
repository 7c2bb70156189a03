//! The trail's promises, on both engines: what was sealed cannot be changed unseen.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up fails where it is"
)]

mod edits;
mod export;
mod sealing;
mod trail;
mod witness;

use std::collections::BTreeMap;

use store::Engine;
use waystation_hub::audit::{Problem, TrustedKeys};

use edits::EDITS;
use trail::{Dice, Trail};

fn every_edit_is_found(engine: Engine, count: usize) {
    let mut trail = Trail::grown(engine);
    let mut dice = Dice::new(20_260_217);
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for number in 0..count {
        let (name, edit) = EDITS[number % EDITS.len()];
        let expected = edit(&mut trail, &mut dice);
        let report = trail.verify();
        assert!(
            expected.is_met_by(report.problem.as_ref()),
            "edit {number}, {name}: expected {expected:?}, found {report:?}"
        );
        trail.restore();
        *kinds.entry(name).or_default() += 1;
    }
    assert_eq!(kinds.values().sum::<usize>(), count);
    assert!(trail.verify().is_good(), "the trail itself is good");
}

#[test]
fn every_edit_of_a_sqlite_trail_is_found() {
    every_edit_is_found(Engine::Sqlite, 1_500);
}

#[test]
fn every_edit_of_a_postgres_trail_is_found() {
    every_edit_is_found(Engine::Postgres, 750);
}

#[test]
fn an_entry_renumbered_at_the_edge_of_a_seal_is_named() {
    let mut trail = Trail::new(Engine::Sqlite);
    trail.add_entries(&mut Dice::new(6), 6);
    trail.database.run("DELETE FROM audit WHERE id IN (2, 5)");
    trail.seal(1);
    for (old, new, expected) in [
        (1, 0, Problem::EntryInserted { entry: 0, seal: 1 }),
        (1, 2, Problem::EntryMissing { first: 1, last: 1, seal: 1 }),
        (6, 5, Problem::EntryInserted { entry: 5, seal: 1 }),
        (6, 7, Problem::EntryMissing { first: 6, last: 6, seal: 1 }),
    ] {
        trail.database.run(&format!("UPDATE audit SET id = {new} WHERE id = {old}"));
        assert_eq!(trail.verify().problem, Some(expected), "{old} became {new}");
        trail.database.run(&format!("UPDATE audit SET id = {old} WHERE id = {new}"));
    }
    assert!(trail.verify().is_good());
}

fn a_grown_trail_is_good(engine: Engine) {
    let trail = Trail::grown(engine);
    let report = trail.verify();
    assert_eq!(report.problem, None);
    assert_eq!(report.seals, 12);
    assert_eq!(report.last_seal, 12);
    assert_eq!(report.entries, trail.entries.len() as u64);
    assert!(report.entries > 200);
    assert_eq!(report.unsealed, 5);
}

#[test]
fn a_trail_nobody_touched_is_good() {
    a_grown_trail_is_good(Engine::Sqlite);
    a_grown_trail_is_good(Engine::Postgres);
}

#[test]
fn an_empty_trail_is_good() {
    let trail = Trail::new(Engine::Sqlite);
    assert_eq!(trail.verify(), waystation_hub::audit::Report::default());
}

#[test]
fn erasing_salt_and_detail_breaks_nothing() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let mut trail = Trail::grown(engine);
        trail.database.run("UPDATE audit SET salt = NULL, detail = NULL WHERE id % 2 = 0");
        assert_eq!(trail.verify().problem, None);
        trail.database.run("UPDATE audit SET salt = NULL, detail = NULL");
        assert_eq!(trail.verify().problem, None);
    }
}

#[test]
fn a_detail_that_stays_needs_its_salt() {
    let mut trail = Trail::grown(Engine::Sqlite);
    trail.database.run("UPDATE audit SET detail = NULL WHERE id % 2 = 0");
    assert_eq!(trail.verify().problem, None, "an erased detail alone");
    let committed = trail.entries.iter().find(|row| row.detail_commitment.is_some()).unwrap();
    let (entry, seal) = (committed.id, trail.seal_over(committed.id).id);
    trail.restore();
    trail.database.run(&format!("UPDATE audit SET salt = NULL WHERE id = {entry}"));
    // Nobody could tell whether it was rewritten.
    assert_eq!(trail.verify().problem, Some(Problem::DetailAltered { entry, seal }));
}

#[test]
fn the_first_of_several_bad_entries_is_named_whatever_is_wrong_with_it() {
    let mut trail = Trail::grown(Engine::Sqlite);
    let seal = trail.seals[6].clone();
    let under = |row: &&store::AuditRow| (seal.first_id..=seal.last_id).contains(&row.id);
    let committed = |row: &&store::AuditRow| row.detail_commitment.is_some();
    let entry = trail.entries.iter().filter(under).find(committed).unwrap().id;
    trail.database.run(&format!(
        "UPDATE audit SET detail = 'another' WHERE id = {entry};
         UPDATE audit SET actor = 'eve' WHERE id = {}",
        seal.last_id
    ));
    let first = Problem::DetailAltered { entry, seal: seal.id };
    assert_eq!(trail.verify().problem, Some(first));
    trail.database.run(&format!(
        "UPDATE audit SET detail = (SELECT detail FROM kept_audit WHERE id = {entry})
         WHERE id = {entry}"
    ));
    let second = Problem::EntryAltered { entry: seal.last_id, seal: seal.id };
    assert_eq!(trail.verify().problem, Some(second));
}

#[test]
fn details_of_an_older_program_are_as_free_as_they_were() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let mut trail = Trail::grown(engine);
        let older = trail.entries.iter().find(|row| row.detail.is_some()).unwrap().clone();
        assert_eq!(older.detail_commitment, None);
        trail.database.run(&format!("UPDATE audit SET detail = 'x' WHERE id = {}", older.id));
        assert_eq!(trail.verify().problem, None);
    }
}

#[test]
fn who_begins_in_the_middle_knows_that_details_were_committed_to_before() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let mut trail = Trail::new(engine);
        trail.add_entries(&mut Dice::new(8), 4);
        trail.seal(1);
        let nothing = trail.database.blob(&[]);
        trail.database.run(&format!(
            "INSERT INTO audit (id, at_ms, workspace, actor, role, session, jti, request_id, action,
                 object, outcome, request, response)
             VALUES (9, 1, 'w', 'a', 'r', 's', 'j', {nothing}, 'plain', '', 'ok', {nothing},
                 {nothing})"
        ));
        trail.seal(2);
        assert_eq!(trail.verify_with(None, Some(9)).problem, None);
        trail.database.run("UPDATE audit SET detail = 'x' WHERE id = 9");
        let added = Problem::DetailAdded { entry: 9, seal: 2 };
        assert_eq!(trail.verify_with(None, Some(9)).problem, Some(added.clone()));
        assert_eq!(trail.verify().problem, Some(added));
    }
}

#[test]
fn a_seal_of_an_unknown_key_is_named() {
    let mut trail = Trail::grown(Engine::Sqlite);
    trail.keys = TrustedKeys::default();
    let key_id = trail.sealer.key().id().to_owned();
    assert_eq!(trail.verify().problem, Some(Problem::UnknownKey { seal: 1, key_id }));
}

#[test]
fn verifying_from_an_entry_leaves_out_what_is_before_its_seal() {
    let mut trail = Trail::grown(Engine::Sqlite);
    let (early, late) = (trail.seals[1].first_id, trail.seals[5].first_id + 2);
    let report = trail.verify_with(Some(trail.checkpoint()), Some(late));
    assert_eq!((report.problem, report.seals, report.unsealed), (None, 7, 5));
    trail.database.run(&format!("UPDATE audit SET actor = 'eve' WHERE id = {early}"));
    assert!(trail.verify_with(None, Some(late)).is_good());
    let found = Some(Problem::EntryAltered { entry: early, seal: 2 });
    assert_eq!(trail.verify_with(None, Some(early)).problem, found);
    assert_eq!(trail.verify_with(None, Some(i64::MIN)).problem, found);
    trail.restore();
    // The seal before the first one counts as well: the chain hangs on it.
    trail.database.run("UPDATE audit_seal SET sealed_ms = 0 WHERE id = 5");
    let found = Some(Problem::HashMismatch { seal: 5 });
    assert_eq!(trail.verify_with(None, Some(late)).problem, found);
}

#[test]
fn a_trail_that_ends_before_the_entry_to_begin_with_is_not_good() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let mut trail = Trail::grown(engine);
        let last = trail.entries.last().unwrap().id + 5;
        let newest = trail.verify_with(None, Some(last));
        assert_eq!((newest.problem, newest.seals, newest.unsealed), (None, 0, 5), "none is sealed");
        for entry in [last + 1, i64::MAX] {
            let beyond = Problem::EntryBeyondEnd { entry, last, seal: 13 };
            assert_eq!(trail.verify_with(None, Some(entry)).problem, Some(beyond));
        }
        trail.database.run(&format!("DELETE FROM audit WHERE id = {last}"));
        let cut = Problem::EntryBeyondEnd { entry: last, last: last - 1, seal: 13 };
        assert_eq!(trail.verify_with(None, Some(last)).problem, Some(cut));
    }
    let nothing = Trail::new(Engine::Sqlite);
    let beyond = Problem::EntryBeyondEnd { entry: 1, last: 0, seal: 1 };
    assert_eq!(nothing.verify_with(None, Some(1)).problem, Some(beyond));
}

#[test]
fn progress_reaches_the_total() {
    let trail = Trail::grown(Engine::Sqlite);
    let verification =
        waystation_hub::audit::Verification { keys: trail.keys.clone(), ..Default::default() };
    let mut seen = Vec::new();
    let walk =
        waystation_hub::audit::verify(&trail.store, &verification, |progress| seen.push(progress));
    trail.runtime.block_on(walk).unwrap();
    assert_eq!(seen.len(), 12);
    let last = seen[11];
    assert_eq!(last.entries_done, last.entries_total);
    assert_eq!(last.entries_total, trail.entries.len() as u64);
}

#[test]
fn a_trail_is_verified_beside_a_running_hub_without_a_write() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let mut trail = Trail::grown(engine);
        let reading = match (&mut trail.database, trail.store.file()) {
            (_, Some(file)) => store::Store::open_read_only(file).unwrap(),
            (trail::Database::Postgres(client), None) => {
                let row = client.query_one("SELECT current_database()", &[]).unwrap();
                let name: String = row.get(0);
                let server = testkit::postgres::ThrowawayPostgres::shared().url();
                store::Store::open_read_only_postgres(&server.replacen(
                    "/postgres?",
                    &format!("/{name}?"),
                    1,
                ))
                .unwrap()
            }
            (trail::Database::Sqlite(_), None) => unreachable!("SQLite has a file"),
        };
        let hub = std::mem::replace(&mut trail.store, reading);
        assert!(trail.verify().is_good());
        let refused = trail.runtime.block_on(trail.store.write(|tx| tx.set_fact("a", "b")));
        assert!(matches!(refused, Err(store::StoreError::Closed)));
        // What the hub adds meanwhile is seen.
        trail.runtime.block_on(hub.write(|tx| tx.set_fact("a", "b"))).unwrap();
        let fact = trail.runtime.block_on(trail.store.read(|tx| tx.fact("a"))).unwrap();
        assert_eq!(fact.as_deref(), Some("b"));
        hub.close();
    }
}
