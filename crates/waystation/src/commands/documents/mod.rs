//! `waystation docs`: giving agents documents that they can retrieve.

mod add;
mod ignore;
mod page;
mod walk;

use anyhow::{Result, bail};
use edge::local::Client;
use serde_json::{Value, json};

use crate::cli::{DocsCommand, Global};
use crate::paths::Place;
use crate::{failure, output, reach};

/// Documents of one page of the list.
const LISTED: u32 = 200;

/// `waystation docs add|list|remove`.
pub(crate) async fn run(place: &Place, global: &Global, command: DocsCommand) -> Result<()> {
    match command {
        DocsCommand::Add { place: what, collection, url, dry_run } => {
            let asked =
                add::Asked { what: &what, collection: &collection, url: url.as_deref(), dry_run };
            add::run(place, global, &asked).await
        }
        DocsCommand::List { collection } => list(place, global, collection.as_deref()).await,
        DocsCommand::Remove { sources, collection, all } => {
            if sources.is_empty() && !all {
                bail!("name the documents to remove, or --all for every one of {collection}");
            }
            let mut hub = connect(place).await?;
            let sources = (!all).then_some(sources);
            let removed = remove(&mut hub, &collection, sources.as_deref()).await?;
            output::answer(
                global.json,
                &json!({ "removed": removed }),
                &format!("{removed} documents removed"),
            )
        }
    }
}

async fn connect(place: &Place) -> Result<Client> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    reach::connect(place, &greeting).await
}

async fn call(hub: &mut Client, operation: &str, input: &Value) -> Result<Value> {
    Ok(hub.call(operation, input).await.map_err(failure::of_client)?.answer)
}

/// Every document of a collection, or of all.
async fn documents(hub: &mut Client, collection: Option<&str>) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let input = json!({ "collection": collection, "limit": LISTED, "cursor": cursor });
        let mut page = call(hub, "list_documents", &super::compact(input)).await?;
        let found = page.get_mut("documents").and_then(Value::as_array_mut).map(std::mem::take);
        all.extend(found.unwrap_or_default());
        match page.get("next_cursor") {
            Some(next) => cursor = next.clone(),
            None => return Ok(all),
        }
    }
}

async fn list(place: &Place, global: &Global, collection: Option<&str>) -> Result<()> {
    let mut hub = connect(place).await?;
    let found = documents(&mut hub, collection).await?;
    let text = |document: &Value, key: &str| {
        document.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let line = |document: &Value| {
        let pieces = document.get("pieces").and_then(Value::as_i64).unwrap_or(0);
        format!("{}  {}  {pieces} pieces", text(document, "collection"), text(document, "source"))
    };
    let lines: Vec<String> = found.iter().map(line).collect();
    let brief = if lines.is_empty() {
        "no documents; add some with: waystation docs add PATH|URL".to_owned()
    } else {
        lines.join("\n")
    };
    output::answer(global.json, &json!({ "documents": found }), &brief)
}

/// Removes documents, or all of a collection; answers how many there were.
async fn remove(hub: &mut Client, collection: &str, sources: Option<&[String]>) -> Result<u64> {
    let mut removed = 0;
    let parts: Vec<Option<&[String]>> = match sources {
        Some(sources) => {
            sources.chunks(protocol::limits::memory::DOCUMENTS_REMOVED_MAX).map(Some).collect()
        }
        None => vec![None],
    };
    for part in parts {
        loop {
            let input = json!({ "collection": collection, "sources": part });
            let answer = call(hub, "remove_documents", &super::compact(input)).await?;
            removed += answer.get("removed").and_then(Value::as_u64).unwrap_or(0);
            if answer.get("has_more") != Some(&Value::Bool(true)) {
                break;
            }
        }
    }
    Ok(removed)
}
