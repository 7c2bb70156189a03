//! Backups of a hub that works, and putting them back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use crate::program::Home;

#[test]
fn a_backup_taken_while_writing_is_whole_and_can_be_put_back() {
    let home = Home::generous();
    let up = home.up();
    let token = home.token("author", "worker");
    let client = up.client(&token);
    let thread = client.open(&[]);
    let target = format!("/v1/threads/{thread}/messages");
    let stop = AtomicBool::new(false);
    let file = home.path().join("hub.backup");
    let file = file.to_str().unwrap();
    let made = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                client.ok("POST", &target, &json!({ "body": "more and more" }));
            }
        });
        while client.get(&format!("/v1/threads/{thread}"))["head_seq"].as_i64().unwrap() < 30 {}
        let made = home.run(&["backup", file, "--json"]);
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap();
        made
    });
    assert_eq!(made.code, 0, "{}", made.stderr);
    let made = made.json();
    assert!(made["messages"].as_i64().unwrap() >= 30);
    assert_eq!(made["threads"], 1);
    let verified = home.run(&["restore", file, "--verify", "--json"]).json();
    for count in ["threads", "messages", "audit_entries", "bytes"] {
        assert_eq!(verified[count], made[count], "{count}");
    }
    // While the hub uses its folder, nothing is put there.
    let busy = home.run(&["restore", file]);
    assert_eq!(busy.code, 1);
    assert!(busy.stderr.contains("stop it with waystation down"), "{}", busy.stderr);
    let log = client.log(&thread);
    assert_eq!(up.stop(), 0);

    let elsewhere = Home::generous();
    let restored = elsewhere.run(&["restore", file, "--json"]).json();
    assert_eq!(restored["messages"], made["messages"]);
    let up = elsewhere.up();
    let operator = up.client(&elsewhere.token("human", "operator"));
    let found = operator.log(&thread);
    assert_eq!(i64::try_from(found.len()).unwrap(), made["messages"].as_i64().unwrap());
    assert_eq!(found, log[..found.len()], "the same messages with the same ids and numbers");
    assert_eq!(
        up.client(&token).json("GET", "/v1/threads", &json!(null)).status,
        401,
        "its keys are its own"
    );

    // Over the old folder: what was there is kept beside it.
    let ran = home.run(&["restore", file]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let names = std::fs::read_dir(home.data()).unwrap();
    let names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(
        names.iter().any(|name| name.starts_with("waystation.db.before-restore-")),
        "{names:?}"
    );
    let up = home.up();
    assert_eq!(up.client(&token).log(&thread).len(), found.len());
}

#[test]
fn a_damaged_backup_is_refused_and_changes_nothing() {
    let home = Home::generous();
    let thread = home.run(&["thread", "new", "x", "--json"]).json();
    let thread = thread["thread_id"].as_str().unwrap().to_owned();
    for _ in 0..5 {
        home.ok(&["post", &thread, &"a long text ".repeat(1_000)]);
    }
    let file = home.path().join("hub.backup");
    home.ok(&["backup", file.to_str().unwrap()]);
    let good = std::fs::read(&file).unwrap();
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    for byte in &mut flipped[middle..middle + 64] {
        *byte ^= 0xff;
    }
    let mut headless = good.clone();
    headless[..16].fill(0);
    let elsewhere = Home::new();
    let bad = elsewhere.path().join("bad.backup");
    let cases: [(&str, &[u8]); 5] = [
        ("cut short", &good[..good.len() / 2]),
        ("flipped", &flipped),
        ("without a head", &headless),
        ("empty", b""),
        ("something else", b"this is no database at all, but a letter to a friend"),
    ];
    for (case, bytes) in cases {
        std::fs::write(&bad, bytes).unwrap();
        for args in [
            vec!["restore", bad.to_str().unwrap()],
            vec!["restore", bad.to_str().unwrap(), "--verify"],
        ] {
            let ran = elsewhere.run(&args);
            assert_eq!(ran.code, 1, "{case}: {}", ran.stdout);
            assert!(ran.stderr.contains("backup"), "{case}: {}", ran.stderr);
        }
        assert!(!elsewhere.data().join("waystation.db").exists(), "{case}");
    }
    let missing = elsewhere.run(&["restore", "no-such-file"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("no-such-file"), "{}", missing.stderr);
    let nothing = elsewhere.run(&["backup", "x.backup"]);
    assert!(nothing.stderr.contains("nothing to back up"), "{}", nothing.stderr);
    std::fs::write(&bad, &good).unwrap();
    elsewhere.ok(&["restore", bad.to_str().unwrap()]);
    assert!(elsewhere.ok(&["read", &thread]).contains("a long text"));
}

/// How many memories with this word are recalled, once the view of them is up to date.
fn recalled(home: &Home, word: &str) -> usize {
    let input = json!({ "query": word }).to_string();
    loop {
        let answer = home.run(&["call", "recall", &input]).json();
        if answer["index_behind"] == false {
            let memories = answer["memories"].as_array().unwrap().iter();
            let texts = memories.map(|found| found["data"]["text"].as_str().unwrap());
            return texts.filter(|text| text.contains(word)).count();
        }
    }
}

fn remember(home: &Home, text: &str) {
    let input = json!({ "kind": "long_term", "data": { "text": text } });
    home.ok(&["call", "remember", &input.to_string()]);
}

#[test]
fn what_finds_things_begins_anew_after_a_restore() {
    let home = Home::generous();
    remember(&home, "the kettle is on the first floor");
    let file = home.path().join("hub.backup");
    home.ok(&["backup", file.to_str().unwrap()]);
    // More changes than come after the restore: a view that is kept would believe it is ahead.
    for number in 0..5 {
        remember(&home, &format!("xylophone number {number} was bought"));
    }
    assert_eq!(recalled(&home, "xylophone"), 5);
    home.ok(&["down"]);
    home.ok(&["restore", file.to_str().unwrap()]);
    for name in ["search.db", "containment.db", "memory.db"] {
        assert!(!home.data().join(name).exists(), "{name}");
    }
    remember(&home, "the teapot is on the second floor");
    assert_eq!(["kettle", "teapot", "xylophone"].map(|word| recalled(&home, word)), [1, 1, 0]);
}
