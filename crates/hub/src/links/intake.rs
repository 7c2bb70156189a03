//! Where facts from links come in: one transaction for the facts, what the relay carries, the place where
//! their source goes on, and the entry in the audit trail. Whoever waits for any of it is told afterwards.

use std::sync::Arc;
use std::time::{Duration, Instant};

use connector_api::{Arrived, Inbound, Intent};
use protocol::chat::Facts;
use protocol::limits::links as limits;
use protocol::relay::DeliveryOutcome;
use protocol::{DeliveryId, ErrorCode, ThreadId, Timestamp};
use serde::Serialize;
use store::{LinkRow, PackedDelivery, Store, StoreError, Tx};
use tokio::sync::Notify;

use super::mark::Mark;
use crate::audit::Commitment;
use crate::call::{Change, Identity};
use crate::chats::take::{self, Taken};
use crate::clock::{Clock, Entropy};
use crate::error::{Error, Result};
use crate::live::Live;
use crate::metrics::Metrics;
use crate::relay::intake::{Incoming, Received, Said, Taker};
use crate::relay::settings::IntakeSettings;
use crate::relay::{hooks, outbox};

/// What a change by a link is called in the audit trail.
const ACTION: &str = "sync";
/// And one that the relay carries.
const RELAY_ACTION: &str = "receive_delivery";

/// Where facts from links come in.
pub(crate) struct Intake {
    pub(crate) store: Store,
    pub(crate) live: Arc<Live>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) audit_bell: Arc<Notify>,
    pub(crate) expiry_bell: Notify,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) settings: Arc<IntakeSettings>,
}

/// Facts of a link, and where it goes on after them.
#[derive(Default)]
pub(crate) struct Delivery {
    pub(super) facts: Facts,
    pub(super) mark: Mark,
    /// What happened that the relay carries.
    pub(crate) inbound: Vec<Inbound>,
    /// Parts of ours that have arrived, as the service says.
    pub(super) arrived: Vec<Arrived>,
    /// The request that said it, byte for byte, packed.
    pub(crate) raw: Option<PackedDelivery>,
    /// Whether somebody only tries the way in.
    pub(crate) is_test: bool,
    /// The hub that must have the link to itself.
    pub(super) lease_owner: Option<String>,
}

/// What a delivery did.
#[derive(Debug, Serialize)]
pub(crate) struct Committed {
    pub(crate) taken: Taken,
    pub(crate) received: Vec<Received>,
}

impl Intake {
    /// Commits facts, what the relay carries, and the place where their source goes on, or nothing. A
    /// link that was changed or removed in between, or that another hub runs now, takes nothing.
    pub(crate) async fn commit(
        &self,
        link: &Arc<LinkRow>,
        delivery: Delivery,
    ) -> Result<Committed> {
        #[expect(clippy::disallowed_methods, reason = "measures how long taking it in takes")]
        let began = Instant::now();
        let said: Arc<[Said]> = self.prepare(link, &delivery).into();
        let delivery = Arc::new(delivery);
        let expires = delivery.facts.messages.iter().any(|message| message.expires_at.is_some());
        let is_heard = !delivery.arrived.is_empty();
        let mut tries = 0;
        let committed = loop {
            match self.try_commit(link, &delivery, &said).await {
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
        for thread in &committed.taken.threads {
            self.live.announce_chat(*thread);
        }
        if expires {
            self.expiry_bell.notify_one();
        }
        if is_heard {
            self.live.announce_outbox();
        }
        for received in &committed.received {
            self.tell(link, received);
            measure(&self.metrics, &link.service, received, began.elapsed());
        }
        Ok(committed)
    }

    /// Tells whoever waits for what came in.
    fn tell(&self, link: &LinkRow, received: &Received) {
        if let Some(thread_row) = received.thread_row {
            self.live.announce(thread_row);
        }
        if let Some(agent) = &received.agent {
            self.live.announce_member(&link.workspace, agent);
        }
        if received.queue.is_some() {
            hooks::work_arrived(&self.live, &link.workspace);
        }
    }

    /// What the relay carries of a delivery, ready to be taken in.
    fn prepare(&self, link: &LinkRow, delivery: &Delivery) -> Vec<Said> {
        let now = self.clock.now();
        let new_uid = || crate::clock::fresh_uid(&*self.entropy, now);
        let inbound = delivery.inbound.iter().enumerate();
        let said = inbound.map(|(at, inbound)| {
            // One delivery may say several things; wherever they come from, they are numbered alike.
            let earlier = delivery.inbound.iter().take(at);
            let index = earlier.filter(|one| one.transport_key == inbound.transport_key).count();
            Said::prepare(link, inbound, index, delivery.is_test, &new_uid)
        });
        said.collect()
    }

    async fn try_commit(
        &self,
        link: &Arc<LinkRow>,
        delivery: &Arc<Delivery>,
        said: &Arc<[Said]>,
    ) -> Result<Committed> {
        let (link, delivery, said) = (Arc::clone(link), Arc::clone(delivery), Arc::clone(said));
        let actor = format!("link:{}", link.name);
        let identity =
            Identity::of_service(&link.workspace, &actor, self.clock.now(), &*self.entropy);
        let (entropy, settings) = (Arc::clone(&self.entropy), Arc::clone(&self.settings));
        let request = Commitment::request(&identity.salt, &names(&delivery));
        let action = if delivery.inbound.is_empty() { ACTION } else { RELAY_ACTION };
        self.store
            .write(move |tx| {
                let is_ours = match &delivery.lease_owner {
                    Some(owner) => tx.holds_lease(link.row, owner)?,
                    None => true,
                };
                if !is_ours || !tx.is_link_current(&link)? {
                    return Err(Error::NotFound { what: "link" });
                }
                let new_uid = || crate::clock::fresh_uid(&*entropy, identity.now);
                let taken = take::take(tx, &link, &delivery.facts, identity.now, &new_uid)?;
                let taker = Taker { settings: &settings, now: identity.now, new_uid: &new_uid };
                let received = receive(tx, &link, (&delivery, &said), &taker)?;
                for arrived in &delivery.arrived {
                    outbox::heard(tx, &link, arrived, identity.now)?;
                }
                delivery.mark.write(tx, &link, &delivery.facts)?;
                change(&link, Committed { taken, received }).enter(tx, &identity, action, &request)
            })
            .await
    }

    /// Counts a request that was not taken in. Both labels come from short lists of the hub's own.
    pub(super) fn count_failure(&self, channel: &str, code: ErrorCode) {
        self.metrics.count(
            "waystation_delivery_failures_total",
            "Requests of services that were not taken in.",
            &[("channel", channel), ("direction", "in"), ("code", code.name())],
            1,
        );
    }

    /// The moment it is.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// Counts what came in.
fn measure(metrics: &Metrics, channel: &str, received: &Received, took: Duration) {
    let outcome = if received.is_new() { received.outcome.name() } else { "duplicate" };
    metrics.count(
        "waystation_deliveries_total",
        "What services said, by what became of it.",
        &[("channel", channel), ("outcome", outcome)],
        1,
    );
    metrics.time(
        "waystation_delivery_seconds",
        "Time from a verified delivery to its commit.",
        &[("channel", channel), ("direction", "in")],
        took,
    );
}

/// Takes in what the relay carries.
fn receive(
    tx: &mut Tx<'_>,
    link: &LinkRow,
    (delivery, said): (&Delivery, &[Said]),
    taker: &Taker<'_>,
) -> Result<Vec<Received>> {
    let mut received = Vec::with_capacity(delivery.inbound.len());
    // The bytes hold everything that one request said: if some of it must not leave, they are not kept.
    let is_private = delivery.inbound.iter().any(|one| one.intent == Intent::Private);
    let raw = delivery.raw.as_ref().filter(|_| !is_private);
    for (inbound, said) in delivery.inbound.iter().zip(said) {
        received.extend(taker.take(tx, Incoming { link, inbound, said, raw })?);
    }
    Ok(received)
}

/// What an auditor may read of it.
#[derive(Serialize)]
struct Detail<'a> {
    #[serde(flatten)]
    taken: &'a Taken,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deliveries: Vec<TakenIn<'a>>,
}

/// And of each thing that the relay carries.
#[derive(Serialize)]
struct TakenIn<'a> {
    delivery_id: &'a DeliveryId,
    event: &'a str,
    outcome: &'a DeliveryOutcome,
    thread_id: &'a Option<ThreadId>,
}

/// What the trail says of it. What changes nothing leaves no entry: a stream says every few seconds that
/// it is still up, and a service says the same thing again.
fn change(link: &LinkRow, committed: Committed) -> Change<Committed> {
    let Committed { taken, received } = &committed;
    let new: Vec<_> = received.iter().filter(|received| received.is_new()).collect();
    if taken.chats_added + taken.messages_added + taken.messages_changed == 0 && new.is_empty() {
        return Change::nothing(committed);
    }
    let deliveries = new.iter().map(|received| {
        let Received { delivery_id, event, outcome, thread_id, .. } = *received;
        TakenIn { delivery_id, event, outcome, thread_id }
    });
    let detail = Detail { taken, deliveries: deliveries.collect() };
    let detail = serde_json::to_string(&detail).expect("texts print as JSON");
    let object = match new.as_slice() {
        [only] => only.delivery_id.to_string(),
        _ => link.name.clone(),
    };
    Change::of(object, committed).with_detail(detail)
}

/// What an entry of the trail commits to: which messages came, not what they say. A commitment to
/// the words of a message that must be forgotten would let someone guess them later.
fn names(delivery: &Delivery) -> Vec<u8> {
    let facts = &delivery.facts;
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
    let inbound: Vec<_> =
        delivery.inbound.iter().map(|inbound| (&inbound.event, &inbound.transport_key)).collect();
    let names = if inbound.is_empty() {
        serde_json::to_vec(&all)
    } else {
        serde_json::to_vec(&(all, inbound))
    };
    names.expect("texts print as JSON")
}

fn is_passing(error: &StoreError) -> bool {
    matches!(error, StoreError::Overloaded | StoreError::Full) || error.is_outage()
}
