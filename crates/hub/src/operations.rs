//! THE LIST: every operation of the hub, in the order of the documentation.

use crate::admin::{IssueToken, ListTokens, ReadAudit, RevokeToken};
use crate::agents::{HeartbeatSession, ListAgents, ListSessions, OpenSession};
use crate::catalogue::{Catalogue, Entry};
use crate::chats::{
    AddMessages, GetAttachment, GetContext, GetMessages, ListChats, ListSources, SendMessage,
};
use crate::links::{AddLink, CheckLink, ListLinks, RemoveLink};
use crate::memory::documents::{AddDocuments, ListDocuments, RemoveDocuments, RetrieveDocs};
use crate::memory::{Forget, Recall, Remember};
use crate::relay::approvals::{
    DecideProposal, GetProposal, ListProposals, ProposeAction, ReviseProposal, WithdrawProposal,
};
use crate::relay::context::AssembleContext;
use crate::relay::intake::{ListDeliveries, PostEnvelope, ReadEnvelopes, ReplayDelivery, TestLink};
use crate::relay::outbox::{CancelOutbox, ListOutbox, RedriveOutbox};
use crate::relay::tools::{CancelToolCall, GetToolCall};
use crate::relay::work::{CompleteWork, ExtendWork, ListWork, PullWork, ReleaseWork, RequeueWork};
use crate::threads::{
    AckRead, AddParticipants, CreateThread, GetMessage, GetThread, ListThreads, PostMessage,
    ReadMessages, RemoveParticipants, SearchMessages, SummarizeThread, UpdateThreadStatus,
    WaitForMessages,
};
use crate::wakes::{
    CancelWake, ClaimWakes, GetWakePolicy, ListWakes, ReportWake, SetWakePolicy,
    TriggerParticipant, WaitForWake,
};

/// Every operation.
pub fn catalogue() -> Catalogue {
    let mut entries = talk();
    entries.extend(decide());
    entries.extend(relay());
    Catalogue::new(entries)
}

/// Threads, chats, links, sessions and wakes.
fn talk() -> Vec<Entry> {
    vec![
        Entry::of::<CreateThread>(),
        Entry::of::<ListThreads>(),
        Entry::of::<GetThread>(),
        Entry::of::<PostMessage>(),
        Entry::of::<ReadMessages>(),
        Entry::of::<WaitForMessages>(),
        Entry::of::<AckRead>(),
        Entry::of::<GetMessage>(),
        Entry::of::<SearchMessages>(),
        Entry::of::<SummarizeThread>(),
        Entry::of::<UpdateThreadStatus>(),
        Entry::of::<AddParticipants>(),
        Entry::of::<RemoveParticipants>(),
        Entry::of::<ListSources>(),
        Entry::of::<ListChats>(),
        Entry::of::<GetMessages>(),
        Entry::of::<GetContext>(),
        Entry::of::<SendMessage>(),
        Entry::of::<GetAttachment>(),
        Entry::of::<AddMessages>(),
        Entry::of::<AddLink>(),
        Entry::of::<ListLinks>(),
        Entry::of::<CheckLink>(),
        Entry::of::<RemoveLink>(),
        Entry::of::<HeartbeatSession>(),
        Entry::of::<ListSessions>(),
        Entry::of::<ListAgents>(),
        Entry::of::<OpenSession>(),
        Entry::of::<TriggerParticipant>(),
        Entry::of::<ListWakes>(),
        Entry::of::<CancelWake>(),
        Entry::of::<ClaimWakes>(),
        Entry::of::<ReportWake>(),
        Entry::of::<WaitForWake>(),
        Entry::of::<SetWakePolicy>(),
        Entry::of::<GetWakePolicy>(),
    ]
}

/// What humans decide, tools, memory, and the owner's own.
fn decide() -> Vec<Entry> {
    vec![
        // What humans decide.
        Entry::of::<ProposeAction>(),
        Entry::of::<ReviseProposal>(),
        Entry::of::<WithdrawProposal>(),
        Entry::of::<ListProposals>(),
        Entry::of::<GetProposal>(),
        Entry::of::<DecideProposal>(),
        // Tools and context of the relay.
        Entry::of::<GetToolCall>(),
        Entry::of::<CancelToolCall>(),
        Entry::of::<AssembleContext>(),
        Entry::of::<Remember>(),
        Entry::of::<Recall>(),
        Entry::of::<Forget>(),
        Entry::of::<RetrieveDocs>(),
        Entry::of::<AddDocuments>(),
        Entry::of::<ListDocuments>(),
        Entry::of::<RemoveDocuments>(),
        Entry::of::<IssueToken>(),
        Entry::of::<ListTokens>(),
        Entry::of::<RevokeToken>(),
        Entry::of::<ReadAudit>(),
    ]
}

/// The operations of the relay that agents work with, and those who look after it.
fn relay() -> Vec<Entry> {
    vec![
        // The relay: work for agents, and what leaves for services.
        Entry::of::<PullWork>(),
        Entry::of::<ExtendWork>(),
        Entry::of::<CompleteWork>(),
        Entry::of::<ReleaseWork>(),
        Entry::of::<RequeueWork>(),
        Entry::of::<ListWork>(),
        Entry::of::<ListOutbox>(),
        Entry::of::<RedriveOutbox>(),
        Entry::of::<CancelOutbox>(),
        // The relay: envelopes and deliveries.
        Entry::of::<PostEnvelope>(),
        Entry::of::<ReadEnvelopes>(),
        Entry::of::<ListDeliveries>(),
        Entry::of::<ReplayDelivery>(),
        Entry::of::<TestLink>(),
    ]
}
