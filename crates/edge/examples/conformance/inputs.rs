//! The newer era's questions: a result that asks, and a second call that answers.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult,
    InputResponses, RequestStateCodec,
};
use serde_json::{Map, Value, json};

use crate::{Context, read};

/// Tools that ask before they answer.
pub(crate) const TOOLS: [(&str, &str); 8] = [
    ("test_input_required_result_elicitation", "Asks for a name"),
    ("test_input_required_result_sampling", "Asks a model"),
    ("test_input_required_result_list_roots", "Asks for roots"),
    ("test_input_required_result_request_state", "Asks and remembers"),
    ("test_input_required_result_tampered_state", "Asks and distrusts"),
    ("test_input_required_result_multiple_inputs", "Asks for three things"),
    ("test_input_required_result_multi_round", "Asks twice"),
    ("test_input_required_result_capabilities", "Asks what the client can answer"),
];

/// What the state is sealed with. It protects nothing: this program has nothing to protect.
const KEY: &[u8] = b"the fixtures of a conformance test";

/// A question with one field of text or truth.
pub(crate) fn question(message: &str, field: &str, kind: &str) -> Value {
    json!({ "method": "elicitation/create", "params": {
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": { field: { "type": kind } },
            "required": [field],
        },
    } })
}

fn sampling(text: &str, tokens_max: u32) -> Value {
    let content = json!({ "type": "text", "text": text });
    json!({ "method": "sampling/createMessage", "params": {
        "messages": [{ "role": "user", "content": content }], "maxTokens": tokens_max,
    } })
}

/// Asks.
pub(crate) fn ask(requests: &Value, state: Option<&str>) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let (Some(state), Some(fields)) = (state, result.as_object_mut()) {
        let codec = codec()?;
        fields.insert("requestState".to_owned(), codec.seal(state.as_bytes()).into());
    }
    read(result)
}

fn codec() -> Result<RequestStateCodec, ErrorData> {
    RequestStateCodec::try_new(KEY)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A field of an accepted answer.
pub(crate) fn accepted<'a>(
    responses: Option<&'a InputResponses>,
    key: &str,
    field: &str,
) -> Option<&'a Value> {
    let answer = responses?.get(key)?;
    (answer.get("action")? == "accept").then_some(())?;
    answer.get("content")?.get(field)
}

/// Whether the client says that it can do this.
pub(crate) fn client_has(context: &Context, capability: &str) -> bool {
    let capabilities = serde_json::to_value(context.client_capabilities()).unwrap_or_default();
    capabilities.get(capability).is_some_and(|value| !value.is_null())
}

fn said(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// Calls a tool that asks.
pub(crate) fn call(
    request: &CallToolRequestParams,
    context: &Context,
) -> Result<CallToolResponse, ErrorData> {
    let answers = request.input_responses.as_ref();
    let state = match &request.request_state {
        Some(sealed) => {
            let opened = codec()?.open(sealed).ok().and_then(|state| String::from_utf8(state).ok());
            let forged = || ErrorData::invalid_params("requestState is not ours", None);
            Some(opened.ok_or_else(forged)?)
        }
        None => None,
    };
    let tool = request.name.rsplit_once("result_").map_or(request.name.as_ref(), |(_, tool)| tool);
    match tool {
        "elicitation" => name(answers),
        "sampling" => {
            let question = sampling("What is the capital of France?", 100);
            let answer = answers.and_then(|answers| answers.get("capital_question"));
            answered(answer, &json!({ "capital_question": question }), None)
        }
        "list_roots" => {
            let answer = answers.and_then(|answers| answers.get("client_roots"));
            answered(answer, &json!({ "client_roots": roots() }), None)
        }
        "request_state" | "tampered_state" => {
            let confirmed = accepted(answers, "confirm", "ok").filter(|_| state.is_some());
            let confirmed = confirmed.map(|_| json!("state-ok"));
            let question = question("Please confirm", "ok", "boolean");
            answered(confirmed.as_ref(), &json!({ "confirm": question }), Some("confirm"))
        }
        "multiple_inputs" => several(answers, state.as_deref()),
        "multi_round" => rounds(answers, state.as_deref()),
        _ => what_the_client_can(context),
    }
}

fn name(answers: Option<&InputResponses>) -> Result<CallToolResponse, ErrorData> {
    let name = accepted(answers, "user_name", "name").and_then(Value::as_str);
    let greeting = name.map(|name| json!(format!("Hello, {name}!")));
    let question = question("What is your name?", "name", "string");
    answered(greeting.as_ref(), &json!({ "user_name": question }), None)
}

/// Says the answer, or asks for it.
fn answered(
    answer: Option<&Value>,
    requests: &Value,
    state: Option<&str>,
) -> Result<CallToolResponse, ErrorData> {
    match answer {
        Some(Value::String(text)) => Ok(said(text)),
        Some(answer) => Ok(said(answer.to_string())),
        None => ask(requests, state).map(Into::into),
    }
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

fn several(
    answers: Option<&InputResponses>,
    state: Option<&str>,
) -> Result<CallToolResponse, ErrorData> {
    let keys = ["user_name", "greeting", "client_roots"];
    let all = answers.is_some_and(|answers| keys.iter().all(|key| answers.contains_key(*key)));
    if all && state.is_some() {
        return Ok(said("everything was answered"));
    }
    let requests = json!({
        "user_name": question("What is your name?", "name", "string"),
        "greeting": sampling("Generate a greeting", 50),
        "client_roots": roots(),
    });
    ask(&requests, Some("several")).map(Into::into)
}

fn rounds(
    answers: Option<&InputResponses>,
    state: Option<&str>,
) -> Result<CallToolResponse, ErrorData> {
    let first = accepted(answers, "step1", "name").is_some();
    let second = accepted(answers, "step2", "color").is_some();
    match state {
        Some("round 2") if second => Ok(said("both rounds are done")),
        Some("round 1") if first => {
            let question = question("Step 2: What is your favorite color?", "color", "string");
            ask(&json!({ "step2": question }), Some("round 2")).map(Into::into)
        }
        _ => {
            let question = question("Step 1: What is your name?", "name", "string");
            ask(&json!({ "step1": question }), Some("round 1")).map(Into::into)
        }
    }
}

fn what_the_client_can(context: &Context) -> Result<CallToolResponse, ErrorData> {
    let mut requests = Map::new();
    if client_has(context, "sampling") {
        requests.insert("model".to_owned(), sampling("Say something", 50));
    }
    if client_has(context, "elicitation") {
        requests.insert("user".to_owned(), question("Who are you?", "name", "string"));
    }
    if requests.is_empty() {
        return Ok(said("the client can answer nothing"));
    }
    ask(&Value::Object(requests), None).map(Into::into)
}
