//! The bridge between a client on stdio and owners that come and go.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use waystation_edge::local::{Bridge, Connect, Connection};

use crate::edge::soon;

/// One end of a conversation in lines.
struct End {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
}

impl End {
    fn new(stream: DuplexStream) -> Self {
        let (read, write) = split(stream);
        Self { read: BufReader::new(read), write }
    }

    async fn say(&mut self, message: Value) {
        self.write_text(&format!("{message}\n")).await;
    }

    async fn write_text(&mut self, text: &str) {
        soon(self.write.write_all(text.as_bytes())).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        soon(self.read.read_line(&mut line)).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    async fn answer(&mut self, id: i64) {
        self.say(json!({ "jsonrpc": "2.0", "id": id, "result": {} })).await;
    }
}

/// Hands out owners as they are needed.
struct Owners(mpsc::Sender<End>);

impl Connect for Owners {
    type Read = BufReader<ReadHalf<DuplexStream>>;
    type Write = WriteHalf<DuplexStream>;

    async fn connect(&mut self) -> Result<Connection<Self::Read, Self::Write>, String> {
        let (ours, theirs) = duplex(4096);
        self.0.try_send(End::new(theirs)).map_err(|_| "no more owners".to_owned())?;
        let End { read, write } = End::new(ours);
        Ok(Connection { read, write })
    }
}

struct World {
    client: End,
    owners: mpsc::Receiver<End>,
    bridge: JoinSet<Result<(), String>>,
}

impl World {
    fn new() -> Self {
        let (ours, theirs) = duplex(4096);
        let (sender, owners) = mpsc::channel(16);
        let End { read, write } = End::new(theirs);
        let mut bridge = JoinSet::new();
        bridge.spawn(Bridge::new(read, write).run(Owners(sender)));
        Self { client: End::new(ours), owners, bridge }
    }

    async fn owner(&mut self) -> End {
        soon(self.owners.recv()).await.expect("the bridge connects")
    }

    /// The client and the first owner have greeted each other.
    async fn greeted() -> (Self, End) {
        let mut world = Self::new();
        let mut owner = world.owner().await;
        world.client.say(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize" })).await;
        owner.hear().await;
        owner.answer(0).await;
        assert_eq!(world.client.hear().await["id"], 0);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        world.client.say(initialized).await;
        owner.hear().await;
        (world, owner)
    }

    /// The next owner, after the bridge has greeted it again.
    async fn next_owner(&mut self) -> End {
        let mut owner = self.owner().await;
        assert_eq!(owner.hear().await["method"], "initialize");
        assert_eq!(owner.hear().await["method"], "notifications/initialized");
        owner.answer(0).await;
        owner
    }

    async fn ended(&mut self) -> Result<(), String> {
        soon(self.bridge.join_next()).await.unwrap().unwrap()
    }
}

fn call(id: i64, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    let (mut world, mut owner) = World::greeted().await;
    world.client.say(call(1, "list_threads", &json!({}))).await;
    owner.hear().await;
    owner.write_text(r#"{"jsonrpc":"2.0","id":1,"resu"#).await;
    drop(owner);
    let mut owner = world.next_owner().await;
    assert_eq!(owner.hear().await["id"], 1);
    owner.answer(1).await;
    assert_eq!(world.client.hear().await, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
}

#[tokio::test]
async fn what_happened_while_there_was_no_owner_is_told() {
    let (mut world, mut owner) = World::greeted().await;
    let params = json!({ "uri": "threads://t" });
    let subscribe =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": params });
    world.client.say(subscribe.clone()).await;
    owner.hear().await;
    owner.answer(1).await;
    world.client.hear().await;
    drop(owner);
    let mut owner = world.next_owner().await;
    assert_eq!(owner.hear().await, subscribe);
    owner.answer(1).await;
    let told = world.client.hear().await;
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"], params);
    // An owner that refuses the subscription has nothing to tell.
    drop(owner);
    let mut owner = world.next_owner().await;
    owner.hear().await;
    owner.say(json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32002 } })).await;
    owner.say(json!({ "jsonrpc": "2.0", "method": "notifications/message" })).await;
    assert_eq!(world.client.hear().await["method"], "notifications/message");
}

#[tokio::test]
async fn a_subscription_that_was_refused_is_not_played_again() {
    let (mut world, mut owner) = World::greeted().await;
    let params = json!({ "uri": "threads://t" });
    let subscribe =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": params });
    world.client.say(subscribe).await;
    owner.hear().await;
    owner.say(json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32002 } })).await;
    assert_eq!(world.client.hear().await["error"]["code"], -32002);
    drop(owner);
    let mut owner = world.next_owner().await;
    world.client.say(call(2, "list_threads", &json!({}))).await;
    assert_eq!(owner.hear().await["id"], 2);
}

#[tokio::test]
async fn a_listening_client_is_acknowledged_once() {
    let (mut world, mut owner) = World::greeted().await;
    let listen = json!({ "jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen" });
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": 7 });
    let of = |what: &str| {
        let method = format!("notifications/{what}");
        json!({ "jsonrpc": "2.0", "method": method, "params": { "_meta": meta } })
    };
    world.client.say(listen.clone()).await;
    owner.hear().await;
    owner.say(of("subscriptions/acknowledged")).await;
    assert_eq!(world.client.hear().await, of("subscriptions/acknowledged"));
    drop(owner);
    let mut owner = world.next_owner().await;
    assert_eq!(owner.hear().await, listen);
    owner.say(of("subscriptions/acknowledged")).await;
    owner.say(of("resources/updated")).await;
    assert_eq!(world.client.hear().await, of("resources/updated"));
}

#[tokio::test]
async fn a_client_listens_on_through_any_number_of_owners() {
    let (mut world, mut owner) = World::greeted().await;
    let listen = json!({ "jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen" });
    let acknowledged = json!({
        "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
        "params": { "_meta": { "io.modelcontextprotocol/subscriptionId": 7 } },
    });
    let called_off = json!({ "code": -32015, "message": "m", "data": { "code": "CANCELLED" } });
    world.client.say(listen.clone()).await;
    owner.hear().await;
    owner.say(acknowledged.clone()).await;
    world.client.hear().await;
    for _ in 0..5 {
        owner.say(json!({ "jsonrpc": "2.0", "id": 7, "error": called_off })).await;
        drop(owner);
        owner = world.next_owner().await;
        assert_eq!(owner.hear().await, listen);
        owner.say(acknowledged.clone()).await;
    }
    owner.say(json!({ "jsonrpc": "2.0", "method": "notifications/message" })).await;
    assert_eq!(world.client.hear().await["method"], "notifications/message", "and nothing before");
}

#[tokio::test]
async fn wildcards_on_chats_outlive_an_owner() {
    let (mut world, mut owner) = World::greeted().await;
    let uri = "messages://telegram/*?sender=Alice";
    let subscribe = json!({
        "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": { "uri": uri },
    });
    let listen = json!({
        "jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen",
        "params": { "notifications": { "resourceSubscriptions": [uri, "threads://t"] } },
    });
    let acknowledged = json!({
        "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {
            "notifications": { "resourceSubscriptions": [uri, "threads://t"] },
            "_meta": { "io.modelcontextprotocol/subscriptionId": 7 },
        },
    });
    world.client.say(subscribe.clone()).await;
    owner.hear().await;
    owner.answer(1).await;
    world.client.hear().await;
    world.client.say(listen.clone()).await;
    owner.hear().await;
    owner.say(acknowledged.clone()).await;
    world.client.hear().await;
    drop(owner);
    let mut owner = world.next_owner().await;
    assert_eq!(owner.hear().await, subscribe, "word for word");
    assert_eq!(owner.hear().await, listen);
    owner.answer(1).await;
    let told = world.client.hear().await;
    assert_eq!(told["params"], json!({ "uri": uri }), "something may have arrived meanwhile");
    owner.say(acknowledged).await;
    let told = world.client.hear().await;
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], uri);
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
    owner.say(json!({ "jsonrpc": "2.0", "method": "notifications/message" })).await;
    assert_eq!(world.client.hear().await["method"], "notifications/message", "and no more");
}

#[tokio::test]
async fn requests_are_asked_again_in_their_order_and_changes_without_a_key_are_not() {
    let (mut world, mut owner) = World::greeted().await;
    let keyed = json!({ "idempotency_key": "k" });
    let mut asked: VecDeque<_> = (1..=20)
        .map(|id| call(id, "post_message", if id == 5 { &Value::Null } else { &keyed }))
        .collect();
    for request in &asked {
        world.client.say(request.clone()).await;
        owner.hear().await;
    }
    drop(owner);
    let lost = world.client.hear().await;
    assert_eq!(lost["id"], 5);
    assert_eq!(lost["error"]["data"]["code"], "UNAVAILABLE");
    assert_eq!(lost["error"]["data"]["retryable"], false, "it may have been done");
    asked.remove(4);
    let mut owner = world.next_owner().await;
    while let Some(request) = asked.pop_front() {
        assert_eq!(owner.hear().await, request);
    }
}

#[tokio::test]
async fn what_an_ending_connection_broke_off_is_asked_again() {
    let (mut world, mut owner) = World::greeted().await;
    let error = json!({ "code": "CANCELLED", "message": "the request was cancelled" });
    let of_a_tool = json!({ "isError": true, "structuredContent": { "error": error } });
    world.client.say(call(1, "list_threads", &json!({}))).await;
    let read = json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/list" });
    world.client.say(read.clone()).await;
    world.client.say(call(3, "post_message", &json!({}))).await;
    for _ in 0..3 {
        owner.hear().await;
    }
    owner.say(json!({ "jsonrpc": "2.0", "id": 1, "result": of_a_tool })).await;
    let refused = json!({ "code": -32015, "message": "cancelled", "data": error });
    owner.say(json!({ "jsonrpc": "2.0", "id": 2, "error": refused })).await;
    owner.say(json!({ "jsonrpc": "2.0", "id": 3, "result": of_a_tool })).await;
    drop(owner);
    let lost = world.client.hear().await;
    assert_eq!((&lost["id"], &lost["error"]["data"]["code"]), (&json!(3), &json!("UNAVAILABLE")));
    let mut owner = world.next_owner().await;
    assert_eq!(owner.hear().await["id"], 1);
    assert_eq!(owner.hear().await, read);
    // A client that gave up itself is told whatever the owner says.
    let given_up = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 },
    });
    world.client.say(given_up.clone()).await;
    assert_eq!(owner.hear().await, given_up);
    owner.say(json!({ "jsonrpc": "2.0", "id": 1, "result": of_a_tool })).await;
    assert_eq!(world.client.hear().await["result"], of_a_tool);
}

#[tokio::test]
async fn an_answer_to_an_owner_that_is_gone_reaches_no_other() {
    let (mut world, mut owner) = World::greeted().await;
    let decide = call(1, "decide_proposal", &json!({ "proposal_id": "p" }));
    let question = |draft: i64| {
        let params = json!({ "message": format!("draft {draft}") });
        json!({ "jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": params })
    };
    let accepted = |id: &Value| {
        let result = json!({ "action": "accept" });
        json!({ "jsonrpc": "2.0", "id": id, "result": result })
    };
    world.client.say(decide.clone()).await;
    owner.hear().await;
    owner.say(question(1)).await;
    let first = world.client.hear().await;
    assert_eq!(first["params"]["message"], "draft 1");
    drop(owner);
    let mut owner = world.next_owner().await;
    assert_eq!(owner.hear().await, decide);
    let withdrawn = world.client.hear().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], first["id"]);
    owner.say(question(2)).await;
    let second = world.client.hear().await;
    assert_eq!(second["params"]["message"], "draft 2");
    // The human saw the first draft, and said yes to that one.
    world.client.say(accepted(&first["id"])).await;
    world.client.say(accepted(&second["id"])).await;
    world.client.say(accepted(&second["id"])).await;
    world.client.say(call(2, "list_threads", &json!({}))).await;
    assert_eq!(owner.hear().await, accepted(&json!(0)), "the answer to the second draft");
    assert_eq!(owner.hear().await["id"], 2, "and to no other");
}

#[tokio::test]
async fn a_question_that_its_owner_takes_back_is_taken_back_under_the_same_id() {
    let (mut world, mut owner) = World::greeted().await;
    let ask = json!({ "jsonrpc": "2.0", "id": 0, "method": "elicitation/create" });
    owner.say(ask.clone()).await;
    world.client.hear().await;
    drop(owner);
    let mut owner = world.next_owner().await;
    world.client.hear().await;
    owner.say(ask).await;
    let asked = world.client.hear().await;
    let take_back = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 0 },
    });
    owner.say(take_back.clone()).await;
    assert_eq!(world.client.hear().await["params"]["requestId"], asked["id"]);
    // It has been taken back already, and its number may be another owner's by now.
    owner.say(take_back).await;
    owner.say(json!({ "jsonrpc": "2.0", "method": "notifications/message" })).await;
    assert_eq!(world.client.hear().await["method"], "notifications/message");
}

#[tokio::test]
async fn what_waits_when_no_owner_can_be_reached_is_answered_before_the_end() {
    let (mut world, mut owner) = World::greeted().await;
    world.client.say(call(1, "list_threads", &json!({}))).await;
    world.client.say(call(2, "post_message", &json!({}))).await;
    let listen = json!({ "jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen" });
    world.client.say(listen).await;
    for _ in 0..3 {
        owner.hear().await;
    }
    world.owners.close();
    drop(owner);
    for (id, is_retryable) in [(json!(1), true), (json!(2), false), (json!("l"), true)] {
        let answer = world.client.hear().await;
        assert_eq!(answer["id"], id);
        assert_eq!(answer["error"]["data"]["code"], "UNAVAILABLE");
        assert_eq!(answer["error"]["data"]["retryable"], is_retryable, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("no more owners"));
    }
    assert_eq!(world.ended().await, Err("no more owners".to_owned()));
}

#[tokio::test]
async fn a_request_that_takes_owners_down_is_not_asked_for_ever() {
    let (mut world, mut owner) = World::greeted().await;
    world.client.say(call(1, "list_threads", &json!({}))).await;
    owner.hear().await;
    drop(owner);
    for _ in 0..2 {
        let mut owner = world.next_owner().await;
        assert_eq!(owner.hear().await["id"], 1);
    }
    let refused = world.client.hear().await;
    assert_eq!(
        (&refused["id"], &refused["error"]["data"]["code"]),
        (&json!(1), &json!("UNAVAILABLE"))
    );
    let mut owner = world.next_owner().await;
    world.client.say(call(2, "list_threads", &json!({}))).await;
    assert_eq!(owner.hear().await["id"], 2);
}

#[tokio::test(start_paused = true)]
async fn owners_that_say_nothing_are_given_up_in_the_end() {
    let mut world = World::new();
    for _ in 0..8 {
        drop(world.owner().await);
    }
    let error = world.ended().await.unwrap_err();
    assert!(error.contains("log"), "{error}");
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_the_next_one_carried() {
    let (mut world, mut owner) = World::greeted().await;
    let long = "x".repeat(protocol::limits::BODY_BYTES_MAX + 2);
    world.client.write_text(&long).await;
    world.client.write_text("\n").await;
    assert_eq!(world.client.hear().await["error"]["code"], -32600);
    let long = call(7, "post_message", &json!({ "id": 8, "body": long }));
    world.client.say(long).await;
    let refused = world.client.hear().await;
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &json!(7)));
    world.client.say(call(1, "list_threads", &json!({}))).await;
    assert_eq!(owner.hear().await["id"], 1);
}

#[tokio::test]
async fn a_client_that_ends_its_input_gets_the_answers_that_are_left() {
    let (mut world, mut owner) = World::greeted().await;
    let last = call(1, "list_threads", &json!({})).to_string();
    world.client.write_text(&last).await;
    world.client.write.shutdown().await.unwrap();
    assert_eq!(owner.hear().await["id"], 1);
    owner.answer(1).await;
    drop(owner);
    assert_eq!(world.client.hear().await["id"], 1);
    assert_eq!(world.ended().await, Ok(()));
}

#[tokio::test]
async fn a_client_that_ends_its_input_hears_what_was_called_off() {
    let (mut world, mut owner) = World::greeted().await;
    world.client.say(call(1, "wait_for_messages", &json!({}))).await;
    world.client.write.shutdown().await.unwrap();
    owner.hear().await;
    assert_eq!(soon(owner.read.read_line(&mut String::new())).await.unwrap(), 0);
    let error = json!({ "code": "CANCELLED", "message": "the request was cancelled" });
    let of_a_tool = json!({ "isError": true, "structuredContent": { "error": error } });
    owner.say(json!({ "jsonrpc": "2.0", "id": 1, "result": of_a_tool })).await;
    drop(owner);
    assert_eq!(world.client.hear().await["result"], of_a_tool);
    assert_eq!(world.ended().await, Ok(()));
}

#[tokio::test]
async fn a_client_that_is_gone_ends_the_bridge() {
    let (mut world, mut owner) = World::greeted().await;
    drop(world.client);
    let mut nothing = String::new();
    assert_eq!(soon(owner.read.read_line(&mut nothing)).await.unwrap(), 0);
    drop(owner);
    world.client = End::new(duplex(1).0);
    assert_eq!(world.ended().await, Ok(()));
}
