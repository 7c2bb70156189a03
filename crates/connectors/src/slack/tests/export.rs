//! Workspace exports: zip and folder, twice, half-way, broken and hostile.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use connector_api::{
    ConnectorKind, ImportError, ImportOptions, ImportProgress, ImportSink, Importer, Probe, Skipped,
};
use proptest::prelude::*;
use protocol::chat::{ChatType, ContentType, Facts};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::slack::Slack;

#[derive(Default)]
struct Kept {
    facts: Facts,
    batches: Vec<(usize, u64)>,
    skipped: Vec<Skipped>,
    progress: Option<ImportProgress>,
    /// Stops with an error once so many messages were taken.
    stop_at: Option<u64>,
}

impl ImportSink for Kept {
    fn take(&mut self, facts: Facts, messages: u64) -> Result<(), ImportError> {
        if self.stop_at.is_some_and(|stop| messages > stop) {
            return Err(ImportError::Stopped("enough".to_owned()));
        }
        self.batches.push((facts.len(), messages));
        self.facts.extend(facts);
        Ok(())
    }

    fn progress(&mut self, progress: ImportProgress) {
        assert!(progress.bytes_done <= progress.bytes_total);
        self.progress = Some(progress);
    }

    fn skipped(&mut self, skipped: Skipped) {
        self.skipped.push(skipped);
    }
}

fn importer() -> &'static dyn Importer {
    Slack.importers()[0]
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/slack/fixtures/export")
}

fn read(path: &Path, options: &ImportOptions) -> Kept {
    let mut kept = Kept::default();
    importer().read(path, options, &mut kept).unwrap();
    kept
}

/// The files of the fixture, by name.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![fixture()];
    while let Some(folder) = folders.pop() {
        for found in fs::read_dir(folder).unwrap() {
            let path = found.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(fixture()).unwrap().to_str().unwrap().to_owned();
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn zipped<N: AsRef<str>>(files: &[(N, Vec<u8>)]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.zip");
    let mut zip = ZipWriter::new(fs::File::create(&path).unwrap());
    for (name, content) in files {
        zip.start_file(name.as_ref(), SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
    (folder, path)
}

#[test]
fn an_export_is_read_whole() {
    let kept = read(&fixture(), &ImportOptions::default());
    assert_eq!(kept.skipped, []);
    let texts: Vec<(&str, &str)> =
        kept.facts.messages.iter().map(|one| (one.chat_id.as_str(), one.text.as_str())).collect();
    assert_eq!(
        texts,
        [
            ("D0ANNABOB", "lunch?"),
            ("D0ANNABOB", "12:30"),
            ("C1", "@Anna has joined the channel"),
            ("C1", "Frohes neues Jahr @Bob Berg! 🎆"),
            ("C1", "here"),
            ("C1", "you too"),
            ("C1", "build 7 passed"),
            ("G2", "the three of us"),
            ("G1", "not for all ears"),
        ]
    );
    let chats: Vec<(&str, Option<ChatType>, Option<&str>)> = kept
        .facts
        .chats
        .iter()
        .map(|chat| (chat.chat_id.as_str(), chat.chat_type, chat.name.as_deref()))
        .collect();
    assert_eq!(
        chats,
        [
            ("C1", Some(ChatType::Channel), Some("general")),
            ("C2", Some(ChatType::Channel), Some("empty")),
            ("G1", Some(ChatType::Channel), Some("secret")),
            ("G2", Some(ChatType::Group), Some("anna, bob, carl")),
            ("D0ANNABOB", Some(ChatType::Direct), Some("Anna, Bob Berg")),
        ]
    );
    assert_eq!(kept.facts.people.len(), 3);
    let progress = kept.progress.unwrap();
    assert!(progress.bytes_done > 0);
}

#[test]
fn a_message_of_an_export_is_the_live_one() {
    let facts = read(&fixture(), &ImportOptions::default()).facts;
    let find = |ts: &str| facts.messages.iter().find(|one| one.message_id == ts).unwrap();
    let greeting = find("1704067201.000200");
    assert_eq!(greeting.sender_id.as_deref(), Some("U1"));
    assert_eq!(greeting.topic, None);
    assert_eq!(greeting.reactions.first().unwrap().count, 2);
    let reply = find("1704153600.000300");
    assert_eq!(reply.reply_to.as_deref(), Some("1704067201.000200"));
    let with_file = find("1704067300.000250");
    assert_eq!(with_file.content, ContentType::File);
    assert_eq!(with_file.attachments.first().unwrap().remote_id.as_deref(), Some("F1"));
    // The addresses in an export carry a token.
    assert!(!serde_json::to_string(&facts).unwrap().contains("xoxe"));
    assert!(find("1704240001.000100").edited_at.is_some());
}

#[test]
fn what_lies_between_the_first_and_the_last_message_is_whole() {
    let held = read(&fixture(), &ImportOptions::default()).facts.held;
    let general = held.iter().find(|held| held.chat_id.as_deref() == Some("C1")).unwrap();
    assert_eq!(general.from.unwrap().as_ms(), 1_704_067_200_000);
    assert_eq!(general.to.as_ms(), 1_704_153_601_000);
    assert_eq!(held.len(), 4);
}

#[test]
fn the_zip_and_the_folder_say_the_same_twice() {
    let from_folder = read(&fixture(), &ImportOptions::default()).facts;
    let (_folder, path) = zipped(&files());
    assert_eq!(read(&path, &ImportOptions::default()).facts, from_folder);
    assert_eq!(read(&path, &ImportOptions::default()).facts, from_folder);
}

#[test]
fn a_folder_around_the_export_does_not_matter() {
    let around: Vec<(String, Vec<u8>)> = files()
        .into_iter()
        .map(|(name, content)| (format!("Acme export/{name}"), content))
        .collect();
    let (_folder, path) = zipped(&around);
    let kept = read(&path, &ImportOptions::default());
    assert_eq!(kept.facts, read(&fixture(), &ImportOptions::default()).facts);
}

/// A channel of many messages.
fn large() -> (TempDir, PathBuf) {
    let mut files = files();
    for day in 1..=5 {
        let messages: Vec<String> = (0..400)
            .map(|number| {
                let ts = 1_704_499_200 + day * 86_400 + number;
                format!(
                    "{{\"type\":\"message\",\"user\":\"U1\",\"text\":\"m\",\"ts\":\"{ts}.000001\"}}"
                )
            })
            .collect();
        let content = format!("[{}]", messages.join(",")).into_bytes();
        files.push((format!("general/2024-01-{:02}.json", day + 5), content));
    }
    zipped(&files)
}

#[test]
fn an_import_that_was_killed_goes_on_where_it_was() {
    let (_folder, path) = large();
    let whole = read(&path, &ImportOptions::default());
    assert_eq!(whole.facts.messages.len(), 2_009);
    let mut first = Kept { stop_at: Some(1_200), ..Kept::default() };
    let stopped = importer().read(&path, &ImportOptions::default(), &mut first);
    assert!(matches!(stopped, Err(ImportError::Stopped(_))));
    let (_, messages_done) = *first.batches.last().unwrap();
    assert!(messages_done > 0);
    let rest = read(&path, &ImportOptions { messages_done, ..ImportOptions::default() });
    assert!(rest.batches.iter().all(|(_, messages)| *messages >= messages_done));
    let mut both = first.facts.messages;
    both.extend(rest.facts.messages);
    assert_eq!(both, whole.facts.messages);
    assert_eq!(rest.facts.held, whole.facts.held);
}

#[test]
fn facts_come_in_batches() {
    let (_folder, path) = large();
    let kept = read(&path, &ImportOptions::default());
    assert!(kept.batches.len() >= 4);
    assert!(kept.batches.iter().all(|(facts, _)| *facts <= 501));
}

#[test]
fn what_cannot_be_read_is_skipped_with_a_reason() {
    let mut files = files();
    files.push((
        "general/2024-01-05.json".to_owned(),
        b"[{\"ts\": \"1704412800.0\", \"text\": \"ok\"}, oops".to_vec(),
    ));
    files
        .push(("general/2024-01-06.json".to_owned(), b"[{\"text\": \"no ts\"}, 7, null]".to_vec()));
    files.push(("nowhere/2024-01-06.json".to_owned(), b"[]".to_vec()));
    files.push(("general/notes.txt".to_owned(), b"hm".to_vec()));
    let (_folder, path) = zipped(&files);
    let kept = read(&path, &ImportOptions::default());
    let places: Vec<&str> = kept.skipped.iter().map(|one| one.place.as_str()).collect();
    assert_eq!(
        places,
        [
            "general/2024-01-05.json",
            "general/2024-01-06.json[0]",
            "general/2024-01-06.json[1]",
            "general/2024-01-06.json[2]",
            "general/notes.txt",
            "nowhere/2024-01-06.json",
        ]
    );
    assert_eq!(kept.facts.messages.len(), 10);
    // A chat of which something was left out is not called whole.
    assert!(kept.facts.held.iter().all(|held| held.chat_id.as_deref() != Some("C1")));
}

#[test]
fn names_that_lead_out_of_the_export_are_skipped() {
    let mut files = files();
    for bad in ["../../etc/2024-01-01.json", "/abs/2024-01-01.json", "general\\..\\2024-01-01.json"]
    {
        files.push((bad.to_owned(), b"[]".to_vec()));
    }
    let (_folder, path) = zipped(&files);
    let kept = read(&path, &ImportOptions::default());
    assert_eq!(kept.skipped.len(), 3);
    assert_eq!(kept.facts.messages.len(), 9);
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files() {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    std::os::unix::fs::symlink("/etc", folder.path().join("etc")).unwrap();
    let kept = read(folder.path(), &ImportOptions::default());
    assert_eq!(kept.skipped.first().unwrap().place, "etc");
    assert_eq!(kept.facts.messages.len(), 9);
}

/// A zip whose last file claims another size than it has.
fn lying(claimed_bytes: u32) -> (TempDir, PathBuf) {
    let mut files = files();
    let day = b"[{\"ts\": \"1706745600.000001\", \"text\": \"late\"}]".to_vec();
    files.push(("general/2024-02-01.json".to_owned(), day));
    let (folder, path) = zipped(&files);
    let mut bytes = fs::read(&path).unwrap();
    let entry = bytes.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
    bytes[entry + 24..entry + 28].copy_from_slice(&claimed_bytes.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn a_bomb_is_refused_before_it_is_unpacked() {
    let (_folder, path) = lying(u32::MAX - 1);
    let mut kept = Kept::default();
    let refused = importer().read(&path, &ImportOptions::default(), &mut kept);
    assert!(matches!(refused, Err(ImportError::Hostile(_))), "{refused:?}");
    assert!(kept.facts.is_empty());
}

#[test]
fn no_more_is_read_than_was_claimed() {
    let (_folder, path) = lying(10);
    let kept = read(&path, &ImportOptions::default());
    assert_eq!(kept.skipped.first().unwrap().place, "general/2024-02-01.json");
    assert_eq!(kept.facts.messages.len(), 9);
}

#[test]
fn what_is_no_export_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    fs::write(&path, b"PK\x03\x04 not really").unwrap();
    let mut kept = Kept::default();
    let read =
        |path: &Path, kept: &mut Kept| importer().read(path, &ImportOptions::default(), kept);
    assert!(matches!(read(&path, &mut kept), Err(ImportError::Malformed { .. })));
    assert!(matches!(read(folder.path(), &mut kept), Err(ImportError::Malformed { .. })));
    let missing = folder.path().join("missing.zip");
    assert!(matches!(read(&missing, &mut kept), Err(ImportError::Read { .. })));
}

#[test]
fn an_export_is_detected_by_what_lies_in_it() {
    let detect = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        importer().detect(&Probe { path: Path::new("x.zip"), head: b"PK", names: &names })
    };
    let found = detect(&["users.json", "channels.json", "general/2024-01-01.json"]).unwrap();
    assert_eq!(found.confidence, 95);
    assert_eq!(found.what, "a workspace export, a day of one chat");
    assert!(detect(&["a/users.json", "a/dms.json"]).is_some());
    assert!(detect(&["users.json"]).is_none());
    assert!(detect(&["_chat.txt"]).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_mutated_export_never_panics(
        which in 0..20_usize,
        at in any::<prop::sample::Index>(),
        with in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let mut files = files();
        let count = files.len();
        let content = &mut files[which % count].1;
        let at = at.index(content.len());
        if cut {
            content.truncate(at);
        } else {
            content[at] = with;
        }
        let (_folder, path) = zipped(&files);
        importer().read(&path, &ImportOptions::default(), &mut Kept::default()).unwrap();
    }

    #[test]
    fn a_mutated_zip_never_panics(at in any::<prop::sample::Index>(), with in any::<u8>()) {
        let (_folder, path) = zipped(&files());
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = with;
        fs::write(&path, bytes).unwrap();
        importer().read(&path, &ImportOptions::default(), &mut Kept::default()).ok();
    }
}
