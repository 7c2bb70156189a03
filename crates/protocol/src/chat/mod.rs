//! People's conversations at other services: what sources report, how chats are named, who sees them.

pub mod fact;
pub mod grant;
pub mod kind;

pub use fact::{
    Alias, Attachment, ChatFact, DeletionFact, EditFact, Facts, HeldFact, MessageFact, PersonFact,
    Reaction, ReactionFact, TallyFact,
};
pub use grant::{ChatGrant, ChatLists, ChatPattern};
pub use kind::{ChatType, ContentType};
