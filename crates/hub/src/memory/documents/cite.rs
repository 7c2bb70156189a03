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
        let piece = match id.parse::<PieceId>() {
            Ok(piece) => tx.piece(workspace, piece)?,
            Err(_) => None,
        };
        found.push(match piece {
            Some(piece) => Citation { id: id.clone(), title: piece.title, url: piece.url },
            None => Citation { id: id.clone(), title: id.clone(), url: None },
        });
    }
    Ok(found)
}
