//! Time and randomness, injected so that a test can replay any day.

use protocol::Timestamp;
use protocol::id::Uid;
use ring::rand::SecureRandom;

/// Where the time comes from.
pub trait Clock: Send + Sync + 'static {
    /// The moment it is.
    fn now(&self) -> Timestamp;
}

/// Where randomness comes from.
pub trait Entropy: Send + Sync + 'static {
    /// Fills the bytes with fresh randomness.
    fn fill(&self, bytes: &mut [u8]);
}

/// A fresh id.
pub(crate) fn fresh_uid(entropy: &dyn Entropy, at: Timestamp) -> Uid {
    let mut random = [0; 10];
    entropy.fill(&mut random);
    Uid::new(at, random)
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place where the hub asks the machine"
    )]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let ms = since.map_or(0, |age| i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
        Timestamp::from_ms(ms)
    }
}

/// The machine's randomness.
#[derive(Debug)]
pub struct SystemEntropy(ring::rand::SystemRandom);

impl Default for SystemEntropy {
    fn default() -> Self {
        Self(ring::rand::SystemRandom::new())
    }
}

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // Without randomness no id or salt is safe to hand out.
        self.0.fill(bytes).expect("the operating system provides randomness");
    }
}
