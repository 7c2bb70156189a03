//! The account a server runs as: the test's own, or a humbler one when that is root.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

/// Accounts a server may run as in root's place, the best first.
const STAND_INS: [&str; 2] = ["postgres", "nobody"];

/// Who the server runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Account {
    /// Whoever runs the test.
    Own,
    /// Another account, because the server refuses to run as root.
    Other {
        /// Its user.
        uid: u32,
        /// That user's group.
        gid: u32,
    },
}

impl Account {
    /// The account for a server whose `folder` the test has just made.
    pub(super) fn for_server(folder: &Path) -> anyhow::Result<Self> {
        // A folder belongs to whoever made it, so its owner says who we are.
        if std::fs::metadata(folder)?.uid() != 0 {
            return Ok(Self::Own);
        }
        let accounts = std::fs::read_to_string("/etc/passwd")?;
        STAND_INS
            .iter()
            .find_map(|name| find(&accounts, name))
            .context("PostgreSQL refuses to run as root, and neither postgres nor nobody exists")
    }

    /// Gives the folder to the account.
    pub(super) fn take(self, folder: &Path) -> std::io::Result<()> {
        match self {
            Self::Own => Ok(()),
            Self::Other { uid, gid } => chown(folder, Some(uid), Some(gid)),
        }
    }

    /// Makes the command run as the account.
    pub(super) fn run_as(self, command: &mut Command) {
        if let Self::Other { uid, gid } = self {
            command.uid(uid).gid(gid);
        }
    }
}

/// The account of that name in the text of a password file.
fn find(accounts: &str, name: &str) -> Option<Account> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        let _password = fields.next()?;
        let uid = fields.next()?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Account::Other { uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let accounts = "postgresql:x:9:9::/:\nbroken\npostgres:x:105:113:::/bin/bash\n";
        assert_eq!(find(accounts, "postgres"), Some(Account::Other { uid: 105, gid: 113 }));
        assert_eq!(find(accounts, "nobody"), None);
    }
}
