//! Adding documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::limits::memory as limits;
use protocol::redact::{Class, Counts, Redactor};
use protocol::relay::visible;
use protocol::{PieceId, Scope, validate};
use ring::digest::{Context, SHA256};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{NewDocument, NewPiece};

use super::super::embed;
use super::super::means::count_redactions;
use super::pieces::pieces;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};

/// What is taken out of documents. Addresses, telephones and names stay: a handbook is made of them, and
/// whoever added it chose to show them. Nobody means to show these.
const TAKEN_OUT: [Class; 5] =
    [Class::ApiKey, Class::Iban, Class::Card, Class::Ssn, Class::NationalId];

/// Add documents that agents can retrieve, or bring them up to date. One that is there with the same
/// text stays as it is, so handing in everything again is cheap and safe. Keys, passwords and numbers of
/// accounts, cards and people are taken out before anything is kept.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddDocuments {
    /// The collection they belong to, default `docs`.
    collection: Option<String>,
    /// The documents, at most 200 at once.
    documents: Vec<Document>,
}

/// A document.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    /// Where it comes from: a path or an address. The same source is the same document.
    #[schemars(length(min = 1, max = limits::SOURCE_CHARS_MAX))]
    source: String,
    /// What it is called; its source unless you say otherwise.
    title: Option<String>,
    /// Where a reader finds it.
    url: Option<String>,
    /// Its text: Markdown, plain text or code.
    text: String,
}

/// What was added.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct AddDocumentsOutput {
    /// Documents that are new or have changed.
    changed: u64,
    /// Documents that were there already.
    unchanged: u64,
    /// Pieces that were made.
    pieces: u64,
    /// How many values of each class were taken out of those that changed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    redactions: BTreeMap<String, u64>,
    #[serde(skip)]
    counts: Counts,
}

/// The digest by which a document is known to be unchanged.
pub fn digest(title: &str, url: Option<&str>, text: &str) -> Vec<u8> {
    let mut context = Context::new(&SHA256);
    // Whatever changes what is kept of a text changes this, so that it is taken up anew.
    context.update(b"without secrets");
    for part in [title, url.unwrap_or_default(), text] {
        context.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        context.update(part.as_bytes());
    }
    context.finish().as_ref().to_vec()
}

/// A digest as hexadecimal digits.
pub fn hex(digest: &[u8]) -> String {
    use std::fmt::Write as _;
    digest.iter().fold(String::with_capacity(2 * digest.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes whatever is written");
        text
    })
}

/// A document whose pieces are made.
struct Cut {
    source: String,
    title: String,
    url: Option<String>,
    digest: Vec<u8>,
    pieces: Vec<NewPiece>,
    counts: Counts,
}

impl Operation for AddDocuments {
    const NAME: &'static str = "add_documents";
    const ROUTE: Route = Route::post("/v1/documents");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Set;
    const TOOLSET: &'static str = "admin";
    type Output = AddDocumentsOutput;

    async fn run(self, call: &Call) -> Result<AddDocumentsOutput> {
        let collection = super::collection(self.collection.as_deref())?;
        check(&self.documents)?;
        let hub = Arc::clone(&call.hub);
        let now = call.now();
        let redactor = hub.memory.redactor(&hub, &call.caller().workspace_id).await?;
        let cut = tokio::task::spawn_blocking(move || {
            let new_id = || PieceId(hub.new_uid(now));
            let cut = |document: Document| cut(document, &redactor, &new_id);
            self.documents.into_iter().map(cut).collect::<Vec<Cut>>()
        });
        let cut = cut.await.map_err(|error| Error::Internal(Box::new(error)))?;
        let caller = call.shared_caller();
        let output = call
            .write(move |tx| {
                let mut output = AddDocumentsOutput::default();
                let workspace = &caller.workspace_id;
                for document in &cut {
                    let known = tx.document(workspace, &collection, &document.source)?;
                    if known.is_some_and(|known| known.digest == document.digest) {
                        output.unchanged += 1;
                        continue;
                    }
                    let row = tx.put_document(&NewDocument {
                        workspace,
                        collection: &collection,
                        source: &document.source,
                        title: &document.title,
                        url: document.url.as_deref(),
                        digest: &document.digest,
                        at: now,
                    })?;
                    for piece in &document.pieces {
                        tx.insert_piece(workspace, row, piece, now)?;
                        output.pieces += 1;
                    }
                    output.changed += 1;
                    output.counts.add_all(&document.counts);
                }
                let named = |(class, count): (Class, u64)| (class.name().to_owned(), count);
                output.redactions = output.counts.iter().map(named).collect();
                Ok(if output.changed > 0 {
                    Change::of(format!("documents of {collection}"), output)
                } else {
                    Change::none(output)
                })
            })
            .await?;
        count_redactions(&call.hub.metrics, &output.counts);
        call.hub.memory.ring();
        Ok(output)
    }

    fn brief(output: &AddDocumentsOutput) -> String {
        format!(
            "{} documents changed ({} pieces), {} unchanged",
            output.changed, output.pieces, output.unchanged
        )
    }
}

fn check(documents: &[Document]) -> Result<()> {
    if documents.len() > limits::DOCUMENTS_ADDED_MAX {
        let reason = format!("must hold at most {} documents", limits::DOCUMENTS_ADDED_MAX);
        return Err(Error::invalid_hint("documents", reason, "hand them in by parts"));
    }
    for (place, document) in documents.iter().enumerate() {
        let field = |name: &str| format!("documents[{place}].{name}");
        validate::line(&document.source, limits::SOURCE_CHARS_MAX).field(&field("source"))?;
        for (name, text) in [("title", &document.title), ("url", &document.url)] {
            if let Some(text) = text {
                validate::line(text, limits::SOURCE_CHARS_MAX).field(&field(name))?;
            }
        }
        validate::without_nul(&document.text).field(&field("text"))?;
        if document.text.len() > limits::DOCUMENT_BYTES_MAX {
            let reason = format!("must be at most {} bytes", limits::DOCUMENT_BYTES_MAX);
            return Err(Error::invalid_hint(field("text"), reason, "split the document"));
        }
    }
    Ok(())
}

fn cut(document: Document, redactor: &Redactor, new_id: &dyn Fn() -> PieceId) -> Cut {
    let title = document.title.unwrap_or_else(|| document.source.clone());
    // A page may hold words that people do not see and models read.
    let text = visible(&document.text);
    let clean = redactor.redact_only(&text, &TAKEN_OUT);
    let made = pieces(&clean.text).into_iter().map(|piece| {
        let vector = embed::built_in(&format!("{} {}", piece.heading, piece.text));
        NewPiece {
            id: new_id(),
            heading: piece.heading,
            text: piece.text,
            vector: embed::bytes(&vector.values),
            embedding: vector.embedding,
        }
    });
    Cut {
        pieces: made.collect(),
        counts: clean.counts,
        digest: digest(&title, document.url.as_deref(), &document.text),
        source: document.source,
        url: document.url,
        title: redactor.redact_only(&title, &TAKEN_OUT).text.into_owned(),
    }
}
