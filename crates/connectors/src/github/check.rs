//! Whether the credentials work, and whose they are.

use connector_api::{Account, Result};

use super::api::{Api, judged};
use super::own::Own;
use crate::foreign::Foreign as _;

/// Asks GitHub who the link is.
pub(super) async fn account(api: &Api, own: &Own) -> Result<Account> {
    if !api.can_write() {
        let note =
            "without an app or a token nothing goes out, and what was missed cannot be asked for";
        let name = format!("webhooks of {}", api.host());
        return Ok(Account { name, notes: vec![note.to_owned()], ..Account::default() });
    }
    if api.app().is_none() {
        let user = judged(&api.get_as_self("user").await?, "the token")?;
        let login = user.text("login").unwrap_or_default();
        own.learn(login);
        let id = user.number("id").map(|id| id.to_string()).unwrap_or_default();
        return Ok(Account { name: login.to_owned(), id, notes: Vec::new() });
    }
    let app = judged(&api.get_as_self("app").await?, "the app")?;
    let login = format!("{}[bot]", app.text("slug").unwrap_or_default());
    own.learn(&login);
    let mut notes = Vec::new();
    let may_write = |name: &str| {
        app.object("permissions").and_then(|rights| rights.text(name)) == Some("write")
    };
    for (right, what) in [
        ("issues", "comments on issues"),
        ("pull_requests", "answers in reviews"),
        ("discussions", "answers in discussions"),
    ] {
        if !may_write(right) {
            notes.push(format!("the app may not write {right}: no {what}"));
        }
    }
    let id = app.number("id").map(|id| id.to_string()).unwrap_or_default();
    Ok(Account { name: login, id, notes })
}
