//! Facts on their way to the hub: joined into parcels, and cut where one would be too large.

use std::sync::Arc;

use connector_api::{ImportError, ImportProgress, ImportSink, Skipped};
use protocol::chat::Facts;
use protocol::limits;
use tokio::sync::mpsc;

use super::super::progress::Meter;

/// Messages of one parcel.
const MESSAGES_WANTED: usize = 1_500;
/// Facts of one parcel.
const FACTS_WANTED: usize = 8_000;
/// Bytes of the facts of one parcel; the rest of the request is far smaller than what is left.
const BYTES_MAX: usize = limits::BODY_BYTES_MAX - 64 * 1024;
/// Things left out that are told one by one.
const SKIPPED_SHOWN: usize = 20;

/// Facts, as they are sent.
pub(super) struct Parcel {
    /// The facts, as JSON.
    pub(super) facts: String,
    /// How many messages these are.
    pub(super) messages: u64,
    /// How far the file is read with them.
    pub(super) messages_done: Option<u64>,
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) chats: u64,
    pub(super) people: u64,
    pub(super) messages: u64,
    pub(super) skipped: u64,
    pub(super) skipped_first: Vec<Skipped>,
}

/// Where an importer hands over what it reads.
pub(super) struct Parcels {
    to_hub: mpsc::Sender<Parcel>,
    meter: Arc<Meter>,
    waiting: Facts,
    messages_done: Option<u64>,
    counts: Counts,
}

impl Parcels {
    pub(super) fn new(to_hub: mpsc::Sender<Parcel>, meter: Arc<Meter>) -> Self {
        let (waiting, counts) = (Facts::default(), Counts::default());
        Self { to_hub, meter, waiting, messages_done: None, counts }
    }

    pub(super) fn into_counts(self) -> Counts {
        self.counts
    }

    /// Sends what waits.
    pub(super) fn flush(&mut self) -> Result<(), ImportError> {
        let facts = std::mem::take(&mut self.waiting);
        let done = self.messages_done.take();
        if facts.is_empty() && done.is_none() {
            return Ok(());
        }
        let mut pieces = Vec::new();
        self.cut(facts, &mut pieces)?;
        let last = pieces.len().saturating_sub(1);
        for (index, (facts, messages)) in pieces.into_iter().enumerate() {
            let messages_done = done.filter(|_| index == last);
            let parcel = Parcel { facts, messages, messages_done };
            self.to_hub
                .blocking_send(parcel)
                .map_err(|_| ImportError::Stopped("the hub takes nothing more".to_owned()))?;
        }
        Ok(())
    }

    /// Cuts facts into pieces that the hub takes, in order.
    fn cut(
        &mut self,
        mut facts: Facts,
        pieces: &mut Vec<(String, u64)>,
    ) -> Result<(), ImportError> {
        let text = serde_json::to_string(&facts)
            .map_err(|error| ImportError::Stopped(format!("facts cannot be written: {error}")))?;
        if text.len() <= BYTES_MAX {
            pieces.push((text, count(facts.messages.len())));
            return Ok(());
        }
        if facts.len() > 1 {
            let rest = split(&mut facts);
            self.cut(facts, pieces)?;
            return self.cut(rest, pieces);
        }
        let message = facts.messages.first_mut();
        let place = message.as_ref().map_or_else(
            || "a fact".to_owned(),
            |message| format!("message {} of chat {}", message.message_id, message.chat_id),
        );
        if let Some(message) = message
            && message.text.len() > limits::MESSAGE_BODY_BYTES_MAX / 2
        {
            let reason = "its text is too long and was cut".to_owned();
            self.skipped(Skipped { place, reason });
            let half = limits::MESSAGE_BODY_BYTES_MAX / 2;
            let end = (0..=half).rev().find(|end| message.text.is_char_boundary(*end));
            message.text.truncate(end.unwrap_or(0));
            return self.cut(facts, pieces);
        }
        self.skipped(Skipped { place, reason: "it is larger than the hub takes".to_owned() });
        pieces.push(("{}".to_owned(), 0));
        Ok(())
    }
}

impl ImportSink for Parcels {
    fn take(&mut self, facts: Facts, messages: u64) -> Result<(), ImportError> {
        self.counts.chats += count(facts.chats.len());
        self.counts.people += count(facts.people.len());
        self.counts.messages += count(facts.messages.len());
        self.meter.read(facts.messages.len());
        self.waiting.extend(facts);
        self.messages_done = Some(messages);
        if self.waiting.messages.len() >= MESSAGES_WANTED || self.waiting.len() >= FACTS_WANTED {
            self.flush()?;
        }
        Ok(())
    }

    fn progress(&mut self, progress: ImportProgress) {
        self.meter.progress(progress);
    }

    fn skipped(&mut self, skipped: Skipped) {
        self.counts.skipped += 1;
        if self.counts.skipped_first.len() < SKIPPED_SHOWN {
            self.counts.skipped_first.push(skipped);
        }
    }
}

/// Takes the second half off, in the order in which facts are taken.
fn split(facts: &mut Facts) -> Facts {
    fn off<T>(list: &mut Vec<T>, keep: &mut usize) -> Vec<T> {
        let kept = list.len().min(*keep);
        *keep -= kept;
        list.split_off(kept)
    }
    let mut keep = facts.len().div_ceil(2);
    Facts {
        chats: off(&mut facts.chats, &mut keep),
        people: off(&mut facts.people, &mut keep),
        messages: off(&mut facts.messages, &mut keep),
        edits: off(&mut facts.edits, &mut keep),
        deletions: off(&mut facts.deletions, &mut keep),
        reactions: off(&mut facts.reactions, &mut keep),
        tallies: off(&mut facts.tallies, &mut keep),
        held: off(&mut facts.held, &mut keep),
    }
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use protocol::Timestamp;
    use protocol::chat::{HeldFact, MessageFact};

    use super::*;

    fn message(id: usize, text: &str) -> MessageFact {
        MessageFact::new("c", id.to_string(), Timestamp::from_ms(0), text)
    }

    fn parcels(facts: Facts, read: u64) -> (Vec<Parcel>, Counts) {
        let (to_hub, mut parcels) = mpsc::channel(1_000);
        let mut sink = Parcels::new(to_hub, Arc::default());
        sink.take(facts, read).unwrap();
        sink.flush().unwrap();
        let counts = sink.into_counts();
        let mut sent = Vec::new();
        while let Ok(parcel) = parcels.try_recv() {
            sent.push(parcel);
        }
        (sent, counts)
    }

    #[test]
    fn what_is_too_large_is_cut_into_parcels_in_order() {
        let messages: Vec<MessageFact> =
            (0..40).map(|id| message(id, &"x".repeat(100_000))).collect();
        let held = vec![HeldFact { chat_id: None, from: None, to: Timestamp::from_ms(1) }];
        let (sent, counts) = parcels(Facts { messages, held, ..Facts::default() }, 40);
        assert!(sent.len() > 4, "{}", sent.len());
        assert!(sent.iter().all(|parcel| parcel.facts.len() <= BYTES_MAX));
        let mut ids = Vec::new();
        for parcel in &sent {
            let facts: Facts = serde_json::from_str(&parcel.facts).unwrap();
            ids.extend(facts.messages.iter().map(|m| m.message_id.parse::<usize>().unwrap()));
        }
        assert_eq!(ids, (0..40).collect::<Vec<_>>());
        // Only the last one says that all of it is done.
        let done: Vec<Option<u64>> = sent.iter().map(|parcel| parcel.messages_done).collect();
        assert_eq!(done.last(), Some(&Some(40)));
        assert_eq!(done.iter().flatten().count(), 1);
        assert_eq!(counts.skipped, 0);
    }

    #[test]
    fn one_message_that_is_too_large_is_cut_and_told() {
        let facts = Facts { messages: vec![message(7, &"ä".repeat(900_000))], ..Facts::default() };
        let (sent, counts) = parcels(facts, 1);
        assert_eq!(sent.len(), 1);
        assert_eq!(counts.skipped, 1);
        assert!(counts.skipped_first[0].place.contains("message 7"));
        let facts: Facts = serde_json::from_str(&sent[0].facts).unwrap();
        assert!(facts.messages[0].text.len() > 100_000);
    }
}
