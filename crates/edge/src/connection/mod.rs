//! One connection: which HTTP it speaks, and how long it may take over everything.
mod head;
mod line;
mod pieces;
mod serve;
mod streams;
#[cfg(test)]
mod tests;

pub(crate) use serve::serve;
