//! Taking facts in by hand: how imports, and whoever writes a bridge of their own, feed a source.

use std::sync::Arc;

use protocol::chat::Facts;
use protocol::{Scope, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{LinkRow, NewLink, Tx};

use super::rules;
use super::take::{self, Taken};
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Add chats, people and messages to a source, which is made if it is new. Facts that are known
/// already change nothing, so sending them again is safe.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddMessages {
    /// The source's id, such as `telegram`.
    source: String,
    /// The service they come from; the source's id unless you say otherwise.
    service: Option<String>,
    /// What to add.
    #[serde(default, deserialize_with = "protocol::object::object")]
    facts: Facts,
    /// Where an import stands after these facts.
    import: Option<ImportMark>,
}

/// Where an import stands.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ImportMark {
    /// Tells the file from others.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX))]
    fingerprint: String,
    /// How many of its messages have been handed in; left out to ask how many an earlier import has.
    #[schemars(range(min = 0))]
    messages_done: Option<i64>,
    /// How many have to be handed in before these. With it the next call may be under way while one is
    /// still being taken in: each waits a moment for its turn, and a `CONFLICT` says that it never came.
    #[schemars(range(min = 0))]
    after: Option<i64>,
}

/// What was added.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AddMessagesOutput {
    #[serde(flatten)]
    taken: Taken,
    /// How many messages of the file have been handed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_done: Option<i64>,
}

impl Operation for AddMessages {
    const NAME: &'static str = "add_messages";
    const ROUTE: Route = Route::post("/v1/sources/{source}/messages");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Set;
    const TOOLSET: &'static str = "admin";
    type Output = AddMessagesOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.source)
    }

    async fn run(self, call: &Call) -> Result<AddMessagesOutput> {
        rules::source_name("source", &self.source)?;
        let service = self.service.clone().unwrap_or_else(|| self.source.clone());
        rules::source_name("service", &service)?;
        if let Some(mark) = &self.import {
            protocol::validate::line(&mark.fingerprint, limits::NAME_CHARS_MAX)
                .field("import.fingerprint")?;
            for (name, count) in [("messages_done", mark.messages_done), ("after", mark.after)] {
                if count.is_some_and(|count| count < 0) {
                    return Err(Error::invalid(format!("import.{name}"), "must not be below 0"));
                }
            }
        }
        if let (true, Some(ImportMark { fingerprint, messages_done: None, .. })) =
            (self.facts.is_empty(), &self.import)
        {
            return progress(call, fingerprint.clone()).await;
        }
        let expires = self.facts.messages.iter().any(|message| message.expires_at.is_some());
        let is_import = self.import.is_some();
        let output = in_turn(call, Arc::new(self), service.into()).await?;
        if is_import {
            call.hub.import_bell.notify_waiters();
        }
        if expires {
            call.hub.links.expiry_bell().notify_one();
        }
        for thread in &output.taken.threads {
            call.hub.live.announce_chat(*thread);
        }
        Ok(output)
    }

    fn brief(output: &AddMessagesOutput) -> String {
        let taken = &output.taken;
        format!(
            "{} messages added, {} known, {} changed; {} chats added",
            taken.messages_added, taken.messages_known, taken.messages_changed, taken.chats_added
        )
    }
}

/// Takes the messages as soon as what has to come before them is there.
async fn in_turn(
    call: &Call,
    request: Arc<AddMessages>,
    service: Arc<str>,
) -> Result<AddMessagesOutput> {
    let mut patience = std::pin::pin!(tokio::time::sleep(limits::chats::IMPORT_TURN_MAX));
    loop {
        // Listens before it looks, or what happens in between would be missed.
        let mut turn = std::pin::pin!(call.hub.import_bell.notified());
        turn.as_mut().enable();
        match try_take(call, &request, &service).await? {
            Turn::Taken(output) => return Ok(output),
            Turn::Early { done, after } => tokio::select! {
                () = turn => {}
                () = &mut patience => {
                    return Err(Error::Conflict(format!(
                        "{after} messages of this import come before these, and {done} were handed \
                         in; hand in the others, then these again"
                    )));
                }
            },
        }
    }
}

/// What became of an attempt to take messages.
#[derive(Serialize)]
#[serde(untagged)]
enum Turn {
    Taken(AddMessagesOutput),
    /// Others come first.
    Early {
        done: i64,
        after: i64,
    },
}

async fn try_take(call: &Call, request: &Arc<AddMessages>, service: &Arc<str>) -> Result<Turn> {
    let (request, service) = (Arc::clone(request), Arc::clone(service));
    let (identity, hub) = (Arc::clone(&call.identity), Arc::clone(&call.hub));
    call.write(move |tx| {
        let workspace = &identity.caller.workspace_id;
        if let Some(ImportMark { fingerprint, after: Some(after), .. }) = &request.import {
            let (done, after) = (tx.import_progress(workspace, fingerprint)?, *after);
            if done < after {
                return Ok(Change::nothing(Turn::Early { done, after }));
            }
        }
        let link = source(tx, &request.source, &service, &identity)?;
        let new_uid = || hub.new_uid(identity.now);
        let taken = take::take(tx, &link, &request.facts, identity.now, &new_uid)?;
        let messages_done = match &request.import {
            Some(mark) => Some(advance(tx, workspace, mark, &identity)?),
            None => None,
        };
        let output = Turn::Taken(AddMessagesOutput { taken, messages_done });
        Ok(if request.facts.is_empty() {
            Change::none(output)
        } else {
            Change::of(request.source.clone(), output)
        })
    })
    .await
}

/// How far an import is. Asking makes no source.
async fn progress(call: &Call, fingerprint: String) -> Result<AddMessagesOutput> {
    let caller = call.shared_caller();
    let done = call.read(move |tx| Ok(tx.import_progress(&caller.workspace_id, &fingerprint)?));
    Ok(AddMessagesOutput { taken: Taken::default(), messages_done: Some(done.await?) })
}

/// The source, made if it is new; one of another service is refused.
fn source(
    tx: &mut Tx<'_>,
    name: &str,
    service: &str,
    identity: &crate::call::Identity,
) -> Result<LinkRow> {
    let workspace = &identity.caller.workspace_id;
    if let Some(link) = tx.link(workspace, name)? {
        if link.service != service {
            return Err(Error::Conflict(format!(
                "the source {name} is one of {}, these messages are of {service}; choose another source",
                link.service
            )));
        }
        rules::not_being_purged(&link)?;
        return Ok(link);
    }
    tx.put_link(&NewLink {
        workspace,
        name,
        service,
        is_live: false,
        settings: "{}",
        secrets: None,
        account: "",
        created_by: &identity.caller.agent_id,
        at: identity.now,
    })?;
    tx.link(workspace, name)?.ok_or(Error::NotFound { what: "source" })
}

fn advance(
    tx: &mut Tx<'_>,
    workspace: &str,
    mark: &ImportMark,
    identity: &crate::call::Identity,
) -> Result<i64> {
    let known = tx.import_progress(workspace, &mark.fingerprint)?;
    let Some(done) = mark.messages_done.filter(|done| *done > known) else { return Ok(known) };
    tx.set_import_progress(workspace, &mark.fingerprint, done, identity.now)?;
    Ok(done)
}
