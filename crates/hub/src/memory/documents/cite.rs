//! The documents behind what a text cites.

use protocol::PieceId;
use protocol::relay::Citation;
use store::Tx;

use crate::error::Result;

/// The titles and addresses of what was retrieved, in its order. What is no piece of this workspace, or
/// is gone, keeps its id for a title.
pub fn citations(tx: &mut Tx<'_>, workspace: &str, refs: &[String]) -> Result<Vec<Citation>> {
    let mut found = Vec::with_capacity(refs.len());
    for id in refs {
        let known = citation(tx, workspace, id)?;
        let unknown = || Citation { id: id.clone(), title: id.clone(), url: None };
        found.push(known.unwrap_or_else(unknown));
    }
    Ok(found)
}

/// The title and address of one piece of this workspace.
pub fn citation(tx: &mut Tx<'_>, workspace: &str, id: &str) -> Result<Option<Citation>> {
    let Ok(piece) = id.parse::<PieceId>() else { return Ok(None) };
    let piece = tx.piece(workspace, piece)?;
    Ok(piece.map(|piece| Citation { id: id.to_owned(), title: piece.title, url: piece.url }))
}
