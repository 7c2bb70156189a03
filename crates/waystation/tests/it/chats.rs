//! Chats through the real program: accounts at fakes of the services, kills, and what comes of it.

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::fakes::slack::{APP_TOKEN, BOT_TOKEN};
use testkit::fakes::telegram::TOKEN;
use testkit::fakes::{FakeTelegram, SlackFake};

use crate::program::{Client, Home};

/// Every message that an answer of `get_messages` leads to, page after page.
fn all(client: &Client, target: &str) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("{target}&limit=200{cursor}"));
        messages.extend(page["messages"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return messages,
        }
    }
}

#[test]
fn kills_while_a_bot_listens_lose_and_double_nothing() {
    const KILLS: i64 = 8;
    const MESSAGES_A_ROUND: i64 = 120;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let telegram = runtime.block_on(FakeTelegram::start());
    let home = Home::generous();
    let operator = home.token("human", "operator");
    let link = json!({
        "service": "telegram",
        "settings": { "bot_token": TOKEN, "base_url": telegram.url() },
    });
    let up = home.up();
    let added = up.client(&operator).ok("POST", "/v1/links", &link);
    assert_eq!(added["name"], "telegram");
    assert_eq!(up.stop(), 0);

    let mut said = 0;
    for kill in 0..KILLS {
        let up = home.up();
        for _ in 0..MESSAGES_A_ROUND {
            said += 1;
            let chat = json!({ "id": -1000 - said % 3, "type": "supergroup", "title": "Group" });
            let from = json!({ "id": said % 7 + 1, "is_bot": false, "first_name": "Somebody" });
            telegram.say(&chat, &from, &format!("message number {said}"));
            // A kill in the middle of whatever it is doing: after a poll, a commit, or neither.
            if said % MESSAGES_A_ROUND == MESSAGES_A_ROUND / (kill + 2) {
                up.signal(Signal::KILL);
            }
        }
        assert_eq!(up.wait().code(), None, "it was killed");
    }

    let up = home.up();
    runtime.block_on(telegram.all_confirmed());
    let messages = all(&up.client(&operator), "/v1/chats/messages?source=telegram");
    let texts: BTreeSet<&str> = messages.iter().map(|m| m["content"].as_str().unwrap()).collect();
    assert_eq!(texts.len(), messages.len(), "nothing is there twice");
    assert_eq!(i64::try_from(texts.len()).unwrap(), said, "nothing is missing");
    let log = home.log();
    assert!(!log.contains(TOKEN) && !log.contains("message number"), "{log}");
    assert_eq!(up.stop(), 0);
    home.ok(&["audit", "verify"]);
}

#[test]
fn kills_while_the_past_is_read_lose_and_double_nothing() {
    const KILLS: usize = 6;
    const MESSAGES: usize = 900;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let slack = runtime.block_on(SlackFake::start());
    slack.add_channel("C1", "general", true);
    slack.add_channel("C2", "random", true);
    slack.small_pages(20);
    for n in 0..MESSAGES {
        let channel = if n % 3 == 0 { "C2" } else { "C1" };
        slack.said_before(
            channel,
            json!({ "type": "message", "user": "U1", "text": format!("said earlier {n}"),
                    "ts": format!("17000{n:05}.000100") }),
        );
    }
    let home = Home::generous();
    let operator = home.token("human", "operator");
    let settings =
        json!({ "bot_token": BOT_TOKEN, "app_token": APP_TOKEN, "base_url": slack.base_url() });
    let link = json!({ "service": "slack", "settings": settings });
    let mut up = home.up();
    up.client(&operator).ok("POST", "/v1/links", &link);
    let held = |client: &Client| all(client, "/v1/chats/messages?source=slack&offline=true").len();
    for kill in 1..=KILLS {
        // Some way further each time, then dead in the middle of it.
        let target = MESSAGES * kill / (KILLS + 1);
        while held(&up.client(&operator)) < target {
            std::thread::yield_now();
        }
        up.signal(Signal::KILL);
        assert_eq!(up.wait().code(), None, "it was killed");
        up = home.up();
    }
    slack.say("C1", "U1", "and this is live");
    let client = up.client(&operator);
    while held(&client) < MESSAGES + 1 {
        std::thread::yield_now();
    }
    let messages = all(&client, "/v1/chats/messages?source=slack&offline=true");
    let texts: BTreeSet<&str> = messages.iter().map(|m| m["content"].as_str().unwrap()).collect();
    assert_eq!((texts.len(), messages.len()), (MESSAGES + 1, MESSAGES + 1));
    assert!(!home.log().contains(BOT_TOKEN) && !home.log().contains(APP_TOKEN));
    assert_eq!(up.stop(), 0);
}

#[test]
fn a_tracker_that_is_linked_is_no_source_of_chats() {
    let home = Home::generous();
    let up = home.up();
    let operator = up.client(&home.token("human", "operator"));
    for service in ["github", "sentry", "openproject", "webhook", "slack"] {
        let link = json!({ "service": service, "unchecked": true, "settings": settings(service) });
        operator.ok("POST", "/v1/links", &link);
    }
    assert_eq!(operator.get("/v1/links")["links"].as_array().unwrap().len(), 5);
    let sources = operator.get("/v1/sources");
    let ids: Vec<&Value> =
        sources["sources"].as_array().unwrap().iter().map(|s| &s["id"]).collect();
    assert_eq!(ids, ["slack"], "{sources}");
    assert_eq!(sources["sources"][0]["name"], "Slack");
    for field in ["complete", "truncated"] {
        assert!(sources[field].is_boolean(), "{field}: {sources}");
    }
    let refused = operator.json("GET", "/v1/sources/github/chats", &Value::Null);
    assert_eq!(refused.json()["error"]["code"], "SOURCE_NOT_FOUND");
    assert_eq!(refused.json()["error"]["message"], "Source 'github' not found");
    assert_eq!(up.stop(), 0);
}

/// What a link asks for; none of it reaches anybody.
fn settings(service: &str) -> Value {
    let base = "https://127.0.0.1:9";
    match service {
        "github" | "openproject" => json!({ "webhook_secret": "s", "base_url": base }),
        "sentry" => json!({ "client_secret": "s", "base_url": base }),
        "webhook" => json!({
            "url": base, "private_host": "127.0.0.1",
            "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        }),
        _ => json!({ "bot_token": "xoxb-1", "base_url": base }),
    }
}
