//! Listing the sources of chats.

use protocol::{Scope, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::LinkRow;

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
}

impl Operation for ListSources {
    const NAME: &'static str = "list_sources";
    const ROUTE: Route = Route::get("/v1/sources");
    const SCOPE: Scope = Scope::ChatsRead;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = TOOLSET;
    type Output = ListSourcesOutput;

    async fn run(self, call: &Call) -> Result<ListSourcesOutput> {
        let caller = call.shared_caller();
        let links = call.read(move |tx| sight::sources(tx, &caller)).await?;
        let view = |link: LinkRow| shown(rules::state(&call.hub, &link), link);
        Ok(ListSourcesOutput { sources: links.into_iter().map(view).collect() })
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

fn shown(state: LinkState, link: LinkRow) -> SourceView {
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
