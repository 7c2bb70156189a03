//! OpenProject: webhooks on work packages come in, comments go out.

mod api;
mod check;
mod client;
mod hal;
mod kind;
mod map;
mod map_comment;
mod map_thing;
mod map_work;
mod mention;
mod own;
mod page;
mod post;
#[cfg(test)]
mod posting_tests;
mod receive;
mod render;
#[cfg(test)]
mod tests;

pub use kind::OpenProject;
