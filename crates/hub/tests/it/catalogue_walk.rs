//! Tests that walk every operation there is, for ever: scopes, names, schemas, roles, workspaces.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use protocol::Role::{Observer, Operator, Orchestrator, Plugin, Service, Worker};
use protocol::chat::ChatGrant;
use protocol::relay::{Envelope, ToolCall};
use protocol::{Caller, Role, Scope, Scopes, TaskId, ToolCallId};
use serde_json::{Map, Value, json};
use testkit::{TestHub, caller, caller_in};
use waystation_hub::relay::tools::{Asked, request};

use crate::quiet;

#[tokio::test]
async fn nobody_gets_past_the_scope_of_any_operation() {
    let hub = quiet::hub();
    for entry in hub.catalogue.entries() {
        let others = Scope::ALL.into_iter().filter(|scope| !entry.gates().has(*scope));
        let scopes = others.fold(Scopes::default(), Scopes::with);
        let without = Arc::new(Caller { scopes, ..(*caller("a", Operator)).clone() });
        // Not even a malformed input says anything to somebody who may not ask.
        for input in [b"{}".to_vec(), b"{".to_vec()] {
            let error = hub.call_text(&without, entry.name, input).await.unwrap_err();
            assert_eq!(error.code().name(), "FORBIDDEN", "{}", entry.name);
            assert!(error.to_string().contains(entry.scope.name()), "{error}");
        }
    }
    hub.stop().await;
}

#[test]
fn names_routes_scopes_effects_and_input_schemas_are_as_written_down() {
    let catalogue = waystation_hub::catalogue();
    let mut shown = Map::new();
    for entry in catalogue.entries() {
        let about = json!({
            "route": format!("{:?} {}", entry.route.method, entry.route.path),
            "scope": entry.scope.name(),
            "effect": format!("{:?}", entry.effect),
            "quota": format!("{:?}", entry.quota),
            "toolset": entry.toolset,
            "input": entry.description().input,
        });
        assert_eq!(shown.insert(entry.name.to_owned(), about), None, "{} twice", entry.name);
    }
    insta::assert_json_snapshot!("catalogue", Value::Object(shown));
}

#[test]
fn every_operation_documents_itself_and_refuses_what_it_does_not_know() {
    for entry in waystation_hub::catalogue().entries() {
        assert!(entry.description().doc.trim().len() > 20, "{} says nothing of itself", entry.name);
        let schema = &entry.description().input;
        assert_eq!(schema.get("additionalProperties"), Some(&json!(false)), "{}", entry.name);
        let properties = schema.get("properties").and_then(Value::as_object).unwrap();
        for (name, property) in properties {
            let doc = property.get("description").and_then(Value::as_str).unwrap_or_default();
            assert!(!doc.trim().is_empty(), "{}.{name} says nothing of itself", entry.name);
        }
        for parameter in entry.route.parameters() {
            assert!(properties.contains_key(parameter), "{} has no {parameter}", entry.name);
        }
        assert!(
            !entry.description().output.is_empty(),
            "{} does not describe its answer",
            entry.name
        );
    }
}

#[test]
fn no_two_operations_share_a_name_or_a_route() {
    let catalogue = waystation_hub::catalogue();
    let mut routes: Vec<String> = catalogue
        .entries()
        .iter()
        .map(|entry| format!("{:?} {}", entry.route.method, entry.route.path))
        .collect();
    routes.sort();
    let count = routes.len();
    routes.dedup();
    assert_eq!(routes.len(), count);
}

/// What an operation is about, which decides what a stranger to it hears.
#[derive(Clone, Copy, PartialEq)]
enum About {
    /// A thread: foreign and missing ones are not found, outsiders are forbidden.
    Thread,
    /// A chat: it is not found by whoever is not given it, be it foreign, missing or just not theirs.
    Chat,
    /// A token or a link: foreign and missing ones are not found.
    Token,
    /// A wake: foreign and missing ones are not found, and of others only a host speaks.
    Wake,
    /// Work: foreign and missing ones are not found, and only who has it may say anything about it.
    Work,
    /// A memory: foreign and missing ones are not found, others' need authority.
    Memory,
    /// The caller's workspace, named in the payload: another one is out of scope.
    NamedWorkspace,
    /// The caller's workspace: it shows nothing of another.
    OwnWorkspace,
}

/// One row of the matrix.
pub(crate) struct Row {
    pub(crate) operation: &'static str,
    about: About,
    /// Who may ask at all.
    roles: &'static [Role],
    /// An input that works, about a thread, message or token.
    pub(crate) input: fn(&Objects) -> Value,
}

const EVERYONE: &[Role] = &[Operator, Orchestrator, Worker, Observer, Service];
const WRITERS: &[Role] = &[Operator, Orchestrator, Worker, Service];
const AGENTS: &[Role] = &[Operator, Orchestrator, Worker];
const SEERS: &[Role] = &[Operator, Orchestrator, Worker, Observer];
const OPERATOR: &[Role] = &[Operator];

/// Every operation × every role × {own, outside, foreign, missing}.
pub(crate) const MATRIX: &[Row] = &[
    Row {
        operation: "create_thread",
        about: About::NamedWorkspace,
        roles: WRITERS,
        input: |o| json!({ "title": "New", "workspace_id": o.workspace }),
    },
    Row {
        operation: "list_threads",
        about: About::OwnWorkspace,
        roles: EVERYONE,
        input: |_| json!({}),
    },
    Row {
        operation: "get_thread",
        about: About::Thread,
        roles: EVERYONE,
        input: |o| json!({ "thread_id": o.thread }),
    },
    Row {
        operation: "post_message",
        about: About::Thread,
        roles: WRITERS,
        input: |o| json!({ "thread_id": o.thread, "body": "hello" }),
    },
    Row {
        operation: "read_messages",
        about: About::Thread,
        roles: EVERYONE,
        input: |o| json!({ "thread_id": o.thread }),
    },
    Row {
        operation: "wait_for_messages",
        about: About::Thread,
        roles: EVERYONE,
        input: |o| json!({ "thread_id": o.thread, "timeout_ms": 0 }),
    },
    Row {
        operation: "ack_read",
        about: About::Thread,
        roles: EVERYONE,
        input: |o| json!({ "thread_id": o.thread, "last_read_seq": 1 }),
    },
    Row {
        operation: "get_message",
        about: About::Thread,
        roles: EVERYONE,
        input: |o| json!({ "thread_id": o.thread, "message_id": o.message }),
    },
    Row {
        operation: "search_messages",
        about: About::Thread,
        roles: EVERYONE,
        input: |o| json!({ "query": "word", "thread_id": o.thread }),
    },
    Row {
        operation: "summarize_thread",
        about: About::Thread,
        roles: EVERYONE,
        input: |o| json!({ "thread_id": o.thread }),
    },
    Row {
        operation: "update_thread_status",
        about: About::Thread,
        roles: WRITERS,
        input: |o| json!({ "thread_id": o.thread, "status": "blocked" }),
    },
    Row {
        operation: "add_participants",
        about: About::Thread,
        roles: WRITERS,
        input: |o| json!({ "thread_id": o.thread, "participants": ["newcomer"] }),
    },
    Row {
        operation: "remove_participants",
        about: About::Thread,
        roles: WRITERS,
        input: |o| json!({ "thread_id": o.thread, "participants": [o.caller] }),
    },
    Row {
        operation: "list_sources",
        about: About::OwnWorkspace,
        roles: SEERS,
        input: |_| json!({}),
    },
    Row {
        operation: "list_chats",
        about: About::Chat,
        roles: SEERS,
        input: |o| json!({ "source": o.source }),
    },
    Row {
        operation: "get_messages",
        about: About::Chat,
        roles: SEERS,
        input: |o| json!({ "source": o.source, "chat": "canary" }),
    },
    Row {
        operation: "get_context",
        about: About::Chat,
        roles: SEERS,
        input: |o| json!({ "message_id": o.chat_message }),
    },
    Row {
        // No role sends by itself: the token says so.
        operation: "send_message",
        about: About::Chat,
        roles: &[],
        input: |o| json!({ "source": o.source, "chat": "canary", "text": "x" }),
    },
    Row {
        operation: "get_attachment",
        about: About::Chat,
        roles: SEERS,
        input: |o| json!({ "message_id": o.attached }),
    },
    Row {
        operation: "add_messages",
        about: About::OwnWorkspace,
        roles: OPERATOR,
        input: |o| json!({ "source": o.source, "facts": {} }),
    },
    Row {
        operation: "add_link",
        about: About::OwnWorkspace,
        roles: OPERATOR,
        input: |_| json!({ "service": "quiet" }),
    },
    Row {
        operation: "list_links",
        about: About::OwnWorkspace,
        roles: OPERATOR,
        input: |_| json!({}),
    },
    Row {
        operation: "check_link",
        about: About::Token,
        roles: OPERATOR,
        input: |o| json!({ "name": o.link }),
    },
    Row {
        operation: "remove_link",
        about: About::Token,
        roles: OPERATOR,
        input: |o| json!({ "name": o.link }),
    },
    Row {
        operation: "heartbeat_session",
        about: About::NamedWorkspace,
        roles: AGENTS,
        input: |o| json!({ "runtime": "codex_cli", "workspace_id": o.workspace }),
    },
    Row {
        operation: "list_sessions",
        about: About::OwnWorkspace,
        roles: SEERS,
        input: |_| json!({}),
    },
    Row {
        operation: "list_agents",
        about: About::OwnWorkspace,
        roles: SEERS,
        input: |_| json!({}),
    },
    Row {
        operation: "open_session",
        about: About::OwnWorkspace,
        roles: OPERATOR,
        input: |_| json!({ "agent_id": "somebody", "runtime": "codex_cli", "host": "host" }),
    },
    Row {
        operation: "trigger_participant",
        about: About::Thread,
        roles: WRITERS,
        input: |o| {
            json!({
                "thread_id": o.thread, "target_agent_id": o.participant, "reason": "unread",
                "wait_ms": 0,
            })
        },
    },
    Row {
        operation: "list_wakes",
        about: About::Thread,
        roles: EVERYONE,
        input: |o| json!({ "thread_id": o.thread }),
    },
    Row {
        operation: "cancel_wake",
        about: About::Thread,
        roles: WRITERS,
        input: |o| json!({ "wake_id": o.wake }),
    },
    Row {
        operation: "claim_wakes",
        about: About::OwnWorkspace,
        roles: OPERATOR,
        input: |_| json!({ "host": "host", "wait_ms": 0 }),
    },
    Row {
        operation: "report_wake",
        about: About::Wake,
        roles: AGENTS,
        input: |o| json!({ "wake_id": o.wake, "attempt": 0, "state": "turn_started" }),
    },
    Row {
        operation: "wait_for_wake",
        about: About::OwnWorkspace,
        roles: AGENTS,
        input: |_| json!({ "timeout_ms": 0 }),
    },
    Row {
        operation: "set_wake_policy",
        about: About::OwnWorkspace,
        roles: AGENTS,
        input: |o| json!({ "agent_id": o.caller, "policy": { "on": ["mention"] } }),
    },
    Row {
        operation: "get_wake_policy",
        about: About::OwnWorkspace,
        roles: SEERS,
        input: |o| json!({ "agent_id": o.caller }),
    },
    Row {
        operation: "issue_token",
        about: About::OwnWorkspace,
        roles: OPERATOR,
        input: |_| json!({ "agent_id": "someone" }),
    },
    Row {
        operation: "list_tokens",
        about: About::OwnWorkspace,
        roles: OPERATOR,
        input: |_| json!({}),
    },
    Row {
        operation: "revoke_token",
        about: About::Token,
        roles: OPERATOR,
        input: |o| json!({ "jti": o.jti }),
    },
    Row {
        operation: "read_audit",
        about: About::OwnWorkspace,
        roles: OPERATOR,
        input: |_| json!({}),
    },
    // The relay: envelopes and deliveries.
    Row {
        operation: "post_envelope",
        about: About::Thread,
        roles: AGENTS,
        input: |o| {
            json!({ "envelope": {
                "id": "a1", "timestamp": "2026-02-17T12:00:00Z", "channel": "internal",
                "role": "assistant", "content": "hello", "meta": { "thread_id": o.thread },
            } })
        },
    },
    Row {
        operation: "read_envelopes",
        about: About::Thread,
        roles: EVERYONE,
        input: |o| json!({ "thread_id": o.thread }),
    },
    Row {
        operation: "list_deliveries",
        about: About::Token,
        roles: OPERATOR,
        input: |o| json!({ "name": o.link }),
    },
    Row {
        operation: "replay_delivery",
        about: About::Token,
        roles: OPERATOR,
        input: |o| json!({ "delivery_id": o.delivery, "again": true }),
    },
    Row {
        operation: "test_link",
        about: About::Token,
        roles: OPERATOR,
        input: |o| json!({ "name": o.link }),
    },
    // What humans decide.
    Row {
        operation: "propose_action",
        about: About::Thread,
        roles: AGENTS,
        input: |o| json!({ "thread_id": o.thread, "action": { "text": "hello" } }),
    },
    Row {
        operation: "revise_proposal",
        about: About::Thread,
        roles: AGENTS,
        input: |o| json!({ "proposal_id": o.proposal, "text": "other" }),
    },
    Row {
        operation: "withdraw_proposal",
        about: About::Thread,
        roles: AGENTS,
        input: |o| json!({ "proposal_id": o.proposal }),
    },
    Row {
        operation: "list_proposals",
        about: About::OwnWorkspace,
        roles: EVERYONE,
        input: |_| json!({}),
    },
    Row {
        operation: "get_proposal",
        about: About::Thread,
        roles: EVERYONE,
        input: |o| json!({ "proposal_id": o.proposal }),
    },
    Row {
        // No role decides by itself: it takes a token that was issued behind the passphrase.
        operation: "decide_proposal",
        about: About::Thread,
        roles: &[],
        input: |o| json!({ "proposal_id": o.proposal, "version": 1, "decision": "reject" }),
    },
    // The relay: work for agents, and what leaves for services.
    Row {
        operation: "pull_work",
        about: About::OwnWorkspace,
        roles: AGENTS,
        input: |_| json!({ "wait_ms": 0 }),
    },
    Row {
        operation: "extend_work",
        about: About::Work,
        roles: AGENTS,
        input: |o| json!({ "work_id": o.work, "fence": 1 }),
    },
    Row {
        operation: "complete_work",
        about: About::Work,
        roles: AGENTS,
        input: |o| json!({ "work_id": o.work, "fence": 1, "replies": [{ "content": "done" }] }),
    },
    Row {
        operation: "release_work",
        about: About::Work,
        roles: AGENTS,
        input: |o| json!({ "work_id": o.work, "fence": 1, "reason": "not mine" }),
    },
    Row {
        operation: "requeue_work",
        about: About::Token,
        roles: OPERATOR,
        input: |o| json!({ "work_id": o.work }),
    },
    Row { operation: "list_work", about: About::OwnWorkspace, roles: AGENTS, input: |_| json!({}) },
    Row {
        operation: "list_outbox",
        about: About::OwnWorkspace,
        roles: OPERATOR,
        input: |_| json!({}),
    },
    Row {
        operation: "redrive_outbox",
        about: About::Token,
        roles: OPERATOR,
        input: |o| json!({ "outbox_id": o.outbox }),
    },
    Row {
        operation: "cancel_outbox",
        about: About::Token,
        roles: OPERATOR,
        input: |o| json!({ "outbox_id": o.outbox }),
    },
    // The relay: tools and context.
    Row {
        operation: "get_tool_call",
        about: About::Thread,
        roles: AGENTS,
        input: |o| json!({ "call_id": o.tool_call }),
    },
    Row {
        operation: "cancel_tool_call",
        about: About::Thread,
        roles: AGENTS,
        input: |o| json!({ "call_id": o.tool_call }),
    },
    Row {
        operation: "assemble_context",
        about: About::Thread,
        roles: AGENTS,
        input: |o| json!({ "thread_id": o.thread }),
    },
    // Memory and documents.
    Row {
        operation: "remember",
        about: About::OwnWorkspace,
        roles: AGENTS,
        input: |_| json!({ "kind": "long_term", "data": { "text": "Deploys need two approvals" } }),
    },
    Row {
        operation: "recall",
        about: About::OwnWorkspace,
        roles: AGENTS,
        input: |_| json!({ "query": "approvals" }),
    },
    Row {
        operation: "forget",
        about: About::Memory,
        roles: AGENTS,
        input: |o| json!({ "memory_id": o.memory }),
    },
    Row {
        operation: "retrieve_docs",
        about: About::OwnWorkspace,
        roles: AGENTS,
        input: |_| json!({ "query": "anything" }),
    },
    Row {
        operation: "add_documents",
        about: About::OwnWorkspace,
        roles: OPERATOR,
        input: |_| json!({ "documents": [{ "source": "a.md", "text": "# A\nB" }] }),
    },
    Row {
        operation: "list_documents",
        about: About::OwnWorkspace,
        roles: OPERATOR,
        input: |_| json!({}),
    },
    Row {
        operation: "remove_documents",
        about: About::OwnWorkspace,
        roles: OPERATOR,
        input: |_| json!({ "sources": ["nothing.md"] }),
    },
];

pub(crate) const OWN: &str = "wk_mobile_core";
const OTHER: &str = "wk_other";

/// What a row's input names.
pub(crate) struct Objects {
    workspace: &'static str,
    caller: String,
    thread: String,
    message: String,
    jti: String,
    source: String,
    chat_message: String,
    link: String,
    /// A message of the link with something to fetch.
    attached: String,
    /// Who takes part in the thread.
    participant: String,
    /// A wake of that one, which it asked for itself.
    wake: String,
    /// Something that the link's service said.
    delivery: String,
    /// Something that the participant wants to do at the link's service.
    proposal: String,
    /// Work that the participant has taken.
    work: String,
    /// An action that waits to be sent.
    outbox: String,
    /// A call of that one, which nobody runs yet.
    tool_call: String,
    /// Something that the participant remembers.
    memory: String,
}

/// Every source of these tests has a name of its own.
static SOURCES: AtomicUsize = AtomicUsize::new(0);

impl Objects {
    /// Fresh ones in a workspace, in which an agent takes part. Their text is a canary.
    pub(crate) async fn fresh(hub: &TestHub, workspace: &'static str, agent: &str) -> Self {
        let owner = caller_in(workspace, &format!("canary_{workspace}"), Operator);
        let text = |value: &Value, key: &str| value[key].as_str().unwrap().to_owned();
        let input = json!({ "title": format!("canary {workspace}"), "participants": [agent] });
        let thread = text(&hub.ok(&owner, "create_thread", input).await, "thread_id");
        let input = json!({ "thread_id": thread, "body": format!("canary {workspace}") });
        let message = text(&hub.ok(&owner, "post_message", input).await, "message_id");
        let beat = json!({ "runtime": "codex_cli" });
        hub.ok(&owner, "heartbeat_session", beat).await;
        let token = json!({ "agent_id": format!("canary_{workspace}") });
        let jti = text(&hub.ok(&owner, "issue_token", token).await, "jti");
        let number = SOURCES.fetch_add(1, Ordering::Relaxed);
        let (source, link) = (format!("source-{number}"), format!("link-{number}"));
        let said = json!({
            "chat_id": "canary", "message_id": "1", "sent_at": "2026-02-17T11:00:00Z",
            "text": format!("canary {workspace}"),
        });
        let input = json!({ "source": source, "facts": { "messages": [said] } });
        hub.ok(&owner, "add_messages", input).await;
        let input = json!({ "source": source, "chat": "canary" });
        let said = hub.ok(&owner, "get_messages", input).await;
        let chat_message = text(&said["messages"][0], "id");
        hub.ok(&owner, "add_link", json!({ "service": "quiet", "name": link })).await;
        let said = json!({
            "chat_id": "canary", "message_id": "1", "sent_at": "2026-02-17T11:00:00Z",
            "attachments": [{ "remote_id": "file" }], "content": "file",
        });
        let input = json!({ "source": link, "service": "quiet", "facts": { "messages": [said] } });
        hub.ok(&owner, "add_messages", input).await;
        let input = json!({ "source": link, "chat": "canary", "offline": true });
        let attached = text(&hub.ok(&owner, "get_messages", input).await["messages"][0], "id");
        let session = json!({ "agent_id": agent, "runtime": "codex_cli", "host": "host" });
        hub.ok(&owner, "open_session", session).await;
        let input = json!({
            "thread_id": thread, "target_agent_id": agent, "reason": "canary", "wait_ms": 0,
        });
        let by = caller_in(workspace, agent, Worker);
        let wake = text(&hub.ok(&by, "trigger_participant", input).await, "wake_id");
        let tried = hub.ok(&owner, "test_link", json!({ "name": link })).await;
        let delivery = text(&tried["taken"][0], "delivery_id");
        let proposal = propose(hub, &by, &thread, &link).await;
        let work = text(&take_work(hub, &by, &link).await, "work_id");
        let outbox = queue_action(hub, workspace, link.clone()).await;
        let tool_call = asked_tool(hub, &by, &thread).await;
        let data = json!({ "text": format!("canary {workspace}") });
        let input = json!({ "kind": "long_term", "data": data });
        let memory = text(&hub.ok(&by, "remember", input).await, "memory_id");
        let (caller, participant) = (agent.to_owned(), agent.to_owned());
        Self {
            workspace,
            caller,
            thread,
            message,
            jti,
            source,
            chat_message,
            link,
            attached,
            participant,
            wake,
            delivery,
            proposal,
            work,
            outbox,
            tool_call,
            memory,
        }
    }

    /// Well-formed names of things that are not there.
    fn missing(agent: &str) -> Self {
        Self {
            workspace: OWN,
            caller: agent.to_owned(),
            thread: "th_01JXYZ0000000000000000000".to_owned(),
            message: "msg_0000000000G00000000000000".to_owned(),
            jti: "jti_01JXYZ0000000000000000000".to_owned(),
            source: "no-source".to_owned(),
            chat_message: "msg_0000000000G00000000000000".to_owned(),
            link: "no-link".to_owned(),
            attached: "msg_0000000000G00000000000000".to_owned(),
            participant: agent.to_owned(),
            wake: "wk_01JXYZ0000000000000000000".to_owned(),
            delivery: "dlv_01JXYZ0000000000000000000".to_owned(),
            proposal: "prop_01JXYZ0000000000000000000".to_owned(),
            work: "work_01JXYZ0000000000000000000".to_owned(),
            outbox: "out_01JXYZ0000000000000000000".to_owned(),
            tool_call: "call_01JXYZ0000000000000000000".to_owned(),
            memory: "mem_01JXYZ0000000000000000000".to_owned(),
        }
    }
}

/// Lets a thread stand for something at a link's service, and has an agent propose to answer there.
async fn propose(hub: &TestHub, by: &Arc<Caller>, thread: &str, link: &str) -> String {
    let (workspace, link) = (by.workspace_id.clone(), link.to_owned());
    let (id, agent) = (thread.parse().unwrap(), by.agent_id.clone());
    let stands: Result<(), store::StoreError> = hub
        .hub
        .store
        .write(move |tx| {
            let thread_row = tx.thread(id, &agent)?.unwrap().thread.row;
            let link_row = tx.link(&workspace, &link)?.unwrap().row;
            let (key, channel) = (format!("canary:{thread_row}"), "quiet".to_owned());
            let address = "{}".to_owned();
            let new =
                store::RelayThreadRow { thread_row, link_row, key, channel, url: None, address };
            tx.insert_relay_thread(&new)
        })
        .await;
    stands.unwrap();
    let input = json!({ "thread_id": thread, "action": { "text": "canary" } });
    let made = hub.ok(by, "propose_action", input).await;
    made["proposal_id"].as_str().unwrap().to_owned()
}

/// Takes the work that a link's trial made, with a fence of 1.
async fn take_work(hub: &TestHub, by: &Arc<Caller>, link: &str) -> Value {
    for _ in 0..100 {
        let pulled = hub.ok(by, "pull_work", json!({ "wait_ms": 0 })).await;
        let item = &pulled["items"][0];
        let named = item["envelope"].to_string().contains(link);
        if item["fence"] == 1 && named {
            return item.clone();
        }
    }
    panic!("{link} made no work");
}

/// Something that is to leave through a link tomorrow.
async fn queue_action(hub: &TestHub, workspace: &'static str, link: String) -> String {
    let at = hub.hub.now().plus_ms(24 * 3_600_000);
    let id = protocol::OutboxId(hub.hub.new_uid(at));
    let action = protocol::relay::Action { link, ..Default::default() };
    let queued = hub.hub.store.write(move |tx| {
        let link_row = tx.link(workspace, &action.link)?.unwrap().row;
        tx.insert_outbox(&store::NewOutboxRow {
            id,
            workspace,
            link_row,
            destination: "canary",
            action: &serde_json::to_string(&action).unwrap(),
            action_hash: action.hash(),
            buttons: None,
            replaces: None,
            thread_row: None,
            task: None,
            agent: "canary",
            proposal: None,
            at,
        })
    });
    let queued: store::Result<()> = queued.await;
    queued.unwrap();
    id.to_string()
}

/// A call of a tool that is due tomorrow.
async fn asked_tool(hub: &TestHub, by: &Arc<Caller>, thread: &str) -> String {
    let now = hub.hub.now();
    let id = ToolCallId(hub.hub.new_uid(now));
    let (by, thread) = (Arc::clone(by), thread.parse().unwrap());
    let asked = hub.hub.store.write(move |tx| {
        let thread = tx.thread(thread, &by.agent_id)?.unwrap().thread;
        let tool_call = ToolCall { name: "SummarizeIssue".to_owned(), ..ToolCall::default() };
        let envelope = Envelope { tool_call: Some(tool_call), ..Envelope::default() };
        let asked = Asked {
            thread: &thread,
            seq: 1,
            envelope: &envelope,
            task: TaskId(id.0),
            caller: &by,
            id,
            now: now.plus_ms(24 * 3_600_000),
        };
        request(tx, &asked)
    });
    asked.await.unwrap().to_string()
}

#[test]
fn every_operation_stands_in_the_matrix() {
    let mut rows: Vec<&str> = MATRIX.iter().map(|row| row.operation).collect();
    let catalogue = waystation_hub::catalogue();
    let mut names: Vec<&str> = catalogue.entries().iter().map(|entry| entry.name).collect();
    rows.sort_unstable();
    names.sort_unstable();
    assert_eq!(rows, names, "give every operation exactly one row of the matrix");
}

#[tokio::test]
async fn every_role_gets_what_the_matrix_says_in_its_own_workspace() {
    let hub = quiet::hub();
    for (row, role) in cells() {
        let agent = format!("the_{role}");
        let by = caller_for(row, &agent, role);
        let own = Objects::fresh(&hub, OWN, &agent).await;
        let expected = if row.roles.contains(&role) { "ok" } else { "FORBIDDEN" };
        assert_eq!(outcome(&hub, &by, row, &own).await.0, expected, "{} {role}", row.operation);
        // Somebody of the same workspace who does not take part.
        let outside = Objects::fresh(&hub, OWN, "somebody_else").await;
        let outsider = Objects { caller: agent, ..outside };
        let (expected, by) = match (row.about, role.has_authority()) {
            (About::Thread, false) => ("FORBIDDEN", by),
            (About::Work, _) if expected == "ok" => ("CONFLICT", by),
            (About::Memory, false) if expected == "ok" => ("INSUFFICIENT_AUTHORITY", by),
            (About::Wake, _) if !by.scopes.has(Scope::AgentsHost) => ("FORBIDDEN", by),
            (About::Chat, _) if expected == "ok" => {
                (not_found(row), Arc::new(Caller { chats: ChatGrant::None, ..(*by).clone() }))
            }
            _ => (expected, by),
        };
        let (code, _) = outcome(&hub, &by, row, &outsider).await;
        assert_eq!(code, expected, "{} {role} outside", row.operation);
    }
    hub.stop().await;
}

#[tokio::test]
async fn a_foreign_object_answers_exactly_like_a_missing_one() {
    let hub = quiet::hub();
    for (row, role) in cells() {
        let agent = format!("the_{role}");
        let by = caller_for(row, &agent, role);
        let foreign = Objects::fresh(&hub, OTHER, &agent).await;
        let (code, told) = outcome(&hub, &by, row, &foreign).await;
        let (missing_code, missing) = outcome(&hub, &by, row, &Objects::missing(&agent)).await;
        let expected = match (row.roles.contains(&role), row.about) {
            (false, _) => ("FORBIDDEN", "FORBIDDEN"),
            (true, About::Thread | About::Token | About::Wake | About::Work | About::Memory) => {
                ("NOT_FOUND", "NOT_FOUND")
            }
            (true, About::Chat) => (not_found(row), not_found(row)),
            (true, About::NamedWorkspace) => ("OUT_OF_SCOPE_WORKSPACE", "ok"),
            (true, About::OwnWorkspace) => ("ok", "ok"),
        };
        assert_eq!((code, missing_code), expected, "{} {role}", row.operation);
        if code != "ok" && row.about != About::NamedWorkspace {
            // A refusal may name what was asked for, and nothing else.
            let told = told.replace(&foreign.source, "no-source");
            assert_eq!(told, missing, "{} {role} tells foreign from missing", row.operation);
        }
        assert!(!told.contains("wk_other"), "{} {role} shows {told}", row.operation);
    }
    hub.stop().await;
}

/// What a chat that is not there is called by an operation.
fn not_found(row: &Row) -> &'static str {
    match row.operation {
        "get_context" | "get_attachment" => "NOT_FOUND",
        _ => "SOURCE_NOT_FOUND",
    }
}

/// A caller of a role; where chats are the matter, one who is given all of them.
fn caller_for(row: &Row, agent: &str, role: Role) -> Arc<Caller> {
    let by = caller(agent, role);
    match row.about {
        About::Chat => Arc::new(Caller { chats: ChatGrant::All, ..(*by).clone() }),
        _ => by,
    }
}

fn cells() -> impl Iterator<Item = (&'static Row, Role)> {
    assert!(!MATRIX.iter().any(|row| row.roles.contains(&Plugin)));
    MATRIX.iter().flat_map(|row| Role::ALL.into_iter().map(move |role| (row, role)))
}

/// The code of a call, and everything the caller gets to see.
async fn outcome(
    hub: &TestHub,
    by: &Arc<Caller>,
    row: &Row,
    objects: &Objects,
) -> (&'static str, String) {
    match hub.call(by, row.operation, (row.input)(objects)).await {
        Ok(answer) => {
            let schema = &hub.catalogue.get(row.operation).unwrap().description().output;
            assert_fits(&Value::Object(schema.clone()), &answer, row.operation);
            ("ok", answer.to_string())
        }
        Err(error) => {
            let body = error.body("req".to_owned());
            (error.code().name(), serde_json::to_string(&body).unwrap())
        }
    }
}

/// The answer is what its schema says: names, types, nothing missing. Enough of JSON Schema for ours.
fn assert_fits(schema: &Value, value: &Value, at: &str) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = match &schema["type"] {
        Value::String(only) => only == kind || (only == "number" && kind == "integer"),
        Value::Array(any) => any.iter().any(|one| one == kind),
        _ => true,
    };
    assert!(fits, "{at}: {value} is no {}", schema["type"]);
    for item in value.as_array().into_iter().flatten() {
        assert_fits(&schema["items"], item, &format!("{at}[]"));
    }
    let Some(object) = value.as_object() else { return };
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(object.contains_key(name.as_str().unwrap()), "{at} lacks {name}: {value}");
    }
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, field) in object {
        let known = properties.get(name).unwrap_or_else(|| panic!("{at}.{name} is not described"));
        assert_fits(known, field, &format!("{at}.{name}"));
    }
}
