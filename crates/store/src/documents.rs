//! Documents that can be retrieved, cut into pieces.

use protocol::{PieceId, Timestamp};

use crate::error::{Result, StoreError};
use crate::memories::MemoryItem;
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// A document to be kept.
#[derive(Clone, Copy, Debug)]
pub struct NewDocument<'a> {
    /// Its workspace.
    pub workspace: &'a str,
    /// The collection it belongs to.
    pub collection: &'a str,
    /// A path or an address.
    pub source: &'a str,
    /// What it is called.
    pub title: &'a str,
    /// Where a reader finds it.
    pub url: Option<&'a str>,
    /// The digest of its text.
    pub digest: &'a [u8],
    /// Now.
    pub at: Timestamp,
}

/// A document as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentRow {
    /// Its row.
    pub row: i64,
    /// The digest of its text.
    pub digest: Vec<u8>,
    /// What it is called.
    pub title: String,
    /// Where a reader finds it.
    pub url: Option<String>,
}

/// A document in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentListed {
    /// Its row.
    pub row: i64,
    /// The collection it belongs to.
    pub collection: String,
    /// A path or an address.
    pub source: String,
    /// What it is called.
    pub title: String,
    /// Where a reader finds it.
    pub url: Option<String>,
    /// The digest of its text.
    pub digest: Vec<u8>,
    /// How many pieces it has.
    pub pieces: i64,
    /// When it was last changed.
    pub updated: Timestamp,
}

/// A piece to be kept.
#[derive(Clone, Debug)]
pub struct NewPiece {
    /// Its id.
    pub id: PieceId,
    /// The headings above it.
    pub heading: String,
    /// Its text.
    pub text: String,
    /// How its vector was made.
    pub embedding: String,
    /// Its vector.
    pub vector: Vec<u8>,
}

/// A piece with the document it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceRow {
    /// Its row.
    pub row: i64,
    /// Its id.
    pub id: PieceId,
    /// Its workspace.
    pub workspace: String,
    /// The headings above it.
    pub heading: String,
    /// Its text.
    pub text: String,
    /// How its vector was made.
    pub embedding: String,
    /// Its vector.
    pub vector: Vec<u8>,
    /// The document's collection.
    pub collection: String,
    /// The document's source.
    pub source: String,
    /// The document's title.
    pub title: String,
    /// Where a reader finds the document.
    pub url: Option<String>,
}

macro_rules! select_pieces {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, p.uid, p.workspace, p.heading, p.text, p.embedding, p.vector, d.collection,
                    d.source, d.title, d.url
             FROM document_piece p JOIN document d ON d.id = p.document ",
            $rest
        )
    };
}

impl Tx<'_> {
    /// The document of a source.
    pub fn document(
        &mut self,
        workspace: &str,
        collection: &str,
        source: &str,
    ) -> Result<Option<DocumentRow>> {
        self.query_one(
            "SELECT id, digest, title, url FROM document
             WHERE workspace = ?1 AND collection = ?2 AND source = ?3",
            &[workspace.into(), collection.into(), source.into()],
            |row| {
                Ok(DocumentRow {
                    row: row.int(0)?,
                    digest: row.blob(1)?,
                    title: row.text(2)?,
                    url: row.opt_text(3)?,
                })
            },
        )
    }

    /// Keeps a document in place of the one of the same source, whose pieces go; answers its row.
    pub fn put_document(&mut self, new: &NewDocument<'_>) -> Result<i64> {
        if let Some(old) = self.document(new.workspace, new.collection, new.source)? {
            self.delete_pieces(old.row, new.at)?;
            self.execute(
                "UPDATE document SET title = ?2, url = ?3, digest = ?4, updated_ms = ?5 WHERE id = ?1",
                &[
                    old.row.into(),
                    new.title.into(),
                    new.url.into(),
                    new.digest.into(),
                    new.at.as_ms().into(),
                ],
            )?;
            return Ok(old.row);
        }
        self.insert(
            "INSERT INTO document (workspace, collection, source, title, url, digest, updated_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            &[
                new.workspace.into(),
                new.collection.into(),
                new.source.into(),
                new.title.into(),
                new.url.into(),
                new.digest.into(),
                new.at.as_ms().into(),
            ],
        )
    }

    /// Adds a piece to a document.
    pub fn insert_piece(
        &mut self,
        workspace: &str,
        document_row: i64,
        piece: &NewPiece,
        at: Timestamp,
    ) -> Result<()> {
        let row = self.insert(
            "INSERT INTO document_piece (uid, workspace, document, heading, text, vector, embedding)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            &[
                piece.id.as_bytes().into(),
                workspace.into(),
                document_row.into(),
                piece.heading.as_str().into(),
                piece.text.as_str().into(),
                piece.vector.as_slice().into(),
                piece.embedding.as_str().into(),
            ],
        )?;
        self.note_memory_change(MemoryItem::Piece(row), at)
    }

    /// A piece by its row.
    pub fn piece_by_row(&mut self, row: i64) -> Result<Option<PieceRow>> {
        self.query_one(select_pieces!("WHERE p.id = ?1"), &[row.into()], piece_row)
    }

    /// A piece by its id.
    pub fn piece(&mut self, workspace: &str, id: PieceId) -> Result<Option<PieceRow>> {
        self.query_one(
            select_pieces!("WHERE p.uid = ?1 AND p.workspace = ?2"),
            &[id.as_bytes().into(), workspace.into()],
            piece_row,
        )
    }

    /// Documents in the order of their sources, after one; of one collection or of all.
    pub fn documents(
        &mut self,
        workspace: &str,
        collection: Option<&str>,
        after_row: i64,
        limit: usize,
    ) -> Result<Vec<DocumentListed>> {
        self.query(
            "SELECT d.id, d.collection, d.source, d.title, d.url, d.digest,
                    (SELECT count(*) FROM document_piece p WHERE p.document = d.id), d.updated_ms
             FROM document d WHERE d.workspace = ?1 AND (?2 = '' OR d.collection = ?2) AND d.id > ?3
             ORDER BY d.id LIMIT ?4",
            &[
                workspace.into(),
                collection.unwrap_or("").into(),
                after_row.into(),
                limit_param(limit),
            ],
            |row| {
                Ok(DocumentListed {
                    row: row.int(0)?,
                    collection: row.text(1)?,
                    source: row.text(2)?,
                    title: row.text(3)?,
                    url: row.opt_text(4)?,
                    digest: row.blob(5)?,
                    pieces: row.int(6)?,
                    updated: Timestamp::from_ms(row.int(7)?),
                })
            },
        )
    }

    /// Forgets a document and its pieces.
    pub fn delete_document(&mut self, document_row: i64, at: Timestamp) -> Result<()> {
        self.delete_pieces(document_row, at)?;
        self.execute("DELETE FROM document WHERE id = ?1", &[document_row.into()])?;
        Ok(())
    }

    fn delete_pieces(&mut self, document_row: i64, at: Timestamp) -> Result<()> {
        let rows = self.query(
            "SELECT id FROM document_piece WHERE document = ?1",
            &[document_row.into()],
            |row| row.int(0),
        )?;
        self.execute("DELETE FROM document_piece WHERE document = ?1", &[document_row.into()])?;
        for row in rows {
            self.note_memory_change(MemoryItem::Piece(row), at)?;
        }
        Ok(())
    }
}

fn piece_row(row: &Row<'_>) -> Result<PieceRow> {
    Ok(PieceRow {
        row: row.int(0)?,
        id: PieceId::from_bytes(&row.blob(1)?).ok_or(StoreError::Corrupt { what: "piece id" })?,
        workspace: row.text(2)?,
        heading: row.text(3)?,
        text: row.text(4)?,
        embedding: row.text(5)?,
        vector: row.blob(6)?,
        collection: row.text(7)?,
        source: row.text(8)?,
        title: row.text(9)?,
        url: row.opt_text(10)?,
    })
}
