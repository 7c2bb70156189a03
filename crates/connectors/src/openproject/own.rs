//! Whether this link's own account did something.

use parking_lot::RwLock;

/// How every post of the hub is marked, in a comment that nobody sees.
const MARK: &str = "<!-- ws:out_";

/// Who this link is at OpenProject, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// The account's id, once the way out has asked for it.
    user_id: RwLock<Option<String>>,
}

impl Own {
    /// The way out has learned the account's id.
    pub(super) fn learn(&self, user_id: &str) {
        *self.user_id.write() = Some(user_id.to_owned());
    }

    /// Whether this link did it: by its account, or by its mark while that is not known.
    pub(super) fn did(&self, user_id: &str, raw: &str) -> bool {
        match self.user_id.read().as_deref() {
            Some(own) => !own.is_empty() && own == user_id,
            None => raw.contains(MARK),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_counts_until_the_account_is_known() {
        let own = Own::default();
        assert!(own.did("7", "done\n<!-- ws:out_1 1 -->"));
        assert!(!own.did("7", "done"));
        own.learn("9");
        assert!(!own.did("7", "done\n<!-- ws:out_1 1 -->"));
        assert!(own.did("9", "done"));
    }
}
