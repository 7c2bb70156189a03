//! What the daemon answers to calls.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::FakeSignal;
use super::state::Inner;

/// Answers a request, whatever it came in by.
pub(super) fn answer(state: &mut Inner, request: &Value) -> Value {
    let id = request.get("id").cloned().unwrap_or_default();
    match call(state, request) {
        Ok(result) => json!({ "jsonrpc": "2.0", "result": result, "id": id }),
        Err(error) => json!({ "jsonrpc": "2.0", "error": error, "id": id }),
    }
}

fn call(state: &mut Inner, request: &Value) -> Result<Value, Value> {
    if let Some(error) = state.failures.pop_front() {
        return Err(error);
    }
    let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
    let params = request.get("params").cloned().unwrap_or_default();
    let account = params.get("account").and_then(Value::as_str);
    let is_known = |account: &str| {
        state.accounts.iter().any(|known| {
            known.get("number").and_then(Value::as_str) == Some(account)
                || known.get("aci").and_then(Value::as_str) == Some(account)
        })
    };
    if state.serves_several && account.is_some_and(|account| !is_known(account)) {
        return Err(error(-32_602, "Specified account does not exist"));
    }
    match method {
        "version" => return Ok(json!({ "version": "0.14.6" })),
        "listAccounts" if state.serves_several => return Ok(Value::from(state.accounts.clone())),
        "listAccounts" => return Err(error(-32_601, "Method not implemented")),
        _ => {}
    }
    if state.serves_several && account.is_none() && method != "subscribeReceive" {
        return Err(error(-32_602, "Method requires valid account parameter"));
    }
    match method {
        "listGroups" => Ok(state.groups.clone()),
        "listContacts" => Ok(state.contacts.clone()),
        "getUserStatus" => Ok(json!([{
            "recipient": FakeSignal::ACCOUNT, "number": FakeSignal::ACCOUNT,
            "uuid": FakeSignal::OWN_UUID, "isRegistered": true }])),
        "getAttachment" => {
            let id = params.get("id").and_then(Value::as_str).unwrap_or_default();
            let file = state.files.get(id).ok_or_else(|| error(-1, "Could not find attachment"))?;
            Ok(json!({ "data": STANDARD.encode(file) }))
        }
        "send" => Ok(send(state, params)),
        // Its number is the connection's; the caller puts it in.
        "subscribeReceive" => Ok(json!(0)),
        _ => Err(error(-32_601, "Method not implemented")),
    }
}

fn send(state: &mut Inner, params: Value) -> Value {
    state.sent.push(params);
    let number = u64::try_from(state.sent.len()).unwrap_or_default();
    let to = json!({ "uuid": "00000000-0000-4000-8000-00000000000a", "number": null });
    json!({
        "timestamp": 1_750_000_000_000_u64 + number,
        "results": [{ "recipientAddress": to, "type": "SUCCESS" }],
    })
}

fn error(code: i64, message: &str) -> Value {
    json!({ "code": code, "message": message, "data": null })
}
