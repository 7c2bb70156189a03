//! What the one thread that writes a SQLite database keeps in memory from transaction to transaction.

use std::cell::RefCell;

use crate::known_threads::KnownThreads;
use crate::message_keys::MessageKeys;

/// It belongs to the writer; a transaction borrows it.
pub(crate) struct Remembered {
    pub(crate) threads: RefCell<KnownThreads>,
    pub(crate) keys: RefCell<MessageKeys>,
}

/// A place in a transaction that it may be taken back to.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    keys: usize,
}

impl Remembered {
    pub(crate) fn new(keys: MessageKeys) -> Self {
        Self { threads: RefCell::default(), keys: RefCell::new(keys) }
    }

    /// The transaction was rolled back.
    pub(crate) fn rolled_back(&self) {
        self.threads.borrow_mut().forget_all();
        self.keys.borrow_mut().rolled_back();
    }

    /// Where the transaction stands.
    pub(crate) fn mark(&self) -> Mark {
        Mark { keys: self.keys.borrow().added() }
    }

    /// The transaction was taken back to a savepoint.
    pub(crate) fn rolled_back_to(&self, mark: Mark) {
        self.threads.borrow_mut().forget_all();
        self.keys.borrow_mut().take_back_to(mark.keys);
    }
}
