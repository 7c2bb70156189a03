//! What a button carries: which proposal and which of its drafts, bound so that nobody can make one up.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use protocol::ProposalId;
use ring::hmac;

/// What the digest begins with, so that it is good for nothing else.
const CONTEXT: &[u8] = b"waystation button 1";
const ID_BYTES: usize = 16;
const VERSION_BYTES: usize = 8;

/// A draft that a button is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Button {
    /// The proposal.
    pub(crate) id: ProposalId,
    /// Its draft.
    pub(crate) version: i64,
}

impl Button {
    /// What a button of a link carries.
    pub(crate) fn seal(self, key: &hmac::Key, link_row: i64) -> String {
        let mut bytes = self.id.as_bytes().to_vec();
        bytes.extend_from_slice(&self.version.to_be_bytes());
        let tag = hmac::sign(key, &bound(link_row, &bytes));
        bytes.extend_from_slice(tag.as_ref());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads what a button carried; `None` unless it is one of this link's.
    pub(crate) fn open(key: &hmac::Key, link_row: i64, token: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (content, tag) = bytes.split_at_checked(ID_BYTES + VERSION_BYTES)?;
        hmac::verify(key, &bound(link_row, content), tag).ok()?;
        let (id, version) = content.split_at_checked(ID_BYTES)?;
        let version = i64::from_be_bytes(version.try_into().ok()?);
        Some(Self { id: ProposalId::from_bytes(id)?, version })
    }
}

fn bound(link_row: i64, content: &[u8]) -> Vec<u8> {
    [CONTEXT, &link_row.to_be_bytes(), content].concat()
}

#[cfg(test)]
mod tests {
    use protocol::Timestamp;

    use super::*;

    #[test]
    fn a_button_is_good_for_its_draft_and_its_link_alone() {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &[7; 32]);
        let button = Button { id: ProposalId::new(Timestamp::from_ms(1_000), [3; 10]), version: 2 };
        let token = button.seal(&key, 5);
        assert_eq!(Button::open(&key, 5, &token), Some(button));
        assert_eq!(Button::open(&key, 6, &token), None);
        let other = hmac::Key::new(hmac::HMAC_SHA256, &[8; 32]);
        assert_eq!(Button::open(&other, 5, &token), None);
        // One flipped bit anywhere fails.
        let bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
        for at in 0..bytes.len() * 8 {
            let mut forged = bytes.clone();
            forged[at / 8] ^= 1 << (at % 8);
            assert_eq!(Button::open(&key, 5, &URL_SAFE_NO_PAD.encode(forged)), None, "{at}");
        }
        for cut in ["", "A", &token[..token.len() - 2]] {
            assert_eq!(Button::open(&key, 5, cut), None);
        }
    }
}
