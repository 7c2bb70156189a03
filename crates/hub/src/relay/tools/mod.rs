//! Tools that agents call: an assistant's message asks, the runner runs, a `tool` message answers.
//!
//! A call is a row before it runs, and it runs with the rights that its asker had. A runner that dies
//! loses its lease and another one runs the call again, under the same id. A failure takes the ways
//! that the operator listed, each visible in the thread.
mod caller;
mod cancel_tool_call;
mod get_tool_call;
mod issue;
mod metrics;
mod outcome;
mod request;
mod run;
mod runner;
mod settle;
mod speak;
mod table;
mod view;

pub use cancel_tool_call::CancelToolCall;
pub use get_tool_call::GetToolCall;
pub use request::{Asked, request};
pub use runner::Tools;

pub(crate) use run::carry_out;
pub(crate) use runner::{Runner, begin};
