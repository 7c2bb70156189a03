//! What the fake GitHub knows.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::trouble::Hiding;
use super::{APP_ID, CLIENT_ID, LOGIN};

/// Everything of the fake that changes.
#[derive(Debug)]
pub(super) struct State {
    pub(super) url: String,
    pub(super) issues: BTreeMap<(String, i64), Value>,
    /// By repository and number, their titles.
    pub(super) discussions: BTreeMap<(String, i64), String>,
    /// GraphQL requests that pass before the hourly limit.
    pub(super) graphql_left: Option<u32>,
    pub(super) comments: Vec<Comment>,
    pub(super) tokens: BTreeSet<String>,
    pub(super) tokens_made: u64,
    /// Writes that pass before the limit, and the seconds to wait after them.
    pub(super) writes_left: Option<(u32, u64)>,
    pub(super) requests: Vec<String>,
    pub(super) deliveries: Vec<Delivery>,
    pub(super) next_id: i64,
}

/// Where a comment stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// On an issue or a pull request.
    Issue(i64),
    /// In a talk about a line of a pull request.
    Review {
        /// The pull request.
        number: i64,
        /// The first comment of the talk.
        comment: i64,
    },
    /// On a commit.
    Commit(String),
    /// In a discussion.
    Discussion {
        /// The discussion.
        number: i64,
        /// The comment that it answers.
        beneath: Option<i64>,
    },
}

/// A comment.
#[derive(Clone, Debug)]
pub struct Comment {
    /// Its id.
    pub id: i64,
    /// `acme/shop`.
    pub repo: String,
    /// Where in it.
    pub place: Place,
    /// Who wrote it.
    pub login: String,
    /// What it says.
    pub body: String,
    pub(super) is_of_api: bool,
    pub(super) hiding: Hiding,
}

/// A webhook that was sent.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    pub(super) id: i64,
    pub(super) guid: String,
    pub(super) event: String,
    pub(super) payload: Value,
    pub(super) at: String,
    pub(super) is_again: bool,
    pub(super) status: u16,
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            url: String::new(),
            issues: BTreeMap::new(),
            discussions: BTreeMap::new(),
            graphql_left: None,
            comments: Vec::new(),
            tokens: BTreeSet::new(),
            tokens_made: 0,
            writes_left: None,
            requests: Vec::new(),
            deliveries: Vec::new(),
            next_id: 1_000,
        }
    }

    pub(super) fn id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id
    }

    pub(super) fn add(
        &mut self,
        repo: &str,
        place: &Place,
        login: &str,
        body: &str,
        hiding: Hiding,
    ) -> Comment {
        let comment = Comment {
            id: self.id(),
            repo: repo.to_owned(),
            place: place.clone(),
            login: login.to_owned(),
            body: body.to_owned(),
            is_of_api: login == LOGIN,
            hiding,
        };
        self.comments.push(comment.clone());
        comment
    }
}

impl Comment {
    /// In GitHub's own shape.
    pub(super) fn spelled(&self) -> Value {
        let page = match &self.place {
            Place::Issue(number) => format!("issues/{number}#issuecomment-{}", self.id),
            Place::Review { number, .. } => format!("pull/{number}#discussion_r{}", self.id),
            Place::Commit(sha) => format!("commit/{sha}#commitcomment-{}", self.id),
            Place::Discussion { number, .. } => {
                format!("discussions/{number}#discussioncomment-{}", self.id)
            }
        };
        let app = self.is_of_api.then(|| json!({"id": APP_ID, "client_id": CLIENT_ID}));
        json!({
            "id": self.id, "body": self.body, "html_url": format!("https://github.com/{}/{page}", self.repo),
            "user": {"login": self.login, "type": if self.is_of_api { "Bot" } else { "User" }},
            "performed_via_github_app": app,
            "created_at": "2026-02-17T12:00:00Z", "updated_at": "2026-02-17T12:00:00Z",
        })
    }
}
