//! What happened at a service, in the relay's words.

use protocol::Timestamp;
use serde_json::{Map, Value};

/// One thing that happened at a service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inbound {
    /// The delivery's own id, where the service sends one that stays the same when it sends again;
    /// otherwise a digest of the body.
    pub transport_key: String,
    /// What happened, whichever way and however often it is said; `None` where nothing tells.
    pub semantic_key: Option<String>,
    /// The service's name for it: `issues.opened`.
    pub event: String,
    /// What is to become of it, unless the operator's routes say otherwise.
    pub intent: Intent,
    /// What it belongs to: `github:acme/shop#12`.
    pub thread_key: String,
    /// What that is called.
    pub title: String,
    /// Who did it.
    pub actor: Actor,
    /// What was said, for a model to read; external text, as it is.
    pub text: String,
    /// Where a person finds it.
    pub url: Option<String>,
    /// When it happened, by the service's clock.
    pub at: Option<Timestamp>,
    /// How an answer gets there, in the connector's own words.
    pub address: Map<String, Value>,
    /// What the service calls the thing itself, to know our own posts again: `issuecomment:42`.
    pub remote_id: Option<String>,
    /// The `remote_id` of the thing that this changes; `None` where it is new.
    pub changes: Option<String>,
    /// Structured facts, for `meta.source`.
    pub facts: Map<String, Value>,
}

/// What is to become of something that happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intent {
    /// It asks for something: work for an agent.
    Work,
    /// It is worth knowing, and nobody has to act.
    #[default]
    Note,
    /// It goes on with something. Where the relay carries that it is work, or worth knowing if it only
    /// changes what was said; elsewhere it is nothing, and stands nowhere.
    Reply,
    /// It is about the link itself.
    Control,
    /// This link's own account did it.
    Own,
    /// It must not leave where it was said.
    Private,
}

/// Who did something at a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actor {
    /// Their id there; it stays when they are renamed.
    pub id: String,
    /// Their name there.
    pub name: String,
    /// Whether it is a program.
    pub is_bot: bool,
}

/// A person has used a proposal's buttons or its editor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interaction {
    /// What the button carried: the proposal and its draft, bound by the hub.
    pub token: String,
    /// What the person wants.
    pub wish: Wish,
    /// Who, by their id at the service.
    pub user_id: String,
    /// And their name there.
    pub user_name: String,
    /// What lets the service's editor be opened, for seconds and once.
    pub trigger: Option<String>,
    /// Where the buttons stand, so that they can be taken away.
    pub address: Map<String, Value>,
}

/// What a person wants with a proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    /// Approve it as it stands.
    Approve,
    /// Open the editor.
    #[default]
    OpenEditor,
    /// Approve this text instead.
    ApproveEdited {
        /// The text.
        text: String,
    },
    /// Open the form for a remark.
    OpenRemark,
    /// Send it back with a remark.
    Respond {
        /// The remark.
        text: String,
    },
    /// Say no.
    Reject,
}
