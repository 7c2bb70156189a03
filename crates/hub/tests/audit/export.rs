//! Exports and proofs, read by a program that shares no code with the hub.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use store::Engine;
use waystation_hub::audit::{AuditError, Proof, export, prove};

use crate::trail::Trail;

fn exported(trail: &Trail, from: Option<i64>, to: Option<i64>) -> (Vec<String>, PathBuf) {
    let mut text = Vec::new();
    let result = trail.runtime.block_on(export(&trail.store, from, to, &mut text)).unwrap();
    let path = trail.folder.path().join("export.jsonl");
    std::fs::write(&path, &text).unwrap();
    let lines: Vec<String> = String::from_utf8(text).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(lines.len() as u64, result.entries + result.seals);
    (lines, path)
}

fn python(trail: &Trail, export: &Path, options: &[&str]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lanes/audit_verify.py");
    let public = format!("keys/audit-{}.pub", trail.sealer.key().id());
    let mut command = Command::new("python3");
    command.arg(script).args(options).arg(export).arg(trail.folder.path().join(public));
    command.output().unwrap()
}

#[test]
fn another_program_gives_the_same_answer() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let trail = Trail::grown(engine);
        let (lines, path) = exported(&trail, None, None);
        let output = python(&trail, &path, &[]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        let expected =
            format!("{} entries under 12 seals are good, 5 are not", trail.entries.len());
        assert!(said.starts_with(&expected), "{said}");

        let bad = lines.join("\n").replacen("\"actor\":\"ada\"", "\"actor\":\"eve\"", 1);
        std::fs::write(&path, bad).unwrap();
        let output = python(&trail, &path, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stdout).contains("entries differ"));
    }
}

#[test]
fn a_part_of_the_trail_holds_its_entries_and_their_seals() {
    let trail = Trail::grown(Engine::Sqlite);
    let (from, to) = (trail.seals[2].first_id + 2, trail.seals[4].first_id + 1);
    let (lines, path) = exported(&trail, Some(from), Some(to));
    let count = |kind: &str| lines.iter().filter(|line| line.contains(kind)).count();
    assert_eq!(count("\"type\":\"seal\""), 3);
    let inside = trail.entries.iter().filter(|row| (from..=to).contains(&row.id)).count();
    assert_eq!(count("\"type\":\"entry\""), inside);
    let output = python(&trail, &path, &["--partial"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!python(&trail, &path, &[]).status.success(), "a part is not the whole");
}

#[test]
fn every_entry_can_be_proved_alone() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let mut trail = Trail::grown(engine);
        for row in trail.entries.iter().step_by(9) {
            let proof = trail.runtime.block_on(prove(&trail.store, row.id)).unwrap();
            let text = serde_json::to_string(&proof).unwrap();
            assert!(!text.contains("leaves"), "a proof is short");
            let mut proof: Proof = serde_json::from_str(&text).unwrap();
            assert!(proof.holds(&trail.keys));
            assert!(!proof.holds(&waystation_hub::audit::TrustedKeys::default()));
            proof.entry.outcome.push('!');
            assert!(!proof.holds(&trail.keys));
        }
        let prove = |id| trail.runtime.block_on(prove(&trail.store, id));
        let newest = trail.entries.last().unwrap().id + 1;
        assert!(matches!(prove(newest), Err(AuditError::NotSealed(_))));
        assert!(matches!(prove(trail.gaps[0]), Err(AuditError::NoSuchEntry(_))));
        let id = trail.entries[7].id;
        trail.database.run(&format!("UPDATE audit SET actor = 'eve' WHERE id = {id}"));
        let proof = trail.runtime.block_on(waystation_hub::audit::prove(&trail.store, id));
        assert!(matches!(proof, Err(AuditError::NotAsSealed(_))));
    }
}
