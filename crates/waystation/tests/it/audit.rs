//! The audit trail from the command line: verified, exported, proved, kept elsewhere and followed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::program::{Home, Ran};

/// A home whose hub has run, with posts, a read and a change with a reason in its trail.
fn settled() -> Home {
    let home = Home::generous();
    let token = home.token("author", "orchestrator");
    let up = home.up();
    let client = up.client(&token);
    let thread = client.open(&[]);
    for n in 0..3 {
        let input = json!({ "body": format!("message {n}") });
        client.ok("POST", &format!("/v1/threads/{thread}/messages"), &input);
    }
    let status = json!({ "status": "resolved", "reason": "nothing is left to do" });
    client.ok("PUT", &format!("/v1/threads/{thread}/status"), &status);
    client.get(&format!("/v1/threads/{thread}"));
    assert_eq!(up.stop(), 0);
    home
}

/// Changes the database behind the hub's back.
fn tamper(home: &Home, sql: &str) {
    let database = rusqlite::Connection::open(home.data().join("waystation.db")).unwrap();
    database.execute_batch(sql).unwrap();
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The entries of an operation.
fn entries(home: &Home, action: &str) -> Vec<Value> {
    let mut lines = lines(&home.ok(&["audit", "export"]));
    lines.retain(|line| line["type"] == "entry" && line["action"] == action);
    lines
}

/// Asserts that a verification calls the trail bad, and which entry it names.
fn assert_bad(home: &Home, args: &[&str], entry: &Value) -> String {
    let mut command = vec!["audit", "verify"];
    command.extend(args);
    let said = home.run(&command);
    assert_eq!(said.code, 2, "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("THE TRAIL IS NOT GOOD"), "{}", said.stdout);
    command.push("--json");
    let report = home.run(&command);
    assert_eq!(report.code, 2);
    let report = report.json();
    assert_eq!((&report["good"], &report["first_bad_entry"]), (&json!(false), entry), "{report}");
    said.stdout
}

#[test]
fn a_trail_is_verified_and_the_first_bad_entry_is_named() {
    let home = settled();
    let said = home.ok(&["audit", "verify"]);
    assert!(said.starts_with("the trail is good: "), "{said}");
    let report = home.run(&["audit", "verify", "--json"]).json();
    assert_eq!((&report["good"], &report["problem"]), (&json!(true), &Value::Null));
    assert_eq!((&report["first_bad_entry"], &report["unsealed"]), (&Value::Null, &json!(0)));
    assert!(report["entries"].as_i64().unwrap() >= 6, "{report}");

    let reason = entries(&home, "update_thread_status").remove(0);
    assert!(reason["detail"].as_str().unwrap().contains("nothing is left to do"), "{reason}");
    let rewritten = r#"UPDATE audit SET detail = '{"reason":"approved"}' WHERE id = "#;
    tamper(&home, &format!("{rewritten}{}", reason["id"]));
    let said = assert_bad(&home, &[], &reason["id"]);
    assert!(said.contains(&format!("the detail of entry {}", reason["id"])), "{said}");
    tamper(
        &home,
        &format!("UPDATE audit SET detail = NULL, salt = NULL WHERE id = {}", reason["id"]),
    );
    home.ok(&["audit", "verify"]);

    let first = entries(&home, "post_message").remove(0);
    tamper(&home, "UPDATE audit SET actor = 'eve' WHERE action = 'post_message'");
    let said = assert_bad(&home, &[], &first["id"]);
    assert!(said.contains(&format!("entry {} was altered", first["id"])), "{said}");
    // What lies before the seal that it begins with is taken as it is.
    home.ok(&["thread", "new", "later"]);
    home.ok(&["down"]);
    let from = last_entry(&home).to_string();
    let later = home.run(&["audit", "verify", "--from", &from]);
    assert_eq!(later.code, 0, "{}", later.stdout);
}

/// The number of the newest entry.
fn last_entry(home: &Home) -> i64 {
    let mut lines = lines(&home.ok(&["audit", "export"]));
    lines.retain(|line| line["type"] == "entry");
    lines.last().unwrap()["id"].as_i64().unwrap()
}

#[test]
fn a_trail_that_ends_before_the_entry_somebody_knows_is_not_good() {
    let home = settled();
    let last = last_entry(&home);
    // Whoever goes on from the last entry they know is told whether it is still there.
    home.ok(&["audit", "verify", "--from", &last.to_string()]);
    let next = last + 1;
    let said = assert_bad(&home, &["--from", &next.to_string()], &json!(next));
    assert!(
        said.contains(&format!("there is no entry {next}: the trail ends with {last}")),
        "{said}"
    );
    tamper(&home, "DELETE FROM audit_seal WHERE id = (SELECT max(id) FROM audit_seal)");
    tamper(
        &home,
        "DELETE FROM audit WHERE id > (SELECT coalesce(max(last_id), 0) FROM audit_seal)",
    );
    home.ok(&["audit", "verify"]);
    let said = assert_bad(&home, &["--from", &last.to_string()], &json!(last));
    assert!(said.contains(&format!("there is no entry {last}")), "{said}");
}

#[test]
fn a_trail_of_strangers_is_not_believed() {
    let home = settled();
    let keys = std::fs::read_dir(home.data().join("keys")).unwrap();
    let public = keys.map(|entry| entry.unwrap().path()).find(|path| {
        path.extension().is_some_and(|extension| extension == "pub")
            && path.file_name().unwrap().to_str().unwrap().starts_with("audit-")
    });
    let public = std::fs::read_to_string(public.unwrap()).unwrap();
    home.ok(&["audit", "verify", "--pubkey", public.trim()]);
    let stranger = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let said = assert_bad(&home, &["--pubkey", stranger], &Value::Null);
    assert!(said.contains("not among the trusted keys"), "{said}");
    let wrong = home.run(&["audit", "verify", "--pubkey", "no key"]);
    assert_eq!(wrong.code, 1);
    assert!(wrong.stderr.contains("32 bytes in base64"), "{}", wrong.stderr);
}

#[test]
fn an_export_holds_the_trail_and_another_program_verifies_it() {
    let home = settled();
    let printed = home.ok(&["audit", "export"]);
    let all = lines(&printed);
    let of_kind = |kind: &str| all.iter().filter(|line| line["type"] == kind).count();
    let report = home.run(&["audit", "verify", "--json"]).json();
    assert_eq!(json!(of_kind("entry")), report["entries"]);
    assert_eq!(json!(of_kind("seal")), report["seals"]);
    let file = home.path().join("trail.jsonl");
    assert_eq!(home.ok(&["audit", "export", "--out", file.to_str().unwrap()]), "");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lanes/audit_verify.py");
    let verified = Command::new("python3").arg(script).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&verified.stdout);
    assert!(verified.status.success(), "{said}");
    assert!(said.starts_with(&format!("{} entries under", of_kind("entry"))), "{said}");

    let second = entries(&home, "post_message").remove(1);
    let id = second["id"].to_string();
    let part = lines(&home.ok(&["audit", "export", "--from", &id, "--to", &id]));
    assert_eq!((&part[0], part.len()), (&second, 2), "the entry and the seal over it");
    assert_eq!(part[1]["type"], "seal");
    let nowhere = home.path().join("no folder").join("trail.jsonl");
    let refused = home.run(&["audit", "export", "--out", nowhere.to_str().unwrap()]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("cannot write"), "{}", refused.stderr);
}

#[test]
fn a_checkpoint_shows_that_the_tail_was_cut() {
    let home = settled();
    let kept = home.path().join("kept.txt");
    let note = home.ok(&["audit", "checkpoint", "--origin", "example.org/audit"]);
    assert!(note.starts_with("example.org/audit\n"), "{note}");
    std::fs::write(&kept, &note).unwrap();
    let kept = kept.to_str().unwrap();
    home.ok(&["audit", "verify", "--checkpoint", kept]);
    // The trail grows, and the checkpoint holds.
    let up = home.up();
    assert_eq!(up.stop(), 0);
    home.ok(&["audit", "verify", "--checkpoint", kept]);

    tamper(&home, "DELETE FROM audit_seal; DELETE FROM audit");
    home.ok(&["audit", "verify"]);
    let said = assert_bad(&home, &["--checkpoint", kept], &Value::Null);
    assert!(said.contains("the tail was cut"), "{said}");
    let nothing = home.run(&["audit", "checkpoint"]);
    assert_eq!(nothing.code, 1);
    assert!(nothing.stderr.contains("nothing has been sealed yet"), "{}", nothing.stderr);
    std::fs::write(kept, note.replace("seal", "sael")).unwrap();
    let wrong = home.run(&["audit", "verify", "--checkpoint", kept]);
    assert_eq!(wrong.code, 1);
    assert!(wrong.stderr.contains("not a checkpoint"), "{}", wrong.stderr);
}

#[test]
fn one_entry_is_proved_alone() {
    let home = settled();
    let entry = entries(&home, "update_thread_status").remove(0);
    let id = entry["id"].to_string();
    let proof = home.run(&["audit", "prove", &id]).json();
    for field in ["id", "actor", "object", "detail", "detail_commitment"] {
        assert_eq!(proof["entry"][field], entry[field], "{field}");
    }
    assert!(proof["path"].is_array() && proof["seal"]["signature"].is_string(), "{proof}");
    assert!(proof["seal"].get("leaves").is_none(), "a proof is short");
    let missing = home.run(&["audit", "prove", "1000000"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("there is no audit entry 1000000"), "{}", missing.stderr);
    tamper(&home, &format!("UPDATE audit SET detail = 'another' WHERE id = {id}"));
    let altered = home.run(&["audit", "prove", &id]);
    assert_eq!(altered.code, 1);
    assert!(altered.stderr.contains("is not what was sealed"), "{}", altered.stderr);
}

#[test]
fn the_trail_is_followed_live() {
    let home = Home::generous();
    let token = home.token("author", "worker");
    let up = home.up();
    let client = up.client(&token);
    let thread = client.open(&[]);
    let mut command = home.command(&["audit", "tail", "--json"]);
    let mut tail = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let mut until = |operation: &str, object: &Value| loop {
        let entry: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        if (&entry["operation"], &entry["object"]) == (&json!(operation), object) {
            return entry;
        }
    };
    let created = until("create_thread", &json!(thread));
    assert_eq!((&created["agent_id"], &created["outcome"]), (&json!("author"), &json!("ok")));
    let input = json!({ "body": "hello" });
    let posted = client.ok("POST", &format!("/v1/threads/{thread}/messages"), &input);
    until("post_message", &posted["message_id"]);
    client.get(&format!("/v1/threads/{thread}"));
    until("get_thread", &json!(thread));
    kill_process(Pid::from_child(&tail), Signal::INT).unwrap();
    assert_eq!(tail.wait().unwrap().code(), Some(0));
    assert_eq!(up.stop(), 0);
}

/// A trail that somebody follows.
struct Tail {
    child: std::process::Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Tail {
    fn of(home: &Home) -> Self {
        let mut command = home.command(&["audit", "tail", "--json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The entries up to and with the first that is so.
    fn until(&mut self, is_so: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            seen.push(serde_json::from_str::<Value>(&self.lines.next().unwrap().unwrap()).unwrap());
            if is_so(seen.last().unwrap()) {
                return seen;
            }
        }
    }

    fn stop(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn tail_goes_on_after_the_last_entry_when_the_owner_changes() {
    let home = Home::generous();
    home.ok(&["thread", "new", "before"]);
    let mut tail = Tail::of(&home);
    let is_thread = |entry: &Value| entry["operation"] == "create_thread";
    let mut seen = tail.until(is_thread);
    for title in ["second", "third"] {
        let owner = home.owner().unwrap()["pid"].as_i64().unwrap();
        let pid = Pid::from_raw(i32::try_from(owner).unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        while home.owner().is_some_and(|found| found["pid"] == owner) {}
        home.ok(&["thread", "new", title]);
        seen.extend(tail.until(is_thread));
    }
    tail.stop();
    let ids: Vec<i64> = seen.iter().map(|entry| entry["id"].as_i64().unwrap()).collect();
    assert!(ids.is_sorted_by(|one, next| one < next), "each once, in order: {ids:?}");
}

#[test]
fn tail_shows_who_else_reads_the_trail() {
    let home = Home::generous();
    home.ok(&["thread", "new", "before"]);
    let mut tail = Tail::of(&home);
    tail.until(|entry| entry["operation"] == "create_thread");
    let read = |name: &str| {
        let mut command = home.command(&["call", "read_audit"]);
        command.env("WAYSTATION_TOKEN", home.token(name, "operator"));
        assert_eq!(Ran::of(command.output().unwrap()).code, 0);
    };
    read("curious");
    home.ok(&["call", "read_audit"]);
    home.ok(&["thread", "new", "after"]);
    let seen = tail.until(|entry| entry["operation"] == "create_thread");
    tail.stop();
    let reads = seen.iter().filter(|entry| entry["operation"] == "read_audit");
    let readers: Vec<&str> = reads.map(|entry| entry["agent_id"].as_str().unwrap()).collect();
    assert_eq!(readers, ["curious", "operator"], "and not tail itself");
}

#[test]
fn a_folder_without_a_trail_says_so() {
    let home = Home::new();
    std::fs::create_dir_all(home.data().join("keys")).unwrap();
    for args in [vec!["audit", "verify"], vec!["audit", "export"], vec!["audit", "prove", "1"]] {
        let ran: Ran = home.run(&args);
        assert_eq!(ran.code, 1, "{args:?}: {}", ran.stdout);
        assert!(ran.stderr.contains("there is no audit trail"), "{args:?}: {}", ran.stderr);
    }
}
