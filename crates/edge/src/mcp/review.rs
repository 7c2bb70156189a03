//! Asking the human behind an MCP client what they decide about a proposal.
//!
//! Clients of the newer era are answered with a question and call again with the answer; those of the
//! older one are asked while their call waits. What the answer says is decided through the catalogue's
//! door like any other decision, and about the draft that was shown.

use protocol::Scope;
use protocol::limits::approvals::ELICITATION_TIMEOUT;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult,
    ProtocolVersion, RequestStateCodec,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::failure;
use super::server::Server;

/// The operation whose decision may be left to the human behind the client.
pub(super) const OPERATION: &str = "decide_proposal";
/// The name of the question.
const QUESTION: &str = "decision";

/// Whether a call leaves the decision to a human.
pub(super) fn is_left_open(request: &CallToolRequestParams) -> bool {
    request.arguments.as_ref().is_none_or(|given| !given.contains_key("decision"))
}

/// Asks the human, and decides what they said; `None` where the client cannot ask anybody, or may not
/// decide anyway.
pub(super) async fn ask(
    server: &Server,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    let can_ask = context.client_capabilities().is_some_and(|can| can.elicitation.is_some());
    let call = server.call(context)?;
    if !can_ask || !call.caller().scopes.has(Scope::RelayDecide) {
        return Ok(None);
    }
    let id = request.arguments.as_ref().and_then(|given| given.get("proposal_id")?.as_str());
    let Some(id) = id else { return Ok(None) };
    let found = server.run(&call, "get_proposal", json!({ "proposal_id": id })).await;
    let proposal = match found {
        Ok(answer) => answer.value(),
        Err(error) => {
            let request_id = call.identity.request_id.to_string();
            return Ok(Some(failure::tool_result(&error, request_id).into()));
        }
    };
    let version = proposal.get("version").and_then(Value::as_i64).unwrap_or_default();
    let is_modern =
        context.protocol_version().is_some_and(|spoken| spoken >= ProtocolVersion::V_2026_07_28);
    let (seen, answer) = if is_modern {
        match answered(server, request, id) {
            Some(answered) => answered,
            None => return question(server, &proposal, id, version).map(Some),
        }
    } else {
        let question = read(form(&proposal))?;
        let timeout = Some(ELICITATION_TIMEOUT);
        let asked = context.peer.create_elicitation_with_timeout(question, timeout);
        let asked = tokio::select! {
            asked = asked => asked,
            () = context.ct.cancelled() => {
                let request_id = call.identity.request_id.to_string();
                return Err(failure::rpc_error(&hub::Error::Cancelled, request_id));
            }
        };
        let answer = asked.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        (version, serde_json::to_value(answer).unwrap_or_default())
    };
    if answer.get("action").and_then(Value::as_str) != Some("accept") {
        return Ok(Some(undecided(&proposal).into()));
    }
    let input = decision(id, seen, answer.get("content").unwrap_or(&Value::Null));
    let decided = match server.run(&call, OPERATION, input).await {
        Ok(answer) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(answer.brief())]);
            result.structured_content = Some(answer.value());
            result
        }
        Err(error) => failure::tool_result(&error, call.identity.request_id.to_string()),
    };
    Ok(Some(decided.into()))
}

/// What a call answers when the human decided nothing: how the proposal stands, in the fields of a
/// decision. Clients hold every success to the schema of the tool.
fn undecided(proposal: &Value) -> CallToolResult {
    let words = "nothing was decided: the user did not answer";
    let mut result = CallToolResult::success(vec![ContentBlock::text(words)]);
    let stands = ["proposal_id", "state", "version"].map(|field| (field, proposal[field].clone()));
    result.structured_content = Some(stands.into_iter().collect());
    result
}

/// The answer that a second call brings, and the draft that was shown, if both are ours.
fn answered(server: &Server, request: &CallToolRequestParams, id: &str) -> Option<(i64, Value)> {
    let sealed = request.request_state.as_ref()?;
    let state = String::from_utf8(codec(server)?.open(sealed).ok()?).ok()?;
    let (about, version) = state.rsplit_once(' ')?;
    if about != id {
        return None;
    }
    let answer = request.input_responses.as_ref()?.get(QUESTION)?.clone();
    Some((version.parse().ok()?, answer))
}

fn question(
    server: &Server,
    proposal: &Value,
    id: &str,
    version: i64,
) -> Result<CallToolResponse, ErrorData> {
    let Some(codec) = codec(server) else {
        return Err(ErrorData::internal_error("the question cannot be sealed", None));
    };
    let state = codec.seal(format!("{id} {version}").as_bytes());
    let request = json!({ "method": "elicitation/create", "params": form(proposal) });
    let asked: InputRequiredResult = read(json!({
        "resultType": "input_required",
        "inputRequests": { QUESTION: request },
        "requestState": state,
    }))?;
    Ok(asked.into())
}

/// What a question is sealed with lives as long as the server: whoever comes later is asked anew.
fn codec(server: &Server) -> Option<RequestStateCodec> {
    RequestStateCodec::try_new(&server.shared.question_key).ok()
}

fn form(proposal: &Value) -> Value {
    let text = |key: &str| proposal[key].as_str().unwrap_or_default();
    let why = match text("why") {
        "" => String::new(),
        why => format!("\n\nWhy: {why}"),
    };
    let message = format!(
        "{} wants to send draft {} to {}:\n\n{}{why}",
        text("agent_id"),
        proposal["version"],
        text("place"),
        text("text"),
    );
    json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                "decision": {
                    "type": "string",
                    "title": "Decision",
                    "description": "approve as it stands, edit and approve, respond with a remark, or reject",
                    "enum": ["approve", "edit", "respond", "reject"],
                },
                "text": {
                    "type": "string",
                    "title": "Text",
                    "description": "with edit: what is sent instead; with respond: the remark",
                },
                "comment": { "type": "string", "title": "Comment", "description": "for the thread" },
            },
            "required": ["decision"],
        },
    })
}

/// What the human filled in, as the operation takes it; empty fields were not filled in.
fn decision(id: &str, version: i64, content: &Value) -> Value {
    let mut input = Map::new();
    input.insert("proposal_id".to_owned(), id.into());
    input.insert("version".to_owned(), version.into());
    for key in ["decision", "text", "comment"] {
        if let Some(text) = content[key].as_str().filter(|text| !text.is_empty()) {
            input.insert(key.to_owned(), text.into());
        }
    }
    // A text beside a plain yes or no was left in its field; it is not what was chosen.
    if matches!(input.get("decision").and_then(Value::as_str), Some("approve" | "reject")) {
        input.remove("text");
    }
    Value::Object(input)
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
