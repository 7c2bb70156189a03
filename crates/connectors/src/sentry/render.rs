//! What a comment at Sentry looks like: Markdown. Sentry shows comments of HTML, so the mark is the end
//! of a link's address.

use connector_api::{Part, Posting, Result};
use protocol::limits::outbound as limits;
use serde_json::json;

use super::api::{Api, issue_of};
use crate::comment::{Shape, comments};
use crate::markdown::{Flavour, mark};

/// The parts of a posting.
pub(super) fn parts(api: &Api, posting: &Posting) -> Result<Vec<Part>> {
    let issue = issue_of(&posting.action.address)?;
    let shape = Shape {
        flavour: Flavour::Sentry,
        units_max: limits::SENTRY_COMMENT_UNITS_MAX,
        tail: &|mark| tail(api, &issue, mark),
    };
    Ok(comments(posting, &shape, |text| json!({ "text": text })))
}

/// The link that ends a comment. It leads to the issue itself.
pub(super) fn tail(api: &Api, issue: &str, mark: &str) -> String {
    format!("[via Waystation]({}#{})", api.page_of(issue), mark::fragment(mark))
}
