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
        assert!(refusal(&trail, &path, &bad).contains("entries differ"));
    }
}

/// What the other program says of an export that is not as it was.
fn refusal(trail: &Trail, path: &Path, export: &str) -> String {
    std::fs::write(path, export).unwrap();
    let output = python(trail, path, &[]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    said
}

#[test]
fn another_program_sees_details_that_were_rewritten_or_added() {
    let trail = Trail::grown(Engine::Sqlite);
    let (lines, path) = exported(&trail, None, None);
    let edited = |edit: &dyn Fn(&mut serde_json::Value), of: &dyn Fn(&str) -> bool| {
        let at = lines.iter().position(|line| of(line)).unwrap();
        let mut lines = lines.clone();
        let mut entry: serde_json::Value = serde_json::from_str(&lines[at]).unwrap();
        edit(&mut entry);
        lines[at] = entry.to_string();
        lines.join("\n")
    };
    let is_committed = |line: &str| line.contains("detail_commitment");
    let first = trail.entries.iter().find(|row| row.detail_commitment.is_some()).unwrap().id;
    let plain = trail.entries.iter().find(|row| row.id > first && row.detail.is_none()).unwrap().id;
    let is_plain = |line: &str| line.contains(&format!("\"id\":{plain},"));
    let rewrite = |entry: &mut serde_json::Value| entry["detail"] = "another".into();
    let said = refusal(&trail, &path, &edited(&rewrite, &is_committed));
    assert!(said.contains(&format!("entry {first}: the detail was rewritten")), "{said}");
    let said = refusal(&trail, &path, &edited(&rewrite, &is_plain));
    assert!(said.contains(&format!("entry {plain}: the detail was added")), "{said}");
    let without = |entry: &mut serde_json::Value| {
        entry.as_object_mut().unwrap().remove("detail_commitment");
    };
    let said = refusal(&trail, &path, &edited(&without, &is_committed));
    assert!(said.contains("entries differ"), "{said}");
    let erase = |entry: &mut serde_json::Value| {
        entry["detail"] = serde_json::Value::Null;
        entry["salt"] = serde_json::Value::Null;
    };
    std::fs::write(&path, edited(&erase, &is_committed)).unwrap();
    assert!(python(&trail, &path, &[]).status.success(), "an erased detail is not wrong");
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
            let said = proof.entry.detail.replace("another".to_owned());
            // What an older program wrote there is proved by nobody.
            assert_eq!(proof.holds(&trail.keys), row.detail_commitment.is_none());
            proof.entry.detail = None;
            assert!(proof.holds(&trail.keys), "an erased detail is not wrong");
            proof.entry.detail = said;
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
        let committed = trail.entries.iter().find(|row| row.detail_commitment.is_some()).unwrap();
        let id = committed.id;
        trail.database.run(&format!("UPDATE audit SET detail = 'another' WHERE id = {id}"));
        let proof = trail.runtime.block_on(waystation_hub::audit::prove(&trail.store, id));
        assert!(matches!(proof, Err(AuditError::NotAsSealed(_))));
    }
}
