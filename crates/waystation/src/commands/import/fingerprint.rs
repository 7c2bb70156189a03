//! What tells one import from another: the file, where it goes, and how it is read.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, Result};
use connector_api::ImportOptions;
use ring::digest::{self, SHA256};

use super::look::Found;

/// How much of each end of a file is looked at.
const END_BYTES: u64 = 1024 * 1024;

/// The fingerprint of an import. It begins with the source, so that purging the source forgets it.
pub(super) fn of(
    path: &Path,
    found: &Found,
    source: &str,
    format: &str,
    options: &ImportOptions,
) -> Result<String> {
    let mut context = digest::Context::new(&SHA256);
    let how = format!(
        "{format}\0{:?}\0{:?}\0{:?}\0{}\0",
        options.zone.iana_name(),
        options.day_order,
        options.chat_name,
        found.bytes
    );
    context.update(how.as_bytes());
    for name in &found.names {
        context.update(name.as_bytes());
        context.update(&[0]);
    }
    if !found.is_folder {
        ends(path, found.bytes, &mut context)
            .with_context(|| format!("cannot read {}", path.display()))?;
    }
    let digest = context.finish();
    let hex: String = digest
        .as_ref()
        .iter()
        .take(16)
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(digit)
        .collect();
    Ok(format!("{source}:{hex}"))
}

fn digit(value: u8) -> char {
    char::from_digit(u32::from(value), 16).unwrap_or('0')
}

fn ends(path: &Path, bytes: u64, context: &mut digest::Context) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    let mut end = Vec::new();
    (&mut file).take(END_BYTES).read_to_end(&mut end)?;
    context.update(&end);
    if bytes > END_BYTES {
        end.clear();
        file.seek(SeekFrom::Start(bytes.saturating_sub(END_BYTES)))?;
        file.take(END_BYTES).read_to_end(&mut end)?;
        context.update(&end);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str, source: &str, options: &ImportOptions) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        std::fs::write(&path, text).unwrap();
        let found = super::super::look::look(&path).unwrap();
        of(&path, &found, source, "format", options).unwrap()
    }

    #[test]
    fn the_same_file_read_the_same_way_is_the_same_import() {
        let options = ImportOptions::default();
        let first = print("one", "telegram", &options);
        assert!(first.starts_with("telegram:") && first.len() < 64, "{first}");
        assert_eq!(first, print("one", "telegram", &options));
        assert_ne!(first, print("two", "telegram", &options));
        assert_ne!(first, print("one", "other", &options));
        let zone = jiff::tz::TimeZone::get("Europe/Berlin").unwrap();
        assert_ne!(first, print("one", "telegram", &ImportOptions { zone, ..options }));
    }
}
