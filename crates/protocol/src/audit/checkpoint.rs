//! A checkpoint: how far the trail had come, as a signed note to be kept where the hub cannot reach.
//!
//! The note has the shape of C2SP `signed-note` and `tlog-checkpoint`: an origin, the number of sealed
//! entries, a hash, and one more line that names the seal. The hash is that of the newest seal, which
//! reaches back through every seal before it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::merkle::Hash;

/// Characters of an origin.
pub const ORIGIN_CHARS_MAX: usize = 200;
/// The largest note that is looked at.
const NOTE_BYTES_MAX: usize = 64 * 1024;
/// Signature lines that are looked at; witnesses may add theirs.
const SIGNATURES_MAX: usize = 100;
/// The kind of an Ed25519 signature in a signed note.
const ED25519: u8 = 1;
/// What a signature line begins with.
const SIGNATURE_MARK: &str = "\u{2014} ";

/// How far a trail had come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Whose trail it is; a name without spaces or plus signs, such as `example.org/audit`.
    pub origin: String,
    /// Entries sealed until then.
    pub entries: u64,
    /// The hash of the newest seal.
    pub head: Hash,
    /// The number of the newest seal.
    pub seal: i64,
    /// The number of the newest sealed entry.
    pub last_id: i64,
}

/// Why a note is no checkpoint to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The origin cannot be the name of a key.
    #[error("an origin is 1 to 200 letters without spaces, plus signs or control characters")]
    Origin,
    /// It does not have the shape of a checkpoint.
    #[error("this is not a checkpoint of an audit trail")]
    Malformed,
    /// None of the keys at hand signed it.
    #[error("the checkpoint is signed by none of the known keys")]
    UnknownKey,
    /// A known key's signature does not fit the text.
    #[error("the checkpoint's signature does not fit its text")]
    Signature,
}

impl Checkpoint {
    /// The signed note; `sign` makes an Ed25519 signature that belongs to the public key.
    pub fn sign(
        &self,
        public_key: &[u8],
        sign: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Result<String, NoteError> {
        if !is_origin(&self.origin) {
            return Err(NoteError::Origin);
        }
        let text = self.text();
        let mut signature = key_hash(&self.origin, public_key).to_vec();
        signature.extend(sign(text.as_bytes()));
        let signature = STANDARD.encode(signature);
        Ok(format!("{text}\n{SIGNATURE_MARK}{} {signature}\n", self.origin))
    }

    /// Reads a note; `verify` is asked whether a public key made a signature over a text.
    pub fn open<'k>(
        note: &str,
        public_keys: impl IntoIterator<Item = &'k [u8]>,
        verify: impl Fn(&[u8], &[u8], &[u8]) -> bool,
    ) -> Result<Self, NoteError> {
        if note.len() > NOTE_BYTES_MAX {
            return Err(NoteError::Malformed);
        }
        let split = note.rfind("\n\n").ok_or(NoteError::Malformed)?;
        let (text, signatures) = note.split_at(split + 1);
        let checkpoint = Self::parse(text).ok_or(NoteError::Malformed)?;
        let signatures: Option<Vec<_>> =
            signatures.lines().skip(1).take(SIGNATURES_MAX).map(parse_signature).collect();
        let signatures = signatures.ok_or(NoteError::Malformed)?;
        for key in public_keys {
            let hash = key_hash(&checkpoint.origin, key);
            let ours = |(name, signature): &&(&str, Vec<u8>)| {
                *name == checkpoint.origin && signature.starts_with(&hash)
            };
            if let Some((_, signature)) = signatures.iter().find(ours) {
                let signature = signature.get(hash.len()..).unwrap_or_default();
                let fits = verify(key, text.as_bytes(), signature);
                return if fits { Ok(checkpoint) } else { Err(NoteError::Signature) };
            }
        }
        Err(NoteError::UnknownKey)
    }

    fn text(&self) -> String {
        let Self { origin, entries, head, seal, last_id } = self;
        format!("{origin}\n{entries}\n{}\nseal {seal} {last_id}\n", STANDARD.encode(head))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let origin = lines.next().filter(|origin| is_origin(origin))?.to_owned();
        let entries = lines.next()?.parse().ok()?;
        let head = STANDARD.decode(lines.next()?).ok()?.try_into().ok()?;
        let (seal, last_id) = lines.next()?.strip_prefix("seal ")?.split_once(' ')?;
        let (seal, last_id) = (seal.parse().ok()?, last_id.parse().ok()?);
        let checkpoint = Self { origin, entries, head, seal, last_id };
        // One checkpoint has one text: no leading zeros, no further lines, no other line ends.
        (checkpoint.text() == text).then_some(checkpoint)
    }
}

fn is_origin(name: &str) -> bool {
    let is_bad = |c: char| c.is_whitespace() || c.is_control() || c == '+';
    !name.is_empty() && name.chars().count() <= ORIGIN_CHARS_MAX && !name.contains(is_bad)
}

fn parse_signature(line: &str) -> Option<(&str, Vec<u8>)> {
    let (name, signature) = line.strip_prefix(SIGNATURE_MARK)?.split_once(' ')?;
    Some((name, STANDARD.decode(signature).ok()?))
}

/// The four bytes by which a signed note names the key of a signature.
fn key_hash(name: &str, public_key: &[u8]) -> [u8; 4] {
    let hash = Sha256::new()
        .chain_update(name)
        .chain_update([b'\n', ED25519])
        .chain_update(public_key)
        .finalize();
    let [a, b, c, d, ..] = <[u8; 32]>::from(hash);
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = &[9; 32];

    fn example() -> Checkpoint {
        let origin = "example.org/audit".to_owned();
        Checkpoint { origin, entries: 41, head: [5; 32], seal: 6, last_id: 47 }
    }

    /// Not Ed25519: enough to see that text and key are handed through.
    fn signature(key: &[u8], text: &[u8]) -> Vec<u8> {
        Sha256::new().chain_update(key).chain_update(text).finalize().to_vec()
    }

    fn open(note: &str) -> Result<Checkpoint, NoteError> {
        let verify = |key: &[u8], text: &[u8], found: &[u8]| signature(key, text) == found;
        Checkpoint::open(note, [&[8; 32], KEY], verify)
    }

    fn note() -> String {
        example().sign(KEY, |text| signature(KEY, text)).unwrap()
    }

    #[test]
    fn a_note_has_the_lines_of_a_checkpoint() {
        let note = note();
        let lines: Vec<&str> = note.lines().collect();
        let head = "BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU=";
        assert_eq!(lines[..5], ["example.org/audit", "41", head, "seal 6 47", ""]);
        assert!(lines[5].starts_with("\u{2014} example.org/audit "), "{note}");
        assert_eq!(lines.len(), 6);
    }

    #[test]
    fn a_signed_note_opens_with_its_key() {
        assert_eq!(open(&note()), Ok(example()));
    }

    #[test]
    fn a_note_with_a_witness_opens_too() {
        let witnessed = format!("{}\u{2014} witness.example AAAAAAAA\n", note());
        assert_eq!(open(&witnessed), Ok(example()));
    }

    #[test]
    fn a_changed_note_does_not_open() {
        let changed = note().replacen("41", "40", 1);
        assert_eq!(open(&changed), Err(NoteError::Signature));
        assert_eq!(open(&note().replacen("41", "041", 1)), Err(NoteError::Malformed));
        assert_eq!(open("no note\n"), Err(NoteError::Malformed));
        let stranger = example().sign(&[7; 32], |text| signature(&[7; 32], text)).unwrap();
        assert_eq!(open(&stranger), Err(NoteError::UnknownKey));
    }

    #[test]
    fn an_origin_is_a_name() {
        for origin in ["", "two words", "a+b", "a\nb"] {
            let checkpoint = Checkpoint { origin: origin.to_owned(), ..example() };
            assert_eq!(checkpoint.sign(KEY, |_| Vec::new()), Err(NoteError::Origin));
        }
    }
}
