//! Reading what a context is made of: the turns of a thread, and what belongs to the task at hand.

use protocol::limits::{relay as limits, tools as sizes};
use protocol::relay::{Envelope, envelope_role};
use protocol::{TaskId, Timestamp, Trust};
use serde_json::Value;
use store::{MessageRow, ThreadRow, Tx};

use super::material::{Material, Pair, Reference, Speaker, Turn};
use crate::error::Result;
use crate::relay::envelope;
use crate::relay::prose::head;
use crate::relay::settings::ContextSettings;

/// Reads what the context of a message is made of.
pub(super) fn gather(
    tx: &mut Tx<'_>,
    settings: &ContextSettings,
    thread: &ThreadRow,
    live_seq: i64,
    now: Timestamp,
) -> Result<Material> {
    let since = now.plus_ms(-limits::SESSION_MS_MAX);
    let turns_max = limits::SESSION_TURNS_MAX + 1;
    let mut rows = tx.newest_messages(
        thread.row,
        (live_seq, since),
        turns_max,
        sizes::CONTEXT_READ_BYTES_MAX,
    )?;
    rows.reverse();
    // The live message is given however old it is.
    let live = match rows.pop_if(|row| row.seq == live_seq) {
        Some(live) => Some(live),
        None => tx.message(thread.row, live_seq)?,
    };
    let live_envelope = live.as_ref().map(|live| envelope::from_message(live, &thread.id));
    // What a service said carries no task of its own; the work that it became has one.
    let task = match live_envelope.as_ref().and_then(task_of) {
        Some(task) => Some(task),
        None => tx.open_task_at(thread.row, live_seq)?,
    };
    let mut material = Material {
        system: head(&settings.system, sizes::CONTEXT_SYSTEM_BYTES_MAX).to_owned(),
        live_bytes: live.as_ref().map_or(0, MessageRow::bytes),
        ..Material::default()
    };
    let mut said: Vec<(MessageRow, Envelope)> = Vec::with_capacity(rows.len());
    for row in rows {
        let envelope = envelope::from_message(&row, &thread.id);
        said.push((row, envelope));
    }
    if let Some(task) = task
        && tx.is_task_open(thread.row, task)?
    {
        material.task = task_text(&said, live_envelope.as_ref(), task);
    }
    for (row, envelope) in &said {
        let is_of_task = task.is_some() && task_of(envelope) == task;
        if is_of_task {
            material.refs.extend(refs_of(envelope));
        }
        match pair_of(row, envelope) {
            Some(pair) if is_of_task => material.pairs.push(pair),
            _ if is_bare_call(envelope) => {}
            _ => material.turns.push(turn_of(row, envelope)),
        }
    }
    without_doubles(&mut material.refs);
    Ok(material)
}

fn task_of(envelope: &Envelope) -> Option<TaskId> {
    envelope.meta.get("task_id")?.as_str()?.parse().ok()
}

/// What the task is about: what its newest message says that says so, or else the message it began with.
fn task_text(
    said: &[(MessageRow, Envelope)],
    live: Option<&Envelope>,
    task: TaskId,
) -> Option<String> {
    let of_task: Vec<&Envelope> = said
        .iter()
        .map(|(_, envelope)| envelope)
        .filter(|one| task_of(one) == Some(task))
        .collect();
    let stated = |envelope: &Envelope| envelope.context.as_ref()?.task.clone();
    let text = live
        .and_then(stated)
        .or_else(|| of_task.iter().rev().find_map(|envelope| stated(envelope)))
        .or_else(|| of_task.first().map(|first| first.content.clone()))?;
    let text = head(text.trim(), sizes::CONTEXT_TASK_BYTES_MAX);
    (!text.is_empty()).then(|| text.to_owned())
}

fn pair_of(row: &MessageRow, envelope: &Envelope) -> Option<Pair> {
    let is_ours = matches!(row.trust, Trust::Hub | Trust::External) && row.sender == "waystation";
    if envelope.role != envelope_role::TOOL || !is_ours {
        return None;
    }
    let call = envelope.tool_call.as_ref()?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let id = text(call.other.get("id"));
    Some(Pair {
        id: if id.is_empty() { text(envelope.meta.get("call_id")) } else { id },
        message_id: text(envelope.meta.get("message_id")),
        name: call.name.clone(),
        args: call.args.clone(),
        result: Value::Object(call.result.clone()?),
    })
}

/// A call that says nothing beside: its answer stands for both.
fn is_bare_call(envelope: &Envelope) -> bool {
    let is_call = envelope.tool_call.as_ref().is_some_and(|call| call.result.is_none());
    is_call && envelope.content.trim().is_empty()
}

fn turn_of(row: &MessageRow, envelope: &Envelope) -> Turn {
    let speaker = match (row.trust, envelope.role.as_str()) {
        (Trust::Hub | Trust::External, envelope_role::TOOL) => Speaker::Tool,
        (Trust::Hub, _) => Speaker::System,
        (Trust::External, _) => Speaker::User,
        (Trust::Agent, _) => Speaker::Assistant,
        (Trust::Operator, _) => Speaker::Human,
    };
    // Only the hub and people with authority can say that something was decided.
    let is_approval =
        matches!(row.trust, Trust::Hub | Trust::Operator) && envelope.meta.contains_key("proposal");
    Turn {
        seq: row.seq,
        at: row.created,
        speaker,
        sender: row.sender.clone(),
        text: envelope.content.clone(),
        is_approval,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a message names few documents")]
fn refs_of(envelope: &Envelope) -> Vec<Reference> {
    // The first of a list fits best.
    let score = |place: usize| 1.0 / (place as f64 + 1.0);
    let ids = envelope.retrieval_refs.iter().enumerate();
    ids.map(|(place, id)| Reference { id: id.clone(), score: score(place) }).collect()
}

/// Each document once, with its best score.
fn without_doubles(refs: &mut Vec<Reference>) {
    let mut kept: Vec<Reference> = Vec::new();
    for reference in refs.drain(..) {
        match kept.iter_mut().find(|known| known.id == reference.id) {
            Some(known) => known.score = known.score.max(reference.score),
            None => kept.push(reference),
        }
    }
    *refs = kept;
}
