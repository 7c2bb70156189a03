//! Tokens that were verified lately, so that the same token costs no second signature check.
//!
//! Only verified tokens get in, so strangers cannot fill it. A hit compares the whole token.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use parking_lot::RwLock;
use protocol::{Caller, Timestamp, limits};

const SHARDS: usize = 16;
const SHARD_ENTRIES_MAX: usize = limits::TOKEN_CACHE_MAX / SHARDS;
/// How much of a token's end is hashed. It is part of the signature, so it differs as much as the
/// whole does, and hashing it takes a tenth of the time.
const HASHED_BYTES: usize = 48;

/// A bounded map from tokens to callers.
pub(super) struct TokenCache {
    hasher: RandomState,
    shards: [RwLock<HashMap<u64, Entry>>; SHARDS],
}

struct Entry {
    token: Box<str>,
    caller: Arc<Caller>,
    valid_until: Timestamp,
}

impl TokenCache {
    pub(super) fn new() -> Self {
        Self { hasher: RandomState::new(), shards: std::array::from_fn(|_| RwLock::default()) }
    }

    /// The caller behind a token that was verified before and is still good.
    pub(super) fn get(&self, token: &str, now: Timestamp) -> Option<Arc<Caller>> {
        let hash = self.hash(token);
        let shard = self.shard(hash).read();
        let entry = shard.get(&hash)?;
        (now < entry.valid_until && *entry.token == *token).then(|| Arc::clone(&entry.caller))
    }

    /// Remembers a verified token. When there is no room the one that ends first makes some.
    pub(super) fn insert(
        &self,
        token: &str,
        caller: &Arc<Caller>,
        valid_until: Timestamp,
        now: Timestamp,
    ) {
        if valid_until <= now {
            return;
        }
        let hash = self.hash(token);
        let mut shard = self.shard(hash).write();
        if shard.len() >= SHARD_ENTRIES_MAX {
            shard.retain(|_, entry| now < entry.valid_until);
        }
        if shard.len() >= SHARD_ENTRIES_MAX {
            let first = shard.iter().min_by_key(|(_, entry)| entry.valid_until);
            if let Some(hash) = first.map(|(hash, _)| *hash) {
                shard.remove(&hash);
            }
        }
        let entry = Entry { token: token.into(), caller: Arc::clone(caller), valid_until };
        shard.insert(hash, entry);
    }

    fn hash(&self, token: &str) -> u64 {
        let bytes = token.as_bytes();
        let from = bytes.len().saturating_sub(HASHED_BYTES);
        self.hasher.hash_one(bytes.get(from..).unwrap_or_default())
    }

    fn shard(&self, hash: u64) -> &RwLock<HashMap<u64, Entry>> {
        let index = usize::try_from(hash >> 60).unwrap_or(0);
        self.shards.get(index).expect("four bits count to sixteen shards")
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Role, Scopes};

    use super::*;

    fn caller() -> Arc<Caller> {
        Arc::new(Caller {
            agent_id: "a".to_owned(),
            workspace_id: "w".to_owned(),
            role: Role::Worker,
            session_id: "s".to_owned(),
            scopes: Scopes::default(),
            chats: protocol::chat::ChatGrant::None,
            toolsets: None,
            jti: "j".to_owned(),
            iat: Timestamp::from_ms(0),
            exp: Timestamp::from_ms(100),
        })
    }

    const fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn an_entry_ends_in_time() {
        let cache = TokenCache::new();
        cache.insert("token", &caller(), at(100), at(0));
        assert!(cache.get("token", at(99)).is_some());
        assert!(cache.get("token", at(100)).is_none());
        cache.insert("late", &caller(), at(100), at(100));
        assert!(cache.get("late", at(0)).is_none());
    }

    #[test]
    fn tokens_that_end_alike_are_told_apart() {
        let cache = TokenCache::new();
        let tail = "x".repeat(HASHED_BYTES);
        cache.insert(&format!("a{tail}"), &caller(), at(100), at(0));
        assert!(cache.get(&format!("b{tail}"), at(1)).is_none());
        assert!(cache.get(&tail, at(1)).is_none());
        assert!(cache.get(&format!("a{tail}"), at(1)).is_some());
    }

    #[test]
    fn the_cache_never_outgrows_its_limit() {
        let cache = TokenCache::new();
        let caller = caller();
        for number in 0..3 * limits::TOKEN_CACHE_MAX {
            cache.insert(&format!("token-{number}"), &caller, at(1_000), at(0));
        }
        let entries: usize = cache.shards.iter().map(|shard| shard.read().len()).sum();
        assert!(entries <= limits::TOKEN_CACHE_MAX, "{entries}");
    }
}
