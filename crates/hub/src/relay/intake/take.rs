//! Taking in one thing that a service said: known again, or kept with the thread it belongs to, the
//! message it becomes and the work it makes. Everything here runs inside one transaction.

use connector_api::{Inbound, Intent};
use protocol::id::Uid;
use protocol::relay::DeliveryOutcome;
use protocol::{DeliveryId, ThreadId, ThreadStatus, ThreadType, Timestamp, Trust, WorkId};
use serde::Serialize;
use serde_json::{Value, json};
use store::{
    DeliveryRow, LinkRow, NewDelivery, NewThread, NewWork, PackedDelivery, RelayThreadRow, ReplyTo,
    ThreadRow, Tx,
};

use super::route::{self, Decision};
use super::said::Said;
use super::words;
use crate::error::{Error, Result};
use crate::relay::append::{NewEnvelope, append_as};
use crate::relay::settings::IntakeSettings;
use crate::threads::rules;

/// Something that came in.
#[derive(Clone, Copy)]
pub(crate) struct Incoming<'a> {
    /// The link it came through.
    pub(crate) link: &'a LinkRow,
    /// What was said.
    pub(crate) inbound: &'a Inbound,
    /// The same, ready to be taken in.
    pub(crate) said: &'a Said,
    /// The request, byte for byte.
    pub(crate) raw: Option<&'a PackedDelivery>,
}

/// What became of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Received {
    pub(crate) delivery_id: DeliveryId,
    pub(crate) event: String,
    pub(crate) outcome: DeliveryOutcome,
    /// How often it has come by now.
    pub(crate) copies: i64,
    pub(crate) thread_id: Option<ThreadId>,
    pub(crate) seq: Option<i64>,
    pub(crate) work_id: Option<WorkId>,
    /// The queue in which there is work now.
    pub(crate) queue: Option<String>,
    /// The agent that became part of the thread.
    pub(crate) agent: Option<String>,
    #[serde(skip)]
    pub(crate) thread_row: Option<i64>,
}

impl Received {
    /// Whether it was not known before.
    pub(crate) fn is_new(&self) -> bool {
        self.copies == 1
    }
}

/// The message that something became.
struct Placed {
    thread: ThreadRow,
    seq: i64,
    work: Option<WorkId>,
}

/// The thread that something belongs to.
enum Known {
    /// One that stands for the thing.
    Thing(RelayThreadRow),
    /// One for which we posted what is answered here, by its row.
    Posted(i64),
    /// There is none yet.
    Nothing,
}

/// What taking in needs beside what came.
pub(crate) struct Taker<'a> {
    pub(crate) settings: &'a IntakeSettings,
    pub(crate) now: Timestamp,
    pub(crate) new_uid: &'a dyn Fn() -> Uid,
}

impl Taker<'_> {
    /// Takes in one thing that a service said; `None` where it goes on with something that the relay
    /// does not carry.
    pub(crate) fn take(&self, tx: &mut Tx<'_>, incoming: Incoming<'_>) -> Result<Option<Received>> {
        let Incoming { link, inbound, said, .. } = incoming;
        let known = find_thread(tx, incoming)?;
        if inbound.intent == Intent::Reply && matches!(known, Known::Nothing) {
            return Ok(None);
        }
        let semantic = said.keys.semantic.as_ref().map(<[u8; 32]>::as_slice);
        if let Some(known) = tx.count_copy(link.row, &said.keys.transport, semantic)? {
            return Ok(Some(again(known)));
        }
        let decision = self.decide(tx, incoming)?;
        let placed = match &decision {
            Decision::Aside(_) => None,
            decision => Some(self.place(tx, incoming, (decision, &known))?),
        };
        let outcome = decision.outcome();
        // Of what must not leave where it was said, and of our own, only the keys are kept.
        let is_kept = !matches!(outcome, DeliveryOutcome::Private | DeliveryOutcome::Own);
        tx.insert_delivery(&NewDelivery {
            id: said.id,
            workspace: &link.workspace,
            link_row: link.row,
            event: &said.event,
            transport_key: &said.keys.transport,
            semantic_key: semantic,
            outcome,
            at: self.now,
            place: placed.as_ref().map(|placed| (placed.thread.row, placed.seq)),
            remote_id: said.remote_id.as_deref().filter(|_| is_kept),
            raw: incoming.raw.filter(|_| is_kept),
        })?;
        let (queue, agent) = match decision {
            Decision::Work { queue, agent } => (Some(queue), agent),
            _ => (None, None),
        };
        Ok(Some(Received {
            delivery_id: said.id,
            event: said.event.clone(),
            outcome,
            copies: 1,
            thread_id: placed.as_ref().map(|placed| placed.thread.id),
            seq: placed.as_ref().map(|placed| placed.seq),
            work_id: placed.as_ref().and_then(|placed| placed.work),
            queue,
            agent,
            thread_row: placed.map(|placed| placed.thread.row),
        }))
    }

    /// What is to become of it. What we posted ourselves comes back as an event; it makes no work.
    fn decide(&self, tx: &mut Tx<'_>, incoming: Incoming<'_>) -> Result<Decision> {
        let Incoming { link, inbound, said, .. } = incoming;
        let decision = route::decide(&self.settings.routes, &link.name, inbound);
        if let (Decision::Work { .. } | Decision::Note, Some(remote_id)) =
            (&decision, &said.remote_id)
            && tx.is_posted(link.row, remote_id)?
        {
            return Ok(Decision::Aside(DeliveryOutcome::Own));
        }
        Ok(decision)
    }

    /// Appends it to the thread it belongs to, with the work it makes.
    fn place(
        &self,
        tx: &mut Tx<'_>,
        incoming: Incoming<'_>,
        (decision, known): (&Decision, &Known),
    ) -> Result<Placed> {
        let Incoming { link, inbound, said, .. } = incoming;
        let is_work = matches!(decision, Decision::Work { .. });
        let mut thread = self.thread(tx, incoming, known, is_work)?;
        let task = match tx.open_task(thread.row)? {
            None if is_work => Some(said.task),
            open => open,
        };
        let reply_to = earlier(tx, link, inbound, &thread)?;
        if let Decision::Work { agent: Some(agent), .. } = decision {
            tx.add_participant(thread.row, agent, self.now)?;
        }
        let new = NewEnvelope {
            envelope: &said.envelope,
            sender: &said.sender,
            session: &said.id.to_string(),
            trust: Trust::External,
            reply_to,
            idempotency: None,
        };
        let appended = append_as(tx, &mut thread, &new, &said.metadata(task), self.now)?;
        let seq = appended.seq;
        let work = match (decision, task) {
            (Decision::Work { queue, .. }, Some(task)) => {
                let work = WorkId((self.new_uid)());
                let (workspace, thread_row) = (link.workspace.as_str(), thread.row);
                let at = self.now;
                tx.insert_work(&NewWork { workspace, queue, thread_row, seq, task, id: work, at })?;
                Some(work)
            }
            _ => None,
        };
        Ok(Placed { thread, seq, work })
    }

    /// That thread, or a new one; nobody else changes it until the commit.
    fn thread(
        &self,
        tx: &mut Tx<'_>,
        incoming: Incoming<'_>,
        known: &Known,
        is_work: bool,
    ) -> Result<ThreadRow> {
        let Incoming { link, inbound, .. } = incoming;
        let address = Value::Object(inbound.address.clone()).to_string();
        let row = match known {
            Known::Thing(known) => known.thread_row,
            Known::Posted(row) => *row,
            Known::Nothing => return self.new_thread(tx, incoming, address),
        };
        let mut thread = tx
            .lock_thread_by_row(&link.workspace, row)?
            .ok_or(Error::Conflict("the thread of this is gone".to_owned()))?;
        if is_work {
            // Answers go where somebody last asked for something.
            if let Known::Thing(known) = known
                && !inbound.address.is_empty()
                && known.address != address
            {
                tx.set_relay_address(row, words::url_of(inbound).as_deref(), &address)?;
            }
            self.reopen(tx, &mut thread, link)?;
        }
        Ok(thread)
    }

    fn new_thread(
        &self,
        tx: &mut Tx<'_>,
        incoming: Incoming<'_>,
        address: String,
    ) -> Result<ThreadRow> {
        let Incoming { link, inbound, said, .. } = incoming;
        let id = ThreadId((self.new_uid)());
        let row = tx.insert_thread(&NewThread {
            id,
            workspace: &link.workspace,
            title: &words::title_of(inbound),
            thread_type: ThreadType::Conversation,
            created_by: &format!("link:{}", link.name),
            participants: &[],
            at: self.now,
        })?;
        tx.insert_relay_thread(&RelayThreadRow {
            thread_row: row,
            link_row: link.row,
            key: said.thread_key.clone(),
            channel: words::channel_of(link),
            url: words::url_of(inbound),
            address,
        })?;
        tx.lock_thread_by_row(&link.workspace, row)?.ok_or(Error::NotFound { what: "thread" })
    }

    /// A thread that was over goes on when a service asks for something in it.
    fn reopen(&self, tx: &mut Tx<'_>, thread: &mut ThreadRow, link: &LinkRow) -> Result<()> {
        let from = thread.status;
        if !matches!(from, ThreadStatus::Resolved | ThreadStatus::Closed) {
            return Ok(());
        }
        thread.status = ThreadStatus::Active;
        let by = format!("link:{}", link.name);
        let body = format!("this thread was {from} and is active again: {} asks", link.name);
        let metadata = json!({
            "event_type": "status_changed", "from": from, "to": thread.status, "by": by,
            "reason": "a service asks for something", "override": true, "role": "service",
        });
        rules::say(tx, thread, self.now, &body, &metadata.to_string())
    }
}

/// The thread that something belongs to, if there is one.
fn find_thread(tx: &mut Tx<'_>, incoming: Incoming<'_>) -> Result<Known> {
    let Incoming { link, inbound, said, .. } = incoming;
    if let Some(known) = tx.relay_thread_by_key(&link.workspace, link.row, &said.thread_key)? {
        return Ok(Known::Thing(known));
    }
    // Somebody answers beneath something that we posted for a thread.
    let beneath = inbound.facts.get("reply_to").and_then(Value::as_str);
    let Some(beneath) = beneath.filter(|_| inbound.intent == Intent::Reply) else {
        return Ok(Known::Nothing);
    };
    let thread = tx.thread_of_posted(&link.workspace, link.row, &words::name(beneath))?;
    Ok(thread.map_or(Known::Nothing, Known::Posted))
}

/// The message that something changes, where it stands in the same thread.
fn earlier(
    tx: &mut Tx<'_>,
    link: &LinkRow,
    inbound: &Inbound,
    thread: &ThreadRow,
) -> Result<Option<ReplyTo>> {
    let Some(changed) = &inbound.changes else { return Ok(None) };
    match tx.message_of_remote(link.row, &words::name(changed))? {
        Some((row, seq)) if row == thread.row => {
            let message = tx.message(row, seq)?;
            Ok(message.map(|message| ReplyTo { seq, created: message.created }))
        }
        _ => Ok(None),
    }
}

/// What is said again.
fn again(known: DeliveryRow) -> Received {
    Received {
        delivery_id: known.id,
        event: known.event,
        outcome: known.outcome,
        copies: known.copies,
        thread_id: known.place.map(|(thread, _, _)| thread),
        seq: known.place.map(|(_, _, seq)| seq),
        work_id: None,
        queue: None,
        agent: None,
        thread_row: None,
    }
}
