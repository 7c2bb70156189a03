//! Listing documents.

use protocol::{Scope, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::error::Result;
use crate::operation::{Effect, Operation, Route};
use crate::page;

/// List the documents that agents can retrieve.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDocuments {
    /// Only of this collection.
    collection: Option<String>,
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = protocol::limits::PAGE_MAX))]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of documents.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListDocumentsOutput {
    /// The documents.
    documents: Vec<DocumentView>,
    /// Pass this as `cursor` for more; absent when there is no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A document.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DocumentView {
    /// The collection it belongs to.
    collection: String,
    /// Where it comes from.
    source: String,
    /// What it is called.
    title: String,
    /// Where a reader finds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The digest of what it says, in hexadecimal digits.
    digest: String,
    /// How many pieces it has.
    pieces: i64,
    /// When it last changed.
    updated_at: Timestamp,
}

impl Operation for ListDocuments {
    const NAME: &'static str = "list_documents";
    const ROUTE: Route = Route::get("/v1/documents");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = "admin";
    type Output = ListDocumentsOutput;

    async fn run(self, call: &Call) -> Result<ListDocumentsOutput> {
        let limit = page::size(self.limit)?;
        let after = page::begin(self.cursor.as_deref())?.unwrap_or(0);
        let collection = match self.collection {
            Some(name) => Some(super::collection(Some(&name))?),
            None => None,
        };
        let caller = call.shared_caller();
        let mut found = call
            .read(move |tx| {
                Ok(tx.documents(&caller.workspace_id, collection.as_deref(), after, limit + 1)?)
            })
            .await?;
        let next_cursor = page::cut(&mut found, limit, |document| document.row);
        let documents = found.into_iter().map(|document| DocumentView {
            collection: document.collection,
            source: document.source,
            title: document.title,
            url: document.url,
            digest: super::hex(&document.digest),
            pieces: document.pieces,
            updated_at: document.updated,
        });
        Ok(ListDocumentsOutput { documents: documents.collect(), next_cursor })
    }

    fn brief(output: &ListDocumentsOutput) -> String {
        if output.documents.is_empty() {
            return "no documents".to_owned();
        }
        let line = |document: &DocumentView| {
            format!("{}  {}  {} pieces", document.collection, document.source, document.pieces)
        };
        output.documents.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}
