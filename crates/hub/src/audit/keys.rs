//! The keys of the audit trail: one that seals, and all whose seals are believed.
//!
//! A private key lives in `audit-<key id>.pk8`, readable by the hub alone; its public half stays in
//! `audit-<key id>.pub` for ever, so that old seals can be verified after the private key is gone.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use protocol::audit::key_id;
use ring::rand::SecureRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use super::error::AuditError;

const PRIVATE: &str = "pk8";
const PUBLIC: &str = "pub";

/// The key pair that seals.
#[derive(Debug)]
pub struct SealKey {
    id: String,
    pair: Ed25519KeyPair,
}

impl SealKey {
    /// The folder's private key; made, with its public half, when there is none.
    pub fn open(folder: &Path, random: &dyn SecureRandom) -> Result<Self, AuditError> {
        make_folder(folder)?;
        let key = match Self::load(folder)? {
            Some(key) => key,
            None => Self::create(folder, random)?,
        };
        let public = folder.join(key.file_name(PUBLIC));
        if !public.exists() {
            write_whole(&public, format!("{}\n", key.public_base64()).as_bytes(), 0o644)?;
        }
        Ok(key)
    }

    /// The folder's private key, if there is one.
    pub fn load(folder: &Path) -> Result<Option<Self>, AuditError> {
        let mut files = key_files(folder, PRIVATE)?;
        let Some((id, path)) = files.pop() else { return Ok(None) };
        if !files.is_empty() {
            return Err(AuditError::SeveralKeys { folder: folder.to_owned() });
        }
        let metadata = fs::metadata(&path).map_err(file_error("read", &path))?;
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(AuditError::KeyExposed { path });
        }
        let bytes = fs::read(&path).map_err(file_error("read", &path))?;
        let key = Self::from_pkcs8(&bytes).filter(|key| key.id == id);
        key.map(Some).ok_or(AuditError::KeyUnreadable { path })
    }

    fn create(folder: &Path, random: &dyn SecureRandom) -> Result<Self, AuditError> {
        let bytes = Ed25519KeyPair::generate_pkcs8(random).map_err(|_| AuditError::NoRandomness)?;
        let key = Self::from_pkcs8(bytes.as_ref()).ok_or(AuditError::NoRandomness)?;
        write_whole(&folder.join(key.file_name(PRIVATE)), bytes.as_ref(), 0o600)?;
        tracing::info!(key = %key.id, "made a key for the audit trail");
        Ok(key)
    }

    fn from_pkcs8(bytes: &[u8]) -> Option<Self> {
        let pair = Ed25519KeyPair::from_pkcs8(bytes).ok()?;
        Some(Self { id: key_id(pair.public_key().as_ref()), pair })
    }

    fn file_name(&self, extension: &str) -> String {
        format!("audit-{}.{extension}", self.id)
    }

    /// The key's name, as seals carry it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The public half.
    pub fn public(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    /// The public half, as it is handed to whoever verifies.
    pub fn public_base64(&self) -> String {
        STANDARD.encode(self.public())
    }

    /// An Ed25519 signature.
    pub fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.pair.sign(bytes).as_ref().to_vec()
    }
}

/// The public keys whose seals are believed.
#[derive(Clone, Debug, Default)]
pub struct TrustedKeys(BTreeMap<String, Vec<u8>>);

impl TrustedKeys {
    /// Believes every public key of a folder.
    pub fn add_folder(&mut self, folder: &Path) -> Result<(), AuditError> {
        for (id, path) in key_files(folder, PUBLIC)? {
            let text = fs::read_to_string(&path).map_err(file_error("read", &path))?;
            if self.add_base64(&text).ok() != Some(id) {
                return Err(AuditError::KeyUnreadable { path });
            }
        }
        Ok(())
    }

    /// Believes a public key, as [`SealKey::public_base64`] writes it; answers its name.
    pub fn add_base64(&mut self, text: &str) -> Result<String, AuditError> {
        let key = STANDARD.decode(text.trim()).map_err(|_| AuditError::BadPublicKey)?;
        if key.len() != 32 {
            return Err(AuditError::BadPublicKey);
        }
        let id = key_id(&key);
        self.0.insert(id.clone(), key);
        Ok(id)
    }

    /// The names of the keys.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The public key of a name.
    pub fn get(&self, id: &str) -> Option<&[u8]> {
        self.0.get(id).map(Vec::as_slice)
    }

    pub(super) fn public_keys(&self) -> impl Iterator<Item = &[u8]> {
        self.0.values().map(Vec::as_slice)
    }
}

/// Whether a public key made a signature over bytes.
pub(super) fn signature_fits(public_key: &[u8], bytes: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ED25519, public_key).verify(bytes, signature).is_ok()
}

/// The key ids and paths of the folder's `audit-<key id>.<extension>` files, in order.
fn key_files(folder: &Path, extension: &str) -> Result<Vec<(String, PathBuf)>, AuditError> {
    let mut files = Vec::new();
    for found in fs::read_dir(folder).map_err(file_error("read", folder))? {
        let path = found.map_err(file_error("read", folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let id = name.strip_prefix("audit-").and_then(|rest| rest.strip_suffix(extension));
        if let Some(id) = id.and_then(|id| id.strip_suffix('.')) {
            files.push((id.to_owned(), path));
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn make_folder(folder: &Path) -> Result<(), AuditError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(file_error("make", folder))
}

/// Writes a file that is there whole or not at all, even after a power cut.
fn write_whole(path: &Path, bytes: &[u8], mode: u32) -> Result<(), AuditError> {
    let partial = path.with_extension("partial");
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || {
        match fs::remove_file(&partial) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&partial, path)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(file_error("write", path))
}

fn file_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> AuditError {
    let path = path.to_owned();
    move |source| AuditError::File { what, path, source }
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;

    use super::*;

    fn open(folder: &Path) -> Result<SealKey, AuditError> {
        SealKey::open(folder, &SystemRandom::new())
    }

    #[test]
    fn a_key_is_made_once_and_kept_private() {
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path().join("keys");
        let key = open(&keys).unwrap();
        assert_eq!(open(&keys).unwrap().public(), key.public());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&keys.join(format!("audit-{}.pk8", key.id()))), 0o600);
        assert_eq!(mode(&keys), 0o700);
    }

    #[test]
    fn a_lost_private_key_is_replaced_and_its_public_half_stays() {
        let folder = tempfile::tempdir().unwrap();
        let old = open(folder.path()).unwrap();
        fs::remove_file(folder.path().join(old.file_name(PRIVATE))).unwrap();
        let new = open(folder.path()).unwrap();
        assert_ne!(new.id(), old.id());
        let mut trusted = TrustedKeys::default();
        trusted.add_folder(folder.path()).unwrap();
        assert_eq!(trusted.get(old.id()), Some(old.public()));
        assert_eq!(trusted.get(new.id()), Some(new.public()));
    }

    #[test]
    fn a_lost_public_half_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let key = open(folder.path()).unwrap();
        let path = folder.path().join(key.file_name(PUBLIC));
        fs::remove_file(&path).unwrap();
        open(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap().trim(), key.public_base64());
    }

    #[test]
    fn an_exposed_foreign_or_second_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let key = open(folder.path()).unwrap();
        let path = folder.path().join(key.file_name(PRIVATE));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(open(folder.path()), Err(AuditError::KeyExposed { .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let second = folder.path().join("audit-0000000000000000.pk8");
        fs::copy(&path, &second).unwrap();
        assert!(matches!(open(folder.path()), Err(AuditError::SeveralKeys { .. })));
        fs::remove_file(&path).unwrap();
        assert!(matches!(open(folder.path()), Err(AuditError::KeyUnreadable { .. })));
    }
}
