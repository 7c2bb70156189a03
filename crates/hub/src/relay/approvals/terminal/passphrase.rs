//! The operator's passphrase as it is stored: salted, and stretched so that each guess is dear.

use std::num::NonZeroU32;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use protocol::Timestamp;
use protocol::limits::approvals as limits;
use ring::pbkdf2;
use serde::{Deserialize, Serialize};
use store::Tx;

use crate::error::{Error, Result};

const PASSPHRASE: &str = "approvals_passphrase";
const WRONG: &str = "approvals_wrong_passphrases";
const SALT_BYTES: usize = 16;
const DIGEST_BYTES: usize = 32;

/// What is stored of a passphrase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    rounds: u32,
    salt: String,
    digest: String,
    set_at: String,
}

impl Stored {
    /// Stretches a new passphrase.
    pub(super) fn new(passphrase: &str, salt: [u8; SALT_BYTES], now: Timestamp) -> Self {
        let rounds = limits::PASSPHRASE_ROUNDS;
        let mut digest = [0; DIGEST_BYTES];
        pbkdf2::derive(
            pbkdf2::PBKDF2_HMAC_SHA256,
            NonZeroU32::new(rounds).expect("the limit is not zero"),
            &salt,
            passphrase.as_bytes(),
            &mut digest,
        );
        let (salt, digest) = (STANDARD.encode(salt), STANDARD.encode(digest));
        Self { rounds, salt, digest, set_at: now.to_string() }
    }

    /// Whether a passphrase is the one; takes as long for any.
    pub(super) fn is(&self, passphrase: &str) -> bool {
        let (Ok(salt), Ok(digest)) = (STANDARD.decode(&self.salt), STANDARD.decode(&self.digest))
        else {
            return false;
        };
        // A stored digest that is too short would be easy to meet.
        let Some(rounds) = NonZeroU32::new(self.rounds).filter(|_| digest.len() == DIGEST_BYTES)
        else {
            return false;
        };
        let given = passphrase.as_bytes();
        pbkdf2::verify(pbkdf2::PBKDF2_HMAC_SHA256, rounds, &salt, given, &digest).is_ok()
    }

    pub(super) fn read(tx: &mut Tx<'_>) -> Result<Option<Self>> {
        let text = tx.fact(PASSPHRASE)?;
        text.map(|text| serde_json::from_str(&text)).transpose().map_err(internal)
    }

    pub(super) fn write(&self, tx: &mut Tx<'_>) -> Result<()> {
        let text = serde_json::to_string(self).map_err(internal)?;
        Ok(tx.set_fact(PASSPHRASE, &text)?)
    }
}

/// Whether a passphrase may be chosen.
pub(super) fn check(passphrase: &str) -> Result<()> {
    if passphrase.chars().count() < limits::PASSPHRASE_CHARS_MIN {
        let least = limits::PASSPHRASE_CHARS_MIN;
        return Err(Error::invalid_hint(
            "passphrase",
            format_args!("must have at least {least} characters"),
            "a few words that nobody guesses are better than one with odd signs",
        ));
    }
    if passphrase.len() > limits::PASSPHRASE_BYTES_MAX {
        let most = limits::PASSPHRASE_BYTES_MAX;
        return Err(Error::invalid("passphrase", format_args!("may have at most {most} bytes")));
    }
    Ok(())
}

/// Wrong passphrases in a row. They are stored: a hub that is started anew remembers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wrong {
    count: u32,
    until_ms: i64,
}

impl Wrong {
    pub(super) fn read(tx: &mut Tx<'_>) -> Result<Self> {
        let text = tx.fact(WRONG)?;
        let known = text.map(|text| serde_json::from_str(&text)).transpose().map_err(internal)?;
        Ok(known.unwrap_or_default())
    }

    pub(super) fn write(self, tx: &mut Tx<'_>) -> Result<()> {
        let text = serde_json::to_string(&self).map_err(internal)?;
        Ok(tx.set_fact(WRONG, &text)?)
    }

    pub(super) fn is_any(self) -> bool {
        self.count > 0
    }

    /// One more; the next may come after twice as long as this one.
    pub(super) fn one_more(self, now: Timestamp) -> Self {
        let doublings = self.count.min(16);
        let wait = limits::PASSPHRASE_WAIT_MS.saturating_mul(1 << doublings);
        let wait = wait.min(limits::PASSPHRASE_WAIT_MS_MAX);
        Self { count: self.count.saturating_add(1), until_ms: now.as_ms().saturating_add(wait) }
    }

    /// How long the next one must wait still.
    pub(super) fn wait_ms(self, now: Timestamp) -> Option<u64> {
        // A clock that was set back must not lock the operator out.
        let left = (self.until_ms - now.as_ms()).min(limits::PASSPHRASE_WAIT_MS_MAX);
        u64::try_from(left).ok().filter(|left| *left > 0)
    }
}

fn internal(error: serde_json::Error) -> Error {
    Error::Internal(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_771_329_600_000);

    #[test]
    fn a_passphrase_is_known_again_and_stands_nowhere() {
        let stored = Stored::new("correct horse battery", [7; SALT_BYTES], NOW);
        assert!(stored.rounds >= 600_000);
        assert!(stored.is("correct horse battery"));
        assert!(!stored.is("correct horse batterz") && !stored.is(""));
        let text = serde_json::to_string(&stored).unwrap();
        assert!(!text.contains("horse"), "{text}");
        let cut = Stored { digest: String::new(), ..stored };
        assert!(!cut.is("correct horse battery"));
    }

    #[test]
    fn each_wrong_passphrase_makes_the_next_one_wait_longer_up_to_a_limit() {
        let mut wrong = Wrong::default();
        let mut waits = Vec::new();
        for _ in 0..9 {
            wrong = wrong.one_more(NOW);
            waits.push(wrong.wait_ms(NOW).unwrap());
        }
        assert_eq!(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
        assert_eq!(wrong.wait_ms(Timestamp::from_ms(NOW.as_ms() + 60_000)), None);
        assert_eq!(Wrong::default().wait_ms(NOW), None);
    }

    #[test]
    fn a_short_passphrase_is_refused() {
        assert!(check("seven77").is_err() && check("eight888").is_ok());
        assert!(check(&"x".repeat(limits::PASSPHRASE_BYTES_MAX + 1)).is_err());
    }
}
