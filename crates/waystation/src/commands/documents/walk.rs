//! Reading a file or a folder: text only, nothing that git ignores, nothing hidden.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use protocol::limits::memory as limits;

use super::add::{Document, Read};
use super::ignore::Rules;

/// Folders that hold nothing anybody wrote for readers.
const NO_FOLDERS: [&str; 4] = ["node_modules", "target", "__pycache__", "vendor"];
/// Files that are text, and say nothing to a reader.
const NO_FILES: [&str; 6] =
    ["Cargo.lock", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "go.sum"];
/// Where a text is looked at to see whether it is one.
const LOOKED_AT_BYTES: usize = 8 * 1024;

struct Walk<'a> {
    read: Read,
    root: String,
    url: Option<&'a str>,
    files: usize,
}

/// Reads a file or a folder.
pub(super) fn read(path: &Path, url: Option<&str>) -> Result<Read> {
    let path = fs::canonicalize(path)?;
    let mut walk = Walk { read: Read::default(), root: shown(&path), url, files: 0 };
    if path.is_file() {
        walk.file(&path, "")?;
        if let (true, Some((file, why))) =
            (walk.read.documents.is_empty(), walk.read.skipped.first())
        {
            bail!("{file} cannot be added: {why}");
        }
        return Ok(walk.read);
    }
    walk.folder(&path, "", &Rules::default(), 0)?;
    walk.read.prefix = Some(format!("{}/", walk.root));
    Ok(walk.read)
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, below: &str, rules: &Rules, depth: usize) -> Result<()> {
        if depth > limits::FOLDERS_DEEP_MAX {
            self.read.skipped.push((below.to_owned(), "it lies too deep"));
            return Ok(());
        }
        let mut rules = rules.clone();
        if let Ok(text) = fs::read_to_string(folder.join(".gitignore")) {
            rules.add(below, &text);
        }
        let found =
            fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let mut entries: Vec<fs::DirEntry> = found.collect::<Result<_, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{below}{name}");
            let kind = entry.file_type()?;
            // Links could lead anywhere, and in circles.
            if name.starts_with('.') || kind.is_symlink() || rules.ignores(&path, kind.is_dir()) {
                continue;
            }
            if kind.is_dir() {
                if !NO_FOLDERS.contains(&name.as_str()) {
                    self.folder(&entry.path(), &format!("{path}/"), &rules, depth + 1)?;
                }
            } else if kind.is_file() && !NO_FILES.contains(&name.as_str()) {
                self.file(&entry.path(), &path)?;
            }
        }
        Ok(())
    }

    /// Reads one file; `below` is its path in the folder, and empty where it was named itself.
    fn file(&mut self, path: &Path, below: &str) -> Result<()> {
        self.files += 1;
        if self.files > limits::FILES_MAX {
            bail!("there are more than {} files; add a smaller folder", limits::FILES_MAX);
        }
        let source =
            if below.is_empty() { self.root.clone() } else { format!("{}/{below}", self.root) };
        let failed = || format!("cannot read {}", path.display());
        let size = fs::metadata(path).with_context(failed)?.len();
        if size > limits::DOCUMENT_BYTES_MAX as u64 {
            self.read.skipped.push((source, "it is too large"));
            return Ok(());
        }
        let bytes = fs::read(path).with_context(failed)?;
        let head = bytes.get(..bytes.len().min(LOOKED_AT_BYTES)).unwrap_or_default();
        if head.contains(&0) {
            return Ok(());
        }
        let Ok(text) = String::from_utf8(bytes) else {
            self.read.skipped.push((source, "it is not UTF-8 text"));
            return Ok(());
        };
        // A sign that is no text, beyond where files are looked at.
        let text = text.replace('\0', " ");
        if text.trim().is_empty() || source.chars().count() > limits::SOURCE_CHARS_MAX {
            return Ok(());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let address = if below.is_empty() { &name } else { below };
        let url = self.url.map(|url| format!("{}/{address}", url.trim_end_matches('/')));
        let title = title(&text).unwrap_or(if below.is_empty() { name } else { below.to_owned() });
        self.read.documents.push(Document { source, title, url, text });
        Ok(())
    }
}

/// The first heading of a Markdown text.
pub(super) fn title(text: &str) -> Option<String> {
    let heading = text.lines().take(50).find_map(|line| line.strip_prefix("# "))?;
    let title: String = heading.trim().chars().filter(|c| !c.is_control()).take(200).collect();
    (!title.is_empty()).then_some(title)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_read_without_what_is_ignored_binary_or_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        write(".gitignore", b"*.tmp\n/out/\n");
        write("guide.md", b"# The guide\ntext");
        write("src/main.rs", b"fn main() {}");
        write("x.tmp", b"no");
        write("out/a.md", b"no");
        write(".secret", b"no");
        write("logo.png", b"\x89PNG\0\0");
        write("latin.txt", b"caf\xe9");
        write("large.txt", &vec![b'a'; limits::DOCUMENT_BYTES_MAX + 1]);
        let read = read(folder.path(), Some("https://x.example/docs/")).unwrap();
        let seen: Vec<(&str, Option<&str>)> = read
            .documents
            .iter()
            .map(|document| (document.title.as_str(), document.url.as_deref()))
            .collect();
        assert_eq!(
            seen,
            [
                ("The guide", Some("https://x.example/docs/guide.md")),
                ("src/main.rs", Some("https://x.example/docs/src/main.rs")),
            ]
        );
        assert_eq!(read.skipped.len(), 2, "{:?}", read.skipped);
        let prefix = read.prefix.unwrap();
        assert!(read.documents.iter().all(|document| document.source.starts_with(&prefix)));
    }
}
