//! Listing the sources of chats.

use protocol::limits::chats::LINKS_MAX;
use protocol::{Caller, Scope, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{LinkRow, Tx};

use super::coverage::{self, Coverage};
use super::rules::Range;
use super::{TOOLSET, rules, sight};
use crate::call::Call;
use crate::error::Result;
use crate::links::{LinkState, LinkStatus};
use crate::operation::{Effect, Operation, Route};

/// List the chat sources you see (Telegram, Signal, Slack, imports) and how each is doing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSources {}

/// The sources.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListSourcesOutput {
    /// The sources, in the order of their ids.
    sources: Vec<SourceView>,
    /// Whether everything that was said in all of them is held here.
    complete: bool,
    /// Whether there are more sources than are listed.
    truncated: bool,
}

/// One source.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SourceView {
    /// Its id, which other tools take as `source`.
    id: String,
    /// Its name for people.
    name: String,
    /// Whether it is up; an archive of imports always is.
    is_connected: bool,
    /// The service: telegram, signal, whatsapp, slack.
    service: String,
    /// How it is doing.
    status: LinkStatus,
    /// Why it is not connected, or what a person should know.
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    /// Since when.
    since: Timestamp,
    /// Whether new messages are told as they come.
    supports_streaming: bool,
    /// Whether what was said before the link was made can be fetched.
    supports_history: bool,
    /// How much is held of the chats you see there.
    #[serde(flatten)]
    coverage: Coverage,
}

impl Operation for ListSources {
    const NAME: &'static str = "list_sources";
    const ROUTE: Route = Route::get("/v1/sources");
    const SCOPE: Scope = Scope::ChatsRead;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = TOOLSET;
    type Output = ListSourcesOutput;

    async fn run(self, call: &Call) -> Result<ListSourcesOutput> {
        let (caller, now) = (call.shared_caller(), call.now());
        let links = call.read(move |tx| held(tx, &caller, now)).await?;
        let truncated = links.len() >= LINKS_MAX;
        let view =
            |(link, held): (LinkRow, Coverage)| shown(rules::state(&call.hub, &link), link, held);
        let sources: Vec<SourceView> = links.into_iter().map(view).collect();
        let complete = !truncated && sources.iter().all(|source| source.coverage.complete);
        Ok(ListSourcesOutput { sources, complete, truncated })
    }

    fn brief(output: &ListSourcesOutput) -> String {
        if output.sources.is_empty() {
            return "no sources".to_owned();
        }
        let line = |source: &SourceView| {
            let state = match (source.status, source.is_connected) {
                (LinkStatus::Archive, _) => "an archive",
                (_, true) => "connected",
                (_, false) => "not connected",
            };
            let reason = if source.reason.is_empty() {
                String::new()
            } else {
                format!(": {}", source.reason)
            };
            format!("{}: {}, {state}{reason}", source.id, source.name)
        };
        output.sources.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// The sources, and how much is held of each.
fn held(tx: &mut Tx<'_>, caller: &Caller, now: Timestamp) -> Result<Vec<(LinkRow, Coverage)>> {
    let links = sight::sources(tx, caller)?;
    let mut held = Vec::with_capacity(links.len());
    for link in links {
        let chats = sight::chats(tx, caller, &link)?;
        held.push((link, coverage::of(tx, &chats, Range::default(), now)?));
    }
    Ok(held)
}

fn shown(state: LinkState, link: LinkRow, coverage: Coverage) -> SourceView {
    SourceView {
        name: title(&link),
        is_connected: rules::is_connected(&state),
        status: state.status,
        supports_streaming: state.is_streaming(),
        reason: state.reason,
        since: state.since,
        supports_history: state.capabilities.history,
        id: link.name,
        service: link.service,
        coverage,
    }
}

fn title(link: &LinkRow) -> String {
    let service = match link.service.as_str() {
        "telegram" => "Telegram",
        "signal" => "Signal",
        "whatsapp" => "WhatsApp",
        "slack" => "Slack",
        other => other,
    };
    match (link.is_live, link.account.as_str()) {
        (false, _) => format!("{service} (imported)"),
        (true, "") => service.to_owned(),
        (true, account) => format!("{service} ({})", super::view::name(account)),
    }
}
