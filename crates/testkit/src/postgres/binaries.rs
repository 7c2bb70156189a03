//! Finds the programs of a PostgreSQL server.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

/// Where Debian keeps the server programs, one folder per version.
const DEBIAN_VERSIONS: &str = "/usr/lib/postgresql";

/// The folder that holds `initdb` and `postgres`: the newest of Debian's, or what `pg_config`
/// names, or a folder of the search path.
pub(super) fn find() -> anyhow::Result<PathBuf> {
    let candidates = debian().into_iter().chain(pg_config()).chain(search_path());
    first_with_server(candidates)
        .context("this machine has no PostgreSQL server; install one: apt-get install postgresql")
}

fn first_with_server(mut folders: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    folders.find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

fn debian() -> Vec<PathBuf> {
    let Ok(versions) = std::fs::read_dir(DEBIAN_VERSIONS) else { return Vec::new() };
    newest_first(versions.filter_map(Result::ok).map(|version| version.path()).collect())
}

fn newest_first(mut versions: Vec<PathBuf>) -> Vec<PathBuf> {
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    versions.sort_by_key(|path| std::cmp::Reverse(number(path)));
    versions.into_iter().map(|version| version.join("bin")).collect()
}

fn pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_tried_first() {
        let versions = ["9", "15", "common", "16"].map(PathBuf::from).to_vec();
        let expected = ["16/bin", "15/bin", "9/bin", "common/bin"].map(PathBuf::from);
        assert_eq!(newest_first(versions), expected);
    }

    #[test]
    fn a_folder_with_only_the_client_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("psql"), "").unwrap();
        assert_eq!(first_with_server([folder.path().to_owned()].into_iter()), None);
    }
}
