//! What can keep the trail from being sealed, read or proved.

use std::path::PathBuf;

use protocol::audit::NoteError;
use store::StoreError;

/// What can keep the trail from being sealed, read or proved.
///
/// A trail that was tampered with is no error: it is a [`Problem`](super::Problem) in a report.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The database does not answer.
    #[error("the audit trail cannot be reached")]
    Store(#[from] StoreError),
    /// Another hub sealed again and again before this one.
    #[error("other hubs seal the audit trail faster than this one; it tries again")]
    Contended,
    /// A key's file cannot be read or written.
    #[error("cannot {what} {path}")]
    File {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// Others on the machine can read the private key.
    #[error("{path} can be read by others; make it private with chmod 600, or replace the key")]
    KeyExposed {
        /// The key's file.
        path: PathBuf,
    },
    /// A key's file holds something else, or another key than its name says.
    #[error("{path} does not hold the audit key that its name says")]
    KeyUnreadable {
        /// The key's file.
        path: PathBuf,
    },
    /// More than one private key could sign.
    #[error("{folder} holds several private audit keys; keep one, the .pub files may all stay")]
    SeveralKeys {
        /// The folder.
        folder: PathBuf,
    },
    /// A given public key is not one.
    #[error("a public key is 32 bytes in base64, as in the hub's keys/audit-*.pub")]
    BadPublicKey,
    /// No randomness for a new key.
    #[error("the operating system provides no randomness for an audit key")]
    NoRandomness,
    /// A checkpoint cannot be made or trusted.
    #[error(transparent)]
    Checkpoint(#[from] NoteError),
    /// There is no such entry.
    #[error("there is no audit entry {0}")]
    NoSuchEntry(i64),
    /// The entry is too young.
    #[error("audit entry {0} is not sealed yet; ask again in a second")]
    NotSealed(i64),
    /// The entry is not under the seal that should cover it.
    #[error("audit entry {0} is not what was sealed; verify the trail")]
    NotAsSealed(i64),
    /// The export could not be written.
    #[error("the export could not be written")]
    Output(#[source] std::io::Error),
}
