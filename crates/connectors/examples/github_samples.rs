//! Reads every payload of a folder of `@octokit/webhooks-examples`, as a webhook would bring it, and says
//! what became of each event. Ends with an error when one is refused or something of it is lost.
//!
//!     cargo run --package waystation-connectors --example github_samples -- FOLDER COUNT
//!
//! COUNT is how many payloads of github.com there must be.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use connector_api::toolkit::{HttpClient, HttpSettings};
use connector_api::{Connector, HookRequest, Inbound, Intent, LinkSettings};
use protocol::Timestamp;
use protocol::limits::inbound as limits;
use ring::hmac;
use serde_json::Value;

const SECRET: &str = "a-secret-of-the-samples";
/// The folder of github.com's own payloads, beside those of GitHub Enterprise Server.
const PUBLIC: &str = "api.github.com";

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().context("name a folder of payloads")?;
    let count: usize = arguments.next().context("say how many payloads there must be")?.parse()?;
    let link = link()?;
    let mut out = std::io::stdout().lock();
    let mut all = 0;
    for (place, file) in files(Path::new(&folder))? {
        let text = std::fs::read_to_string(&file)?;
        let events: Vec<Value> = serde_json::from_str(&text).with_context(|| place.clone())?;
        let mut counts: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        let mut payloads = 0;
        for event in &events {
            let name = event.get("name").and_then(Value::as_str).context("an event has a name")?;
            let examples = event.get("examples").and_then(Value::as_array);
            for payload in examples.context("an event has examples")? {
                let inbound = receive(&*link, name, payload)
                    .and_then(|inbound| check(name, payload, &inbound).map(|()| inbound))
                    .with_context(|| format!("{place} {name}: {payload}"))?;
                payloads += 1;
                let intents = counts.entry(name.to_owned()).or_default();
                *intents.entry(format!("{:?}", inbound.intent)).or_default() += 1;
            }
        }
        if place == PUBLIC {
            ensure!(payloads == count, "{payloads} payloads of {place}, not {count}");
            for (name, intents) in &counts {
                writeln!(out, "{name}: {intents:?}")?;
            }
        }
        all += payloads;
        writeln!(out, "{payloads} payloads of {place} were read")?;
    }
    ensure!(all >= count, "{folder} holds no payloads");
    Ok(())
}

fn link() -> Result<Arc<dyn Connector>> {
    let kind = waystation_connectors::kind("github").context("GitHub is there")?;
    let given = [("webhook_secret".to_owned(), SECRET.to_owned())].into();
    let settings = LinkSettings::sorted(kind.fields(), &given)?;
    Ok(kind.connect(&settings, HttpClient::new(&HttpSettings::default())?)?)
}

/// The files of payloads, with the name of the place they are of.
fn files(folder: &Path) -> Result<Vec<(String, std::path::PathBuf)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let file = entry.path().join("index.json");
        if file.is_file() {
            files.push((entry.file_name().to_string_lossy().into_owned(), file));
        }
    }
    files.sort();
    if !files.iter().any(|(place, _)| place == PUBLIC) {
        bail!("{} holds no {PUBLIC}/index.json", folder.display());
    }
    Ok(files)
}

fn receive(link: &dyn Connector, event: &str, payload: &Value) -> Result<Inbound> {
    let body = payload.to_string().into_bytes();
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let mut tag = "sha256=".to_owned();
    for byte in hmac::sign(&key, &body).as_ref() {
        write!(tag, "{byte:02x}")?;
    }
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("x-github-event", event.to_owned()),
        ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958".to_owned()),
        ("x-hub-signature-256", tag),
    ];
    let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let request = HookRequest { method: "POST".to_owned(), headers, query: Vec::new(), body };
    let mut reply = link.receive(&request, Timestamp::from_ms(1_771_329_600_000))?;
    let inbound = reply.batch.inbound.pop().context("something was said")?;
    ensure!(reply.batch.inbound.is_empty(), "one delivery says one thing");
    Ok(inbound)
}

/// It belongs to something, somebody did it, it reads as words, and what was written is in it.
fn check(event: &str, payload: &Value, inbound: &Inbound) -> Result<()> {
    let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str);
    ensure!(inbound.event.starts_with(event), "it is called {}", inbound.event);
    ensure!(!inbound.text.is_empty() && !inbound.title.is_empty(), "it has no words");
    ensure!(!inbound.actor.id.is_empty() && !inbound.actor.name.is_empty(), "nobody did it");
    let place = text("/repository/full_name").unwrap_or_default();
    ensure!(inbound.thread_key.starts_with(&format!("github:{place}")), "{}", inbound.thread_key);
    ensure!(place.is_empty() || inbound.url.is_some(), "nobody finds it");
    if let Some(login) = text("/sender/login") {
        ensure!(inbound.actor.name == login, "{} is not {login}", inbound.actor.name);
    }
    let facts = Value::Object(inbound.facts.clone()).to_string();
    ensure!(facts.len() <= limits::FACTS_BYTES_MAX * 2, "{} bytes of facts", facts.len());
    let is_gone = inbound.event.ends_with(".deleted");
    for pointer in ["/comment/body", "/review/body"] {
        let line = text(pointer).unwrap_or_default().lines().next().unwrap_or_default().trim();
        ensure!(is_gone || inbound.text.contains(line), "what was written is lost: {line}");
    }
    if let Some(number) =
        payload.pointer("/issue/number").or(payload.pointer("/pull_request/number"))
    {
        let end = format!("#{number}");
        ensure!(inbound.thread_key.ends_with(&end), "{} is not {end}", inbound.thread_key);
        ensure!(inbound.address.get("number") == Some(number), "nobody can answer it");
    }
    let is_control =
        matches!(event, "ping" | "meta" | "installation" | "installation_repositories");
    ensure!(!is_control || inbound.intent == Intent::Control, "it is about the link");
    ensure!(inbound.intent != Intent::Own && inbound.intent != Intent::Private, "it is not ours");
    Ok(())
}
