//! What a webhook promises.

mod calling;
mod encryption;
mod signatures;
