//! What a comment at GitHub looks like: Markdown, and the mark that nobody sees as its last line.

use connector_api::{Part, Posting, Result};
use protocol::limits::outbound as limits;
use serde_json::json;

use super::place::Place;
use crate::comment::{Shape, comments};
use crate::markdown::{Flavour, mark};

/// The parts of a posting.
pub(super) fn parts(posting: &Posting) -> Result<Vec<Part>> {
    Place::read(&posting.action.address)?;
    let shape = Shape {
        flavour: Flavour::GitHub,
        units_max: limits::GITHUB_COMMENT_UNITS_MAX,
        tail: &|mark| mark::comment(mark),
    };
    Ok(comments(posting, &shape, |text| json!({ "body": text })))
}
