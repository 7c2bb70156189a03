//! People's conversations at other services: what sources report, how chats are named, who sees
//! them, and how callers say when and where. What reads text of strangers is pure and bounded.

pub mod clean;
pub mod fact;
pub mod grant;
pub mod kind;
pub mod lines;
pub mod uri;
pub mod when;

pub use fact::{
    Alias, Attachment, ChatFact, DeletionFact, EditFact, Facts, HeldFact, MessageFact, PersonFact,
    Reaction, ReactionFact, TallyFact,
};
pub use grant::{ChatGrant, ChatLists, ChatPattern};
pub use kind::{ChatType, ContentType};
