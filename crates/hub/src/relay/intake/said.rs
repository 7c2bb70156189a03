//! What was said, as far as it can be worked out before the transaction: one thread writes for everybody,
//! so nothing is worked out there that needs no look at the store.

use std::borrow::Cow;

use connector_api::Inbound;
use protocol::id::Uid;
use protocol::relay::Envelope;
use protocol::{DeliveryId, TaskId};
use store::LinkRow;

use super::keys::Keys;
use super::words;
use crate::relay::envelope;

/// Something that was said, ready to be taken in.
pub(crate) struct Said {
    /// Its id, if it is new.
    pub(super) id: DeliveryId,
    /// By which it is known again.
    pub(super) keys: Keys,
    /// What happened, and what the service calls the thing itself: safe to look at.
    pub(super) event: String,
    pub(super) remote_id: Option<String>,
    /// What it belongs to.
    pub(super) thread_key: String,
    /// Who speaks.
    pub(super) sender: String,
    /// The task it begins, if it is work and its thread has none that is open.
    pub(super) task: TaskId,
    /// The envelope it becomes, which names no task yet.
    pub(super) envelope: Envelope,
    /// What a message keeps of that envelope, as if it began its task.
    metadata: String,
}

impl Said {
    /// Prepares what a link said: the `index`th thing of one request.
    pub(crate) fn prepare(
        link: &LinkRow,
        inbound: &Inbound,
        index: usize,
        is_test: bool,
        new_uid: &dyn Fn() -> Uid,
    ) -> Self {
        let (id, task) = (DeliveryId(new_uid()), TaskId(new_uid()));
        let mut envelope = words::envelope_of(link, inbound, id, Some(task));
        if is_test {
            envelope.meta.insert("is_test".to_owned(), true.into());
        }
        let metadata = envelope::to_metadata(&envelope);
        envelope.meta.remove("task_id");
        Self {
            id,
            keys: Keys::of(inbound, index),
            event: words::name(&inbound.event),
            remote_id: inbound.remote_id.as_deref().map(words::name),
            thread_key: words::thread_key_of(inbound),
            sender: words::sender_of(link, inbound),
            task,
            envelope,
            metadata,
        }
    }

    /// What a message keeps of the envelope, as part of a task or of none.
    pub(super) fn metadata(&self, task: Option<TaskId>) -> Cow<'_, str> {
        match task {
            Some(task) if task == self.task => Cow::Borrowed(&self.metadata),
            // Nobody outside has seen the id that it would begin: it stands in one place alone.
            Some(task) => {
                Cow::Owned(self.metadata.replace(&self.task.to_string(), &task.to_string()))
            }
            None => Cow::Owned(envelope::to_metadata(&self.envelope)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use protocol::Timestamp;

    use super::*;

    fn link() -> LinkRow {
        LinkRow {
            row: 1,
            workspace: "main".to_owned(),
            name: "github".to_owned(),
            service: "github".to_owned(),
            is_live: true,
            settings: "{}".to_owned(),
            secrets: None,
            account: String::new(),
            stream_cursor: None,
            version: 1,
            created: Timestamp::from_ms(0),
            is_being_purged: false,
        }
    }

    #[test]
    fn what_is_prepared_is_what_would_be_written_with_the_task() {
        let turn = Cell::new(0);
        let new_uid = || {
            turn.set(turn.get() + 1);
            Uid::new(Timestamp::from_ms(1_700_000_000_000), [turn.get(); 10])
        };
        let mut inbound = Inbound {
            event: "issues.opened".to_owned(),
            text: "hello".to_owned(),
            ..Inbound::default()
        };
        inbound.facts.insert("labels".to_owned(), serde_json::json!(["a", "b"]));
        let link = link();
        let said = Said::prepare(&link, &inbound, 0, false, &new_uid);
        let other = TaskId(new_uid());
        for task in [Some(said.task), Some(other), None] {
            let envelope = words::envelope_of(&link, &inbound, said.id, task);
            assert_eq!(said.metadata(task), envelope::to_metadata(&envelope), "{task:?}");
        }
    }
}
