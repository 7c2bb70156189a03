//! Time and randomness, injected so that a test can replay any day.

use std::cell::RefCell;

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

/// The machine's randomness. Ids and salts take a few bytes each, so each thread draws them from a small
/// stock of its own, and asks the machine when that is used up.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

/// Bytes that are asked for at once.
const STOCK_BYTES: usize = 512;

/// Bytes that nobody has had yet: those from `used` on.
struct Stock {
    bytes: [u8; STOCK_BYTES],
    used: usize,
}

thread_local! {
    static STOCK: RefCell<Stock> =
        const { RefCell::new(Stock { bytes: [0; STOCK_BYTES], used: STOCK_BYTES }) };
}

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        STOCK.with_borrow_mut(|stock| stock.take(bytes));
    }
}

impl Stock {
    fn take(&mut self, bytes: &mut [u8]) {
        if self.used + bytes.len() > STOCK_BYTES {
            fill(&mut self.bytes);
            self.used = 0;
        }
        match self.bytes.get_mut(self.used..self.used + bytes.len()) {
            Some(unused) => {
                bytes.copy_from_slice(unused);
                // Nobody finds in memory what was given out.
                unused.fill(0);
                self.used += bytes.len();
            }
            None => fill(bytes),
        }
    }
}

fn fill(bytes: &mut [u8]) {
    // Without randomness no id or salt is safe to hand out.
    let filled = ring::rand::SystemRandom::new().fill(bytes);
    filled.expect("the operating system provides randomness");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bytes_are_given_out_twice() {
        let mut seen = std::collections::HashSet::new();
        for _ in 0..1_000 {
            let mut bytes = [0; 16];
            SystemEntropy.fill(&mut bytes);
            assert!(seen.insert(bytes), "{bytes:?} came again");
        }
        let mut many = vec![0; 3 * STOCK_BYTES];
        SystemEntropy.fill(&mut many);
        assert!(many.chunks(16).all(|bytes| bytes.iter().any(|byte| *byte != 0)));
    }
}
