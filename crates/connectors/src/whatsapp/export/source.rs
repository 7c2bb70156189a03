//! Where chats lie: a text, an archive or a folder of either, with or without files beside them.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use connector_api::ImportError;
use protocol::limits::import as limits;

use super::archive::{self, Entry};
use super::lines::{Line, Lines};
use super::media::MediaFiles;
use super::survey::Surveyor;
use super::title;

/// One chat, before it is read.
#[derive(Debug)]
pub(super) struct Chat {
    /// For people: which file.
    pub(super) place: String,
    /// The chat's name, where the file names say it.
    pub(super) title: Option<String>,
    /// What to call it where nothing says it; absent for a file that every chat calls the same.
    pub(super) fallback: Option<String>,
    pub(super) files: MediaFiles,
    /// The size of its text.
    pub(super) bytes: u64,
    text: Text,
}

#[derive(Debug)]
enum Text {
    File(PathBuf),
    Entry { archive: PathBuf, index: usize },
}

impl Chat {
    /// Reads its text from the beginning.
    pub(super) fn read<T>(
        &self,
        body: impl FnOnce(&mut dyn Read) -> Result<T, ImportError>,
    ) -> Result<T, ImportError> {
        match &self.text {
            Text::File(path) => body(&mut open(path)?),
            Text::Entry { archive, index } => archive::read(archive, *index, body),
        }
    }

    /// The error of a text that could not be read on.
    pub(super) fn unreadable(&self, source: std::io::Error) -> ImportError {
        ImportError::Read { what: self.place.clone(), source }
    }
}

fn open(path: &Path) -> Result<File, ImportError> {
    File::open(path)
        .map_err(|source| ImportError::Read { what: path.display().to_string(), source })
}

/// Finds the chats of a file or folder, in the order of their names.
pub(super) fn find(path: &Path) -> Result<Vec<Chat>, ImportError> {
    let chats = if path.is_dir() {
        in_folder(path)?
    } else if is_archive(path)? {
        in_archive(path)?
    } else {
        vec![text_file(path, MediaFiles::default())?]
    };
    if chats.is_empty() {
        return Err(ImportError::Malformed {
            place: path.display().to_string(),
            reason: "there is no chat in it; expected _chat.txt or a text such as \
                     \"WhatsApp Chat with Anna.txt\""
                .to_owned(),
        });
    }
    Ok(chats)
}

fn is_archive(path: &Path) -> Result<bool, ImportError> {
    let mut start = Vec::new();
    open(path)?
        .take(4)
        .read_to_end(&mut start)
        .map_err(|source| ImportError::Read { what: path.display().to_string(), source })?;
    Ok(matches!(start.as_slice(), [b'P', b'K', 3, 4] | [b'P', b'K', 5, 6]))
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn text_file(path: &Path, files: MediaFiles) -> Result<Chat, ImportError> {
    let name = file_name(path);
    let bytes = open(path)?
        .metadata()
        .map_err(|source| ImportError::Read { what: path.display().to_string(), source })?
        .len();
    let folder = path.parent().map(file_name).unwrap_or_default();
    let nameless = title::is_nameless(&name);
    Ok(Chat {
        place: name.clone(),
        title: title::from_file_name(&name)
            .or_else(|| nameless.then(|| title::from_file_name(&folder)).flatten()),
        fallback: (!nameless).then(|| title::strip_extension(&name).to_owned()),
        files,
        bytes,
        text: Text::File(path.to_owned()),
    })
}

fn in_folder(path: &Path) -> Result<Vec<Chat>, ImportError> {
    let unreadable = |source| ImportError::Read { what: path.display().to_string(), source };
    let mut texts = Vec::new();
    let mut archives = Vec::new();
    let mut sizes = Vec::new();
    let mut count: usize = 0;
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        count = count.saturating_add(1);
        if count > limits::ARCHIVE_ENTRIES_MAX {
            return Err(ImportError::Hostile(format!(
                "{} holds more than {} files",
                path.display(),
                limits::ARCHIVE_ENTRIES_MAX
            )));
        }
        let metadata = entry.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        if has_extension(&name, "txt") {
            texts.push(name.clone());
        } else if has_extension(&name, "zip") {
            archives.push(name.clone());
        }
        sizes.push((name, metadata.len()));
    }
    texts.sort();
    archives.sort();
    let chosen = choose(&texts, "", |name| Ok(sniff(&mut open(&path.join(name))?)))?;
    let mut chats = Vec::new();
    for name in chosen {
        let mut files = MediaFiles::default();
        for (name, bytes) in &sizes {
            files.insert(name.clone(), *bytes);
        }
        chats.push(text_file(&path.join(name), files)?);
    }
    for name in archives {
        let archive = path.join(name);
        if is_archive(&archive)? {
            chats.extend(in_archive(&archive)?);
        }
    }
    Ok(chats)
}

fn has_extension(name: &str, wanted: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case(wanted))
}

fn in_archive(path: &Path) -> Result<Vec<Chat>, ImportError> {
    let place = path.display().to_string();
    let entries = archive::entries(&archive::open(path)?, &place)?;
    let texts: HashMap<&str, &Entry> = entries
        .iter()
        .filter(|entry| has_extension(&entry.name, "txt"))
        .map(|entry| (entry.name.as_str(), entry))
        .collect();
    let mut names: Vec<String> = texts.keys().map(|name| (*name).to_owned()).collect();
    names.sort();
    let archive_name = file_name(path);
    let chosen = choose(&names, &archive_name, |name| match texts.get(name) {
        Some(entry) => archive::read(path, entry.index, |source| Ok(sniff(source))),
        None => Ok(false),
    })?;
    let mut chats = Vec::new();
    for name in chosen {
        let Some(entry) = texts.get(name.as_str()) else { continue };
        chats.push(chat_in_archive(path, &archive_name, entry, &entries));
    }
    Ok(chats)
}

fn chat_in_archive(path: &Path, archive_name: &str, entry: &Entry, entries: &[Entry]) -> Chat {
    let (folder, name) = entry.name.rsplit_once('/').unwrap_or(("", &entry.name));
    let mut files = MediaFiles::default();
    for other in entries {
        let (other_folder, other_name) = other.name.rsplit_once('/').unwrap_or(("", &other.name));
        if other_folder == folder && other_name != name {
            files.insert(other_name.to_owned(), other.bytes);
        }
    }
    let folder = folder.rsplit('/').next().unwrap_or_default();
    let nameless = title::is_nameless(name);
    let outer = || title::from_file_name(folder).or_else(|| title::from_file_name(archive_name));
    let fallback = if !nameless {
        title::strip_extension(name)
    } else if folder.is_empty() {
        title::strip_extension(archive_name)
    } else {
        folder
    };
    Chat {
        place: format!("{archive_name}/{}", entry.name),
        title: title::from_file_name(name).or_else(|| nameless.then(outer).flatten()),
        fallback: Some(fallback.to_owned()).filter(|name| !name.is_empty()),
        files,
        bytes: entry.bytes,
        text: Text::Entry { archive: path.to_owned(), index: entry.index },
    }
}

/// Which texts are chats: texts that people sent to each other lie beside them.
fn choose(
    names: &[String],
    archive_name: &str,
    mut is_chat: impl FnMut(&str) -> Result<bool, ImportError>,
) -> Result<Vec<String>, ImportError> {
    let base = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let all = |fits: &dyn Fn(&str) -> bool| -> Vec<String> {
        names.iter().filter(|name| fits(&base(name))).cloned().collect()
    };
    // The surest sign first; a chat that somebody sent as a document has a weaker one.
    let same = |name: &str| title::strip_extension(name) == title::strip_extension(archive_name);
    let signs: [&dyn Fn(&str) -> bool; 3] =
        [&|name| name == "_chat.txt", &same, &|name| title::from_file_name(name).is_some()];
    for fits in signs {
        let found = all(fits);
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let mut found = Vec::new();
    for name in names {
        if is_chat(name)? {
            found.push(name.clone());
        }
    }
    Ok(found)
}

/// Whether the beginning of a text holds lines of a chat.
fn sniff(source: &mut dyn Read) -> bool {
    let mut head = Vec::new();
    let limit = u64::try_from(limits::SNIFF_BYTES_MAX).unwrap_or(u64::MAX);
    // A text that cannot be read is no chat; there may be one beside it.
    source.take(limit).read_to_end(&mut head).is_ok() && messages_in(&head) > 0
}

/// How many messages begin in these first bytes of a text.
pub(super) fn messages_in(head: &[u8]) -> u64 {
    let mut surveyor = Surveyor::default();
    let mut lines = Lines::new(head);
    let mut line = Line::default();
    while matches!(lines.read(&mut line), Ok(true)) {
        surveyor.add(&line.text);
    }
    surveyor.messages()
}
