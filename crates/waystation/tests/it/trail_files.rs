//! An export of the trail never costs anybody a file.

use std::path::{Path, PathBuf};

use crate::program::{Home, Ran};

/// A home whose hub has run and ended.
fn settled() -> Home {
    let home = Home::generous();
    home.ok(&["thread", "new", "x"]);
    home.ok(&["down"]);
    home
}

fn export(home: &Home, out: &Path) -> Ran {
    home.run(&["audit", "export", "--out", out.to_str().unwrap()])
}

#[test]
fn an_export_replaces_no_file_of_the_hub() {
    let home = settled();
    let data = home.data();
    let hard = home.path().join("hard.db");
    std::fs::hard_link(data.join("waystation.db"), &hard).unwrap();
    let soft = home.path().join("soft.db");
    std::os::unix::fs::symlink(data.join("waystation.db"), &soft).unwrap();
    let keys = std::fs::read_dir(data.join("keys")).unwrap();
    let mut own: Vec<PathBuf> = keys.map(|entry| entry.unwrap().path()).collect();
    assert!(own.len() > 2, "{own:?}");
    own.extend([hard, soft, data.join("keys/new")]);
    own.extend(["waystation.db", "waystation.db-wal", "config.toml"].map(|name| data.join(name)));
    for target in own {
        let before = std::fs::read(&target).ok();
        let ran = export(&home, &target);
        assert_eq!(ran.code, 1, "{}", target.display());
        assert!(ran.stderr.contains("is a file of the hub itself"), "{}", ran.stderr);
        assert_eq!(std::fs::read(&target).ok(), before, "{}", target.display());
    }
    let config = home.path().join("my.toml");
    std::fs::write(&config, "").unwrap();
    let config = config.to_str().unwrap();
    let ran = home.run(&["audit", "export", "--out", config, "--config", config]);
    assert!(ran.stderr.contains("is a file of the hub itself"), "{}", ran.stderr);
    home.ok(&["audit", "verify"]);
    assert!(home.ok(&["threads"]).contains(": x"));
}

#[test]
fn an_export_replaces_an_older_one_and_nothing_else() {
    let home = settled();
    let letter = home.path().join("letter");
    std::fs::write(&letter, "to a friend").unwrap();
    let ran = export(&home, &letter);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("is no export"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&letter).unwrap(), "to a friend");
    let ran = export(&home, home.path());
    assert!(ran.stderr.contains("is no file"), "{}", ran.stderr);

    let file = home.path().join("trail.jsonl");
    let link = home.path().join("link.jsonl");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    std::fs::write(&file, "").unwrap();
    assert_eq!(export(&home, &file).code, 0);
    let first = std::fs::read_to_string(&file).unwrap();
    home.ok(&["thread", "new", "y"]);
    home.ok(&["down"]);
    assert_eq!(export(&home, &link).code, 0);
    let second = std::fs::read_to_string(&file).unwrap();
    assert!(second.len() > first.len() && second.starts_with(&first), "through the link");
    assert!(link.is_symlink());

    // One that cannot be finished leaves what was there.
    let database = rusqlite::Connection::open(home.data().join("waystation.db")).unwrap();
    database.execute_batch("DROP TABLE audit_seal").unwrap();
    drop(database);
    assert_eq!(export(&home, &file).code, 1);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), second);
    let names = std::fs::read_dir(home.path()).unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!names.any(|name| name.ends_with(".partial")), "nothing half-made is left");
}

#[test]
fn an_export_goes_into_a_pipe() {
    let home = settled();
    let printed = home.ok(&["audit", "export"]);
    assert_eq!(home.ok(&["audit", "export", "--out", "/dev/stdout"]), printed);
}
