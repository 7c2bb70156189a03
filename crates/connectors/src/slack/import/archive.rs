//! What lies in an export, whether it is a zip or a folder. Nothing is ever unpacked to disk.
//!
//! Names are checked, though they lead nowhere; sizes are checked before reading, and again while
//! reading, because a zip may lie about them.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use connector_api::{ImportError, ImportSink, Skipped};
use protocol::limits::slack as limits;
use zip::ZipArchive;
use zip::unstable::read::ZipIterable;

/// An opened export.
pub(super) struct Archive {
    inside: Inside,
    /// What lies in it, sorted by name.
    pub(super) entries: Vec<Entry>,
}

enum Inside {
    Zip(Box<ZipArchive<BufReader<File>>>),
    Folder(PathBuf),
}

/// One file of an export.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// How large it says it is.
    pub(super) bytes: u64,
    index: usize,
    full_name: String,
    root_bytes: usize,
}

impl Entry {
    fn new(full_name: String, bytes: u64, index: usize) -> Self {
        Self { bytes, index, full_name, root_bytes: 0 }
    }

    /// Its name below the export's root: `general/2024-01-31.json`.
    pub(super) fn name(&self) -> &str {
        self.full_name.get(self.root_bytes..).unwrap_or_default()
    }
}

/// The part of the names before `users.json`; exports are packed with and without a folder around.
pub(super) fn root<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let roots = names.filter_map(|name| name.strip_suffix("users.json"));
    roots.filter(|root| root.is_empty() || root.ends_with('/')).min_by_key(|root| root.len())
}

impl Archive {
    /// Opens an export and looks at what is in it.
    pub(super) fn open(path: &Path, sink: &mut dyn ImportSink) -> Result<Self, ImportError> {
        let unreadable = |source| ImportError::Read { what: path.display().to_string(), source };
        let found = std::fs::metadata(path).map_err(unreadable)?;
        let (inside, listed) = if found.is_dir() {
            (Inside::Folder(path.to_owned()), listed_folder(path, sink)?)
        } else {
            let (zip, listed) = listed_zip(path, found.len(), sink)?;
            (Inside::Zip(zip), listed)
        };
        let root = root(listed.iter().map(|entry| entry.full_name.as_str())).map(str::to_owned);
        let Some(root) = root else {
            return Err(ImportError::Malformed {
                place: path.display().to_string(),
                reason: "a workspace export has a file users.json".to_owned(),
            });
        };
        let mut entries = listed;
        entries.retain_mut(|entry| {
            entry.root_bytes = root.len();
            entry.full_name.starts_with(&root)
        });
        entries.sort_by(|a, b| a.full_name.cmp(&b.full_name));
        Ok(Self { inside, entries })
    }

    /// Opens one file. No more of it is read than it said it has, so what was checked binds.
    pub(super) fn open_entry(&mut self, entry: &Entry) -> Result<Box<dyn Read + '_>, String> {
        let unreadable = |error: &dyn std::error::Error| format!("it cannot be read: {error}");
        match &mut self.inside {
            Inside::Zip(zip) => {
                let file = zip.by_index(entry.index).map_err(|error| unreadable(&error))?;
                Ok(Box::new(BufReader::new(file.take(entry.bytes))))
            }
            Inside::Folder(folder) => {
                let file = File::open(folder.join(&entry.full_name))
                    .map_err(|error| unreadable(&error))?;
                Ok(Box::new(BufReader::new(file)))
            }
        }
    }
}

type Zip = Box<ZipArchive<BufReader<File>>>;

fn listed_zip(
    path: &Path,
    packed_bytes: u64,
    sink: &mut dyn ImportSink,
) -> Result<(Zip, Vec<Entry>), ImportError> {
    let unreadable = |source| ImportError::Read { what: path.display().to_string(), source };
    let malformed = |error: zip::result::ZipError| ImportError::Malformed {
        place: path.display().to_string(),
        reason: format!("it cannot be read as a zip: {error}"),
    };
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    // Counted before the list is read, which takes memory for each.
    let count =
        ZipIterable::try_new(&mut file, zip::read::Config::default()).map_err(malformed)?.len();
    check_count(count)?;
    let zip = Box::new(ZipArchive::new(file).map_err(malformed)?);
    let mut listed = Vec::with_capacity(zip.len());
    let mut total = Total::default();
    for index in 0..zip.len() {
        let entry = zip.by_index_data(index).map_err(malformed)?;
        if entry.is_dir() {
            continue;
        }
        let name = entry.name().map_or_else(|_| String::new(), std::borrow::Cow::into_owned);
        if !is_plain(&name) || entry.is_symlink() {
            sink.skipped(unsafe_name(&name));
            continue;
        }
        total.add(entry.size())?;
        listed.push(Entry::new(name, entry.size(), index));
    }
    total.check_ratio(packed_bytes)?;
    Ok((zip, listed))
}

fn listed_folder(folder: &Path, sink: &mut dyn ImportSink) -> Result<Vec<Entry>, ImportError> {
    let mut listed = Vec::new();
    let mut total = Total::default();
    let mut waiting = vec![(PathBuf::new(), 0)];
    while let Some((below, depth)) = waiting.pop() {
        let at = folder.join(&below);
        let unreadable = |source| ImportError::Read { what: at.display().to_string(), source };
        for found in std::fs::read_dir(&at).map_err(unreadable)? {
            let found = found.map_err(unreadable)?;
            let path = below.join(found.file_name());
            let name = path.to_str().map(|name| name.replace(std::path::MAIN_SEPARATOR, "/"));
            // Not followed: a link may lead anywhere.
            let kind = found.file_type().map_err(unreadable)?;
            let Some(name) = name.filter(|name| is_plain(name) && !kind.is_symlink()) else {
                sink.skipped(unsafe_name(&path.display().to_string()));
                continue;
            };
            if kind.is_dir() {
                if depth < limits::EXPORT_DEPTH_MAX {
                    waiting.push((path, depth + 1));
                }
                continue;
            }
            let bytes = found.metadata().map_err(unreadable)?.len();
            total.add(bytes)?;
            listed.push(Entry::new(name, bytes, 0));
            check_count(listed.len())?;
        }
    }
    Ok(listed)
}

fn check_count(count: usize) -> Result<(), ImportError> {
    if count <= limits::EXPORT_ENTRIES_MAX {
        return Ok(());
    }
    let max = limits::EXPORT_ENTRIES_MAX;
    Err(ImportError::Hostile(format!("it holds {count} files; at most {max} are read")))
}

/// The size of everything, as far as it is claimed.
#[derive(Default)]
struct Total {
    bytes: u64,
}

impl Total {
    fn add(&mut self, bytes: u64) -> Result<(), ImportError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes <= limits::EXPORT_BYTES_MAX {
            return Ok(());
        }
        let max = limits::EXPORT_BYTES_MAX;
        Err(ImportError::Hostile(format!("it unpacks to more than {max} bytes")))
    }

    fn check_ratio(&self, packed_bytes: u64) -> Result<(), ImportError> {
        let may_be = packed_bytes.saturating_mul(limits::EXPORT_RATIO_MAX);
        if self.bytes <= may_be.max(limits::EXPORT_RATIO_FROM_BYTES) {
            return Ok(());
        }
        let (bytes, ratio) = (self.bytes, limits::EXPORT_RATIO_MAX);
        Err(ImportError::Hostile(format!(
            "it unpacks to {bytes} bytes, more than {ratio} times its size"
        )))
    }
}

/// Whether a name stays where it is and can be printed.
fn is_plain(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    name.split('/').all(is_part)
        && !name.contains(['\\', ':'])
        && !name.chars().any(char::is_control)
}

fn unsafe_name(name: &str) -> Skipped {
    let place = name.chars().filter(|sign| !sign.is_control()).take(200).collect();
    Skipped { place, reason: "its name leads out of the export, or it is a link".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_elsewhere_is_not_plain() {
        for bad in ["../x.json", "/etc/passwd", "a/../../b", "a\\..\\b", "C:/x", "a//b", "", "a\0b"]
        {
            assert!(!is_plain(bad), "{bad}");
        }
        for good in ["users.json", "général/2024-01-01.json", "mpdm-a--b-1/2024-01-01.json"] {
            assert!(is_plain(good), "{good}");
        }
    }

    #[test]
    fn a_folder_around_the_export_is_seen() {
        assert_eq!(root(["users.json", "a/users.json"].into_iter()), Some(""));
        assert_eq!(root(["acme/users.json", "acme/channels.json"].into_iter()), Some("acme/"));
        assert_eq!(root(["superusers.json"].into_iter()), None);
    }
}
