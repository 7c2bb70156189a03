//! One change to several things: each is tried, and each is answered for by itself.

use std::process::ExitCode;

use anyhow::Result;
use edge::local::{Client, ClientError};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::failure::{self, Refused};
use crate::output;

/// Asks for every id, with the input that is made of it. What is refused is named and keeps the others
/// from nothing; the command ends as the first refusal would end it.
pub(super) async fn run(
    hub: &mut Client,
    global: &Global,
    operation: &str,
    ids: &[String],
    input: impl Fn(&str) -> Value,
) -> Result<ExitCode> {
    if let [id] = ids {
        let called = hub.call(operation, &input(id)).await.map_err(failure::of_client)?;
        output::answer(global.json, &called.answer, &called.brief)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut told = Vec::with_capacity(ids.len());
    let (mut first, mut lost) = (None, None);
    for id in ids {
        match hub.call(operation, &input(id)).await {
            Ok(called) => {
                if !global.json {
                    output::answer(false, &called.answer, &called.brief)?;
                }
                told.push(json!({ "id": id, "answer": called.answer }));
            }
            Err(ClientError::Refused(error)) => {
                let refused = Refused(error);
                output::note(&format!("waystation: {id}: {refused}"));
                first.get_or_insert(refused.exit_code());
                told.push(json!({ "id": id, "error": refused.0 }));
            }
            Err(ClientError::Edge(error)) => {
                let what = format!("what became of {id} is not known, and none after it was tried");
                lost = Some(anyhow::Error::from(error).context(what));
                break;
            }
        }
    }
    if global.json {
        output::json(&told)?;
    }
    lost.map_or(Ok(first.unwrap_or(ExitCode::SUCCESS)), Err)
}
