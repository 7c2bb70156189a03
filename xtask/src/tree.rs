//! The repository as the checks see it: its text files and its crates, read once.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::lexer::{self, Parts};

/// Folders that hold what was built or fetched, never what somebody wrote.
const SKIPPED_FOLDERS: [&str; 6] =
    [".git", ".cache", "target", "node_modules", "__pycache__", ".venv"];

/// The repository.
pub(crate) struct Tree {
    /// Where it lies.
    pub(crate) root: PathBuf,
    /// Its text files, sorted by path.
    pub(crate) files: Vec<File>,
    /// The crates of its workspace.
    pub(crate) packages: Vec<Package>,
}

/// One text file.
pub(crate) struct File {
    /// Its path below the root, with `/` between folders.
    pub(crate) path: String,
    /// What it says.
    pub(crate) text: String,
}

/// One crate of the workspace.
#[derive(Debug)]
pub(crate) struct Package {
    /// The name cargo knows it by.
    pub(crate) name: String,
    /// Its `Cargo.toml`, below the root.
    pub(crate) manifest: String,
    /// The crates it builds with: the ordinary and build dependencies, not those of its tests.
    pub(crate) dependencies: Vec<String>,
}

impl Tree {
    /// Reads the workspace that the current folder belongs to.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let output = Command::new("cargo")
            .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
            .output()
            .context("cannot run cargo")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cargo metadata failed: {complaint}");
        let metadata: Value = serde_json::from_slice(&output.stdout)?;
        let root = metadata.get("workspace_root").and_then(Value::as_str);
        let root = PathBuf::from(root.context("cargo metadata names no workspace root")?);
        let packages = read_packages(&metadata, &root)?;
        let mut files = Vec::new();
        read_files(&root, &root, &mut files)?;
        files.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(Self { root, files, packages })
    }

    /// The Rust files.
    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.extension() == "rs")
    }

    /// The file at `path`, if there is one.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl File {
    /// What stands after the last dot of the name, or nothing.
    pub(crate) fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|end| end.to_str()).unwrap_or("")
    }

    /// Whether the file holds tests alone.
    pub(crate) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }

    /// Whether the file lies in one of these folders.
    pub(crate) fn is_in(&self, folders: &[&str]) -> bool {
        folders.iter().any(|folder| self.path.starts_with(folder))
    }

    /// The file as Rust: its code, comments and literals apart.
    pub(crate) fn parts(&self) -> Parts {
        lexer::take_apart(&self.text)
    }

    /// The lines, each with its number.
    pub(crate) fn numbered_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }
}

fn read_packages(metadata: &Value, root: &Path) -> anyhow::Result<Vec<Package>> {
    let packages = metadata.get("packages").and_then(Value::as_array);
    packages
        .context("cargo metadata names no packages")?
        .iter()
        .map(|package| read_package(package, root).context("cargo metadata has a new shape"))
        .collect()
}

fn read_package(package: &Value, root: &Path) -> Option<Package> {
    let manifest = Path::new(package.get("manifest_path")?.as_str()?);
    let dependencies = package.get("dependencies")?.as_array()?;
    let built_with = dependencies
        .iter()
        .filter(|dependency| dependency.get("kind").and_then(Value::as_str) != Some("dev"))
        .filter_map(|dependency| Some(dependency.get("name")?.as_str()?.to_owned()))
        .collect();
    Some(Package {
        name: package.get("name")?.as_str()?.to_owned(),
        manifest: manifest.strip_prefix(root).ok()?.to_str()?.to_owned(),
        dependencies: built_with,
    })
}

fn read_files(root: &Path, folder: &Path, files: &mut Vec<File>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !SKIPPED_FOLDERS.iter().any(|skipped| entry.file_name() == *skipped) {
                read_files(root, &path, files)?;
            }
        } else if kind.is_file()
            && let Some(below) = path.strip_prefix(root)?.to_str()
            // What is not UTF-8 is a picture or an archive, and no check reads those.
            && let Ok(text) = String::from_utf8(std::fs::read(&path)?)
        {
            files.push(File { path: below.to_owned(), text });
        }
    }
    Ok(())
}

#[cfg(test)]
impl Tree {
    /// A tree of these files, for tests.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        Self { root: PathBuf::new(), files: files.iter().map(file).collect(), packages: Vec::new() }
    }

    /// The same tree with one crate more.
    pub(crate) fn with_package(mut self, name: &str, manifest: &str, built_with: &[&str]) -> Self {
        self.packages.push(Package {
            name: name.to_owned(),
            manifest: manifest.to_owned(),
            dependencies: built_with.iter().map(|name| (*name).to_owned()).collect(),
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dependencies_of_tests_are_not_counted() {
        let metadata = r#"{"packages": [{"name": "hub", "manifest_path": "/r/hub/Cargo.toml",
            "dependencies": [{"name": "store", "kind": null}, {"name": "cc", "kind": "build"},
                             {"name": "insta", "kind": "dev"}]}]}"#;
        let metadata = serde_json::from_str(metadata).unwrap();
        let packages = read_packages(&metadata, Path::new("/r")).unwrap();
        assert_eq!(packages[0].manifest, "hub/Cargo.toml");
        assert_eq!(packages[0].dependencies, ["store", "cc"]);
    }

    #[test]
    fn tests_are_known_by_their_folder_or_name() {
        let tree = Tree::of(&[("a/tests/it/b.rs", ""), ("a/tests.rs", ""), ("a/contests.rs", "")]);
        let answers: Vec<bool> = tree.files.iter().map(File::is_test).collect();
        assert_eq!(answers, [true, true, false]);
    }
}
