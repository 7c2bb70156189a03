//! GitHub: webhooks of an app, an organization or a repository come in, comments go out.

mod api;
mod auth;
mod check;
mod client;
mod discussion;
mod kind;
mod map;
mod map_code;
mod map_issue;
mod map_other;
mod map_pull;
mod map_talk;
mod missed;
mod own;
mod page;
mod payload;
mod place;
mod post;
#[cfg(test)]
mod posting_tests;
mod receive;
mod render;
#[cfg(test)]
mod tests;

pub use kind::Github;
