//! OpenProject: webhooks on work packages come in, comments go out.

mod client;
mod hal;
mod kind;
mod map;
mod map_comment;
mod map_thing;
mod map_work;
mod mention;
mod own;
mod receive;
#[cfg(test)]
mod tests;

pub use kind::OpenProject;
