//! `waystation link`, against a fake of Telegram.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::fakes::telegram::{Failure, FakeTelegram, TOKEN};

use crate::program::{Home, Ran};

/// Runs a command with these lines on its stdin.
fn fed(home: &Home, args: &[&str], stdin: &str) -> Ran {
    let mut command = home.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

fn add(home: &Home, url: &str, more: &[&str]) -> Ran {
    let base = format!("base_url={url}");
    let mut args = vec!["link", "add", "telegram", "--set", &base, "--secret-stdin", "bot_token"];
    args.extend(more);
    fed(home, &args, &format!("{TOKEN}\n"))
}

fn listed(home: &Home) -> Value {
    let links: Value = serde_json::from_str(&home.ok(&["--json", "link", "list"])).unwrap();
    links["links"].clone()
}

/// Everything that the hub has written, log and database.
fn written(home: &Home) -> Vec<u8> {
    let mut all = home.log().into_bytes();
    let mut folders = vec![home.data()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                all.extend(bytes);
            }
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_linked_bot_is_followed_and_its_token_is_nowhere_to_be_seen() {
    let telegram = FakeTelegram::start().await;
    let home = Home::new().with("LOG__FILTER", "trace");
    let up = home.up();
    let ran = add(&home, &telegram.url(), &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("telegram is linked (telegram, @"), "{}", ran.stdout);
    telegram.say(
        &json!({ "id": 7, "type": "private", "first_name": "Antti" }),
        &json!({ "id": 7, "is_bot": false, "first_name": "Antti" }),
        "are we meeting?",
    );
    telegram.all_confirmed().await;
    let asked = json!({ "source": "telegram", "search": "meeting" }).to_string();
    let found: Value = serde_json::from_str(&home.ok(&["call", "get_messages", &asked])).unwrap();
    assert_eq!(found["messages"][0]["sender"], "Antti", "{found}");
    assert_eq!(listed(&home)[0]["status"], "connected");
    let said = home.ok(&["link", "list"]);
    assert!(said.contains("is connected; 1 chats, 1 messages"), "{said}");
    assert!(home.ok(&["link", "check", "telegram"]).contains("telegram works"));
    assert_eq!(up.stop(), 0);
    let key = TOKEN.split(':').nth(1).unwrap().as_bytes();
    let seen = written(&home).windows(key.len()).any(|part| part == key);
    assert!(!seen, "the token stands in a file of the hub");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_killed_while_it_follows_loses_and_doubles_nothing() {
    const ALL: usize = 400;
    let telegram = FakeTelegram::start().await;
    let home = Home::generous();
    let mut up = home.up();
    assert_eq!(add(&home, &telegram.url(), &[]).code, 0);
    let chat = json!({ "id": 7, "type": "private", "first_name": "Antti" });
    for number in 0..ALL {
        telegram.say(&chat, &chat, &format!("number {number}"));
        if number % 80 == 40 {
            // Some of it is committed, some is on its way, and some is not confirmed yet.
            up.signal(rustix::process::Signal::KILL);
            up.wait();
            up = home.up();
        }
    }
    telegram.all_confirmed().await;
    assert_eq!(listed(&home)[0]["messages"], json!(ALL));
    let mut texts = Vec::new();
    for offset in (0..ALL).step_by(200) {
        let asked = json!({ "source": "telegram", "chat": "7", "limit": 200, "offset": offset });
        let page = home.ok(&["call", "get_messages", &asked.to_string()]);
        let page: Value = serde_json::from_str(&page).unwrap();
        let said = page["messages"].as_array().unwrap().iter();
        texts.extend(said.map(|message| message["content"].as_str().unwrap().to_owned()));
    }
    texts.reverse();
    let expected: Vec<String> = (0..ALL).map(|number| format!("number {number}")).collect();
    assert_eq!(texts, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_that_do_not_work_are_explained_and_not_stored() {
    let telegram = FakeTelegram::start().await;
    let home = Home::new();
    telegram.fail_next("getMe", Failure::Status(502));
    let ran = add(&home, &telegram.url(), &[]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("Telegram cannot be linked"), "{}", ran.stderr);
    assert!(ran.stderr.contains("waystation link add telegram --guide"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(TOKEN.split(':').nth(1).unwrap()), "{}", ran.stderr);
    assert_eq!(listed(&home), json!([]));
    telegram.fail_next("getMe", Failure::Status(502));
    let ran = add(&home, &telegram.url(), &["--force"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(listed(&home)[0]["name"], "telegram");
}

#[test]
fn a_secret_is_refused_in_an_argument() {
    let home = Home::new();
    let set = format!("bot_token={TOKEN}");
    let ran = home.run(&["link", "add", "telegram", "--set", &set]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("--secret-stdin bot_token"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(TOKEN.split(':').nth(1).unwrap()), "{}", ran.stderr);
}

#[test]
fn a_guide_says_how_to_get_what_each_service_asks_for() {
    let home = Home::new();
    for service in ["telegram", "signal", "whatsapp"] {
        let guide = home.ok(&["link", "add", service, "--guide"]);
        assert!(guide.len() > 200, "{service}: {guide}");
    }
    let ran = home.run(&["link", "add", "icq"]);
    assert!(ran.stderr.contains("telegram"), "{}", ran.stderr);
}

#[test]
fn what_is_missing_is_named() {
    let home = Home::new();
    let ran = home.run(&["link", "add", "telegram"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("bot_token is missing"), "{}", ran.stderr);
    let ran = home.run(&["link", "add", "telegram", "--set", "tokn=x"]);
    assert!(ran.stderr.contains("its keys are bot_token"), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_link_stays_as_an_archive_unless_it_is_purged() {
    let telegram = FakeTelegram::start().await;
    let home = Home::new();
    let _up = home.up();
    assert_eq!(add(&home, &telegram.url(), &["--name", "telegram-work"]).code, 0);
    telegram.say(
        &json!({ "id": 7, "type": "private", "first_name": "Antti" }),
        &json!({ "id": 7, "is_bot": false, "first_name": "Antti" }),
        "hello",
    );
    telegram.all_confirmed().await;
    let said = home.ok(&["link", "remove", "telegram-work"]);
    assert!(said.contains("stays as an archive"), "{said}");
    assert_eq!(listed(&home)[0]["status"], "archive");
    let ran = home.run(&["link", "remove", "telegram-work", "--purge"]);
    assert!(ran.stderr.contains("--yes"), "{}", ran.stderr);
    let said = home.ok(&["link", "remove", "telegram-work", "--purge", "--yes"]);
    assert!(said.contains("with 1 chats and 1 messages"), "{said}");
    assert_eq!(listed(&home), json!([]));
}
