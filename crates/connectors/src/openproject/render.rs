//! What a comment at OpenProject looks like: Markdown, and the mark that nobody sees as its last line.

use connector_api::{Part, Posting, Result};
use protocol::limits::outbound as limits;
use serde_json::json;

use crate::comment::{Shape, comments};
use crate::markdown::{Flavour, mark};

/// The parts of a posting.
pub(super) fn parts(posting: &Posting) -> Result<Vec<Part>> {
    super::api::work_package_of(&posting.action.address)?;
    let shape = Shape {
        flavour: Flavour::OpenProject,
        units_max: limits::OPENPROJECT_COMMENT_UNITS_MAX,
        tail: &|mark| mark::comment(mark),
    };
    Ok(comments(posting, &shape, |text| json!({ "comment": { "raw": text } })))
}
