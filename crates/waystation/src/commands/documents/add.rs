//! Adding documents: only what has changed is handed in, and what is gone from a folder is removed.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use edge::local::Client;
use protocol::limits::memory as limits;
use serde_json::{Value, json};

use super::{page, walk};
use crate::cli::Global;
use crate::output;
use crate::paths::Place;

/// What a person asked for.
pub(super) struct Asked<'a> {
    pub(super) what: &'a str,
    pub(super) collection: &'a str,
    pub(super) url: Option<&'a str>,
    pub(super) dry_run: bool,
}

/// A document that was read.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) source: String,
    pub(super) title: String,
    pub(super) url: Option<String>,
    pub(super) text: String,
}

/// What was read of a place.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) documents: Vec<Document>,
    /// Files that were passed over, and why.
    pub(super) skipped: Vec<(String, &'static str)>,
    /// What the sources of this place begin with: others of the collection are not touched.
    pub(super) prefix: Option<String>,
}

/// What has to be done.
struct Plan {
    changed: Vec<Document>,
    unchanged: usize,
    gone: Vec<String>,
    skipped: Vec<(String, &'static str)>,
}

/// `waystation docs add`.
pub(super) async fn run(place: &Place, global: &Global, asked: &Asked<'_>) -> Result<()> {
    let read = if asked.what.contains("://") {
        page::read(place, asked.what).await?
    } else {
        walk::read(Path::new(asked.what), asked.url)
            .with_context(|| format!("cannot read {}", asked.what))?
    };
    let mut hub = super::connect(place).await?;
    let plan = plan(&mut hub, asked.collection, read).await?;
    if !asked.dry_run {
        send(&mut hub, asked.collection, &plan.changed).await?;
        if !plan.gone.is_empty() {
            super::remove(&mut hub, asked.collection, Some(&plan.gone)).await?;
        }
    }
    report(global, asked, &plan)
}

async fn plan(hub: &mut Client, collection: &str, read: Read) -> Result<Plan> {
    let mut known = BTreeMap::new();
    for document in super::documents(hub, Some(collection)).await? {
        let text = |key: &str| document.get(key).and_then(Value::as_str).map(str::to_owned);
        if let (Some(source), Some(digest)) = (text("source"), text("digest")) {
            known.insert(source, digest);
        }
    }
    let mut plan =
        Plan { changed: Vec::new(), unchanged: 0, gone: Vec::new(), skipped: read.skipped };
    for document in read.documents {
        let digest = hub::memory::documents::digest(
            &document.title,
            document.url.as_deref(),
            &document.text,
        );
        let digest = hub::memory::documents::hex(&digest);
        if known.remove(&document.source) == Some(digest) {
            plan.unchanged += 1;
        } else {
            plan.changed.push(document);
        }
    }
    if let Some(prefix) = read.prefix {
        plan.gone = known.into_keys().filter(|source| source.starts_with(&prefix)).collect();
    }
    Ok(plan)
}

/// Hands documents in, as many at once as one call takes.
async fn send(hub: &mut Client, collection: &str, documents: &[Document]) -> Result<()> {
    let mut parcel = Vec::new();
    let mut bytes = 0;
    for document in documents {
        let size = document.text.len() + document.source.len() + 256;
        let is_full = parcel.len() >= limits::DOCUMENTS_ADDED_MAX
            || (bytes + size > limits::PARCEL_BYTES_MAX && !parcel.is_empty());
        if is_full {
            hand_in(hub, collection, std::mem::take(&mut parcel)).await?;
            bytes = 0;
        }
        parcel.push(super::super::compact(json!({
            "source": document.source, "title": document.title, "url": document.url,
            "text": document.text,
        })));
        bytes += size;
    }
    if !parcel.is_empty() {
        hand_in(hub, collection, parcel).await?;
    }
    Ok(())
}

async fn hand_in(hub: &mut Client, collection: &str, documents: Vec<Value>) -> Result<()> {
    let input = json!({ "collection": collection, "documents": documents });
    super::call(hub, "add_documents", &input).await?;
    Ok(())
}

fn report(global: &Global, asked: &Asked<'_>, plan: &Plan) -> Result<()> {
    let skipped: Vec<Value> =
        plan.skipped.iter().map(|(file, why)| json!({ "file": file, "why": why })).collect();
    let answer = json!({
        "collection": asked.collection, "dry_run": asked.dry_run, "changed": plan.changed.len(),
        "unchanged": plan.unchanged, "removed": plan.gone.len(), "skipped": skipped,
    });
    let mut lines = vec![format!(
        "{}{} documents changed, {} unchanged, {} removed in {}",
        if asked.dry_run { "would be: " } else { "" },
        plan.changed.len(),
        plan.unchanged,
        plan.gone.len(),
        asked.collection
    )];
    lines.extend(plan.skipped.iter().map(|(file, why)| format!("  passed over {file}: {why}")));
    output::answer(global.json, &answer, &lines.join("\n"))
}
