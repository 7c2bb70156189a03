//! Whether the tokens work, and what a person should know before relying on them.

use connector_api::{Account, ConnectorError, Result};
use protocol::limits::slack as limits;

use super::api::{Answer, Api, Failure, fields};
use super::json::{is, text};
use super::listing::TYPES;

/// What the connector uses, and for what.
const SCOPES: [(&str, &str); 15] = [
    ("channels:history", "messages in public channels"),
    ("channels:read", "the list of public channels"),
    ("groups:history", "messages in private channels"),
    ("groups:read", "the list of private channels"),
    ("im:history", "direct messages"),
    ("im:read", "the list of direct messages"),
    ("mpim:history", "messages in group conversations"),
    ("mpim:read", "the list of group conversations"),
    ("users:read", "people's names"),
    ("users:read.email", "people's mail addresses, which make one person of several accounts"),
    ("reactions:read", "reactions as they happen"),
    ("files:read", "fetching files"),
    ("chat:write", "sending"),
    ("app_mentions:read", "work from mentions of the app"),
    ("commands", "slash commands"),
];

/// Which ways events can come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Live {
    Socket,
    Hook,
    None,
}

/// Asks Slack whose the token is, and tries the rest.
pub(super) async fn check(api: &Api, live: Live) -> Result<Account> {
    let answer = api.call("auth.test", Vec::new()).await.map_err(Failure::plain)?;
    let field = |name| text(&answer.value, name).unwrap_or_default();
    let mut account = Account {
        name: format!("{} in {}", field("user"), field("team")),
        id: field("user_id").to_owned(),
        notes: Vec::new(),
    };
    account.notes.extend(missing(&answer));
    match live {
        Live::Socket => check_app_token(api).await?,
        Live::Hook => account.notes.push(
            "without app_token nothing comes by itself: enter the hub's address for Slack as \
             Request URL under Event Subscriptions"
                .to_owned(),
        ),
        Live::None => account.notes.push(
            "without app_token and signing_secret nothing is followed live; the hub reads history \
             alone"
                .to_owned(),
        ),
    }
    probe_history(api).await?;
    if api.is_distributed() {
        account.notes.push(
            "Slack gives this app 15 messages of history a minute, as it does to apps that are \
             distributed outside of its marketplace: make an internal app of your own from the \
             manifest and use its tokens"
                .to_owned(),
        );
    }
    Ok(account)
}

/// A note for every scope that the token lacks.
fn missing(answer: &Answer) -> Vec<String> {
    let Some(scopes) = &answer.scopes else { return Vec::new() };
    let lacks = |name: &&(&str, &str)| scopes.iter().all(|scope| scope != name.0);
    let note = |(name, what): &(&str, &str)| format!("the token lacks {name}: no {what}");
    SCOPES.iter().filter(lacks).map(note).collect()
}

/// The address that is answered is a ticket, which expires unused.
async fn check_app_token(api: &Api) -> Result<()> {
    match api.call_as_app("apps.connections.open").await.map_err(Failure::plain) {
        Ok(_) => Ok(()),
        Err(ConnectorError::Unauthorized { reason }) => {
            let reason = format!("app_token does not open Socket Mode: {reason}");
            Err(ConnectorError::Unauthorized { reason })
        }
        Err(error) => Err(error),
    }
}

/// Reads a little history: the limit of distributed apps shows in the size of the page.
async fn probe_history(api: &Api) -> Result<()> {
    let asked = fields(&[("types", TYPES), ("limit", "1"), ("exclude_archived", "true")]);
    let listed = api.call("users.conversations", asked).await.map_err(Failure::plain);
    let Some(listed) = unless_refused(listed)? else { return Ok(()) };
    let first = listed.list("channels")?.first();
    let Some(chat_id) = first.and_then(|chat| text(chat, "id")) else { return Ok(()) };
    let one_more = (limits::DISTRIBUTED_PAGE + 1).to_string();
    let asked = fields(&[("channel", chat_id), ("limit", &one_more)]);
    let page = api.call("conversations.history", asked).await.map_err(Failure::plain);
    let Some(page) = unless_refused(page)? else { return Ok(()) };
    let has_more = is(&page.value, "has_more");
    if has_more && page.list("messages")?.len() == limits::DISTRIBUTED_PAGE {
        api.note_distributed();
    }
    Ok(())
}

/// What is refused was noted among the scopes already, and patience is no fault of the link.
fn unless_refused(answer: Result<Answer>) -> Result<Option<Answer>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(
            ConnectorError::Unauthorized { .. }
            | ConnectorError::Refused { .. }
            | ConnectorError::RateLimited { .. },
        ) => Ok(None),
        Err(error) => Err(error),
    }
}
