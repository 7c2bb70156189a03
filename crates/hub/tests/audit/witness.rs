//! Checkpoints: what only someone outside the hub can know.

use protocol::Timestamp;
use ring::rand::SystemRandom;
use store::Engine;
use waystation_hub::audit::{
    AuditError, Problem, SealKey, TrustedKeys, checkpoint, open_checkpoint,
};

use crate::trail::{Dice, Trail};

fn cut_tail(trail: &mut Trail, last_seal: usize) {
    let last_id = trail.seals[last_seal - 1].last_id;
    trail.database.run(&format!(
        "DELETE FROM audit WHERE id > {last_id}; DELETE FROM audit_seal WHERE id > {last_seal}"
    ));
}

#[test]
fn a_cut_tail_is_found_with_a_checkpoint_and_only_with_one() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let mut trail = Trail::grown(engine);
        let known = trail.checkpoint();
        for last in 0..12_usize {
            if last == 0 {
                trail.database.run("DELETE FROM audit; DELETE FROM audit_seal");
            } else {
                cut_tail(&mut trail, last);
            }
            // Nothing inside a shorter trail says that it was longer: hence the witness.
            assert!(trail.verify().is_good());
            let report = trail.verify_with(Some(known.clone()), None);
            let cut = Problem::TailCut { last: i64::try_from(last).unwrap(), expected: 12 };
            assert_eq!(report.problem, Some(cut));
            trail.restore();
        }
        trail.database.run("DELETE FROM audit_seal WHERE id = 12");
        assert_eq!(trail.verify().unsealed, 5 + u64::try_from(trail.seals[11].entries).unwrap());
        let report = trail.verify_with(Some(known.clone()), None);
        assert_eq!(report.problem, Some(Problem::TailCut { last: 11, expected: 12 }));
    }
}

#[test]
fn a_tail_sealed_anew_with_the_real_key_is_found_with_a_checkpoint() {
    let mut trail = Trail::grown(Engine::Sqlite);
    let known = trail.checkpoint();
    cut_tail(&mut trail, 9);
    let mut dice = Dice::new(99);
    for second in 100..104 {
        trail.add_entries(&mut dice, 20);
        trail.seal(second);
    }
    assert!(trail.verify().is_good());
    let report = trail.verify_with(Some(known.clone()), None);
    assert_eq!(report.problem, Some(Problem::CheckpointDiffers { seal: 12 }));
    // The same when the checkpoint lies before the part that is verified.
    let report = trail.verify_with(Some(known), Some(i64::MAX));
    assert_eq!(report.problem, Some(Problem::CheckpointDiffers { seal: 12 }));
}

#[test]
fn an_old_checkpoint_holds_for_the_longer_trail() {
    let mut trail = Trail::grown(Engine::Sqlite);
    let known = trail.checkpoint();
    assert_eq!((known.seal, known.entries), (12, trail.entries.len() as u64));
    trail.seal(50);
    trail.seals = trail.read(|tx| tx.seals_after(0, 100));
    assert_eq!(trail.checkpoint().seal, 13);
    assert!(trail.verify_with(Some(known.clone()), None).is_good());
    let first_of_last = trail.seals[12].first_id;
    assert!(trail.verify_with(Some(known), Some(first_of_last)).is_good());
}

#[test]
fn a_checkpoint_is_believed_only_with_a_trusted_signature() {
    let trail = Trail::grown(Engine::Sqlite);
    let make = checkpoint(&trail.store, trail.sealer.key(), "example.org/audit");
    let note = trail.runtime.block_on(make).unwrap().unwrap();
    open_checkpoint(&note, &trail.keys).unwrap();
    let shorter = note.replacen("seal 12", "seal 11", 1);
    assert!(matches!(open_checkpoint(&shorter, &trail.keys), Err(AuditError::Checkpoint(_))));
    let nobody = TrustedKeys::default();
    assert!(matches!(open_checkpoint(&note, &nobody), Err(AuditError::Checkpoint(_))));
}

#[test]
fn before_the_first_seal_there_is_no_checkpoint() {
    let trail = Trail::new(Engine::Sqlite);
    let make = checkpoint(&trail.store, trail.sealer.key(), "example.org/audit");
    assert_eq!(trail.runtime.block_on(make).unwrap(), None);
}

#[test]
fn a_new_key_goes_on_where_the_old_one_stopped() {
    let mut trail = Trail::grown(Engine::Sqlite);
    let folder = trail.folder.path().join("keys");
    let old = folder.join(format!("audit-{}.pk8", trail.sealer.key().id()));
    std::fs::remove_file(old).unwrap();
    let new = SealKey::open(&folder, &SystemRandom::new()).unwrap();
    let key_id = new.id().to_owned();
    let sealer = waystation_hub::audit::Sealer::new(trail.store.clone(), new);
    trail.runtime.block_on(sealer.seal_once(Timestamp::from_ms(0))).unwrap();
    assert_eq!(trail.verify().problem, Some(Problem::UnknownKey { seal: 13, key_id }));
    trail.keys.add_folder(&folder).unwrap();
    assert!(trail.verify().is_good());
}
