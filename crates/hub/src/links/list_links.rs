//! Listing the links of a workspace.

use std::collections::BTreeMap;

use protocol::limits::chats::LINKS_MAX;
use protocol::{Scope, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::LinkRow;

use super::state::{LinkState, LinkStatus};
use crate::call::Call;
use crate::chats::rules;
use crate::error::Result;
use crate::operation::{Effect, Operation, Route};

/// List the links of your workspace and how each is doing. Secrets are never shown.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListLinks {}

/// The links.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListLinksOutput {
    /// The links, in the order of their names.
    links: Vec<LinkView>,
}

/// One link.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LinkView {
    /// The source's id.
    name: String,
    /// The service.
    service: String,
    /// Whose account it is; empty for an archive.
    account: String,
    /// How it is doing.
    status: LinkStatus,
    /// Why it is not connected.
    reason: String,
    /// Since when.
    since: Timestamp,
    /// What it can do: stream, hooks, `chat_list`, history, send, media.
    can: Vec<&'static str>,
    /// Its settings, without what is secret.
    settings: BTreeMap<String, String>,
    /// How many chats it holds.
    chats: i64,
    /// How many messages it holds.
    messages: i64,
    /// Chats whose past is still being read.
    chats_to_read: i64,
    /// When it was made.
    created_at: Timestamp,
}

impl Operation for ListLinks {
    const NAME: &'static str = "list_links";
    const ROUTE: Route = Route::get("/v1/links");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = "admin";
    type Output = ListLinksOutput;

    async fn run(self, call: &Call) -> Result<ListLinksOutput> {
        let caller = call.shared_caller();
        let counted = call
            .read(move |tx| {
                let mut counted = Vec::new();
                for link in tx.links(&caller.workspace_id, LINKS_MAX)? {
                    let totals = tx.link_totals(link.row)?;
                    counted.push((link, totals));
                }
                Ok(counted)
            })
            .await?;
        let view = |(link, totals): (LinkRow, store::LinkTotals)| {
            view(rules::state(&call.hub, &link), link, totals)
        };
        Ok(ListLinksOutput { links: counted.into_iter().map(view).collect() })
    }

    fn brief(output: &ListLinksOutput) -> String {
        if output.links.is_empty() {
            return "no links; waystation link add SERVICE connects an account, waystation import \
                    FILE takes in an export"
                .to_owned();
        }
        let line = |link: &LinkView| {
            let whose = if link.account.is_empty() { "" } else { " as " };
            let why = if link.reason.is_empty() { "" } else { ": " };
            let still = match link.chats_to_read {
                0 => String::new(),
                chats => format!(", {chats} still to be read"),
            };
            format!(
                "{} ({}{whose}{}) {}{why}{}; {} chats{still}, {} messages",
                link.name,
                link.service,
                link.account,
                status_words(link.status),
                link.reason,
                link.chats,
                link.messages
            )
        };
        output.links.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

fn view(state: LinkState, link: LinkRow, totals: store::LinkTotals) -> LinkView {
    let can = state.capabilities;
    let can = [
        (can.stream, "stream"),
        (can.hooks, "hooks"),
        (can.chat_list, "chat_list"),
        (can.history, "history"),
        (can.send, "send"),
        (can.media, "media"),
    ];
    LinkView {
        name: link.name,
        service: link.service,
        account: link.account,
        status: state.status,
        reason: state.reason,
        since: state.since,
        can: can.into_iter().filter(|(can, _)| *can).map(|(_, name)| name).collect(),
        settings: serde_json::from_str(&link.settings).unwrap_or_default(),
        chats: totals.chats,
        messages: totals.messages,
        // Nobody reads on in an archive, nor where the service does not give its past.
        chats_to_read: if state.capabilities.history { totals.chats_to_read } else { 0 },
        created_at: link.created,
    }
}

fn status_words(status: LinkStatus) -> &'static str {
    match status {
        LinkStatus::Archive => "is an archive",
        LinkStatus::Connecting => "is connecting",
        LinkStatus::Connected => "is connected",
        LinkStatus::RateLimited => "is connected, but was asked to wait",
        LinkStatus::NeedsAttention => "needs you",
        LinkStatus::Unreachable => "cannot be reached",
    }
}
