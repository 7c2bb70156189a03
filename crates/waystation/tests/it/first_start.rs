//! One command and everything is there; the same command later, and everything still is.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::http;
use crate::program::{Home, Ran};

#[test]
fn the_first_start_says_where_it_is_and_how_to_connect() {
    let home = Home::new();
    let up = home.up();
    for part in [
        "Waystation 0.",
        "/mcp",
        "/v1",
        "~/.waystation",
        "codex mcp add",
        "claude mcp add",
        "waystation connect codex|claude",
    ] {
        assert!(up.banner.contains(part), "{part} in {}", up.banner);
    }
    assert!(up.banner.contains(&format!("{}/mcp", up.url)), "{}", up.banner);
    for name in ["CODEX", "CLAUDE"] {
        let client = up.client(&exported(&up.banner, name));
        client.get("/v1/threads");
        let admin = client.json("GET", "/v1/tokens", &json!(null));
        assert_eq!((admin.status, admin.code().as_str()), (403, "FORBIDDEN"), "they are workers");
    }
    assert_eq!(up.stop(), 0);
}

#[test]
fn commands_work_in_a_shell_that_has_the_lines_of_the_welcome() {
    let home = Home::new();
    let up = home.up();
    let in_that_shell = |args: &[&str]| {
        let mut command = home.command(args);
        for name in ["CODEX", "CLAUDE"] {
            command.env(format!("WAYSTATION_{name}_TOKEN"), exported(&up.banner, name));
        }
        command.env("WAYSTATION_URL", &up.url);
        command
    };
    let ran = Ran::of(in_that_shell(&["threads"]).output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let event = home.path().join("event.json");
    let told = json!({ "session_id": "a", "cwd": "/", "hook_event_name": "SessionStart" });
    std::fs::write(&event, told.to_string()).unwrap();
    let mut hook = in_that_shell(&["hook", "codex", "--as", "coder"]);
    let ran = Ran::of(hook.stdin(File::open(event).unwrap()).output().unwrap());
    assert_eq!(ran.code, 0);
    // A hook that gives up on a busy machine notes that, and nothing else.
    let noted = std::fs::read_to_string(home.data().join("hook.log")).unwrap_or_default();
    assert!(!noted.to_lowercase().contains("token"), "{noted}");
}

#[test]
fn a_script_is_told_where_it_is_in_one_line_of_json() {
    let home = Home::new();
    let start = || {
        let mut command = home.command(&["up", "--listen", "127.0.0.1:0", "--json"]);
        let mut up = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(up.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        (up, serde_json::from_str::<Value>(&line).unwrap())
    };
    let stop = |mut up: Child| {
        kill_process(Pid::from_child(&up), Signal::TERM).unwrap();
        assert_eq!(up.wait().unwrap().code(), Some(0));
    };
    let (up, said) = start();
    let url = said["url"].as_str().unwrap();
    assert_eq!(said["mcp"], format!("{url}/mcp"));
    assert_eq!((&said["pid"], &said["no_auth"]), (&json!(up.id()), &json!(false)));
    assert_eq!(said["data"], home.data().to_str().unwrap());
    let codex = said["tokens"]["codex"].as_str().unwrap();
    let request = http::text(
        "GET",
        "/v1/threads",
        &[("Host", "localhost".to_owned()), ("Authorization", format!("Bearer {codex}"))],
        b"",
    );
    assert_eq!(http::send(url.strip_prefix("http://").unwrap(), &request).unwrap().status, 200);
    assert!(said["tokens"]["claude"].is_string(), "{said}");
    stop(up);
    let (up, said) = start();
    assert_eq!((&said["tokens"], &said["tokens_error"]), (&json!({}), &Value::Null));
    stop(up);
}

#[test]
fn the_data_folder_is_for_its_owners_eyes_only() {
    let home = Home::new().with("TLS__MODE", "local");
    let up = home.up();
    home.ok(&["threads"]);
    let mut found = Vec::new();
    look(&home.data(), &mut found);
    assert!(found.iter().any(|(path, _)| path.ends_with("waystation.db")), "{found:?}");
    assert!(found.iter().any(|(path, _)| path.ends_with("ca.key")), "{found:?}");
    for (path, mode) in &found {
        assert_eq!(mode & 0o077, 0, "{path} has the mode {mode:o}");
    }
    assert_eq!(up.stop(), 0);
    let on_demand = Home::new();
    on_demand.ok(&["threads"]);
    let mut found = Vec::new();
    look(&on_demand.data(), &mut found);
    assert!(found.iter().any(|(path, _)| path.ends_with("owner.log")), "{found:?}");
    assert!(found.iter().all(|(_, mode)| mode | 0o700 == 0o700), "{found:?}");
}

#[test]
fn a_folder_that_was_open_to_others_is_closed() {
    let home = Home::new();
    std::fs::create_dir(home.data()).unwrap();
    std::fs::set_permissions(home.data(), std::fs::Permissions::from_mode(0o755)).unwrap();
    home.ok(&["threads"]);
    let mode = std::fs::metadata(home.data()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_folder_of_others_is_neither_closed_nor_filled() {
    let home = Home::new();
    let shared = home.path().join("shared");
    let open = || std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o1777));
    std::fs::create_dir(&shared).unwrap();
    open().unwrap();
    std::fs::write(shared.join("letter"), "of somebody else").unwrap();
    let data = ["--data", shared.to_str().unwrap()];
    for command in [&["threads"][..], &["up", "--listen", "127.0.0.1:0"]] {
        let ran = home.run(&[command, &data].concat());
        assert_eq!(ran.code, 1, "{command:?}: {}", ran.stdout);
        assert!(ran.stderr.contains("holds other things"), "{command:?}: {}", ran.stderr);
        let mode = std::fs::metadata(&shared).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o1777, "{command:?}");
        assert_eq!(std::fs::read_dir(&shared).unwrap().count(), 1, "{command:?}");
    }
    // What a hub has made is known again.
    std::fs::write(shared.join("config.toml"), "").unwrap();
    open().unwrap();
    let up = home.up_with(&["--listen", "127.0.0.1:0", data[0], data[1]]);
    assert_eq!(std::fs::metadata(&shared).unwrap().permissions().mode() & 0o7777, 0o700);
    assert_eq!(up.stop(), 0);
}

#[test]
fn the_second_start_finds_everything() {
    let home = Home::new();
    let up = home.up();
    let token = exported(&up.banner, "CODEX");
    let client = up.client(&token);
    let thread = client.open(&["claude"]);
    let post = json!({ "body": "remember me" });
    let posted = client.ok("POST", &format!("/v1/threads/{thread}/messages"), &post);
    let before = client.get(&format!("/v1/threads/{thread}"));
    assert_eq!(up.stop(), 0);
    let up = home.up();
    assert!(!up.banner.contains("export WAYSTATION"), "no further tokens: {}", up.banner);
    assert!(up.banner.contains("waystation token issue"), "{}", up.banner);
    let client = up.client(&token);
    assert_eq!(client.get(&format!("/v1/threads/{thread}")), before);
    let log = client.log(&thread);
    assert_eq!(log.len(), 1);
    assert_eq!(log[0]["message_id"], posted["message_id"]);
    assert_eq!(log[0]["body"], "remember me");
}

/// The token that the welcome exports.
pub(crate) fn exported(banner: &str, name: &str) -> String {
    let start = format!("export WAYSTATION_{name}_TOKEN=");
    let line = banner.lines().find_map(|line| line.trim().strip_prefix(&start));
    line.unwrap_or_else(|| panic!("{start} is missing in {banner}")).to_owned()
}

fn look(path: &Path, found: &mut Vec<(String, u32)>) {
    let about = std::fs::symlink_metadata(path).unwrap();
    found.push((path.display().to_string(), about.permissions().mode() & 0o777));
    if about.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            look(&entry.unwrap().path(), found);
        }
    }
}
