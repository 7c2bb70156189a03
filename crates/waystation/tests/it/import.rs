//! `waystation import`: found out, taken in once, and gone on with after a kill.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::Home;

/// A Telegram export of one chat, its keys in the order in which Telegram writes them.
fn telegram(messages: usize) -> String {
    export(&(0..messages).map(message).collect::<Vec<_>>())
}

fn export(messages: &[Value]) -> String {
    let messages = json!(messages);
    format!(r#"{{"name": "Antti", "type": "personal_chat", "id": 42, "messages": {messages}}}"#)
}

fn message(number: usize) -> Value {
    json!({
        "id": number + 1, "type": "message", "date": "2025-01-13T09:00:00",
        "date_unixtime": (1_736_758_800 + number).to_string(),
        "from": if number.is_multiple_of(2) { "Antti" } else { "Alice" },
        "from_id": if number.is_multiple_of(2) { "user1" } else { "user2" },
        "text": format!("message number {number} about the meeting"),
        "text_entities": [],
    })
}

fn write(home: &Home, name: &str, text: &str) -> PathBuf {
    let path = home.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn messages(home: &Home, source: &str) -> u64 {
    let links: Value = serde_json::from_str(&home.ok(&["--json", "link", "list"])).unwrap();
    let links = links["links"].as_array().unwrap().clone();
    let link = links.iter().find(|link| link["name"] == source);
    link.map_or(0, |link| link["messages"].as_u64().unwrap())
}

#[test]
fn an_export_is_found_out_taken_in_and_can_be_asked_about() {
    let home = Home::new();
    let path = write(&home, "result.json", &telegram(30));
    let said = home.ok(&["import", path.to_str().unwrap()]);
    assert!(said.contains("Telegram Desktop export: one chat, \"Antti\""), "{said}");
    assert!(said.contains("30 new messages in telegram (1 new chat)"), "{said}");
    assert!(said.contains("waystation token issue --agent NAME --chats 'telegram/*'"), "{said}");
    assert!(!said.contains('\x1b'), "no colours outside a terminal: {said}");
    let asked = json!({ "source": "telegram", "chat": "Antti", "search": "NUMBER 17" });
    let found: Value =
        serde_json::from_str(&home.ok(&["call", "get_messages", &asked.to_string()])).unwrap();
    assert_eq!(found["messages"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["messages"][0]["sender"], "Alice");
}

#[test]
fn a_file_of_many_parcels_is_taken_in_its_own_order() {
    let home = Home::new();
    // All of it is sent in one second: only the order of taking tells the messages apart.
    let all = (0..9_000).map(|number| {
        let mut message = message(number);
        message["date_unixtime"] = "1736758800".into();
        message
    });
    let path = write(&home, "result.json", &export(&all.collect::<Vec<_>>()));
    let said = home.ok(&["import", path.to_str().unwrap()]);
    assert!(said.contains("9,000 new messages"), "{said}");
    for offset in [0, 2_990, 5_990, 8_900] {
        let asked =
            json!({ "source": "telegram", "chat": "Antti", "limit": 100, "offset": offset });
        let page: Value =
            serde_json::from_str(&home.ok(&["call", "get_messages", &asked.to_string()])).unwrap();
        let ids = page["messages"].as_array().unwrap().iter();
        let ids: Vec<&str> = ids.map(|message| message["remote_id"].as_str().unwrap()).collect();
        let expected: Vec<String> = (0..100).map(|n| (9_000 - offset - n).to_string()).collect();
        assert_eq!(ids, expected, "from {offset} on");
    }
}

#[test]
fn importing_twice_adds_nothing() {
    let home = Home::new();
    let path = write(&home, "result.json", &telegram(25));
    let path = path.to_str().unwrap();
    home.ok(&["import", path]);
    let again = home.run(&["--json", "import", path]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    let again = again.json();
    assert_eq!((&again["messages_added"], &again["messages_before"]), (&json!(0), &json!(25)));
    // A newer export of the same chat adds what is new.
    let path = write(&home, "newer.json", &telegram(28));
    let newer = home.run(&["--json", "import", path.to_str().unwrap()]).json();
    assert_eq!((&newer["messages_added"], &newer["messages_known"]), (&json!(3), &json!(25)));
    assert_eq!(messages(&home, "telegram"), 28);
}

#[test]
fn an_import_that_was_killed_goes_on() {
    const ALL: usize = 60_000;
    let home = Home::new();
    let path = write(&home, "result.json", &telegram(ALL));
    let path = path.to_str().unwrap();
    let _up = home.up();
    let mut killed = home.command(&["import", path]);
    let mut killed = killed.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while messages(&home, "telegram") == 0 {
        assert!(killed.try_wait().unwrap().is_none(), "it ended before it was killed");
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let before = messages(&home, "telegram");
    assert!(before > 0 && before < ALL as u64, "{before}");
    let rest = home.run(&["--json", "import", path]);
    assert_eq!(rest.code, 0, "{}", rest.stderr);
    let rest = rest.json();
    assert!(rest["messages_before"].as_u64().unwrap() > 0, "{rest}");
    assert_eq!(messages(&home, "telegram"), ALL as u64, "{rest}");
}

#[test]
fn a_chat_export_of_whatsapp_is_found_out_too() {
    let home = Home::new();
    let text = "13/01/2025, 09:00 - Messages and calls are end-to-end encrypted.\n\
                13/01/2025, 09:01 - Antti: Are we meeting?\n\
                14/01/2025, 18:30 - Alice: Yes: at nine\nand bring cake\n\
                25/01/2025, 08:00 - Antti: 👍\n";
    let path = write(&home, "WhatsApp Chat with Antti.txt", text);
    let said = home.ok(&["import", path.to_str().unwrap(), "--zone", "Europe/Berlin"]);
    assert!(said.contains("WhatsApp"), "{said}");
    let asked = json!({ "source": "whatsapp", "search": "cake" });
    let found: Value =
        serde_json::from_str(&home.ok(&["call", "get_messages", &asked.to_string()])).unwrap();
    assert_eq!(found["messages"][0]["timestamp"], "2025-01-14T17:30:00Z", "{found}");
}

#[test]
fn a_dry_run_stores_nothing() {
    let home = Home::new();
    let path = write(&home, "result.json", &telegram(12));
    let said = home.ok(&["import", path.to_str().unwrap(), "--dry-run"]);
    assert!(said.contains("would take 12 messages"), "{said}");
    assert!(said.contains("Nothing was stored"), "{said}");
    assert_eq!(messages(&home, "telegram"), 0);
}

#[test]
fn what_is_left_out_is_told_with_its_place() {
    let home = Home::new();
    let broken = json!({ "id": "no number", "type": "message", "date": 7 });
    let path = write(&home, "result.json", &export(&[message(0), broken, message(2)]));
    let said = home.ok(&["import", path.to_str().unwrap()]);
    assert!(said.contains("1 left out:"), "{said}");
    assert!(said.contains("2 new messages"), "{said}");
}

#[test]
fn what_is_no_export_is_refused_with_what_is_understood() {
    let home = Home::new();
    for (name, text) in
        [("notes.txt", "buy milk"), ("data.json", "{\"a\": 1}"), ("x.zip", "PK\u{3}\u{4}no")]
    {
        let path = write(&home, name, text);
        let ran = home.run(&["import", path.to_str().unwrap()]);
        assert_eq!(ran.code, 1, "{name}: {}", ran.stdout);
        if name != "x.zip" {
            assert!(ran.stderr.contains("Telegram Desktop export"), "{name}: {}", ran.stderr);
        }
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
    let ran = home.run(&["import", "no-such-file"]);
    assert!(ran.stderr.contains("no-such-file"), "{}", ran.stderr);
    assert_eq!(messages(&home, "telegram"), 0);
}

#[test]
fn a_file_that_is_not_found_out_is_read_as_what_it_is_said_to_be() {
    let home = Home::new();
    // What tells it from other files stands too far behind.
    let text = telegram(3).replacen('{', &format!("{{{}", " ".repeat(70_000)), 1);
    let path = write(&home, "export.json", &text);
    let path = path.to_str().unwrap();
    let ran = home.run(&["import", path]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("say which with --service"), "{}", ran.stderr);
    let said = home.ok(&["import", path, "--service", "telegram"]);
    assert!(said.contains("3 new messages in telegram"), "{said}");
    let path = write(&home, "notes.txt", "buy milk");
    let ran = home.run(&["import", path.to_str().unwrap(), "--service", "telegram"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("line 1, column 1"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("list_chats"), "there are none: {}", ran.stdout);
}

#[test]
fn a_file_that_breaks_off_is_taken_as_far_as_it_goes() {
    let home = Home::new();
    let whole = telegram(2_500);
    let path = write(&home, "result.json", &whole[..whole.len() * 2 / 3]);
    let ran = home.run(&["import", path.to_str().unwrap()]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("new messages in telegram"), "{}", ran.stdout);
    assert!(messages(&home, "telegram") > 1_000);
}

#[test]
fn two_sources_of_one_service_are_kept_apart() {
    let home = Home::new();
    let path = write(&home, "result.json", &telegram(5));
    home.ok(&["import", path.to_str().unwrap(), "--source", "telegram-old"]);
    home.ok(&["import", path.to_str().unwrap()]);
    assert_eq!((messages(&home, "telegram-old"), messages(&home, "telegram")), (5, 5));
    // What was purged can be imported again.
    home.ok(&["link", "remove", "telegram-old", "--purge", "--yes"]);
    assert_eq!((messages(&home, "telegram-old"), messages(&home, "telegram")), (0, 5));
    home.ok(&["import", path.to_str().unwrap(), "--source", "telegram-old"]);
    assert_eq!(messages(&home, "telegram-old"), 5);
}

#[test]
fn a_token_gives_the_chats_it_was_issued_with() {
    let home = Home::new();
    let path = write(&home, "result.json", &telegram(5));
    home.ok(&["import", path.to_str().unwrap()]);
    let up = home.up();
    let issue = |chats: &[&str]| {
        let mut args = vec!["token", "issue", "--agent", "reader"];
        args.extend(chats);
        home.ok(&args).trim().to_owned()
    };
    let sources = |token: &str| up.client(token).get("/v1/sources")["sources"].clone();
    assert_eq!(sources(&issue(&[])), json!([]));
    assert_eq!(sources(&issue(&["--chats", "telegram/*"]))[0]["id"], "telegram");
    let denied = issue(&["--chats", "telegram/*", "--chats-deny", "telegram/Antti"]);
    let listed = up.client(&denied).get("/v1/sources/telegram/chats");
    assert_eq!(listed["chats"], json!([]), "{listed}");
}
