//! Whether this link's own app or account did something.

use parking_lot::RwLock;
use serde_json::Value;

use crate::foreign::Foreign;

/// How every post of the hub is marked, in a comment that nobody sees.
const MARK: &str = "<!-- ws:out_";

/// Who this link is at GitHub, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// The app's id or client id, as the settings say; empty with a token.
    app_id: String,
    /// The account's name, `waystation[bot]`, once the way out has asked for it.
    login: RwLock<Option<String>>,
}

impl Own {
    /// Known by its app, if it has one.
    pub(super) fn new(app_id: &str) -> Self {
        Self { app_id: app_id.trim().to_owned(), login: RwLock::default() }
    }

    /// The way out has learned the account's name.
    pub(super) fn learn(&self, login: &str) {
        *self.login.write() = Some(login.to_owned());
    }

    /// Whether this link did it. `thing` is what was written, which names the app it was written
    /// through; while the account is not known its mark counts too.
    pub(super) fn did(&self, payload: &Value, thing: &Value) -> bool {
        let sender = payload.object("sender").and_then(|sender| sender.text("login"));
        let author = thing.object("user").and_then(|user| user.text("login"));
        let is_authors = sender.is_some() && sender == author;
        if is_authors && self.is_app_of(thing) {
            return true;
        }
        match self.login.read().as_deref() {
            Some(login) => !login.is_empty() && sender == Some(login),
            None => is_authors && thing.text("body").is_some_and(|body| body.contains(MARK)),
        }
    }

    fn is_app_of(&self, thing: &Value) -> bool {
        let Some(app) = thing.object("performed_via_github_app") else { return false };
        let is_ours = |id: &str| !self.app_id.is_empty() && id == self.app_id;
        app.text("client_id").is_some_and(is_ours)
            || app.number("id").is_some_and(|id| is_ours(&id.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(by: &str, author: &str, app: u64, body: &str) -> (Value, Value) {
        let app = json!({"id": app, "client_id": "Iv23x"});
        let thing =
            json!({"user": {"login": author}, "performed_via_github_app": app, "body": body});
        (json!({"sender": {"login": by}}), thing)
    }

    #[test]
    fn what_came_through_our_app_is_ours() {
        let (payload, thing) = said("way[bot]", "way[bot]", 7, "x");
        assert!(Own::new("7").did(&payload, &thing));
        assert!(Own::new("Iv23x").did(&payload, &thing));
        assert!(!Own::new("8").did(&payload, &thing));
        assert!(!Own::new("").did(&payload, &thing));
    }

    #[test]
    fn somebody_who_edits_our_comment_is_not_us() {
        let (payload, thing) = said("anna", "way[bot]", 7, "x <!-- ws:out_1 1 -->");
        assert!(!Own::new("7").did(&payload, &thing));
    }

    #[test]
    fn the_mark_counts_until_the_account_is_known() {
        let (payload, thing) = said("way", "way", 1, "x <!-- ws:out_1 1 -->");
        let own = Own::new("");
        assert!(own.did(&payload, &thing));
        own.learn("other");
        assert!(!own.did(&payload, &thing));
        own.learn("way");
        assert!(own.did(&payload, &json!({})));
    }
}
