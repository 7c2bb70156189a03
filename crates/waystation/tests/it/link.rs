//! `waystation link`, against a fake of Telegram.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::fakes::SlackFake;
use testkit::fakes::slack::{APP_TOKEN, BOT_TOKEN};
use testkit::fakes::telegram::{Failure, FakeTelegram, TOKEN};
use testkit::terminal::Terminal;

use crate::agent_programs::AtTerminal;
use crate::hook_kill::{SECRET, call, wait_for_link};
use crate::program::{Home, Ran};

/// How long a question may take to appear on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

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
async fn what_was_said_while_the_hub_was_down_is_read_afterwards() {
    let slack = SlackFake::start().await;
    slack.lose_events_without_socket();
    slack.add_channel("C1", "general", true);
    slack.say("C1", "U1", "before the link");
    let home = Home::generous();
    let up = home.up();
    let base = format!("base_url={}", slack.base_url());
    let args = ["link", "add", "slack", "--set", &base];
    let secrets = ["--secret-stdin", "bot_token", "--secret-stdin", "app_token"];
    let ran =
        fed(&home, &[&args[..], &secrets[..]].concat(), &format!("{BOT_TOKEN}\n{APP_TOKEN}\n"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let held = |count: u64| {
        while listed(&home)[0]["messages"] != json!(count) {
            std::thread::yield_now();
        }
    };
    held(1);
    assert_eq!(up.stop(), 0);
    slack.say("C1", "U1", "nobody heard this");
    let _up = home.up();
    held(2);
    let asked = json!({ "source": "slack", "search": "heard" }).to_string();
    let found = home.ok(&["call", "get_messages", &asked]);
    assert!(found.contains("nobody heard this"), "{found}");
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
fn a_question_for_a_secret_that_is_left_leaves_the_terminal_as_it_was() {
    let home = Home::new();
    let mut terminal = Terminal::open(&home.command(&["link", "add", "telegram"])).unwrap();
    assert!(terminal.shows(b"bot_token: ", 0, PATIENCE));
    assert!(!terminal.echoes().unwrap(), "a secret is not shown");
    terminal.press(b"\x03").unwrap();
    assert!(!terminal.wait().unwrap().success());
    assert!(terminal.echoes().unwrap(), "the terminal stays silent");
}

#[test]
fn a_guide_says_how_to_get_what_each_service_asks_for() {
    let home = Home::new();
    for service in ["telegram", "signal", "whatsapp"] {
        let guide = home.ok(&["link", "add", service, "--guide"]);
        assert!(guide.len() > 200, "{service}: {guide}");
    }
    let guide = home.run(&["link", "add", "telegram", "--guide", "--json"]).json();
    assert_eq!(guide["service"], "telegram");
    assert!(guide["guide"].as_str().unwrap().len() > 200, "{guide}");
    let ran = home.run(&["link", "add", "icq"]);
    assert!(ran.stderr.contains("telegram"), "{}", ran.stderr);
}

#[test]
fn a_service_that_is_only_called_is_not_said_to_be_followed() {
    let home = Home::new();
    let secrets = ["--secret-stdin", "url", "--secret-stdin", "secret"];
    let args = [["link", "add", "webhook", "--force"], secrets].concat();
    let secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";
    let ran = fed(&home, &args, &format!("https://receiver.invalid/hook\n{secret}\n"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stdout.contains("followed"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("list_chats"), "{}", ran.stdout);
    for next in ["waystation link check webhook", "waystation outbox"] {
        assert!(ran.stdout.contains(next), "{}", ran.stdout);
    }
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

/// A home in which GitHub is linked.
fn with_github() -> Home {
    let home = Home::generous();
    let settings = json!({
        "webhook_secret": SECRET, "token": "github_pat_x", "base_url": "https://127.0.0.1:9",
    });
    let link = json!({ "service": "github", "unchecked": true, "settings": settings });
    home.ok(&["call", "add_link", &link.to_string()]);
    home
}

/// How a hub that has just begun answers GitHub, which signs with the first secret.
fn answered(home: &Home, number: u64) -> Option<u16> {
    let up = home.up();
    wait_for_link(&up.client(&home.token("human", "operator")));
    let status = call(&up, number);
    assert_eq!(up.stop(), 0);
    status
}

#[test]
fn a_link_that_is_added_again_keeps_what_is_not_given() {
    let home = with_github();
    let said = home.ok(&["link", "add", "github", "--force"]);
    assert!(said.contains("github was linked already; nothing was replaced"), "{said}");
    assert!(!said.contains("webhook_secret:"), "no secret was made: {said}");
    assert_eq!(answered(&home, 1), Some(200));
    assert_eq!(listed(&home)[0]["settings"]["base_url"], "https://127.0.0.1:9");
    let secrets = ["--secret-stdin", "webhook_secret", "--secret-stdin", "webhook_secret_old"];
    let again = ["link", "add", "github", "--force"];
    let ran = fed(&home, &[&again[..], &secrets].concat(), &format!("the next one\n{SECRET}\n"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let replaced = "replaced: webhook_secret, webhook_secret_old";
    assert!(ran.stdout.contains(replaced), "{}", ran.stdout);
    assert_eq!(answered(&home, 2), Some(200), "both are believed");
    home.ok(&[&again[..], &["--set", "webhook_secret_old="]].concat());
    assert_eq!(answered(&home, 3), Some(401), "the old one was taken away");
}

#[test]
fn kept_secrets_go_to_no_other_address() {
    let home = with_github();
    let args = ["link", "add", "github", "--force", "--set", "base_url=https://elsewhere.example"];
    let ran = home.run(&args);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(ran.stderr.contains("give token, webhook_secret anew"), "{}", ran.stderr);
    assert_eq!(listed(&home)[0]["settings"]["base_url"], "https://127.0.0.1:9");
}

#[test]
fn a_person_is_asked_before_a_link_is_changed() {
    let home = with_github();
    let again = ["link", "add", "github", "--force", "--set", "installation_id=7"];
    let mut asked = AtTerminal::start(home.command(&again), "n\n");
    assert_eq!(asked.end(), 1);
    assert!(asked.shown.contains("github is linked already"), "{}", asked.shown);
    assert_eq!(listed(&home)[0]["settings"]["installation_id"], "");
    let mut asked = AtTerminal::start(home.command(&again), "y\n");
    assert_eq!(asked.end(), 0, "{}", asked.shown);
    assert!(asked.shown.contains("replaced: installation_id"), "{}", asked.shown);
    assert_eq!(listed(&home)[0]["settings"]["installation_id"], "7");
}
