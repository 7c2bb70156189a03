//! GitHub: webhooks of an app, an organization or a repository come in, comments go out.

mod client;
mod kind;
mod map;
mod map_code;
mod map_issue;
mod map_other;
mod map_pull;
mod map_talk;
mod own;
mod receive;
#[cfg(test)]
mod tests;

pub use kind::Github;
