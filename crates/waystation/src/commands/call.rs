//! Calling any operation by name.

use anyhow::Result;
use edge::local::Called;
use serde_json::Value;

use crate::cli::Global;
use crate::paths::Place;
use crate::{failure, output, reach};

/// `waystation call`: lists the operations, or calls one.
pub(crate) async fn run(
    place: &Place,
    global: &Global,
    operation: Option<String>,
    input: &str,
) -> Result<()> {
    let Some(operation) = operation else { return list(global) };
    let text = if input == "-" { super::read_stdin()? } else { input.to_owned() };
    let called = ask_with(place, &operation, text).await?;
    output::json(&called.answer)
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

/// The same with an input that the hub shall read as it is written.
async fn ask_with(place: &Place, operation: &str, input: String) -> Result<Called> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut client = reach::connect(place, &greeting).await?;
    client.call_with(operation, input).await.map_err(failure::of_client)
}

fn list(global: &Global) -> Result<()> {
    let catalogue = hub::catalogue();
    if global.json {
        let entries: Vec<Value> = catalogue
            .entries()
            .iter()
            .map(|entry| {
                let described = entry.describe();
                serde_json::json!({
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
