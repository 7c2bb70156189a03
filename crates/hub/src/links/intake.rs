//! Where facts from links come in: one transaction for the facts, the place where their source goes
//! on, and the entry in the audit trail. Whoever waits for a chat is told afterwards.

use std::sync::Arc;

use protocol::Timestamp;
use protocol::chat::Facts;
use protocol::limits::links as limits;
use store::{LinkRow, Store, StoreError};
use tokio::sync::Notify;

use super::mark::Mark;
use crate::audit::Commitment;
use crate::call::{Change, Identity};
use crate::chats::take::{self, Taken};
use crate::clock::{Clock, Entropy};
use crate::error::{Error, Result};
use crate::live::Live;

/// What a change by a link is called in the audit trail.
const ACTION: &str = "sync";

/// Where facts from links come in.
pub(crate) struct Intake {
    pub(crate) store: Store,
    pub(crate) live: Arc<Live>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) audit_bell: Arc<Notify>,
    pub(crate) expiry_bell: Notify,
}

/// Facts of a link, and where it goes on after them.
pub(super) struct Delivery {
    pub(super) facts: Facts,
    pub(super) mark: Mark,
    /// The hub that must have the link to itself.
    pub(super) lease_owner: Option<String>,
}

impl Intake {
    /// Commits facts and the place where their source goes on, or neither. A link that was changed
    /// or removed in between, or that another hub runs now, takes nothing.
    pub(super) async fn commit(&self, link: &Arc<LinkRow>, delivery: Delivery) -> Result<Taken> {
        let delivery = Arc::new(delivery);
        let expires = delivery.facts.messages.iter().any(|message| message.expires_at.is_some());
        let mut tries = 0;
        let taken = loop {
            match self.try_commit(link, &delivery).await {
                Err(Error::Store(error))
                    if is_passing(&error) && tries < limits::COMMIT_TRIES_MAX =>
                {
                    tries += 1;
                    tokio::time::sleep(limits::COMMIT_RETRY_EVERY).await;
                }
                other => break other?,
            }
        };
        self.audit_bell.notify_one();
        for thread in &taken.threads {
            self.live.announce_chat(*thread);
        }
        if expires {
            self.expiry_bell.notify_one();
        }
        Ok(taken)
    }

    async fn try_commit(&self, link: &Arc<LinkRow>, delivery: &Arc<Delivery>) -> Result<Taken> {
        let (link, delivery) = (Arc::clone(link), Arc::clone(delivery));
        let actor = format!("link:{}", link.name);
        let identity =
            Identity::of_service(&link.workspace, &actor, self.clock.now(), &*self.entropy);
        let entropy = Arc::clone(&self.entropy);
        let request = Commitment::request(&identity.salt, &names(&delivery.facts));
        self.store
            .write(move |tx| {
                let is_ours = match &delivery.lease_owner {
                    Some(owner) => tx.holds_lease(link.row, owner)?,
                    None => true,
                };
                if !is_ours || !tx.is_link_current(link.row, link.version)? {
                    return Err(Error::NotFound { what: "link" });
                }
                let new_uid = || crate::clock::fresh_uid(&*entropy, identity.now);
                let taken = take::take(tx, &link, &delivery.facts, identity.now, &new_uid)?;
                delivery.mark.write(tx, &link, &delivery.facts)?;
                change(&link, taken).enter(tx, &identity, ACTION, &request)
            })
            .await
    }

    /// The moment it is.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// What the trail says of it. Facts that change nothing leave no entry: a stream says every few
/// seconds that it is still up.
fn change(link: &LinkRow, taken: Taken) -> Change<Taken> {
    if taken.chats_added + taken.messages_added + taken.messages_changed == 0 {
        return Change::none(taken);
    }
    let detail = serde_json::json!(taken).to_string();
    Change::of(link.name.clone(), taken).with_detail(detail)
}

/// What an entry of the trail commits to: which messages came, not what they say. A commitment to
/// the words of a message that must be forgotten would let someone guess them later.
fn names(facts: &Facts) -> Vec<u8> {
    let messages = facts.messages.iter().map(|fact| (&fact.chat_id, &fact.message_id));
    let edits = facts.edits.iter().map(|fact| (&fact.message.chat_id, &fact.message.message_id));
    let deletions = facts.deletions.iter().map(|fact| (&fact.chat_id, &fact.message_id));
    let reactions = facts.reactions.iter().map(|fact| (&fact.chat_id, &fact.message_id));
    let chats = facts.chats.iter().map(|fact| &fact.chat_id);
    let all = (
        chats.collect::<Vec<_>>(),
        messages.collect::<Vec<_>>(),
        edits.collect::<Vec<_>>(),
        deletions.collect::<Vec<_>>(),
        reactions.collect::<Vec<_>>(),
    );
    serde_json::to_vec(&all).expect("texts print as JSON")
}

fn is_passing(error: &StoreError) -> bool {
    matches!(error, StoreError::Overloaded | StoreError::Full) || error.is_outage()
}
