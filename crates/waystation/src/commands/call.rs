//! Calling any operation by name.

use anyhow::Result;
use edge::EdgeError;
use edge::local::{Called, ClientError};
use protocol::{ErrorCode, validate};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::failure::{self, Refused};
use crate::paths::Place;
use crate::{output, reach};

/// How often a hub is asked before it is said that it went away.
const TRIES_MAX: u32 = 3;

/// `waystation call`: lists the operations, or calls one.
pub(crate) async fn run(
    place: &Place,
    global: &Global,
    operation: Option<String>,
    input: &str,
) -> Result<()> {
    let Some(operation) = operation else { return list(global) };
    check_name(&operation)?;
    let text = if input == "-" { super::read_stdin()? } else { input.to_owned() };
    let called = ask_with(place, &operation, text).await?;
    output::json(&called.answer)
}

/// Refuses what no operation is called; the hub itself would answer in words for other clients.
fn check_name(name: &str) -> Result<()> {
    let catalogue = hub::catalogue();
    if catalogue.get(name).is_some() {
        return Ok(());
    }
    let known = catalogue.entries().iter().map(|entry| entry.name);
    let meant = validate::nearest(name, known);
    let meant = meant.map_or_else(String::new, |name| format!("; did you mean {name}?"));
    let error = json!({
        "code": ErrorCode::UnknownOperation.name(),
        "message": format!("there is no operation '{name}'"),
        "hint": format!("waystation call lists them{meant}"),
    });
    Err(Refused(error).into())
}

/// Calls an operation and prints its answer.
pub(crate) async fn print(
    place: &Place,
    global: &Global,
    operation: &str,
    input: &Value,
) -> Result<()> {
    let called = ask(place, operation, input).await?;
    output::answer(global.json, &called.answer, &called.brief)
}

/// Calls an operation for whoever runs the command.
pub(crate) async fn ask(place: &Place, operation: &str, input: &Value) -> Result<Called> {
    ask_with(place, operation, input.to_string()).await
}

/// The same with an input that the hub shall read as it is written. What may be asked twice is asked
/// again when the hub goes away meanwhile.
async fn ask_with(place: &Place, operation: &str, input: String) -> Result<Called> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let catalogue = hub::catalogue();
    let entry = catalogue.get(operation);
    let may_repeat = entry.is_some_and(|entry| entry.may_repeat(input.as_bytes()));
    let mut tries = 0;
    loop {
        let mut client = reach::connect(place, &greeting).await?;
        tries += 1;
        match client.call_with(operation, input.clone()).await {
            Err(ClientError::Edge(error)) if error.is_outcome_unknown() && !may_repeat => {
                return Err(unknown_outcome(&error, operation, &input).into());
            }
            Err(ClientError::Edge(EdgeError::Lost(error))) if tries < TRIES_MAX => {
                tracing::debug!(%error, "the hub went away; asking again");
            }
            called => return called.map_err(failure::of_client),
        }
    }
}

/// A change that may have been made, and would be made twice if it came again.
fn unknown_outcome(error: &EdgeError, operation: &str, input: &str) -> Refused {
    let input: Value = serde_json::from_str(input).unwrap_or_default();
    let thread = input.get("thread_id").and_then(Value::as_str);
    let look = match (operation, thread) {
        ("post_message", Some(thread)) => {
            format!("`waystation read {thread}` shows whether it was")
        }
        _ => "look before you do it again".to_owned(),
    };
    Refused(json!({
        "code": ErrorCode::Unavailable,
        "message": format!("{error}; whether the change was made is not known"),
        "hint": format!("{look}; with a key (--key, idempotency_key) it is safe to do again"),
    }))
}

fn list(global: &Global) -> Result<()> {
    let catalogue = hub::catalogue();
    if global.json {
        let entries: Vec<Value> = catalogue
            .entries()
            .iter()
            .map(|entry| {
                let described = entry.describe();
                json!({
                    "name": entry.name, "description": described.doc, "scope": entry.scope.name(),
                    "input": described.input, "output": described.output,
                })
            })
            .collect();
        return output::line(&serde_json::to_string_pretty(&entries)?);
    }
    for entry in catalogue.entries() {
        let doc = entry.describe().doc;
        let doc = doc.split(". ").next().unwrap_or_default().replace('\n', " ");
        output::line(&format!("{:<22} {doc}", entry.name))?;
    }
    Ok(())
}
