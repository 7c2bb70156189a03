//! `waystation send`: a person sends a text to a chat.

use anyhow::Result;
use edge::local::Client;
use serde_json::json;

use super::{approvals, compact, read_stdin};
use crate::cli::{Global, SendArgs};
use crate::paths::Place;
use crate::{failure, output, reach};

/// Sends a text. Whoever proves at this terminal to be the person in charge asks nobody else; with a
/// token it goes by the operator's policy, and may wait for a human.
pub(crate) async fn run(place: &Place, global: &Global, args: SendArgs) -> Result<()> {
    let SendArgs { source, chat, text, reply_to, key } = args;
    let text = if text == "-" { read_stdin()?.trim_end_matches('\n').to_owned() } else { text };
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut hub: Client = reach::connect(place, &greeting).await?;
    if greeting.operator {
        approvals::unlock(&mut hub).await?;
    }
    let input = compact(json!({
        "source": source, "chat": chat, "text": text, "reply_to": reply_to, "idempotency_key": key,
    }));
    let called = hub.call("send_message", &input).await.map_err(failure::of_client)?;
    output::answer(global.json, &called.answer, &called.brief)
}
