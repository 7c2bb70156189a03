//! Retrieving pieces of documents.

use protocol::limits::memory as limits;
use protocol::{Caller, PieceId, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Area, AreaKind, Candidate, MemoryItem, PieceRow, RecallQuery, RecallWords, Tx};

use super::super::means::embed_query;
use super::super::recall::{check_query, limit};
use super::super::score::ScoreSettings;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Retrieve the pieces of documents that answer a question best. Cite each one that you use as
/// `[[ref:id]]` in your answer, and hand `retrieval_refs` on with it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetrieveDocs {
    /// What to look for, in any words.
    #[schemars(length(min = 1, max = limits::QUERY_CHARS_MAX))]
    query: String,
    /// How many pieces, default 5, at most 20.
    #[schemars(range(min = 1, max = limits::RETRIEVED_MAX))]
    k: Option<u32>,
    /// Only from this collection.
    collection: Option<String>,
}

/// What was retrieved.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RetrieveDocsOutput {
    /// The pieces, the best first.
    pieces: Vec<PieceView>,
    /// What to cite: the ids of the pieces.
    retrieval_refs: Vec<PieceId>,
}

/// A piece of a document.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PieceView {
    /// Its id, to be cited as `[[ref:id]]`.
    #[serde(rename = "ref")]
    id: PieceId,
    /// The document's title.
    title: String,
    /// The headings above the piece.
    heading: String,
    /// Where a reader finds the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Where the document comes from.
    source: String,
    /// The collection it belongs to.
    collection: String,
    /// What it says.
    text: String,
    /// How well it answers.
    score: f64,
}

impl Operation for RetrieveDocs {
    const NAME: &'static str = "retrieve_docs";
    const ROUTE: Route = Route::post("/v1/documents/search");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = "relay";
    type Output = RetrieveDocsOutput;

    async fn run(self, call: &Call) -> Result<RetrieveDocsOutput> {
        let query = self.query.trim().to_owned();
        check_query(&query)?;
        if query.is_empty() {
            return Err(Error::invalid_hint("query", "must not be empty", "ask in a few words"));
        }
        let limit = limit("k", self.k, limits::RETRIEVED_DEFAULT, limits::RETRIEVED_MAX)?;
        let collection = match self.collection {
            Some(name) => Some(super::collection(Some(&name))?),
            None => None,
        };
        let newest = call.read(|tx| Ok(tx.newest_memory_change()?)).await?;
        call.hub.memory.catch_up(newest).await;
        let asked = RecallQuery {
            areas: vec![Area {
                workspace: call.caller().workspace_id.clone(),
                kind: AreaKind::Documents,
            }],
            threads: None,
            words: RecallWords::of(&query),
            vector: embed_query(&call.hub, &query).await,
            pool: (limit * limits::POOL_FACTOR).max(limits::POOL_MIN),
        };
        let candidates = call.hub.memory.index.recall(asked).await?;
        let (caller, settings) = (call.shared_caller(), call.hub.settings.relay.memory.score);
        let pieces = call
            .read(move |tx| load(tx, &caller, &candidates, &settings, collection.as_deref(), limit))
            .await?;
        let retrieval_refs = pieces.iter().map(|piece| piece.id).collect();
        Ok(RetrieveDocsOutput { pieces, retrieval_refs })
    }

    fn brief(output: &RetrieveDocsOutput) -> String {
        if output.pieces.is_empty() {
            return "no document says anything about this".to_owned();
        }
        let line = |piece: &PieceView| {
            format!("[[ref:{}]] {} › {}\n{}", piece.id, piece.title, piece.heading, piece.text)
        };
        output.pieces.iter().map(line).collect::<Vec<_>>().join("\n\n")
    }
}

/// The pieces behind the candidates. The view may lag behind: what it says is checked once more.
fn load(
    tx: &mut Tx<'_>,
    caller: &Caller,
    candidates: &[Candidate],
    settings: &ScoreSettings,
    collection: Option<&str>,
    limit: usize,
) -> Result<Vec<PieceView>> {
    let mut scored: Vec<(f64, PieceRow)> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let MemoryItem::Piece(row) = candidate.item else { continue };
        let Some(piece) = tx.piece_by_row(row)? else { continue };
        let is_asked = collection.is_none_or(|name| piece.collection == name);
        if piece.workspace == caller.workspace_id && is_asked {
            scored.push((settings.relevance(candidate), piece));
        }
    }
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.row.cmp(&y.row)));
    scored.truncate(limit);
    let view = |(score, piece): (f64, PieceRow)| PieceView {
        id: piece.id,
        title: piece.title,
        heading: piece.heading,
        url: piece.url,
        source: piece.source,
        collection: piece.collection,
        text: piece.text,
        score,
    };
    Ok(scored.into_iter().map(view).collect())
}
