//! A fake of GitHub: an app with its installation, issues with their comments, discussions over GraphQL,
//! deliveries that can be asked for, limits, and webhooks that are signed.

mod api;
mod app;
mod graphql;
mod hook;
mod state;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, patch, post};
use parking_lot::Mutex;
use serde_json::{Value, json};

use self::state::State;
pub use self::state::{Comment, Place};
use super::FakeServer;
use super::trouble::Trouble;

/// The client id of the fake's app.
pub const CLIENT_ID: &str = "Iv23fakeclient";
/// The id of the fake's app.
pub const APP_ID: i64 = 77;
/// The installation of the app.
pub const INSTALLATION_ID: i64 = 7;
/// The account behind the app.
pub const LOGIN: &str = "waystation[bot]";
/// A token of an account, for links without an app.
pub const TOKEN: &str = "github_pat_fake";
/// What the fake signs with.
pub const WEBHOOK_SECRET: &str = "a-secret-of-github's";
/// The key of the app, as GitHub gives it. It opens nothing but this fake.
pub const PRIVATE_KEY_PKCS1: &str = include_str!("github/app.pkcs1.pem");
/// The same key, as others keep it.
pub const PRIVATE_KEY_PKCS8: &str = include_str!("github/app.pkcs8.pem");

/// A running fake.
#[derive(Debug)]
pub struct GithubFake {
    server: FakeServer,
    shared: Arc<Shared>,
}

/// What the handlers and the controls share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    trouble: Trouble,
}

impl GithubFake {
    /// Starts it, with nothing in it yet.
    pub async fn start() -> Self {
        let shared =
            Arc::new(Shared { state: Mutex::new(State::new()), trouble: Trouble::default() });
        let repo = "/repos/{owner}/{name}";
        let routes = Router::new()
            .route("/app", get(app::app))
            .route("/user", get(app::user))
            .route("/graphql", post(graphql::graphql))
            .route("/app/installations/{id}/access_tokens", post(app::access_token))
            .route("/app/hook/deliveries", get(hook::deliveries))
            .route("/app/hook/deliveries/{id}", get(hook::delivery))
            .route(&format!("{repo}/installation"), get(app::installation))
            .route(&format!("{repo}/issues/{{number}}"), get(api::issue))
            .route(
                &format!("{repo}/issues/{{number}}/comments"),
                get(api::issue_comments).post(api::comment_on_issue),
            )
            .route(&format!("{repo}/issues/comments/{{id}}"), patch(api::change_comment))
            .route(&format!("{repo}/pulls/comments/{{id}}"), patch(api::change_comment))
            .route(&format!("{repo}/pulls/{{number}}/comments"), get(api::review_comments))
            .route(
                &format!("{repo}/pulls/{{number}}/comments/{{id}}/replies"),
                post(api::reply_in_review),
            )
            .route(
                &format!("{repo}/commits/{{sha}}/comments"),
                get(api::commit_comments).post(api::comment_on_commit),
            )
            .with_state(Arc::clone(&shared));
        let server = FakeServer::start(routes).await;
        shared.state.lock().url = server.url();
        Self { server, shared }
    }

    /// Where its API is.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// What goes wrong at it.
    pub fn trouble(&self) -> &Trouble {
        &self.shared.trouble
    }

    /// Adds an issue.
    pub fn add_issue(&self, repo: &str, number: i64, title: &str, body: &str, labels: &[&str]) {
        let issue = json!({
            "id": 9_000 + number, "number": number, "title": title, "body": body, "state": "open",
            "html_url": format!("https://github.com/{repo}/issues/{number}"),
            "user": {"login": "anna", "id": 1, "type": "User"},
            "labels": labels.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
            "created_at": "2026-02-17T12:00:00Z", "updated_at": "2026-02-17T12:00:00Z",
        });
        self.shared.state.lock().issues.insert((repo.to_owned(), number), issue);
    }

    /// Somebody comments on an issue.
    pub fn say(&self, repo: &str, number: i64, login: &str, body: &str) -> i64 {
        let place = Place::Issue(number);
        self.shared.state.lock().add(repo, &place, login, body, super::trouble::Hiding::No).id
    }

    /// The comments that were made through the API, whether they are listed or not.
    pub fn posted(&self) -> Vec<Comment> {
        let state = self.shared.state.lock();
        state.comments.iter().filter(|comment| comment.is_of_api).cloned().collect()
    }

    /// Lets so many writes through, then asks for patience as the secondary limit does.
    pub fn limit_writes(&self, writes: u32, retry_after_seconds: u64) {
        self.shared.state.lock().writes_left = Some((writes, retry_after_seconds));
    }

    /// Takes the limit away.
    pub fn lift_limit(&self) {
        self.shared.state.lock().writes_left = None;
    }

    /// Forgets every token of the installation that was given out.
    pub fn revoke_tokens(&self) {
        self.shared.state.lock().tokens.clear();
    }

    /// How many tokens of the installation were given out.
    pub fn tokens_made(&self) -> u64 {
        self.shared.state.lock().tokens_made
    }

    /// Every request so far: method and path.
    pub fn requests(&self) -> Vec<String> {
        self.shared.state.lock().requests.clone()
    }

    /// A payload that tells of an issue, in GitHub's own shape.
    pub fn issue_event(&self, repo: &str, number: i64, action: &str) -> Value {
        let state = self.shared.state.lock();
        let issue = state.issues.get(&(repo.to_owned(), number)).cloned().unwrap_or_default();
        json!({
            "action": action, "issue": issue,
            "repository": {"full_name": repo, "html_url": format!("https://github.com/{repo}")},
            "sender": {"login": "anna", "id": 1, "type": "User"},
            "installation": {"id": INSTALLATION_ID},
        })
    }
}
