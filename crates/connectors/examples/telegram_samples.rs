//! Reads every update in a folder of JSON that somebody else wrote, as a webhook would bring it, and
//! says what became of each kind. Ends with an error when one is refused or a message is lost.
//!
//!     cargo run --package waystation-connectors --example telegram_samples -- FOLDER

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use connector_api::toolkit::{HttpClient, HttpSettings};
use connector_api::{Connector, HookRequest, LinkSettings};
use protocol::Timestamp;
use protocol::chat::Facts;
use serde_json::Value;

const SECRET: &str = "a-secret-of-the-samples";
/// Updates that carry a message.
const MESSAGES: [&str; 3] = ["message", "channel_post", "business_message"];

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).context("name a folder of JSON files")?;
    let link = link()?;
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for update in updates(Path::new(&folder))? {
        let kind = kind_of(&update).to_owned();
        let facts = receive(&*link, &update).with_context(|| format!("{kind}: {update}"))?;
        check(&kind, &update, &facts)?;
        let count = counts.entry(kind).or_default();
        count.0 += 1;
        count.1 += facts.len();
    }
    let updates: usize = counts.values().map(|(updates, _)| updates).sum();
    if updates == 0 {
        bail!("{folder} holds no updates");
    }
    let mut out = std::io::stdout().lock();
    for (kind, (updates, facts)) in &counts {
        writeln!(out, "{updates:>4} {kind}: {facts} facts")?;
    }
    writeln!(out, "{updates} updates of somebody else were read")?;
    Ok(())
}

fn link() -> Result<Arc<dyn Connector>> {
    let kind = waystation_connectors::kind("telegram").context("Telegram is there")?;
    let given = [("bot_token", "1:x"), ("mode", "webhook"), ("webhook_secret", SECRET)];
    let given = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let settings = LinkSettings::sorted(kind.fields(), &given)?;
    Ok(kind.connect(&settings, HttpClient::new(&HttpSettings::default())?)?)
}

/// Every update in the files of a folder, wherever it stands in them.
fn updates(folder: &Path) -> Result<Vec<Value>> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    let mut updates = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "json")) {
        let text = std::fs::read_to_string(file)?;
        let value = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        collect(value, &mut updates);
    }
    Ok(updates)
}

fn collect(value: Value, updates: &mut Vec<Value>) {
    match value {
        Value::Object(map) if map.contains_key("update_id") => updates.push(Value::Object(map)),
        Value::Object(map) => map.into_iter().for_each(|(_, inner)| collect(inner, updates)),
        Value::Array(list) => list.into_iter().for_each(|inner| collect(inner, updates)),
        _ => {}
    }
}

fn kind_of(update: &Value) -> &str {
    let fields = update.as_object().into_iter().flat_map(|map| map.keys());
    fields.map(String::as_str).find(|name| *name != "update_id").unwrap_or("nothing")
}

fn receive(link: &dyn Connector, update: &Value) -> Result<Facts> {
    let request = HookRequest {
        method: "POST".to_owned(),
        headers: vec![("x-telegram-bot-api-secret-token".to_owned(), SECRET.to_owned())],
        body: update.to_string().into_bytes(),
        ..HookRequest::default()
    };
    Ok(link.receive(&request, Timestamp::from_ms(1_771_329_600_000))?.batch.facts)
}

/// A message comes out with the time it was sent and with its words.
fn check(kind: &str, update: &Value, facts: &Facts) -> Result<()> {
    if !MESSAGES.contains(&kind) {
        return Ok(());
    }
    let message = update.get(kind).context("the update has what it is named after")?;
    let [fact] = facts.messages.as_slice() else {
        bail!("{} messages came out of one: {update}", facts.messages.len());
    };
    let sent = message.get("date").and_then(Value::as_i64).unwrap_or_default();
    // Telegram dates what it does not show with 0.
    if sent > 0 && fact.sent_at.as_seconds() != sent {
        bail!("it was sent at {sent}, not at {}: {update}", fact.sent_at);
    }
    let words = message.get("text").or_else(|| message.get("caption")).and_then(Value::as_str);
    if words.is_some_and(|words| fact.text.is_empty() && !words.is_empty()) {
        bail!("its words are lost: {update}");
    }
    Ok(())
}
