//! Removing a link, with or without what it brought.

use std::sync::Arc;

use protocol::Scope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::purge;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::chats::rules;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Remove a link: its credentials are forgotten and nothing is read through it any more. What was
/// read stays as an archive, unless you purge it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveLink {
    /// The source's id.
    name: String,
    /// Delete its chats and messages too; they cannot be brought back.
    #[serde(default)]
    purge: bool,
}

/// The link is removed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RemoveLinkOutput {
    /// The source's id.
    name: String,
    /// Messages that were deleted by this call.
    messages_deleted: u64,
    /// Chats that were deleted by this call.
    chats_deleted: u64,
    /// Whether all is done; a large archive takes more than one call.
    is_done: bool,
}

impl Operation for RemoveLink {
    const NAME: &'static str = "remove_link";
    const ROUTE: Route = Route::delete("/v1/links/{name}");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Destroy;
    const GOES_ON: bool = true;
    const TOOLSET: &'static str = "admin";
    type Output = RemoveLinkOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.name)
    }

    async fn run(self, call: &Call) -> Result<RemoveLinkOutput> {
        let identity = Arc::clone(&call.identity);
        let (name, purge) = (self.name, self.purge);
        let (row, mut output) = call
            .write(move |tx| {
                let link = tx
                    .link(&identity.caller.workspace_id, &name)?
                    .ok_or(Error::NotFound { what: "link" })?;
                let output = RemoveLinkOutput {
                    name: name.clone(),
                    messages_deleted: 0,
                    chats_deleted: 0,
                    is_done: !purge,
                };
                if !purge {
                    rules::not_being_purged(&link)?;
                }
                if !link.is_live && !purge {
                    return Ok(Change::none((link.row, output)));
                }
                tx.retire_link(link.row)?;
                if purge {
                    tx.begin_purge(link.row)?;
                }
                let detail = serde_json::json!({ "purge": purge }).to_string();
                Ok(Change::of(name.clone(), (link.row, output)).with_detail(detail))
            })
            .await?;
        call.hub.links.announce_change();
        if purge {
            let purged = purge::purge(call, row).await?;
            output.messages_deleted = purged.messages;
            output.chats_deleted = purged.chats;
            output.is_done = purged.is_done;
        }
        Ok(output)
    }

    fn brief(output: &RemoveLinkOutput) -> String {
        let RemoveLinkOutput { name, messages_deleted, chats_deleted, .. } = output;
        match (output.is_done, *messages_deleted + *chats_deleted) {
            (true, 0) => format!("{name} is removed; what it brought stays as an archive"),
            (true, _) => {
                format!(
                    "{name} is gone, with {chats_deleted} chats and {messages_deleted} messages"
                )
            }
            (false, _) => {
                format!(
                    "{messages_deleted} messages of {name} are deleted; call again for the rest"
                )
            }
        }
    }
}
