//! Tools that talk to the client while they run: logging, progress, and the older era's questions.

use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, ProgressNotificationParam};
use rmcp::service::ServiceError;
use serde_json::{Value, json};

use crate::fixtures::PAUSE;
use crate::{Context, read};

fn broken(error: &ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// Logs three times.
pub(crate) async fn log(context: &Context) -> Result<String, ErrorData> {
    for said in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        let message = read(json!({ "level": "info", "data": said }))?;
        context.peer.notify_logging_message(message).await.map_err(|error| broken(&error))?;
        tokio::time::sleep(PAUSE).await;
    }
    Ok("logged three times".to_owned())
}

/// Tells of its progress.
pub(crate) async fn progress(context: &Context) -> Result<String, ErrorData> {
    for progress in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let message = ProgressNotificationParam::new(token, progress).with_total(100.0);
            context.peer.notify_progress(message).await.map_err(|error| broken(&error))?;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok("done".to_owned())
}

fn argument<'a>(request: &'a CallToolRequestParams, name: &str) -> Result<&'a str, ErrorData> {
    let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str());
    value.ok_or_else(|| ErrorData::invalid_params(format!("{name} is missing"), None))
}

/// Has the client's model answer.
pub(crate) async fn sample(
    request: &CallToolRequestParams,
    context: &Context,
) -> Result<String, ErrorData> {
    let prompt = json!({ "type": "text", "text": argument(request, "prompt")? });
    let message = json!({
        "messages": [{ "role": "user", "content": prompt }], "maxTokens": 100,
    });
    let answer =
        context.peer.create_message(read(message)?).await.map_err(|error| broken(&error))?;
    let answer = serde_json::to_value(answer.message).unwrap_or_default();
    let text = answer.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
    Ok(format!("LLM response: {text}"))
}

/// Has the client's user answer.
pub(crate) async fn elicit(
    request: &CallToolRequestParams,
    context: &Context,
) -> Result<String, ErrorData> {
    let (message, said, schema) = match request.name.as_ref() {
        "test_elicitation" => (argument(request, "message")?, "User response", name_and_email()),
        "test_elicitation_sep1034_defaults" => ("Who?", "Elicitation completed", defaults()),
        _ => ("Which?", "Elicitation completed", enumerations()),
    };
    let question = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    let answer =
        context.peer.create_elicitation(read(question)?).await.map_err(|error| broken(&error))?;
    let answer = serde_json::to_value(answer).unwrap_or_default();
    let action = answer.get("action").and_then(Value::as_str).unwrap_or_default();
    let fields = answer.get("content").unwrap_or(&Value::Null);
    Ok(format!("{said}: action={action}, content={fields}"))
}

fn name_and_email() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    })
}

fn defaults() -> Value {
    json!({ "type": "object", "properties": {
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": {
            "type": "string", "enum": ["active", "inactive", "pending"], "default": "active",
        },
        "verified": { "type": "boolean", "default": true },
    } })
}

fn enumerations() -> Value {
    let plain = ["option1", "option2", "option3"];
    let titled = |word: &str| {
        json!([
            { "const": "value1", "title": format!("First {word}") },
            { "const": "value2", "title": format!("Second {word}") },
            { "const": "value3", "title": format!("Third {word}") },
        ])
    };
    json!({ "type": "object", "properties": {
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    } })
}
