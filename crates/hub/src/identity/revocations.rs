//! Tokens that were taken back before their end, by id.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;

/// The ids of revoked tokens. The store remembers them; this is the copy that every request asks.
#[derive(Debug, Default)]
pub struct Revocations {
    revoked: RwLock<HashSet<Box<str>>>,
    /// How many there are, so that a hub without any pays one load.
    count: AtomicUsize,
}

impl Revocations {
    /// Refuses the token of this id from now on, wherever it was verified before.
    pub fn revoke(&self, jti: &str) {
        self.load([jti]);
    }

    /// Adds ids that were revoked earlier, as the store tells them at start-up.
    pub fn load<'a>(&self, ids: impl IntoIterator<Item = &'a str>) {
        let mut revoked = self.revoked.write();
        revoked.extend(ids.into_iter().map(Box::from));
        self.count.store(revoked.len(), Ordering::Release);
    }

    /// Whether the token of this id was revoked.
    pub fn has(&self, jti: &str) -> bool {
        self.count.load(Ordering::Acquire) > 0 && self.revoked.read().contains(jti)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_revoked_stays_revoked() {
        let revocations = Revocations::default();
        assert!(!revocations.has("a"));
        revocations.revoke("a");
        revocations.load(["b", "c"]);
        assert!(revocations.has("a") && revocations.has("b") && revocations.has("c"));
        assert!(!revocations.has("d"));
    }
}
