//! One authenticated request in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use protocol::chat::ChatGrant;
use protocol::id::{RequestId, Uid};
use protocol::{Caller, Role, Scopes, ThreadId, Timestamp};
use serde::Serialize;
use store::{AuditEntry, Tx};
use tokio_util::sync::CancellationToken;

use crate::audit::{self, Commitment};
use crate::clock::{Entropy, fresh_uid};
use crate::error::{Error, Result};
use crate::hub::Hub;

/// One authenticated request in flight.
#[derive(Clone)]
pub struct Call {
    /// The hub it is in.
    pub hub: Arc<Hub>,
    /// Who asks, when, and in which request.
    pub identity: Arc<Identity>,
    /// Ends when the caller has gone away.
    pub cancelled: CancellationToken,
    pub(crate) action: &'static str,
    pub(crate) request: Commitment,
}

/// Who asks, when, and in which request: what an audit entry says of a call.
#[derive(Debug)]
pub struct Identity {
    /// Who asks.
    pub caller: Arc<Caller>,
    /// When the request came in.
    pub now: Timestamp,
    /// Which request it is.
    pub request_id: RequestId,
    /// The salt of its commitments.
    pub salt: [u8; 16],
    /// Where it stands in a distributed trace.
    pub trace: Option<Trace>,
    /// How much its changes have done, as [`WorkDone`].
    pub(crate) work_done: AtomicU8,
}

/// A W3C trace context, as it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The trace: 32 hex digits.
    pub trace_id: String,
    /// The caller's span: 16 hex digits.
    pub parent_id: String,
}

impl Trace {
    /// Reads a `traceparent` header; anything malformed is no trace.
    pub fn parse(header: &str) -> Option<Self> {
        let mut parts = header.trim().split('-');
        let (version, trace, parent, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let hex = |text: &str, digits: usize| {
            text.len() == digits
                && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        };
        let nonzero = |text: &str| text.bytes().any(|b| b != b'0');
        let known = hex(version, 2) && version != "ff" && hex(flags, 2);
        let ended = version != "00" || parts.next().is_none();
        (known && ended && hex(trace, 32) && hex(parent, 16) && nonzero(trace) && nonzero(parent))
            .then(|| Self { trace_id: trace.to_owned(), parent_id: parent.to_owned() })
    }
}

/// What a change did: the answer, and what the audit trail says it touched.
pub struct Change<T> {
    answer: T,
    did: Did,
    detail: Option<String>,
}

/// What came of a change.
#[derive(Debug)]
enum Did {
    /// Something changed, of this name.
    Changed(String),
    /// It had been carried out before.
    Unchanged,
    /// There was nothing to take.
    Nothing,
}

impl<T> Change<T> {
    /// Something changed.
    pub fn of(object: impl Into<String>, answer: T) -> Self {
        Self { answer, did: Did::Changed(object.into()), detail: None }
    }

    /// Nothing changed: the request had been carried out before. Its entry says so.
    pub fn none(answer: T) -> Self {
        Self { answer, did: Did::Unchanged, detail: None }
    }

    /// Nothing was there to take. Whoever waits for something looks again, and each look is no entry.
    pub fn nothing(answer: T) -> Self {
        Self { answer, did: Did::Nothing, detail: None }
    }

    /// Adds what an auditor may read.
    #[must_use]
    pub fn with_detail(mut self, detail: String) -> Self {
        self.detail = Some(detail);
        self
    }

    /// Enters the change in the audit trail, if there was one, and answers its answer.
    pub(crate) fn enter(
        self,
        tx: &mut Tx<'_>,
        identity: &Identity,
        action: &str,
        request: &Commitment,
    ) -> Result<T>
    where
        T: Serialize,
    {
        if let Did::Changed(object) = &self.did {
            let answer = serde_json::to_vec(&self.answer)
                .map_err(|error| Error::Internal(Box::new(error)))?;
            let response = Commitment::response(&identity.salt, &answer);
            let detail = audit::with_trace(self.detail.as_deref(), identity.trace.as_ref());
            let commitments = (request, &response);
            tx.insert_audit(&identity.entry(action, object, "ok", commitments, detail.as_deref()))?;
        }
        Ok(self.answer)
    }
}

/// How much a call has done, the most of it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum WorkDone {
    Nothing = 0,
    Before = 1,
    Now = 2,
}

impl WorkDone {
    fn of(did: &Did) -> Self {
        match did {
            Did::Changed(_) => Self::Now,
            Did::Unchanged => Self::Before,
            Did::Nothing => Self::Nothing,
        }
    }
}

impl Call {
    /// Who asks.
    pub fn caller(&self) -> &Caller {
        &self.identity.caller
    }

    /// Who asks, for a function that outlives the call.
    pub fn shared_caller(&self) -> Arc<Caller> {
        Arc::clone(&self.identity.caller)
    }

    /// When the request came in.
    pub fn now(&self) -> Timestamp {
        self.identity.now
    }

    /// A fresh thread id.
    pub fn new_thread_id(&self) -> ThreadId {
        ThreadId(self.hub.new_uid(self.now()))
    }

    /// A fresh id of any kind.
    pub fn new_uid(&self) -> Uid {
        self.hub.new_uid(self.now())
    }

    /// Runs a change. Its audit entry commits with it, or neither happens.
    pub async fn write<T, F>(&self, work: F) -> Result<T>
    where
        F: Fn(&mut Tx<'_>) -> Result<Change<T>> + Send + 'static,
        T: Serialize + Send + 'static,
    {
        let identity = Arc::clone(&self.identity);
        let (action, request) = (self.action, self.request);
        let changed = self.hub.store.write(move |tx| {
            let change = work(tx)?;
            let work_done = WorkDone::of(&change.did);
            Ok::<_, Error>((work_done, change.enter(tx, &identity, action, &request)?))
        });
        let changed = changed.await;
        self.hub.audit_bell.notify_one();
        let (work_done, answer) = changed?;
        self.identity.work_done.fetch_max(work_done as u8, Ordering::Relaxed);
        Ok(answer)
    }

    /// Runs a function that only reads.
    pub async fn read<T, F>(&self, work: F) -> Result<T>
    where
        F: Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.hub.store.read(work).await
    }
}

impl Identity {
    /// The hub itself, or a link of it, does something that nobody asked for just now.
    pub(crate) fn of_service(
        workspace: &str,
        actor: &str,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Self {
        let caller = Caller {
            agent_id: actor.to_owned(),
            workspace_id: workspace.to_owned(),
            role: Role::Service,
            session_id: String::new(),
            scopes: Scopes::default(),
            chats: ChatGrant::None,
            toolsets: None,
            jti: String::new(),
            iat: now,
            exp: now,
        };
        let mut salt = [0; 16];
        entropy.fill(&mut salt);
        let request_id = RequestId(fresh_uid(entropy, now));
        Self {
            caller: Arc::new(caller),
            now,
            request_id,
            salt,
            trace: None,
            work_done: AtomicU8::new(0),
        }
    }

    /// Whether all that was asked for had been carried out before.
    pub(crate) fn was_done_before(&self) -> bool {
        self.work_done.load(Ordering::Relaxed) == WorkDone::Before as u8
    }

    /// The audit entry of this call.
    pub(crate) fn entry<'a>(
        &'a self,
        action: &'a str,
        object: &'a str,
        outcome: &'a str,
        (request, response): (&'a Commitment, &'a Commitment),
        detail: Option<&'a str>,
    ) -> AuditEntry<'a> {
        AuditEntry {
            at: self.now,
            workspace: &self.caller.workspace_id,
            actor: &self.caller.agent_id,
            role: self.caller.role.name(),
            session: &self.caller.session_id,
            jti: &self.caller.jti,
            request_id: self.request_id.as_bytes(),
            action,
            object,
            outcome,
            request: &request.0,
            response: &response.0,
            salt: &self.salt,
            detail,
            detail_commitment: detail.map(|text| Commitment::detail(&self.salt, text).0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_or_ignored() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert!(Trace::parse(good).is_some());
        for bad in [
            "",
            "00-0-0-0",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra",
        ] {
            assert!(Trace::parse(bad).is_none(), "{bad}");
        }
    }
}
