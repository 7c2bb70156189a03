//! Sealing what links must keep secret, under a key of the hub's own.
//!
//! The key lies in `links.key` in the folder of keys, readable by the hub's user alone. What it seals
//! is bound to the link's workspace and name: a sealed secret moved to another link does not open.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use connector_api::toolkit::HttpError;
use protocol::Secret;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::SecureRandom;

const KEY_FILE: &str = "links.key";
const KEY_BYTES: usize = 32;
const OTHERS: u32 = 0o077;
/// The first byte of what is sealed, so that another way of sealing can come later.
const FORMAT: u8 = 1;

/// What the key of stable tokens is derived for.
const TOKEN_PURPOSE: &[u8] = b"waystation stable tokens 1";
const SESSION_PURPOSE: &[u8] = b"waystation session layers 1";

/// Why the key or a secret cannot be used. Nothing secret stands in it.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The key's file cannot be read or written.
    #[error("cannot use the key of links in {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Others can read the key.
    #[error("{} is open to others; close it with chmod 600", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
    },
    /// The key's file holds no key.
    #[error("{} holds no key; put it back from a copy, or remove it and add every link again", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
    },
    /// The client that links reach out with cannot be made.
    #[error("cannot make the client of links")]
    Client(#[source] HttpError),
    /// There is no randomness.
    #[error("the operating system provides no randomness")]
    NoRandomness,
    /// What was sealed does not open with this key.
    #[error(
        "its secrets were sealed with another key; add the link again, or put the file links.key of \
         the hub that added it into the folder of keys"
    )]
    DoesNotOpen,
}

/// The key under which the secrets of links are kept.
pub struct LinkVault {
    key: LessSafeKey,
    /// Made from the key: what stable tokens of personal data are made with.
    token_key: [u8; KEY_BYTES],
    /// Made from the key as well: what session layers are sealed with.
    session_key: [u8; KEY_BYTES],
}

impl std::fmt::Debug for LinkVault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LinkVault(***)")
    }
}

impl LinkVault {
    /// The folder's key; made when there is none.
    pub fn open(folder: &Path, random: &dyn SecureRandom) -> Result<Self, VaultError> {
        let path = folder.join(KEY_FILE);
        let failed = |source| VaultError::File { path: path.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        if !path.exists() {
            let mut bytes = [0; KEY_BYTES];
            random.fill(&mut bytes).map_err(|_| VaultError::NoRandomness)?;
            create(folder, &path, &bytes).map_err(failed)?;
        }
        let found = fs::symlink_metadata(&path).map_err(failed)?;
        if found.permissions().mode() & OTHERS != 0 {
            return Err(VaultError::Exposed { path });
        }
        let mut bytes = Vec::new();
        // One byte more than a key has tells a file that is too long.
        let read_max = KEY_BYTES as u64 + 1;
        File::open(&path)
            .and_then(|file| file.take(read_max).read_to_end(&mut bytes))
            .map_err(failed)?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes);
        let key = key.map_err(|_| VaultError::Malformed { path: path.clone() })?;
        let token_key = derived(&bytes, TOKEN_PURPOSE);
        let session_key = derived(&bytes, SESSION_PURPOSE);
        Ok(Self { key: LessSafeKey::new(key), token_key, session_key })
    }

    /// The key of stable tokens, the same on every hub that has the key of links.
    pub(crate) fn token_key(&self) -> [u8; KEY_BYTES] {
        self.token_key
    }

    /// The key that seals session layers, the same on every hub that has the key of links.
    pub(crate) fn session_key(&self) -> [u8; KEY_BYTES] {
        self.session_key
    }

    /// Seals the secrets of a link. The nonce must be fresh randomness.
    pub(crate) fn seal(
        &self,
        nonce: [u8; NONCE_LEN],
        workspace: &str,
        name: &str,
        secrets: &BTreeMap<String, Secret<String>>,
    ) -> Vec<u8> {
        let plain: BTreeMap<&str, &str> =
            secrets.iter().map(|(key, secret)| (key.as_str(), secret.expose().as_str())).collect();
        let mut sealed = serde_json::to_vec(&plain).expect("texts print as JSON");
        self.key
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(bound_to(workspace, name)),
                &mut sealed,
            )
            .expect("secrets are far shorter than the cipher's limit");
        let mut whole = Vec::with_capacity(1 + NONCE_LEN + sealed.len());
        whole.push(FORMAT);
        whole.extend_from_slice(&nonce);
        whole.append(&mut sealed);
        whole
    }

    /// Opens what was sealed for a link.
    pub(crate) fn unseal(
        &self,
        workspace: &str,
        name: &str,
        sealed: &[u8],
    ) -> Result<BTreeMap<String, Secret<String>>, VaultError> {
        let (format, rest) = sealed.split_first().ok_or(VaultError::DoesNotOpen)?;
        let (nonce, text) = rest.split_at_checked(NONCE_LEN).ok_or(VaultError::DoesNotOpen)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| VaultError::DoesNotOpen)?;
        if *format != FORMAT {
            return Err(VaultError::DoesNotOpen);
        }
        let mut text = text.to_vec();
        let aad = Aad::from(bound_to(workspace, name));
        let plain =
            self.key.open_in_place(nonce, aad, &mut text).map_err(|_| VaultError::DoesNotOpen)?;
        let plain: BTreeMap<String, String> =
            serde_json::from_slice(plain).map_err(|_| VaultError::DoesNotOpen)?;
        Ok(plain.into_iter().map(|(key, value)| (key, Secret::new(value))).collect())
    }
}

/// What a sealed secret belongs to; neither part can hold the sign between them.
fn bound_to(workspace: &str, name: &str) -> Vec<u8> {
    format!("waystation link\0{workspace}\0{name}").into_bytes()
}

/// Writes a new key so that after a crash it is there whole or not at all.
fn create(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = folder.join(format!(".{KEY_FILE}.unfinished"));
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    File::open(folder)?.sync_all()
}

/// A key for one purpose, from which the key of links cannot be found.
fn derived(key: &[u8], purpose: &[u8]) -> [u8; KEY_BYTES] {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let mut derived = [0; KEY_BYTES];
    derived.copy_from_slice(hmac::sign(&key, purpose).as_ref());
    derived
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;

    use super::*;

    fn secrets() -> BTreeMap<String, Secret<String>> {
        BTreeMap::from([("bot_token".to_owned(), Secret::new("123:hunter2".to_owned()))])
    }

    #[test]
    fn what_is_sealed_opens_for_its_own_link_alone() {
        let folder = tempfile::tempdir().unwrap();
        let vault = LinkVault::open(folder.path(), &SystemRandom::new()).unwrap();
        let sealed = vault.seal([7; NONCE_LEN], "wk", "telegram", &secrets());
        assert!(!sealed.windows(7).any(|part| part == b"hunter2"));
        let opened = vault.unseal("wk", "telegram", &sealed).unwrap();
        assert_eq!(opened["bot_token"].expose(), "123:hunter2");
        assert!(vault.unseal("wk", "other", &sealed).is_err());
        assert!(vault.unseal("other", "telegram", &sealed).is_err());
        for cut in 0..sealed.len() {
            assert!(vault.unseal("wk", "telegram", &sealed[..cut]).is_err());
        }
    }

    #[test]
    fn the_key_outlives_the_process_and_is_for_one_user() {
        let folder = tempfile::tempdir().unwrap();
        let first = LinkVault::open(folder.path(), &SystemRandom::new()).unwrap();
        let sealed = first.seal([1; NONCE_LEN], "wk", "slack", &secrets());
        let again = LinkVault::open(folder.path(), &SystemRandom::new()).unwrap();
        assert!(again.unseal("wk", "slack", &sealed).is_ok());
        let path = folder.path().join(KEY_FILE);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let refused = LinkVault::open(folder.path(), &SystemRandom::new());
        assert!(matches!(refused, Err(VaultError::Exposed { .. })));
    }

    #[test]
    fn a_key_of_the_wrong_length_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(KEY_FILE), [0; 33]).unwrap();
        fs::set_permissions(folder.path().join(KEY_FILE), fs::Permissions::from_mode(0o600))
            .unwrap();
        let refused = LinkVault::open(folder.path(), &SystemRandom::new());
        assert!(matches!(refused, Err(VaultError::Malformed { .. })));
    }
}
