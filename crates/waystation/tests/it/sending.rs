//! Sending to chats, with the real program against the fakes of all four services.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::fakes::slack::{APP_TOKEN, BOT_TOKEN};
use testkit::fakes::telegram::{Failure, FakeTelegram, TOKEN};
use testkit::fakes::{FakeSignal, FakeWhatsApp, SlackFake};

use crate::approvals::Person;
use crate::program::{Client, Home, Up};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);
/// A person on Signal.
const ANTTI: &str = "00000000-0000-4000-8000-00000000000a";
/// And one on WhatsApp.
const ANN: &str = "16505551234";
/// Lets everything pass.
const ALLOW: &str = "[[relay.approvals.rule]]\nthen = \"allow\"\neven_external = true\n";

/// A hub, somebody who may do everything in it, and an agent that may send.
struct World {
    home: Home,
    operator: String,
    agent: String,
}

impl World {
    fn new(config: &str) -> Self {
        let home = Home::generous();
        home.configure(config);
        let operator = home.token("human", "operator");
        let agent = home.ok(&[
            "token",
            "issue",
            "--agent",
            "writer",
            "--scope",
            "chats:read",
            "--scope",
            "chats:send",
            "--chats",
            "*/*",
        ]);
        Self { home, operator, agent: agent.trim().to_owned() }
    }

    fn link(&self, up: &Up, service: &str, settings: &Value) {
        let input = json!({ "service": service, "settings": settings });
        up.client(&self.operator).ok("POST", "/v1/links", &input);
    }

    /// Links Telegram, where Antti has said something to the bot.
    fn telegram(&self, up: &Up, telegram: &FakeTelegram) {
        self.link(up, "telegram", &json!({ "base_url": telegram.url(), "bot_token": TOKEN }));
        let antti = json!({ "id": 7, "type": "private", "first_name": "Antti" });
        telegram.say(&antti, &json!({ "id": 7, "first_name": "Antti" }), "are we meeting?");
        until("the chat is known", || held(&up.client(&self.operator), "telegram", "7") == 1);
    }

    /// Links Slack, where somebody has said something in a channel.
    fn slack(&self, up: &Up, slack: &SlackFake) {
        slack.add_channel("C1", "general", true);
        slack.say("C1", "U1", "anybody?");
        let settings = json!({
            "base_url": slack.base_url(), "bot_token": BOT_TOKEN, "app_token": APP_TOKEN,
        });
        self.link(up, "slack", &settings);
        until("the chat is known by its name", || {
            held(&up.client(&self.agent), "slack", "general") == 1
        });
    }
}

#[expect(clippy::disallowed_methods, reason = "measures how long a test is patient")]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "it never came to this: {what}");
        std::thread::yield_now();
    }
}

fn messages(client: &Client, source: &str, chat: &str) -> Vec<Value> {
    let target = format!("/v1/chats/messages?source={source}&chat={chat}&offline=true");
    let reply = client.json("GET", &target, &Value::Null);
    if reply.status != 200 {
        return Vec::new();
    }
    reply.json()["messages"].as_array().unwrap().clone()
}

fn held(client: &Client, source: &str, chat: &str) -> usize {
    messages(client, source, chat).len()
}

fn text_to(source: &str, chat: &str, text: &str, key: &str) -> Value {
    json!({ "source": source, "chat": chat, "text": text, "idempotency_key": key })
}

/// How a message stands.
fn send(client: &Client, input: &Value) -> Value {
    client.ok("POST", "/v1/chats/messages", input)
}

fn until_sent(client: &Client, input: &Value) -> Value {
    let mut answer = Value::Null;
    until(&format!("it is sent: {input}"), || {
        answer = send(client, input);
        answer["status"] == "sent"
    });
    answer
}

/// The newest message of a chat stands there once, is the hub's own, and says this.
fn is_archived(client: &Client, (source, chat): (&str, &str), text: &str, answer: &Value) {
    let held = messages(client, source, chat);
    let own: Vec<&Value> = held.iter().filter(|one| one["content"] == text).collect();
    assert_eq!(own.len(), 1, "{source}: {held:?}");
    assert_eq!(answer["message_ids"], json!([own[0]["id"]]), "{source}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn telegram_takes_a_message_although_it_asks_for_patience() {
    let telegram = FakeTelegram::start().await;
    let world = World::new(ALLOW);
    let up = world.home.up();
    world.telegram(&up, &telegram);
    let client = up.client(&world.agent);
    telegram.fail_next("sendMessage", Failure::TooManyRequests(1));
    let input = text_to("telegram", "Antti", "yes, at two", "k");
    let answer = until_sent(&client, &input);
    assert_eq!(telegram.calls("sendMessage"), 2);
    assert_eq!(telegram.called("sendMessage", 2).await["text"], "yes, at two");
    is_archived(&client, ("telegram", "7"), "yes, at two", &answer);
    // The same key sends nothing twice, and a chat outside of the token is not there.
    assert_eq!(send(&client, &input), answer);
    let bea = json!({ "id": 8, "type": "private", "first_name": "Bea" });
    telegram.say(&bea, &json!({ "id": 8, "first_name": "Bea" }), "hi");
    until("the other chat is known", || held(&client, "telegram", "8") == 1);
    let narrow = world.home.ok(&[
        "token",
        "issue",
        "--agent",
        "narrow",
        "--scope",
        "chats:read",
        "--scope",
        "chats:send",
        "--chats",
        "telegram/8",
    ]);
    let narrow = up.client(narrow.trim());
    let refused = narrow.json("POST", "/v1/chats/messages", &input);
    assert_eq!(refused.json()["error"]["code"], "CHAT_NOT_FOUND");
    let reader = world.home.ok(&["token", "issue", "--agent", "reader", "--chats", "*/*"]);
    let refused = up.client(reader.trim()).json("POST", "/v1/chats/messages", &input);
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("FORBIDDEN")));
    assert_eq!(telegram.calls("sendMessage"), 2);
    assert_eq!(up.stop(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_is_killed_before_telegram_answers_sends_nothing_twice() {
    let telegram = FakeTelegram::start().await;
    let world = World::new(ALLOW);
    let up = world.home.up();
    world.telegram(&up, &telegram);
    telegram.fail_next("sendMessage", Failure::Hold);
    let input = text_to("telegram", "7", "once", "k");
    send(&up.client(&world.agent), &input);
    telegram.called("sendMessage", 1).await;
    up.signal(Signal::KILL);
    assert_eq!(up.wait().code(), None, "it was killed");
    let up = world.home.up();
    let operator = up.client(&world.operator);
    let action = || operator.get("/v1/outbox")["actions"][0].clone();
    until("it is looked for", || action()["reason"].is_string());
    assert_eq!(action()["unknown"], true);
    let reason = action()["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("its answer was lost"), "{reason}");
    assert_eq!(telegram.calls("sendMessage"), 1, "nobody knows, so it is not sent again");
    assert_eq!(send(&up.client(&world.agent), &input)["status"], "queued");
    assert_eq!(up.stop(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slack_is_asked_for_a_message_whose_answer_was_lost() {
    let slack = SlackFake::start().await;
    let world = World::new(ALLOW);
    let up = world.home.up();
    world.slack(&up, &slack);
    let client = up.client(&world.agent);
    slack.trouble().drop_answers(1);
    let text = "<!channel> 1 > 0 & so on";
    let answer = until_sent(&client, &text_to("slack", "general", text, "k"));
    let posted = slack.posted("C1");
    let ours: Vec<_> = posted.iter().filter(|one| one["user"] != "U1").collect();
    assert_eq!(ours.len(), 1, "{posted:?}");
    assert_eq!(ours[0]["text"], "&lt;!channel&gt; 1 &gt; 0 &amp; so on", "nobody is called");
    // Slack repeats it on the socket; it stands in the archive once.
    until("it is archived", || held(&client, "slack", "C1") == 2);
    is_archived(&client, ("slack", "C1"), text, &answer);
    // An answer goes into the thread of what it answers.
    let first = messages(&client, "slack", "C1").pop().unwrap();
    let mut reply = text_to("slack", "C1", "here", "l");
    reply["reply_to"] = first["id"].clone();
    until_sent(&client, &reply);
    let posted = slack.posted("C1");
    let last = posted.iter().find(|one| one["text"] == "here").unwrap();
    assert_eq!(last["thread_ts"], first["remote_id"]);
    assert_eq!(up.stop(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_left_after_a_backup_does_not_leave_again_once_that_is_put_back() {
    let slack = SlackFake::start().await;
    let world = World::new(ALLOW);
    let home = &world.home;
    let up = home.up();
    world.slack(&up, &slack);
    let action = |up: &Up| up.client(&world.operator).get("/v1/outbox")["actions"][0].clone();
    slack.limit("chat.postMessage", 0, 3_600);
    let input = text_to("slack", "C1", "just once", "k");
    send(&up.client(&world.agent), &input);
    until("it has to wait", || action(&up)["reason"].is_string());
    let file = home.path().join("hub.backup");
    let file = file.to_str().unwrap();
    home.ok(&["backup", file]);

    slack.lift_limit("chat.postMessage");
    let id = action(&up)["outbox_id"].as_str().unwrap().to_owned();
    // One that has just started does not know who asked for patience.
    assert_eq!(up.stop(), 0);
    let up = home.up();
    home.ok(&["outbox", "redrive", &id]);
    until_sent(&up.client(&world.agent), &input);
    assert_eq!(up.stop(), 0);

    let restored = home.run(&["restore", file, "--json"]);
    assert_eq!(restored.code, 0, "{}", restored.stderr);
    assert_eq!(restored.json()["actions_given_up"], 1);
    let up = home.up();
    let found = action(&up);
    assert_eq!((&found["state"], &found["unknown"]), (&json!("dead"), &json!(true)));
    assert!(found["reason"].as_str().unwrap().contains("restored"), "{found}");
    home.ok(&["outbox", "redrive", &id]);
    until_sent(&up.client(&world.agent), &input);
    let posted = slack.posted("C1");
    let ours = posted.iter().filter(|one| one["text"] == "just once").count();
    assert_eq!(ours, 1, "{posted:?}");
    assert_eq!(up.stop(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatsapp_says_by_itself_that_a_message_arrived() {
    let whatsapp = FakeWhatsApp::start().await;
    let world = World::new(ALLOW);
    let up = world.home.up();
    let settings = json!({
        "base_url": whatsapp.url(), "phone_number_id": FakeWhatsApp::PHONE_NUMBER_ID,
        "access_token": FakeWhatsApp::TOKEN, "app_secret": FakeWhatsApp::APP_SECRET,
        "verify_token": "v",
    });
    world.link(&up, "whatsapp", &settings);
    let hook = format!("{}/hooks/default/whatsapp", up.url);
    let report = |value: Value| {
        let value = json!({ "entry": [{ "changes": [{ "field": "messages", "value": value }] }] });
        FakeWhatsApp::hook(value.to_string().as_bytes())
    };
    let said = report(json!({
        "metadata": { "display_phone_number": FakeWhatsApp::NUMBER,
            "phone_number_id": FakeWhatsApp::PHONE_NUMBER_ID },
        "contacts": [{ "profile": { "name": "Ann" }, "wa_id": ANN }],
        "messages": [{ "from": ANN, "id": "wamid.1", "timestamp": "1750000000", "type": "text",
            "text": { "body": "hello?" } }],
    }));
    let client = up.client(&world.agent);
    until("the link is up", || {
        let links = up.client(&world.operator).get("/v1/links");
        links["links"][0]["status"] == "connected"
    });
    assert_eq!(FakeWhatsApp::post(&hook, &said).await.unwrap(), 200);
    until("the chat is known", || held(&client, "whatsapp", ANN) == 1);
    whatsapp.lose_next_answer();
    let input = text_to("whatsapp", "Ann", "hello!", "k");
    send(&client, &input);
    until("it is taken", || !whatsapp.sent().is_empty());
    let mark = whatsapp.sent()[0]["biz_opaque_callback_data"].clone();
    let delivered = report(json!({
        "metadata": { "phone_number_id": FakeWhatsApp::PHONE_NUMBER_ID },
        "statuses": [{ "id": "wamid.sent1", "status": "delivered", "timestamp": "1750000009",
            "recipient_id": ANN, "biz_opaque_callback_data": mark }],
    }));
    for _ in 0..2 {
        assert_eq!(FakeWhatsApp::post(&hook, &delivered).await.unwrap(), 200);
    }
    let answer = until_sent(&client, &input);
    assert_eq!(whatsapp.sent().len(), 1, "it was not sent twice");
    is_archived(&client, ("whatsapp", ANN), "hello!", &answer);
    assert_eq!(up.stop(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signal_takes_a_message_and_what_it_refuses_is_told() {
    let signal = FakeSignal::start().await;
    signal.set_contacts(json!([{ "uuid": ANTTI, "number": "+4915100000010", "name": "Antti" }]));
    let world = World::new(ALLOW);
    let up = world.home.up();
    world.link(&up, "signal", &json!({ "base_url": signal.url(), "account": FakeSignal::ACCOUNT }));
    let client = up.client(&world.agent);
    until("the chat is known", || {
        let chats = client.json("GET", "/v1/sources/signal/chats?offline=true", &Value::Null);
        chats.status == 200 && !chats.json()["chats"].as_array().unwrap().is_empty()
    });
    let input = text_to("signal", "Antti", "on my way", "k");
    let answer = until_sent(&client, &input);
    assert_eq!(signal.sent().len(), 1);
    assert_eq!(signal.sent()[0]["recipient"], json!([ANTTI]));
    is_archived(&client, ("signal", ANTTI), "on my way", &answer);
    // What the phone of the owner repeats is the same message.
    let at = signal_time(&client);
    signal.deliver(&json!({
        "sourceUuid": FakeSignal::OWN_UUID, "sourceNumber": FakeSignal::ACCOUNT, "timestamp": at,
        "syncMessage": { "sentMessage": { "destinationUuid": ANTTI, "timestamp": at,
            "message": "on my way" } },
    }));
    signal.deliver(&json!({
        "sourceUuid": ANTTI, "sourceName": "Antti", "timestamp": at + 1000,
        "dataMessage": { "timestamp": at + 1000, "message": "good" },
    }));
    until("the answer is there", || held(&client, "signal", ANTTI) == 2);
    signal.fail_next(json!({ "code": -1, "message": "Unregistered user" }));
    let input = text_to("signal", "Antti", "hello?", "l");
    until("it is refused", || send(&client, &input)["status"] == "failed");
    assert_eq!(up.stop(), 0);
}

/// When the one message of ours was sent, by Signal's clock.
fn signal_time(client: &Client) -> i64 {
    let held = messages(client, "signal", ANTTI);
    let (_, at) = held[0]["remote_id"].as_str().unwrap().rsplit_once(':').unwrap();
    at.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_approves_what_an_agent_wants_to_send_and_sends_by_themselves() {
    let telegram = FakeTelegram::start().await;
    let world = World::new("");
    let up = world.home.up();
    world.telegram(&up, &telegram);
    let client = up.client(&world.agent);
    let input = text_to("telegram", "Antti", "shall I?", "k");
    let waits = send(&client, &input);
    assert_eq!(waits["status"], "waiting_for_approval");
    let id = waits["proposal_id"].as_str().unwrap().to_owned();
    let person = Person::sits_down(&world.home);
    person.chooses();
    let listed = world.home.ok(&["approvals"]);
    assert!(listed.contains("messages://telegram/7"), "{listed}");
    person.decides(&format!("approvals approve {id} --draft 1"));
    let answer = until_sent(&client, &input);
    is_archived(&client, ("telegram", "7"), "shall I?", &answer);
    // At the unlocked terminal a person sends without asking anybody.
    let from = person.types("send telegram Antti \"my own words\"");
    person.sees("ended=0", from);
    assert!(person.seen(from).contains("it is on its way to Antti"), "{}", person.seen(from));
    until("it has left", || telegram.calls("sendMessage") == 2);
    assert_eq!(telegram.called("sendMessage", 2).await["text"], "my own words");
    // A program beside them does not, whatever it pipes in.
    let ran = world.home.run(&["send", "telegram", "Antti", "not my words"]);
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(telegram.calls("sendMessage"), 2);
    assert_eq!(up.stop(), 0);
}
