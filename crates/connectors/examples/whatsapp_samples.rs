//! Reads every report of WhatsApp's in a source file that somebody else wrote, signed as WhatsApp would,
//! and says what became of each. Ends with an error when one is refused or a message is lost.
//!
//!     cargo run --package waystation-connectors --example whatsapp_samples -- FILE HOW-MANY

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use connector_api::toolkit::{HttpClient, HttpSettings};
use connector_api::{Connector, HookRequest, LinkSettings};
use protocol::Timestamp;
use protocol::chat::Facts;
use ring::hmac;
use serde_json::{Value, json};

const SECRET: &str = "a-secret-of-the-samples";
/// The number that the reports are about.
const PHONE_NUMBER_ID: &str = "1122334455667";
const OWN_NUMBER: &str = "15550783881";
/// Somebody who writes to it.
const PERSON: &str = "16505551234";
const SENT: &str = "1731617831";

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let file = words.next().context("name a file")?;
    let expected: usize = words.next().context("say how many reports there are")?.parse()?;
    let text = std::fs::read_to_string(&file).with_context(|| file.clone())?;
    let link = link()?;
    let mut out = std::io::stdout().lock();
    let (mut reports, mut messages) = (0, 0);
    for mut report in found(&text) {
        fill_in("", &mut report);
        let facts = receive(&*link, &report).with_context(|| report.to_string())?;
        let said = said(&report);
        let taken = taken(&facts);
        for id in &said {
            if !taken.contains(id) {
                bail!("the message {id} is lost: {report}");
            }
        }
        reports += 1;
        messages += said.len();
    }
    if reports != expected {
        bail!("{file} holds {reports} reports, not {expected}");
    }
    writeln!(out, "{reports} reports of somebody else were read, {messages} messages in them")?;
    Ok(())
}

fn link() -> Result<Arc<dyn Connector>> {
    let kind = waystation_connectors::kind("whatsapp").context("WhatsApp is there")?;
    let given = [
        ("phone_number_id", PHONE_NUMBER_ID),
        ("access_token", "x"),
        ("app_secret", SECRET),
        ("verify_token", "x"),
    ];
    let given = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let settings = LinkSettings::sorted(kind.fields(), &given)?;
    Ok(kind.connect(&settings, HttpClient::new(&HttpSettings::default())?)?)
}

/// Every object in a text that is a report.
fn found(text: &str) -> Vec<Value> {
    let begins = text.match_indices('{').map(|(at, _)| at);
    let object = |at: usize| {
        let rest = text.get(at..)?;
        let value = serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
        (value.get("object")? == "whatsapp_business_account").then_some(value)
    };
    begins.filter_map(object).collect()
}

/// Where the documentation says "put a number here", a number is put.
fn fill_in(name: &str, value: &mut Value) {
    match value {
        Value::Object(map) => map.iter_mut().for_each(|(name, value)| fill_in(name, value)),
        Value::Array(list) => list.iter_mut().for_each(|value| fill_in(name, value)),
        Value::String(text) => {
            let is_number = text.bytes().any(|byte| byte.is_ascii_digit());
            match name {
                "phone_number_id" => *value = json!(PHONE_NUMBER_ID),
                "display_phone_number" => *value = json!(OWN_NUMBER),
                "timestamp" if !is_number => *value = json!(SENT),
                "from" | "to" | "wa_id" | "recipient_id" if !is_number => *value = json!(PERSON),
                _ => {}
            }
        }
        _ => {}
    }
}

fn receive(link: &dyn Connector, report: &Value) -> Result<Facts> {
    let body = report.to_string().into_bytes();
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), &body);
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    let digits = tag.as_ref().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    let hex: String = digits.collect();
    let request = HookRequest {
        method: "POST".to_owned(),
        headers: vec![("x-hub-signature-256".to_owned(), format!("sha256={hex}"))],
        body,
        ..HookRequest::default()
    };
    Ok(link.receive(&request, Timestamp::from_ms(1_771_329_600_000))?.batch.facts)
}

/// The messages that a report says were said, by their ids; a sign or a change names another one.
fn said(report: &Value) -> Vec<String> {
    let list = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let changes = list(report, "entry").into_iter().flat_map(|entry| list(&entry, "changes"));
    let values = changes.filter_map(|change| change.get("value").cloned());
    let messages = values.flat_map(|value| list(&value, "messages"));
    let named = |message: Value| {
        let reaction = message.pointer("/reaction/message_id").and_then(Value::as_str);
        let id = reaction.or_else(|| message.get("id").and_then(Value::as_str))?;
        Some(id.to_owned())
    };
    messages.filter_map(named).collect()
}

fn taken(facts: &Facts) -> Vec<String> {
    let messages = facts.messages.iter().map(|fact| fact.message_id.clone());
    let signs = facts.reactions.iter().map(|fact| fact.message_id.clone());
    let edits = facts.edits.iter().map(|fact| fact.message.message_id.clone());
    let deletions = facts.deletions.iter().map(|fact| fact.message_id.clone());
    messages.chain(signs).chain(edits).chain(deletions).collect()
}
