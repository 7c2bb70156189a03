//! Removing documents.

use protocol::limits::memory as limits;
use protocol::{Scope, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Remove documents, or a whole collection, so that agents do not find them any more.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveDocuments {
    /// The collection, default `docs`.
    collection: Option<String>,
    /// The sources of the documents to remove; left out, the collection is emptied.
    sources: Option<Vec<String>>,
}

/// What was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RemoveDocumentsOutput {
    /// Documents that are gone.
    removed: u64,
    /// Whether there is more to remove; ask again.
    has_more: bool,
}

impl Operation for RemoveDocuments {
    const NAME: &'static str = "remove_documents";
    const ROUTE: Route = Route::post("/v1/documents/removal");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Destroy;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = "admin";
    type Output = RemoveDocumentsOutput;

    async fn run(self, call: &Call) -> Result<RemoveDocumentsOutput> {
        let collection = super::collection(self.collection.as_deref())?;
        if let Some(sources) = &self.sources {
            if sources.len() > limits::DOCUMENTS_REMOVED_MAX {
                let reason = format!("must name at most {}", limits::DOCUMENTS_REMOVED_MAX);
                return Err(Error::invalid_hint("sources", reason, "remove them by parts"));
            }
            for source in sources {
                validate::line(source, limits::SOURCE_CHARS_MAX).field("sources")?;
            }
        }
        let (caller, now) = (call.shared_caller(), call.now());
        let output = call
            .write(move |tx| {
                let workspace = &caller.workspace_id;
                let mut rows = Vec::new();
                let mut has_more = false;
                if let Some(sources) = &self.sources {
                    for source in sources {
                        rows.extend(tx.document(workspace, &collection, source)?.map(|d| d.row));
                    }
                } else {
                    let most = limits::DOCUMENTS_REMOVED_MAX;
                    let found = tx.documents(workspace, Some(&collection), 0, most + 1)?;
                    has_more = found.len() > most;
                    rows.extend(found.iter().take(most).map(|document| document.row));
                }
                for row in &rows {
                    tx.delete_document(*row, now)?;
                }
                let removed = u64::try_from(rows.len()).unwrap_or(u64::MAX);
                let output = RemoveDocumentsOutput { removed, has_more };
                Ok(if removed > 0 {
                    Change::of(format!("documents of {collection}"), output)
                } else {
                    Change::none(output)
                })
            })
            .await?;
        call.hub.memory.ring();
        Ok(output)
    }

    fn brief(output: &RemoveDocumentsOutput) -> String {
        format!("{} documents removed", output.removed)
    }
}
