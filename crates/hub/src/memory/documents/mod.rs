//! Documents for agents: added by people, cut into pieces, found by questions.

mod add;
mod cite;
mod list;
mod pieces;
mod remove;
mod retrieve;

pub use add::{AddDocuments, digest, hex};
pub use cite::{citation, citations};
pub use list::ListDocuments;
pub use pieces::{Piece, pieces};
pub use remove::RemoveDocuments;
pub use retrieve::RetrieveDocs;

use protocol::limits::memory as limits;
use protocol::validate;

use crate::error::{Checked, Result};

/// The name of a collection, or the one that is meant when none is named.
fn collection(asked: Option<&str>) -> Result<String> {
    let name = asked.unwrap_or(limits::COLLECTION_DEFAULT);
    validate::line(name, limits::COLLECTION_CHARS_MAX).field("collection")?;
    Ok(name.to_owned())
}
