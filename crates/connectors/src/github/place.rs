//! Where something stands at GitHub.

use connector_api::{ConnectorError, Result};
use serde_json::{Map, Value};

use crate::foreign::Foreign as _;
use crate::web::{WebPage, is_here, number};

/// A place that can be written to or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// `acme/shop`.
    pub(super) repo: String,
    /// The installation that reaches it, where that is known.
    pub(super) installation: Option<i64>,
    pub(super) spot: Spot,
}

/// Where in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// An issue or a pull request, under its number.
    Issue(i64),
    /// A talk about a line of a pull request, under the id of its first comment.
    Review { number: i64, comment: i64 },
    /// A commit.
    Commit(String),
    /// A discussion.
    Discussion(Discussion),
}

/// Where in a discussion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Discussion {
    /// Its number.
    pub(super) number: i64,
    /// Its node id, where that is known.
    pub(super) node: Option<String>,
    /// The comment that is answered; an answer begins a talk of its own without one.
    pub(super) answers: Option<Answered>,
}

/// How a comment in a discussion is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    /// By its node id.
    Node(String),
    /// By the number in its page's address.
    Number(i64),
}

impl Place {
    /// Reads an address.
    pub(super) fn read(address: &Map<String, Value>) -> Result<Self> {
        let value = Value::Object(address.clone());
        let repo = value.text("repo").filter(|repo| is_repo(repo));
        let repo = repo.ok_or_else(|| refused("it names no repository"))?.to_owned();
        if let Some(number) = value.number("discussion") {
            let node = value.text("discussion_node").map(str::to_owned);
            let by_node = value.text("comment_node").map(|id| Answered::Node(id.to_owned()));
            let by_number = value.number("discussion_comment").map(Answered::Number);
            let answers = by_node.or(by_number);
            let spot = Spot::Discussion(Discussion { number, node, answers });
            return Ok(Self { repo, installation: value.number("installation"), spot });
        }
        let spot =
            match (value.number("number"), value.number("review_comment"), value.text("commit")) {
                (Some(number), Some(comment), _) => Spot::Review { number, comment },
                (Some(number), None, _) => Spot::Issue(number),
                (None, _, Some(sha)) if sha.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                    Spot::Commit(sha.to_owned())
                }
                _ => return Err(refused("it names no issue, pull request, discussion or commit")),
            };
        Ok(Self { repo, installation: value.number("installation"), spot })
    }

    /// The address of a page at this host: an issue, a pull request, a discussion, or a comment there.
    pub(super) fn of_page(url: &str, host: &str) -> Option<Map<String, Value>> {
        let page = WebPage::read(url)?;
        let is_known = page.host.eq_ignore_ascii_case(host)
            // A service that is tried out on this machine stands for the real one.
            || (is_here(host) && page.host == "github.com")
            || page.host.strip_prefix("www.").is_some_and(|page| page == host);
        let [owner, name, sort, id, ..] = page.path.as_slice() else { return None };
        let repo = format!("{owner}/{name}");
        if !is_known || !is_repo(&repo) || !matches!(*sort, "issues" | "pull" | "discussions") {
            return None;
        }
        let mut address = Map::new();
        address.insert("repo".to_owned(), repo.into());
        if *sort == "discussions" {
            address.insert("discussion".to_owned(), number(id)?.into());
            if let Some(id) = page.fragment.strip_prefix("discussioncomment-").and_then(number) {
                address.insert("discussion_comment".to_owned(), id.into());
            }
            return Some(address);
        }
        address.insert("number".to_owned(), number(id)?.into());
        let review = page.fragment.strip_prefix("discussion_r").and_then(number);
        if let Some(comment) = review.filter(|_| *sort == "pull") {
            address.insert("review_comment".to_owned(), comment.into());
        }
        Some(address)
    }

    /// Whose repository it is.
    pub(super) fn owner(&self) -> &str {
        self.repo.split('/').next().unwrap_or_default()
    }
}

/// Whether a text is a repository's name, and nothing that leads elsewhere in a path.
fn is_repo(text: &str) -> bool {
    let is_name = |name: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !name.is_empty() && name != "." && name != ".." && name.bytes().all(is_plain)
    };
    text.split_once('/').is_some_and(|(owner, name)| is_name(owner) && is_name(name))
}

fn refused(why: &str) -> ConnectorError {
    ConnectorError::Refused {
        reason: format!(
            "this place at GitHub cannot be answered: {why}; name an issue by its page"
        ),
    }
}
