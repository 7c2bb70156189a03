//! Backups of a hub that works, and putting them back.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::disk;
use crate::program::{Home, Ran};

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
    for count in ["threads", "messages", "audit_entries", "bytes", "compared"] {
        assert_eq!(verified[count], made[count], "{count}");
    }
    assert_eq!(
        (&verified["compared"], &verified["audit_trail"]["good"]),
        (&json!("content"), &json!(true))
    );
    // While the hub uses its folder, nothing is put there.
    let busy = home.run(&["restore", file]);
    assert_eq!(busy.code, 1);
    assert!(busy.stderr.contains("stop it with waystation down"), "{}", busy.stderr);
    let log = client.log(&thread);
    assert_eq!(up.stop(), 0);

    let elsewhere = Home::generous();
    let restored = elsewhere.run(&["restore", file, "--json"]).json();
    assert_eq!(restored["messages"], made["messages"]);
    let why = restored["audit_trail"]["not_verified"].as_str().unwrap();
    assert!(why.contains("there are no keys in"), "{why}");
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

/// A page of the database.
const PAGE_BYTES: usize = 4_096;

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
    // What lies between the rows of a page means nothing, and neither does a page that is free.
    let mut flipped = good.clone();
    let pages = flipped.len() / PAGE_BYTES;
    for page in flipped.chunks_mut(PAGE_BYTES).skip(pages / 2) {
        page[..64].iter_mut().for_each(|byte| *byte ^= 0xff);
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
    for args in [vec!["restore", "."], vec!["restore", ".", "--verify"]] {
        let folder = elsewhere.run(&args);
        assert_eq!(folder.code, 1);
        assert!(folder.stderr.contains(". is a folder"), "{}", folder.stderr);
    }
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

/// A home with a thread that holds one message, and a backup of it.
fn backed_up(body: &str) -> (Home, String, PathBuf) {
    let home = Home::generous();
    let made = home.run(&["thread", "new", "x", "--json"]).json();
    let thread = made["thread_id"].as_str().unwrap().to_owned();
    home.ok(&["post", &thread, body]);
    let file = home.path().join("hub.backup");
    home.ok(&["backup", file.to_str().unwrap()]);
    (home, thread, file)
}

fn restore(home: &Home, file: &Path, options: &[&str]) -> Ran {
    let args = [&["restore", file.to_str().unwrap()], options].concat();
    home.run(&args)
}

/// Changes one bit of the first place where a text stands.
fn flip(file: &Path, text: &[u8]) {
    let mut bytes = std::fs::read(file).unwrap();
    let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
    bytes[at] ^= 1;
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn one_bit_in_a_message_is_found() {
    let (home, thread, file) = backed_up("a needle in a haystack");
    assert_eq!(restore(&home, &file, &["--verify"]).code, 0);
    flip(&file, b"a needle in a haystack");
    home.ok(&["down"]);
    for options in [&["--verify"][..], &[]] {
        let ran = restore(&home, &file, options);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        assert!(ran.stderr.contains("the table message holds something else"), "{}", ran.stderr);
    }
    assert!(home.ok(&["read", &thread]).contains("a needle in a haystack"));
    assert!(!home.data().join("restore.partial").exists());
}

#[test]
fn a_backup_without_digests_is_checked_for_its_structure_and_its_trail() {
    let (home, _, file) = backed_up("hello");
    // A hub that ends seals what it did.
    home.ok(&["down"]);
    home.ok(&["backup", file.to_str().unwrap()]);
    // What was put back, and never used, is what a backup was before it had digests.
    let elsewhere = Home::new();
    assert_eq!(restore(&elsewhere, &file, &[]).code, 0);
    let older = elsewhere.data().join("waystation.db");
    let ran = restore(&home, &older, &["--verify"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("only its structure could be checked"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Its audit trail is good"), "{}", ran.stdout);

    flip(&older, b"create_thread");
    for options in [&["--verify"][..], &[]] {
        let ran = restore(&home, &older, options);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        assert!(ran.stderr.contains("its audit trail is not good: entry"), "{}", ran.stderr);
        assert!(ran.stderr.contains("--despite-trail"), "{}", ran.stderr);
    }
    let ran = restore(&home, &older, &["--despite-trail"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("ITS AUDIT TRAIL IS NOT GOOD"), "{}", ran.stdout);
}

#[test]
fn a_backup_replaces_no_file_that_anybody_needs() {
    let (home, thread, file) = backed_up("hello");
    let up = home.up();
    let data = home.data();
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&data, &link).unwrap();
    let hard = home.path().join("hard.db");
    std::fs::hard_link(data.join("waystation.db"), &hard).unwrap();
    let soft = home.path().join("soft.db");
    std::os::unix::fs::symlink(data.join("waystation.db"), &soft).unwrap();
    let mut own =
        vec![link.join("waystation.db"), link.join("../.waystation/memory.db"), hard, soft];
    for name in [
        "waystation.db",
        "waystation.db-wal",
        "waystation.db-journal",
        "search.db",
        "containment.db",
        "memory.db-shm",
        "owner.lock",
        "hub.sock",
        "config.toml",
        "keys/new",
        "restore.partial",
    ] {
        own.push(data.join(name));
    }
    for target in own {
        let ran = home.run(&["backup", target.to_str().unwrap()]);
        assert_eq!(ran.code, 1, "{}", target.display());
        assert!(ran.stderr.contains("is a file of the hub itself"), "{}", ran.stderr);
        assert!(ran.stderr.contains(target.to_str().unwrap()), "{}", ran.stderr);
    }
    let letter = home.path().join("letter");
    std::fs::write(&letter, "to a friend").unwrap();
    let ran = home.run(&["backup", letter.to_str().unwrap()]);
    assert!(ran.stderr.contains("is no backup"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&letter).unwrap(), "to a friend");
    let ran = home.run(&["backup", home.path().to_str().unwrap()]);
    assert!(ran.stderr.contains("is no file"), "{}", ran.stderr);
    let ran = home.run(&["backup", "no/such/folder/hub.backup"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("no/such/folder"), "{}", ran.stderr);

    // Over an older backup, also in the data folder, and beside a file that only looks half-made.
    let partial = home.path().join("hub.partial");
    std::fs::write(&partial, "an unfinished letter").unwrap();
    for target in [&file, &data.join("kept.backup"), &data.join("kept.backup")] {
        home.ok(&["backup", target.to_str().unwrap()]);
        assert_eq!(restore(&home, target, &["--verify"]).code, 0);
    }
    assert_eq!(std::fs::read_to_string(&partial).unwrap(), "an unfinished letter");
    let left = std::fs::read_dir(home.path()).unwrap().chain(std::fs::read_dir(&data).unwrap());
    let left = left.filter(|entry| {
        entry.as_ref().unwrap().file_name().to_str().unwrap().ends_with(".partial")
    });
    assert_eq!(left.count(), 1, "nothing half-made is left");
    assert_eq!(up.client(&home.token("human", "operator")).log(&thread).len(), 1);
    assert_eq!(up.stop(), 0);
}

#[test]
fn a_backup_is_not_put_beside_postgresql() {
    let (home, _, file) = backed_up("hello");
    let other = Home::new().with("STORE__POSTGRES_URL", "postgres://nobody@127.0.0.1:1/nothing");
    let ran = restore(&other, &file, &[]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("keeps its data in PostgreSQL"), "{}", ran.stderr);
    assert!(!other.data().join("waystation.db").exists());
    assert_eq!(restore(&other, &file, &["--verify"]).code, 0, "a file can be checked anywhere");
    drop(home);
}

/// Issues a token; answers it and its id.
fn issue(home: &Home, agent: &str) -> (String, String) {
    let issued = home.run(&["token", "issue", "--agent", agent, "--json"]).json();
    let text = |key: &str| issued[key].as_str().unwrap().to_owned();
    (text("token"), text("jti"))
}

#[test]
fn a_revoked_token_stays_revoked_when_a_backup_is_put_back() {
    let home = Home::generous();
    let (kept, _) = issue(&home, "kept");
    let (before, before_id) = issue(&home, "before");
    let file = home.path().join("hub.backup");
    home.ok(&["backup", file.to_str().unwrap()]);
    let (after, after_id) = issue(&home, "after");
    home.ok(&["token", "revoke", &before_id]);
    home.ok(&["token", "revoke", &after_id]);
    home.ok(&["down"]);
    let ran = restore(&home, &file, &["--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.json()["revocations_carried"], 2);
    let status = |up: &crate::program::Up, token: &str| {
        up.client(token).json("GET", "/v1/threads", &Value::Null).status
    };
    let up = home.up();
    assert_eq!([&kept, &before, &after].map(|token| status(&up, token)), [200, 401, 401]);
    assert_eq!(up.stop(), 0);

    // A database that cannot be read does not say what was revoked in it.
    std::fs::write(home.data().join("waystation.db"), "this is no database any more").unwrap();
    let ran = restore(&home, &file, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("WORK AGAIN"), "{}", ran.stdout);
    assert!(ran.stdout.contains("waystation token revoke"), "{}", ran.stdout);
    let up = home.up();
    assert_eq!([&kept, &before, &after].map(|token| status(&up, token)), [200, 200, 200]);
    home.ok(&["token", "revoke", &before_id]);
    assert_eq!(status(&up, &before), 401);
    assert_eq!(up.stop(), 0);
}

#[test]
fn an_owner_that_nobody_asked_for_makes_way_for_a_restore() {
    let (home, thread, file) = backed_up("hello");
    home.ok(&["post", &thread, "after the backup"]);
    let owner = home.owner().expect("a command has left an owner behind");
    assert_eq!(owner["url"], Value::Null);
    let ran = restore(&home, &file, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let read = home.ok(&["read", &thread]);
    assert!(read.contains("hello") && !read.contains("after the backup"), "{read}");
    assert_ne!(home.owner().unwrap()["pid"], owner["pid"]);
}

/// A home with a thread and a backup of it, and a hub that was killed after it had taken another post.
fn killed_after_a_backup() -> (Home, String, PathBuf) {
    let (home, thread, file) = backed_up("before the backup");
    let up = home.up();
    home.ok(&["post", &thread, "after the backup"]);
    drop(up);
    let log = std::fs::metadata(home.data().join("waystation.db-wal")).unwrap();
    assert!(log.len() > 0, "what was taken last stands in the log alone");
    (home, thread, file)
}

/// Restores under a watcher that kills it, or lets it fail, at the n-th call of this kind.
fn cut_short(home: &Home, file: &Path, (call, how): (&str, &str), n: usize) -> Output {
    let [trace, inject] = [format!("trace=/^{call}"), format!("inject=/^{call}:{how}:when={n}")];
    let args = ["restore", file.to_str().unwrap()];
    disk::watched(home, &["-e", &trace, "-e", &inject], &args).output().unwrap()
}

/// Cuts restores short at every call of this kind that one makes.
fn stays_whole(call: &str, how: &str) {
    for n in 1.. {
        let (home, thread, file) = killed_after_a_backup();
        let ran = cut_short(&home, &file, (call, how), n);
        let read = home.ok(&["read", &thread]);
        assert!(read.contains("before the backup"), "{call} {how} {n}: {read}");
        if ran.status.success() {
            assert!(n > 1, "a restore makes such calls");
            assert!(!read.contains("after the backup"), "{read}");
            return;
        }
        assert!(read.contains("after the backup"), "{call} {how} {n}: {read}");
        // What was set aside for nothing is not kept, and another try goes well.
        assert_eq!(kept(&home), Vec::<PathBuf>::new(), "{call} {how} {n}");
        assert_eq!(restore(&home, &file, &[]).code, 0, "{call} {how} {n}");
        assert!(!home.ok(&["read", &thread]).contains("after the backup"), "{call} {how} {n}");
    }
}

#[test]
fn a_restore_that_is_killed_leaves_the_database_that_was_there() {
    for call in ["link", "rename"] {
        stays_whole(call, "signal=KILL");
    }
}

#[test]
fn a_restore_whose_disk_fails_leaves_the_database_that_was_there() {
    for call in ["link", "rename"] {
        stays_whole(call, "error=EIO");
    }
}

/// What restores have set aside.
fn kept(home: &Home) -> Vec<PathBuf> {
    let names = std::fs::read_dir(home.data()).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.to_str().unwrap().contains("before-restore-")).collect()
}

#[test]
fn what_a_restore_sets_aside_is_whole_and_can_be_put_back_by_its_name() {
    let (home, thread, file) = killed_after_a_backup();
    assert_eq!(restore(&home, &file, &[]).code, 0);
    let [aside] = <[PathBuf; 1]>::try_from(kept(&home)).unwrap();
    let database = home.data().join("waystation.db");
    std::fs::remove_file(&database).unwrap();

    // No hub begins with nothing where its database was set aside.
    let ran = home.run(&["owner"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains(aside.to_str().unwrap()), "{}", ran.stderr);
    assert!(!database.exists());

    std::fs::rename(&aside, &database).unwrap();
    assert!(home.ok(&["read", &thread]).contains("after the backup"));
}

#[test]
fn a_restore_says_where_it_set_aside_what_was_there() {
    let (home, _, file) = backed_up("hello");
    let [said, json] = [&[][..], &["--json"]].map(|options| {
        let before = kept(&home);
        let ran = restore(&home, &file, options);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let aside = kept(&home).into_iter().find(|path| !before.contains(path)).unwrap();
        (ran, aside)
    });
    let (_, name) = said.1.to_str().unwrap().rsplit_once('/').unwrap();
    assert!(said.0.stdout.contains(name), "{}", said.0.stdout);
    assert_eq!(json.0.json()["set_aside"], json.1.to_str().unwrap());

    let elsewhere = Home::new();
    assert_eq!(restore(&elsewhere, &file, &["--json"]).json()["set_aside"], Value::Null);
}

#[test]
fn a_file_with_a_log_beside_it_is_no_backup() {
    let (home, thread, _) = killed_after_a_backup();
    let copy = home.path().join("copy.db");
    for suffix in ["", "-wal"] {
        let from = home.data().join(format!("waystation.db{suffix}"));
        std::fs::copy(from, home.path().join(format!("copy.db{suffix}"))).unwrap();
    }
    for options in [&["--verify"][..], &[]] {
        let ran = restore(&home, &copy, options);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        assert!(ran.stderr.contains("copy.db-wal"), "{}", ran.stderr);
    }
    assert!(home.ok(&["read", &thread]).contains("after the backup"));
}

#[test]
fn a_restore_that_is_called_off_while_the_trail_is_verified_changes_nothing() {
    let (home, thread, file) = backed_up("before the backup");
    home.ok(&["post", &thread, "after the backup"]);
    // Whoever verifies the trail reads the keys first.
    let keys = home.data().join("keys");
    let inject = [
        "-P",
        keys.to_str().unwrap(),
        "-e",
        "trace=openat",
        "-e",
        "inject=openat:signal=INT:when=1",
    ];
    for options in [&[][..], &["--verify"]] {
        let args = [&["restore", file.to_str().unwrap()], options].concat();
        let ran = Ran::of(disk::watched(&home, &inject, &args).output().unwrap());
        assert_eq!(ran.code, 1, "{options:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("called off"), "{}", ran.stderr);
    }
    assert_eq!(kept(&home), Vec::<PathBuf>::new());
    assert!(!home.data().join("restore.partial").exists());
    assert!(home.ok(&["read", &thread]).contains("after the backup"));
}
