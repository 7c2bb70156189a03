//! Disks that fail, and disks that are full.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::database::wait_until;
use crate::http::Reply;
use crate::kill::audit_verifies;
use crate::program::{Client, Home, PROGRAM, Up};

/// The exit code after the disk failed.
const DISK_FAILED: i32 = 74;

/// The hub under a watcher that makes its disk fail.
fn failing(home: &Home, inject: &[&str]) -> Command {
    let options = [&["-e", "trace=fdatasync,fsync"], inject].concat();
    watched(home, &options, &["up", "--listen", "127.0.0.1:0"])
}

/// A command under a watcher, which lets system calls fail or sends signals at them.
pub(crate) fn watched(home: &Home, options: &[&str], command: &[&str]) -> Command {
    let args = [&["-f", "-qqq", "-o", "/dev/null"], options, &[PROGRAM], command].concat();
    let strace = Path::new("/usr/bin/strace");
    assert!(strace.exists(), "these tests need strace; install it: apt-get install strace");
    home.command_of(strace, &args)
}

/// A home whose hub has run once, with a thread and the token of somebody in it.
fn settled() -> (Home, String, String) {
    let home = Home::generous();
    let token = home.token("author", "worker");
    let up = home.up();
    let thread = up.client(&token).open(&[]);
    assert_eq!(up.stop(), 0);
    (home, token, thread)
}

fn post(client: &Client, thread: &str, body: &str) -> std::io::Result<Reply> {
    let input = json!({ "body": body, "idempotency_key": &body[..body.len().min(100)] });
    let target = format!("/v1/threads/{thread}/messages");
    client.try_ask("POST", &target, input.to_string().as_bytes())
}

/// Posts until the hub is gone; answers what it had accepted, and what it said last.
fn post_until_gone(
    up: &Up,
    token: &str,
    thread: &str,
    padding: usize,
) -> (Vec<Value>, Option<u16>) {
    let client = up.client(token);
    let (mut accepted, mut refused) = (Vec::new(), None);
    for n in 0.. {
        let body = format!("message {n} {}", "x".repeat(padding));
        match post(&client, thread, &body) {
            Ok(reply) if reply.status == 200 => {
                assert_eq!(refused, None, "after a refusal nothing is accepted any more");
                accepted.push(json!([reply.json()["message_id"], body]));
            }
            Ok(reply) => {
                assert_eq!((reply.status, reply.code().as_str()), (503, "UNAVAILABLE"));
                assert_eq!(reply.error()["retryable"], true);
                refused = Some(reply.status);
            }
            Err(_) => break,
        }
        // The log is copied every two seconds, or when it has 200 MB.
        assert!(n < 5_000, "the disk was to fail before");
    }
    (accepted, refused)
}

fn assert_kept(home: &Home, token: &str, thread: &str, accepted: &[Value]) {
    let up = home.up();
    let log = up.client(token).log(thread);
    for (place, expected) in accepted.iter().enumerate() {
        let kept = json!([log[place]["message_id"], log[place]["body"]]);
        assert_eq!(kept, *expected, "message {place}");
    }
    assert!(log.len() <= accepted.len() + 1, "at most the one whose outcome is unknown");
    let again = post(&up.client(token), thread, "and on it goes").unwrap();
    assert_eq!(again.json()["seq"], log.len() + 1);
    assert_eq!(up.stop(), 0);
    audit_verifies(home);
}

#[test]
fn after_a_failed_fsync_nothing_is_taken_and_the_hub_ends() {
    // The writer's second is SQLite's own of the folder, which the hub had synced when it started.
    for n in [1, 3, 5, 8, 13] {
        let (home, token, thread) = settled();
        let inject = format!("inject=fdatasync,fsync:error=EIO:when={n}");
        let accepted = match home.try_up(failing(&home, &["-e", &inject])) {
            Ok(up) => {
                let (accepted, refused) = post_until_gone(&up, &token, &thread, 0);
                assert_eq!(refused.unwrap_or(503), 503);
                assert_eq!(up.wait().code(), Some(DISK_FAILED), "fsync {n}: {}", home.log());
                assert!(home.log().contains("could not be made durable"), "{}", home.log());
                accepted
            }
            // It failed while the hub started: that is a failed start.
            Err(status) => {
                assert!(status.code().is_some_and(|code| code != 0), "fsync {n}: {status}");
                Vec::new()
            }
        };
        assert_kept(&home, &token, &thread, &accepted);
    }
}

#[test]
fn a_failed_checkpoint_ends_the_hub_too() {
    let (home, token, thread) = settled();
    let database = home.data().join("waystation.db");
    let inject =
        ["-P", database.to_str().unwrap(), "-e", "inject=fdatasync,fsync:error=EIO:when=1"];
    let up = home.up_of(failing(&home, &inject));
    let (accepted, _) = post_until_gone(&up, &token, &thread, 200_000);
    assert_eq!(up.wait().code(), Some(DISK_FAILED), "{}", home.log());
    assert!(!accepted.is_empty());
    assert_kept(&home, &token, &thread, &accepted);
}

#[test]
fn a_first_start_that_is_killed_half_way_can_be_made_again() {
    for n in 1..=8 {
        let home = Home::generous();
        let inject = format!("inject=fdatasync,fsync:signal=KILL:when={n}");
        if let Ok(up) = home.try_up(failing(&home, &["-e", &inject])) {
            drop(up);
        }
        let up = home.up();
        let client = up.client(&home.token("author", "worker"));
        let thread = client.open(&[]);
        assert_eq!(post(&client, &thread, "hello").unwrap().json()["seq"], 1, "kill {n}");
        assert_eq!(up.stop(), 0);
        audit_verifies(&home);
    }
}

/// Says to a test that it runs where it may mount.
const MAY_MOUNT: &str = "WAYSTATION_TEST_MAY_MOUNT";

/// Runs a test that mounts a disk. Root may do so here; everyone else may in a namespace of their own,
/// in which the test is run once more.
fn where_one_may_mount(test: &str, run: impl FnOnce()) {
    if rustix::process::geteuid().is_root() || std::env::var_os(MAY_MOUNT).is_some() {
        return run();
    }
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount"]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(MAY_MOUNT, "yes");
    let ran = command.output().expect("this test needs unshare, of the Debian package util-linux");
    let said = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(
        ran.status.success() && said[0].contains("1 passed"),
        "this test mounts a small disk: run it as root, or allow everyone namespaces of their own \
         (CONTRIBUTING.md, \"Test\"): {}{}",
        said[0],
        said[1]
    );
}

/// A small disk of its own. It is taken away when it is dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path, mib: u32) -> Self {
        std::fs::create_dir_all(at).unwrap();
        let size = format!("size={mib}m,mode=0700");
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).output();
        let mount = mount.unwrap();
        let complaint = String::from_utf8_lossy(&mount.stderr).into_owned();
        assert!(
            mount.status.success(),
            "this test mounts a small disk, and this machine lets not even root do so: {complaint}"
        );
        Self(at.to_owned())
    }

    /// Leaves no more room than this.
    fn fill(&self, leave_bytes: u64) {
        let about = rustix::fs::statvfs(&self.0).unwrap();
        let free = about.f_bavail * about.f_frsize;
        let ballast = vec![1; usize::try_from(free.saturating_sub(leave_bytes)).unwrap()];
        // Ends early when the disk is full: that is what it is for.
        drop(std::fs::write(self.0.join("ballast"), ballast));
    }

    fn free(&self) {
        std::fs::remove_file(self.0.join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let umount = Command::new("umount").arg("-l").arg(&self.0).stderr(Stdio::null()).status();
        drop(umount);
    }
}

/// Posts until the disk is full; answers what was accepted.
fn post_until_full(client: &Client, thread: &str, name: &str) -> Vec<String> {
    let mut accepted = Vec::new();
    for n in 0..100 {
        let body = format!("{name} {n} {}", "x".repeat(10_000));
        let reply = post(client, thread, &body).unwrap();
        if reply.status != 200 {
            assert_eq!((reply.status, reply.code().as_str()), (507, "STORAGE_FULL"));
            assert!(reply.error()["hint"].as_str().unwrap().contains("free some room"));
            return accepted;
        }
        accepted.push(body);
    }
    panic!("a full disk refuses");
}

#[test]
fn what_is_read_on_a_full_disk_is_audited_as_soon_as_there_is_room() {
    const READS: usize = 7;
    let home = Home::generous();
    let disk = SmallDisk::mount(&home.data(), 100);
    let up = home.up();
    let client = up.client(&home.token("author", "worker"));
    let operator = up.client(&home.token("human", "operator"));
    let thread = client.open(&[]);
    disk.fill(0);
    post_until_full(&client, &thread, "full");
    for _ in 0..READS {
        client.get(&format!("/v1/threads/{thread}"));
    }
    let audited = || {
        let trail = operator.get("/v1/audit?limit=200");
        let is_one = |entry: &&Value| {
            (&entry["agent_id"], &entry["operation"]) == (&json!("author"), &json!("get_thread"))
        };
        trail["entries"].as_array().unwrap().iter().filter(is_one).count()
    };
    assert_eq!(audited(), 0, "there is no room to write them down");
    disk.free();
    wait_until("the reads are audited", || audited() == READS);
    assert_eq!(up.stop(), 0);
    audit_verifies(&home);
    drop(disk);
}

#[test]
fn a_full_disk_refuses_writes_and_goes_on_reading_until_there_is_room() {
    let test = "disk::a_full_disk_refuses_writes_and_goes_on_reading_until_there_is_room";
    where_one_may_mount(test, refuses_and_goes_on_reading);
}

fn refuses_and_goes_on_reading() {
    let home = Home::generous();
    let disk = SmallDisk::mount(&home.data(), 100);
    let up = home.up();
    let client = up.client(&home.token("author", "worker"));
    let thread = client.open(&[]);
    let mut accepted = Vec::new();
    // Low, and so full that nothing can be written at all.
    for leave_bytes in [40 * 1024 * 1024, 0] {
        assert_eq!(post(&client, &thread, &format!("before {leave_bytes}")).unwrap().status, 200);
        accepted.push(format!("before {leave_bytes}"));
        disk.fill(leave_bytes);
        accepted.extend(post_until_full(&client, &thread, &leave_bytes.to_string()));
        let log = client.log(&thread);
        assert_eq!(log.len(), accepted.len(), "reading goes on");
        client.get("/v1/threads");
        assert_eq!(client.ask("GET", "/livez", b"").status, 200);
        assert_eq!(client.ask("GET", "/readyz", b"").status, 503);
        disk.free();
        let again = post(&client, &thread, &format!("after {leave_bytes}")).unwrap();
        assert_eq!(again.status, 200, "without a restart: {}", again.text());
        accepted.push(format!("after {leave_bytes}"));
    }
    let bodies = |client: &Client| -> Vec<String> {
        client.log(&thread).iter().map(|m| m["body"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(bodies(&client), accepted);
    assert_eq!(up.stop(), 0);
    let up = home.up();
    assert_eq!(bodies(&up.client(&home.token("author", "worker"))), accepted);
    assert_eq!(up.stop(), 0);
    audit_verifies(&home);
    drop(disk);
}

#[test]
fn a_hub_that_starts_on_a_full_disk_says_where_it_is_and_what_is_wrong() {
    let test = "disk::a_hub_that_starts_on_a_full_disk_says_where_it_is_and_what_is_wrong";
    where_one_may_mount(test, says_where_it_is);
}

fn says_where_it_is() {
    let home = Home::generous();
    let disk = SmallDisk::mount(&home.data(), 100);
    disk.fill(40 * 1024 * 1024);
    let up = home.up();
    assert!(up.banner.contains("/mcp"), "{}", up.banner);
    assert!(up.banner.contains("Agents cannot be connected yet"), "{}", up.banner);
    assert!(up.banner.contains("(STORAGE_FULL)"), "{}", up.banner);
    assert!(up.banner.contains("waystation token issue"), "{}", up.banner);
    disk.free();
    let client = up.client(&home.token("author", "worker"));
    client.open(&[]);
    assert_eq!(up.stop(), 0);
    drop(disk);
}
