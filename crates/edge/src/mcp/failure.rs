//! How a refusal is said in MCP: to the model as a tool's result, to the client as a JSON-RPC error.

use protocol::ErrorCode as Code;
use protocol::error_code::ErrorEnvelope;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, RequestId};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// A refused operation as a tool's result, which the model reads.
pub(super) fn tool_result(error: &hub::Error, request_id: String) -> CallToolResult {
    let body = error.body(request_id);
    let hint = body.hint.as_ref().map(|hint| format!(". {hint}")).unwrap_or_default();
    let text = format!("{}: {}{hint}", body.code, body.message);
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = serde_json::to_value(ErrorEnvelope { error: body }).ok();
    result
}

/// A refused operation as a JSON-RPC error, for what is not a tool.
///
/// rmcp turns the code of a missing resource into the one that the client's version knows.
pub(super) fn rpc_error(error: &hub::Error, request_id: String) -> ErrorData {
    let body = error.body(request_id);
    let code = match body.code {
        Code::NotFound | Code::SourceNotFound | Code::ChatNotFound => ErrorCode::RESOURCE_NOT_FOUND,
        Code::UnknownOperation => ErrorCode::INVALID_PARAMS,
        code => ErrorCode(code.json_rpc_code()),
    };
    let message = match &body.hint {
        Some(hint) if !is_of_chats(body.code) => format!("{}; {hint}", body.message),
        _ => body.message.clone(),
    };
    ErrorData::new(code, message, serde_json::to_value(body).ok())
}

/// Refusals whose message is a promise, word for word; the hint beside it stands in the data.
fn is_of_chats(code: Code) -> bool {
    matches!(
        code,
        Code::SourceNotFound
            | Code::ChatNotFound
            | Code::SourceNotConnected
            | Code::InvalidParameter
            | Code::StreamingNotSupported
    )
}

/// Whether a refusal has this code.
pub(super) fn is(error: &ErrorData, code: Code) -> bool {
    error.data.as_ref().and_then(|data| data.get("code")).is_some_and(|known| known == code.name())
}

/// The same refusal, for a request that named no resource: what is missing is a wrong parameter.
pub(super) fn of_parameters(mut error: ErrorData) -> ErrorData {
    if error.code == ErrorCode::RESOURCE_NOT_FOUND {
        error.code = ErrorCode::INVALID_PARAMS;
    }
    error
}

/// A resource that is not one of ours.
pub(super) fn unknown_resource() -> ErrorData {
    ErrorData::resource_not_found(
        "there is no such resource; ours are threads://{thread_id} and messages://{source}/{chat}",
        None,
    )
}

/// An error says which resource it is about.
pub(super) fn about(uri: &str, mut error: ErrorData) -> ErrorData {
    let data = error.data.get_or_insert_with(|| Value::Object(Map::new()));
    if let Some(data) = data.as_object_mut() {
        data.insert("uri".to_owned(), uri.into());
    }
    error
}

/// Nobody vouched for the request.
pub(super) fn unauthorized() -> ErrorData {
    ErrorData::new(
        ErrorCode(Code::Unauthorized.json_rpc_code()),
        Code::Unauthorized.meaning(),
        None,
    )
}

/// A JSON-RPC error on its own, for requests that never became one.
pub(super) fn envelope(id: &Value, code: i32, message: &str) -> Value {
    serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// The id of a request that could not be read otherwise, if there is no doubt about it. An answer without
/// an id reaches nobody: clients wait on for theirs.
///
/// What names no method is no request; its id would be taken for that of another one, of the client.
fn id_of(text: &[u8]) -> Value {
    #[derive(Deserialize)]
    struct Request {
        id: RequestId,
        #[serde(rename = "method")]
        _method: IgnoredAny,
    }
    // The parser would take a list for an object.
    let is_object = text.trim_ascii_start().first() == Some(&b'{');
    let request = is_object.then(|| serde_json::from_slice::<Request>(text).ok()).flatten();
    request.map_or(Value::Null, |request| request.id.into_json_value())
}

/// What to answer to a message that is too large, of which the outline is known.
pub(crate) fn too_long(bytes_max: usize, outline: &[u8]) -> Value {
    let message = format!("Invalid Request: the message is larger than {bytes_max} bytes");
    envelope(&id_of(outline), ErrorCode::INVALID_REQUEST.0, &message)
}

/// What to answer to text that is no JSON-RPC message.
pub(super) fn not_a_message(text: &[u8]) -> Value {
    match serde_json::from_slice::<Value>(text) {
        Err(error) => {
            let message = format!("Parse error: the message is not valid JSON: {error}");
            envelope(&id_of(text), ErrorCode::PARSE_ERROR.0, &message)
        }
        Ok(Value::Array(_)) => {
            let message = "Invalid Request: send one JSON-RPC message at a time, not a batch";
            envelope(&Value::Null, ErrorCode::INVALID_REQUEST.0, message)
        }
        Ok(value) => {
            let id = value.get("id").filter(|id| id.is_string() || id.is_number());
            let message = "Invalid Request: this is not a JSON-RPC 2.0 message";
            envelope(id.unwrap_or(&Value::Null), ErrorCode::INVALID_REQUEST.0, message)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_message_is_told_apart() {
        assert_eq!(not_a_message(b"{\"jsonrpc\":")["error"]["code"], -32700);
        assert_eq!(not_a_message(b"[]")["error"]["code"], -32600);
        let odd = not_a_message(b"{\"id\":7,\"jsonrpc\":\"1.0\"}");
        assert_eq!((&odd["error"]["code"], &odd["id"]), (&(-32600).into(), &7.into()));
    }

    #[test]
    fn a_request_that_cannot_be_read_is_answered_under_its_id() {
        let nested = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        let nested = format!(r#"{{"method":"m","params":{nested},"id":"a"}}"#);
        for (text, id) in [
            (br#"{"id":7,"method":"m","params":{"id":8,"a":"\ud83d"}}"#.as_slice(), json!(7)),
            (b"{\"method\":\"m\",\"params\":{\"a\":\"\xff\"},\"id\":7}", json!(7)),
            (nested.as_bytes(), json!("a")),
        ] {
            let refused = not_a_message(text);
            assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32700), &id));
        }
    }

    #[test]
    fn an_id_in_doubt_is_none() {
        for text in [
            r#"{"id":7,"method":"m","params":{"a":"\ud83d"}"#,
            r#"{"id":7,"id":8,"method":"m","params":"\ud83d"}"#,
            r#"{"id":7,"result":"\ud83d"}"#,
            r#"{"id":7.5,"method":"m","params":"\ud83d"}"#,
            r#"{"method":"m","params":{"id":7,"a":"\ud83d"}}"#,
            r#"[7,"\ud83d"]"#,
        ] {
            let refused = not_a_message(text.as_bytes());
            assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32700), &Value::Null));
        }
    }
}
