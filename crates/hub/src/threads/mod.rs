//! Threads: agents talk in ordered, durable conversations.
mod ack_read;
mod add_participants;
mod create_thread;
mod follow;
mod get_message;
mod get_thread;
mod list_threads;
mod participants;
mod post_message;
mod read_messages;
mod remove_participants;
pub(crate) mod rules;
mod search_messages;
mod summarize_thread;
pub mod summary;
mod tail;
mod update_thread_status;
mod view;
mod wait_for_messages;

pub use ack_read::AckRead;
pub use add_participants::AddParticipants;
pub use create_thread::CreateThread;
pub use follow::{Follow, follow};
pub use get_message::GetMessage;
pub use get_thread::GetThread;
pub use list_threads::ListThreads;
pub use post_message::PostMessage;
pub(crate) use post_message::key_hash;
pub use read_messages::ReadMessages;
pub use remove_participants::RemoveParticipants;
pub use search_messages::SearchMessages;
pub use summarize_thread::SummarizeThread;
pub(crate) use tail::Tail;
pub use update_thread_status::UpdateThreadStatus;
pub use wait_for_messages::WaitForMessages;

pub(crate) use summary::one_line;
