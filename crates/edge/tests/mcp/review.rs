//! The human behind a client is asked what they decide, in both eras.

use std::sync::Arc;

use protocol::relay::{Action, ProposalState};
use protocol::{Caller, ProposalId, Role, Scope, TaskId, ThreadId, Timestamp};
use serde_json::{Value, json};
use store::{ProposalRow, StoreError};
use testkit::{TestHub, caller};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use waystation_edge::mcp::serve_stream;

use crate::edge::{LEGACY, MODERN, app, soon};

/// A client of an operator whose token may decide.
struct Client {
    hub: TestHub,
    proposal: String,
    writer: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    _served: JoinSet<std::io::Result<()>>,
}

fn decider() -> Arc<Caller> {
    let ana = caller("ana", Role::Operator);
    Arc::new(Caller { scopes: ana.scopes.with(Scope::RelayDecide), ..(*ana).clone() })
}

impl Client {
    async fn start(by: Arc<Caller>) -> Self {
        let hub = TestHub::start();
        let proposal = propose(&hub).await;
        let (ours, theirs) = tokio::io::duplex(16 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        let mut served = JoinSet::new();
        served.spawn(serve_stream(app(&hub), by, reader, writer, CancellationToken::new()));
        let (reader, writer) = tokio::io::split(ours);
        let lines = BufReader::new(reader).lines();
        Self { hub, proposal, writer, lines, _served: served }
    }

    async fn write(&mut self, message: &Value) {
        soon(self.writer.write_all(format!("{message}\n").as_bytes())).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let line = soon(self.lines.next_line()).await.unwrap().expect("an answer comes");
        serde_json::from_str(&line).unwrap()
    }

    /// Leaves the decision to the human; answers what comes back first.
    async fn decide(&mut self, id: i64, more: Value) -> Value {
        let mut params = json!({
            "name": "decide_proposal", "arguments": { "proposal_id": self.proposal },
        });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.write(&call).await;
        self.read().await
    }

    async fn initialize(&mut self, capabilities: Value) {
        let params = json!({
            "protocolVersion": LEGACY,
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "0" },
        });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        self.write(&hello).await;
        self.read().await;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.write(&ready).await;
    }

    async fn state(&self) -> Value {
        let input = json!({ "proposal_id": self.proposal });
        self.hub.ok(&caller("boss", Role::Operator), "get_proposal", input).await
    }
}

/// Something that an agent wants, in a thread of its own.
async fn propose(hub: &TestHub) -> String {
    let boss = caller("boss", Role::Operator);
    let input = json!({ "title": "The shop", "participants": ["triage"] });
    let thread = hub.ok(&boss, "create_thread", input).await;
    let thread: ThreadId = thread["thread_id"].as_str().unwrap().parse().unwrap();
    let (now, id) = (hub.hub.now(), ProposalId::new(hub.hub.now(), [7; 10]));
    let action = Action {
        link: "github".to_owned(),
        place: "https://github.com/acme/shop/issues/12".to_owned(),
        text: "It is fixed".to_owned(),
        ..Action::default()
    };
    let written: Result<i64, StoreError> = hub
        .hub
        .store
        .write(move |tx| {
            let thread_row = tx.thread(thread, "triage")?.unwrap().thread.row;
            tx.insert_proposal(&row(id, thread_row, thread, &action, now))
        })
        .await;
    written.unwrap();
    id.to_string()
}

fn row(
    id: ProposalId,
    thread_row: i64,
    thread_id: ThreadId,
    action: &Action,
    now: Timestamp,
) -> ProposalRow {
    ProposalRow {
        row: 0,
        id,
        workspace: "wk_mobile_core".to_owned(),
        thread_row,
        thread_id,
        task: TaskId::new(now, [1; 10]),
        work: None,
        agent: "triage".to_owned(),
        state: ProposalState::Waiting,
        version: 1,
        action: serde_json::to_string(action).unwrap(),
        action_hash: action.hash().0.to_vec(),
        why: "it helps".to_owned(),
        created: now,
        expires: Timestamp::from_ms(now.as_ms() + 1_000_000),
        remind: None,
        reminders: 0,
        asked_at: None,
        decided_by: None,
        decided_via: None,
        decided: None,
        comment: None,
    }
}

fn meta(capabilities: &Value) -> Value {
    json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    } })
}

fn assert_asks(question: &Value) {
    let message = question["message"].as_str().unwrap();
    for part in ["triage", "draft 1", "acme/shop/issues/12", "It is fixed", "it helps"] {
        assert!(message.contains(part), "{message}");
    }
    let decisions = &question["requestedSchema"]["properties"]["decision"]["enum"];
    assert_eq!(decisions, &json!(["approve", "edit", "respond", "reject"]));
}

#[tokio::test]
async fn a_client_of_the_older_era_is_asked_while_its_call_waits() {
    let mut client = Client::start(decider()).await;
    client.initialize(json!({ "elicitation": {} })).await;
    let asked = client.decide(1, json!({})).await;
    assert_eq!(asked["method"], "elicitation/create");
    assert_asks(&asked["params"]);
    let content = json!({ "decision": "respond", "text": "say since when" });
    let answer = json!({ "action": "accept", "content": content });
    client.write(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer })).await;
    let decided = client.read().await;
    assert_eq!(decided["result"]["structuredContent"]["state"], "returned", "{decided}");
    let shown = client.state().await;
    let said = (&shown["comment"], &shown["decided_by"]);
    assert_eq!(said, (&json!("say since when"), &json!("ana")));
    client.hub.stop().await;
}

#[tokio::test]
async fn a_user_who_declines_decides_nothing() {
    let mut client = Client::start(decider()).await;
    client.initialize(json!({ "elicitation": {} })).await;
    let asked = client.decide(1, json!({})).await;
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } });
    client.write(&answer).await;
    let said = client.read().await;
    let text = said["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("nothing was decided"), "{said}");
    let stands = json!({ "proposal_id": client.proposal, "state": "waiting", "version": 1 });
    assert_eq!(said["result"]["structuredContent"], stands, "it fits the tool's schema");
    assert_eq!(client.state().await["state"], "waiting");
    client.hub.stop().await;
}

#[tokio::test]
async fn a_client_of_the_newer_era_is_answered_with_the_question_and_calls_again() {
    let mut client = Client::start(decider()).await;
    let can_ask = meta(&json!({ "elicitation": {} }));
    let asked = client.decide(1, can_ask.clone()).await;
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_asks(&asked["inputRequests"]["decision"]["params"]);
    // An answer to a question that we did not ask is asked anew.
    let answer = json!({ "action": "accept", "content": { "decision": "reject", "text": "" } });
    let mut again = can_ask.clone();
    again["inputResponses"] = json!({ "decision": { "action": "cancel" } });
    again["requestState"] = asked["requestState"].clone();
    let cancelled = client.decide(4, again.clone()).await;
    assert_eq!(cancelled["result"]["structuredContent"]["state"], "waiting", "{cancelled}");
    again["inputResponses"] = json!({ "decision": answer });
    again["requestState"] = json!("made up");
    let forged = client.decide(2, again.clone()).await;
    assert_eq!(forged["result"]["resultType"], "input_required", "{forged}");
    again["requestState"] = asked["requestState"].clone();
    let decided = client.decide(3, again).await;
    assert_eq!(decided["result"]["structuredContent"]["state"], "rejected", "{decided}");
    client.hub.stop().await;
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_told_what_to_give() {
    let mut client = Client::start(decider()).await;
    let refused = client.decide(1, meta(&json!({}))).await;
    let error = &refused["result"]["structuredContent"]["error"];
    assert_eq!((&error["code"], &error["field"]), (&json!("VALIDATION_ERROR"), &json!("decision")));
    assert!(error["hint"].as_str().unwrap().contains("approve, edit, respond or reject"));
    client.hub.stop().await;
}

#[tokio::test]
async fn whoever_may_not_decide_is_not_asked() {
    let mut client = Client::start(caller("boss", Role::Operator)).await;
    let refused = client.decide(1, meta(&json!({ "elicitation": {} }))).await;
    assert_eq!(refused["result"]["structuredContent"]["error"]["code"], "FORBIDDEN", "{refused}");
    assert_eq!(client.state().await["state"], "waiting");
    client.hub.stop().await;
}
