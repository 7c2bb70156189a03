//! The hub's own signing keys: the newest signs, all of them verify.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::RwLock;
use protocol::Timestamp;
use ring::digest;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};

use super::error::IdentityError;
use super::jws::Jws;
use super::key_files::{self, KeyFile};
use super::public_key::PublicKey;

/// What the hub writes into the tokens it signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority {
    /// Their `iss`.
    pub issuer: String,
    /// Their `aud`.
    pub audience: String,
}

/// The signing keys. One process at a time may own the folder.
pub struct KeyRing {
    folder: PathBuf,
    authority: Authority,
    keys: RwLock<Keys>,
}

struct Keys {
    newest: String,
    by_id: HashMap<String, Key>,
}

struct Key {
    pair: Ed25519KeyPair,
    public: PublicKey,
    made_at: Timestamp,
}

impl KeyRing {
    /// Loads the keys of a folder; makes the folder and a first key if there is none.
    pub fn open(
        folder: &Path,
        authority: Authority,
        now: Timestamp,
    ) -> Result<Self, IdentityError> {
        key_files::prepare(folder)?;
        if key_files::read(folder)?.is_empty() {
            make_key(folder, now)?;
        }
        let keys = RwLock::new(load(folder)?);
        Ok(Self { folder: folder.to_owned(), authority, keys })
    }

    /// Makes a new key, which signs from now on, and returns its id. Tokens of the others live on.
    pub fn rotate(&self, now: Timestamp) -> Result<String, IdentityError> {
        let mut keys = self.keys.write();
        // A clock that was set back must not make the new key look older than the last.
        let newest = keys.by_id.get(&keys.newest).map_or(now, |key| key.made_at.plus_ms(1));
        let key_id = make_key(&self.folder, now.max(newest))?;
        *keys = load(&self.folder)?;
        Ok(key_id)
    }

    /// Reads the folder again, after somebody has added or removed a key.
    ///
    /// Tokens of a removed key that were verified lately are believed for ten minutes more.
    pub fn reload(&self) -> Result<(), IdentityError> {
        key_files::prepare(&self.folder)?;
        let loaded = load(&self.folder)?;
        *self.keys.write() = loaded;
        Ok(())
    }

    /// What the hub writes into its tokens.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The id of the key that signs.
    pub fn signing_key_id(&self) -> String {
        self.keys.read().newest.clone()
    }

    /// Signs with the newest key what `message` makes of its id.
    pub(super) fn sign(&self, message: impl FnOnce(&str) -> String) -> String {
        let keys = self.keys.read();
        let key = keys.by_id.get(&keys.newest).expect("the newest key is one of the keys");
        let mut text = message(&keys.newest);
        let signature = key.pair.sign(text.as_bytes());
        text.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut text);
        text
    }

    /// Refuses a token unless the key it names is ours and has signed it.
    pub(super) fn require_signature(
        &self,
        jws: &Jws<'_>,
        key_id: &str,
    ) -> Result<(), IdentityError> {
        let keys = self.keys.read();
        let key = keys.by_id.get(key_id).ok_or(IdentityError::HubKeyUnknown)?;
        jws.require_signature(&key.public)
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRing").field("authority", &self.authority).finish_non_exhaustive()
    }
}

fn make_key(folder: &Path, made_at: Timestamp) -> Result<String, IdentityError> {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
        .map_err(|_| IdentityError::NoRandomness)?;
    let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).expect("ring reads what it has made");
    let key_id = key_id_of(&pair);
    key_files::write(folder, &key_id, pkcs8.as_ref(), made_at)?;
    Ok(key_id)
}

fn load(folder: &Path) -> Result<Keys, IdentityError> {
    let mut by_id = HashMap::new();
    for file in key_files::read(folder)? {
        let key = parse(&file).ok_or(IdentityError::KeyFileMalformed { path: file.path })?;
        by_id.insert(file.key_id, key);
    }
    let newest = by_id
        .iter()
        .max_by_key(|(id, key)| (key.made_at, id.as_str()))
        .map(|(id, _)| id.clone())
        .ok_or_else(|| IdentityError::KeyFile {
            path: folder.to_owned(),
            source: std::io::ErrorKind::NotFound.into(),
        })?;
    Ok(Keys { newest, by_id })
}

fn parse(file: &KeyFile) -> Option<Key> {
    let pair = Ed25519KeyPair::from_pkcs8(&file.pkcs8).ok()?;
    if key_id_of(&pair) != file.key_id {
        return None;
    }
    let public = PublicKey::ed25519(pair.public_key().as_ref().to_vec())?;
    Some(Key { pair, public, made_at: file.made_at })
}

/// The id of a key: the hash of its public half, in base64url.
fn key_id_of(pair: &Ed25519KeyPair) -> String {
    URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, pair.public_key().as_ref()))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_771_329_600_000);

    fn open(folder: &Path) -> Result<KeyRing, IdentityError> {
        let authority = Authority { issuer: "hub".to_owned(), audience: "hub".to_owned() };
        KeyRing::open(folder, authority, NOW)
    }

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn the_first_start_makes_a_private_key() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("data/keys");
        let ring = open(&folder).unwrap();
        let file = folder.join(format!("token-{}.pk8", ring.signing_key_id()));
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(mode(&file), 0o600);
        assert_eq!(open(&folder).unwrap().signing_key_id(), ring.signing_key_id());
    }

    #[test]
    fn the_newest_key_signs_even_when_the_clock_stands_still() {
        let home = tempfile::tempdir().unwrap();
        let ring = open(&home.path().join("keys")).unwrap();
        for step_ms in [0, 5_000, -60_000] {
            let made = ring.rotate(NOW.plus_ms(step_ms)).unwrap();
            assert_eq!(ring.signing_key_id(), made);
            assert_eq!(open(&home.path().join("keys")).unwrap().signing_key_id(), made);
        }
    }

    #[test]
    fn keys_that_others_can_read_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("keys");
        let ring = open(&folder).unwrap();
        let file = folder.join(format!("token-{}.pk8", ring.signing_key_id()));

        std::fs::set_permissions(&folder, Permissions::from_mode(0o750)).unwrap();
        let error = open(&folder).unwrap_err();
        assert!(error.to_string().contains("mode 750"), "{error}");
        assert!(error.to_string().contains("chmod 700"), "{error}");

        std::fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        let error = open(&folder).unwrap_err();
        assert!(error.to_string().contains("chmod 600"), "{error}");
        assert!(ring.reload().is_err());
    }

    #[test]
    fn a_file_that_is_not_the_key_it_is_named_after_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("keys");
        let ring = open(&folder).unwrap();
        let file = folder.join(format!("token-{}.pk8", ring.signing_key_id()));
        let renamed = folder.join("token-other.pk8");
        std::fs::rename(&file, &renamed).unwrap();
        assert!(matches!(open(&folder), Err(IdentityError::KeyFileMalformed { .. })));
        std::fs::remove_file(&renamed).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &renamed).unwrap();
        assert!(matches!(open(&folder), Err(IdentityError::KeyFileMalformed { .. })));
    }
}
