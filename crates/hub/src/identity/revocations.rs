//! Tokens that were taken back before their end, by workspace and id.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;
use protocol::{Caller, Timestamp};
use tokio::sync::Notify;

use super::config::IdentityConfig;
use super::error::IdentityError;

const SHARDS: usize = 16;

/// The ids of revoked tokens. The store remembers them; this is the copy that every request asks.
///
/// An id is revoked in one workspace: whoever is in charge of one has no say in another, and ids that
/// the hub did not make can be guessed.
#[derive(Debug, Default)]
pub struct Revocations {
    hasher: RandomState,
    shards: [RwLock<Shard>; SHARDS],
    /// How many there are, so that a hub without any pays one load.
    count: AtomicUsize,
    /// Rings for those who wait when one is added.
    news: Notify,
    /// Whether no token counts but those that the hub issued.
    is_hub_alone: bool,
}

/// By their hash, so that looking one up makes no copy of it.
type Shard = HashMap<u64, Vec<Revoked>>;

#[derive(Debug)]
struct Revoked {
    workspace: Box<str>,
    jti: Box<str>,
}

impl Revoked {
    fn is(&self, workspace: &str, jti: &str) -> bool {
        *self.jti == *jti && *self.workspace == *workspace
    }
}

impl Revocations {
    /// None yet, for a hub that believes what this configuration says.
    pub fn of(config: &IdentityConfig) -> Self {
        Self { is_hub_alone: !config.has_other_tokens(), ..Self::default() }
    }

    /// Whether there can be a token that the hub did not issue.
    pub(crate) fn may_be_of_others(&self) -> bool {
        !self.is_hub_alone
    }

    /// Refuses the token of this id from now on, wherever it was verified before.
    pub fn revoke(&self, workspace: &str, jti: &str) {
        self.load([(workspace, jti)]);
    }

    /// Adds what was revoked earlier or elsewhere, each a workspace and an id, as the store tells it.
    pub fn load<'a>(&self, revoked: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let mut has_news = false;
        for (workspace, jti) in revoked {
            has_news |= self.add(workspace, jti);
        }
        if has_news {
            self.news.notify_waiters();
        }
    }

    /// Whether a caller's token was revoked.
    pub fn has(&self, caller: &Caller) -> bool {
        self.count.load(Ordering::Acquire) > 0 && self.knows(&caller.workspace_id, &caller.jti)
    }

    /// Refuses a caller whose token was good once, and has been revoked or has ended since.
    pub fn require_good(&self, caller: &Caller, now: Timestamp) -> Result<(), IdentityError> {
        if self.has(caller) {
            return Err(IdentityError::Revoked);
        }
        if caller.has_ended(now) {
            return Err(IdentityError::Expired);
        }
        Ok(())
    }

    /// Waits until a caller's token is revoked.
    pub async fn revoked(&self, caller: &Caller) {
        loop {
            // Listens first, looks second: what is revoked in between rings.
            let news = self.news.notified();
            if self.has(caller) {
                return;
            }
            news.await;
        }
    }

    /// Whether it was not known yet.
    fn add(&self, workspace: &str, jti: &str) -> bool {
        // Other hubs tell the same again and again; that must not keep those who ask waiting.
        if self.knows(workspace, jti) {
            return false;
        }
        let hash = self.hash(workspace, jti);
        let mut shard = self.shard(hash).write();
        let alike = shard.entry(hash).or_default();
        if alike.iter().any(|revoked| revoked.is(workspace, jti)) {
            return false;
        }
        alike.push(Revoked { workspace: workspace.into(), jti: jti.into() });
        self.count.fetch_add(1, Ordering::Release);
        true
    }

    fn knows(&self, workspace: &str, jti: &str) -> bool {
        let hash = self.hash(workspace, jti);
        let shard = self.shard(hash).read();
        shard.get(&hash).is_some_and(|alike| alike.iter().any(|one| one.is(workspace, jti)))
    }

    fn hash(&self, workspace: &str, jti: &str) -> u64 {
        self.hasher.hash_one((workspace, jti))
    }

    fn shard(&self, hash: u64) -> &RwLock<Shard> {
        let index = usize::try_from(hash >> 60).unwrap_or(0);
        self.shards.get(index).expect("four bits count to sixteen shards")
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use protocol::{Role, Scopes, chat::ChatGrant};

    use super::*;

    fn caller(workspace: &str, jti: &str) -> Caller {
        Caller {
            agent_id: "a".to_owned(),
            workspace_id: workspace.to_owned(),
            role: Role::Worker,
            session_id: "s".to_owned(),
            scopes: Scopes::default(),
            chats: ChatGrant::None,
            toolsets: None,
            jti: jti.to_owned(),
            iat: Timestamp::from_ms(0),
            exp: Timestamp::from_ms(60_000),
        }
    }

    #[test]
    fn what_was_revoked_stays_revoked_in_its_workspace() {
        let revocations = Revocations::default();
        assert!(!revocations.has(&caller("w", "a")));
        revocations.revoke("w", "a");
        revocations.load([("w", "b"), ("w", "c"), ("w", "a")]);
        for jti in ["a", "b", "c"] {
            assert!(revocations.has(&caller("w", jti)), "{jti}");
            assert!(!revocations.has(&caller("other", jti)), "{jti}");
        }
        assert!(!revocations.has(&caller("w", "d")));
        assert_eq!(revocations.count.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn a_token_is_good_until_it_is_revoked_or_over() {
        let (revocations, now) = (Revocations::default(), Timestamp::from_ms(89_999));
        assert!(revocations.require_good(&caller("w", "a"), now).is_ok());
        let over = revocations.require_good(&caller("w", "a"), now.plus_ms(1));
        assert!(matches!(over, Err(IdentityError::Expired)));
        revocations.revoke("w", "a");
        let revoked = revocations.require_good(&caller("w", "a"), now);
        assert!(matches!(revoked, Err(IdentityError::Revoked)));
    }

    #[tokio::test]
    async fn whoever_waits_hears_of_their_own_token_and_of_no_other() {
        let (revocations, caller) = (Revocations::default(), caller("w", "a"));
        let mut waits = Box::pin(revocations.revoked(&caller));
        assert!(waits.as_mut().now_or_never().is_none());
        revocations.revoke("w", "b");
        assert!(waits.as_mut().now_or_never().is_none());
        revocations.revoke("w", "a");
        waits.await;
        revocations.revoked(&caller).await;
    }
}
