//! Histories of threads and what they must come down to.

mod bounds;
mod commits;
mod findings;
mod links;
mod properties;
mod rejections;
mod story;
mod talk;
