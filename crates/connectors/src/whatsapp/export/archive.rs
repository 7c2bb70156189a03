//! Exports in a zip archive. Nothing is unpacked to disk, and nothing is believed.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use connector_api::ImportError;
use protocol::limits::import as limits;
use zip::ZipArchive;
use zip::result::ZipError;

/// One file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) index: usize,
    /// Its path within the archive, with `/` between folders.
    pub(super) name: String,
    pub(super) bytes: u64,
}

/// Opens an archive, and refuses one that is larger, deeper or fuller than anything honest.
pub(super) fn open(path: &Path) -> Result<ZipArchive<BufReader<File>>, ImportError> {
    let place = path.display().to_string();
    let file =
        File::open(path).map_err(|source| ImportError::Read { what: place.clone(), source })?;
    let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| refuse(&place, error))?;
    if archive.len() > limits::ARCHIVE_ENTRIES_MAX {
        return Err(ImportError::Hostile(format!(
            "{place} holds {} files; at most {} are read",
            archive.len(),
            limits::ARCHIVE_ENTRIES_MAX
        )));
    }
    Ok(archive)
}

/// The files in an archive.
pub(super) fn entries(
    archive: &ZipArchive<BufReader<File>>,
    place: &str,
) -> Result<Vec<Entry>, ImportError> {
    let mut entries = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(|error| refuse(place, error))?;
        let name = entry_name(entry.name_raw(), entry.name().ok(), place)?;
        if entry.is_dir() || name.starts_with("__MACOSX/") {
            continue;
        }
        entries.push(Entry { index, name, bytes: entry.size() });
    }
    Ok(entries)
}

/// The name of an entry, which must lie within the archive.
fn entry_name(
    raw: &[u8],
    decoded: Option<Cow<'_, str>>,
    place: &str,
) -> Result<String, ImportError> {
    // Phones write UTF-8 without saying so.
    let name = match std::str::from_utf8(raw) {
        Ok(name) => name.to_owned(),
        Err(_) => {
            decoded.map_or_else(|| String::from_utf8_lossy(raw).into_owned(), Cow::into_owned)
        }
    };
    let leaves = name.len() > limits::ENTRY_NAME_BYTES_MAX
        || name.starts_with('/')
        || name.contains(['\0', '\\'])
        || name.split('/').any(|part| part == "..")
        || matches!(name.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic());
    if leaves {
        return Err(ImportError::Hostile(format!(
            "{place} holds a file whose name leads out of the archive; WhatsApp writes none such"
        )));
    }
    Ok(name)
}

/// Opens one file of an archive for reading, bounded by what it claims to hold.
pub(super) fn read<T>(
    path: &Path,
    index: usize,
    body: impl FnOnce(&mut dyn Read) -> Result<T, ImportError>,
) -> Result<T, ImportError> {
    let place = path.display().to_string();
    let mut archive = open(path)?;
    let entry = archive.by_index(index).map_err(|error| refuse(&place, error))?;
    let allowed = entry
        .compressed_size()
        .saturating_mul(limits::UNPACK_RATIO_MAX)
        .clamp(limits::UNPACK_FREE_BYTES, limits::TEXT_BYTES_MAX);
    if entry.size() > allowed {
        return Err(ImportError::Hostile(format!(
            "{place} would unpack to more than any chat holds"
        )));
    }
    body(&mut entry.take(allowed))
}

fn refuse(place: &str, error: ZipError) -> ImportError {
    match error {
        ZipError::Io(source) => ImportError::Read { what: place.to_owned(), source },
        ZipError::UnsupportedArchive(_)
        | ZipError::InvalidPassword
        | ZipError::CompressionMethodNotSupported(_) => ImportError::Malformed {
            place: place.to_owned(),
            reason: "the archive is encrypted or packed in an unusual way; unpack it, and import \
                     the folder"
                .to_owned(),
        },
        _ => ImportError::Malformed {
            place: place.to_owned(),
            reason: "it is not a whole zip archive; export the chat again".to_owned(),
        },
    }
}
