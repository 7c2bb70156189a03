//! Online backups of a SQLite store, and putting them back.
//!
//! A backup is a plain SQLite file, copied page by page from a snapshot while the hub works. It carries
//! digests of what each table held, is checked, made durable, and only then given its name.

mod aside;
mod copy;
mod digest;
mod files;
mod restore;
mod verify;
mod watch;

pub(crate) use aside::check as check_place;
pub use copy::backup;
pub(crate) use files::make_durable;
pub use files::own_files;
pub use restore::{CarriedRevocations, PutInPlace, Staged};
pub use verify::{BackupReport, Compared, is_backup, verify_backup};
pub use watch::{BackupStep, Watch};
