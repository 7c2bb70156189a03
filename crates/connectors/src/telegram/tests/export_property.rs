//! What holds for every file, however strange: no panic, no loss, the same facts each time.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use connector_api::{ImportError, ImportOptions, Importer};
use proptest::prelude::*;
use protocol::chat::Facts;

use super::collect::Imported;
use super::export::{FULL, OLD, SINGLE, file, read_with};
use crate::telegram::TelegramExport;

/// An export with so many messages, some of them bad.
fn export(messages: u64) -> String {
    let mut text =
        String::from(r#"{"name": "Many", "type": "private_supergroup", "id": 77, "messages": ["#);
    for id in 1..=messages {
        let comma = if id == 1 { "" } else { "," };
        if id % 97 == 0 {
            write!(text, "{comma}{{\"id\": {id}, \"type\": \"message\", \"text\": \"no date\"}}")
                .unwrap();
            continue;
        }
        write!(
            text,
            "{comma}\n {{\"id\": {id}, \"type\": \"message\", \"date_unixtime\": \"{}\", \"from\": \
             \"P{}\", \"from_id\": \"user{}\", \"text\": \"message {id}\"}}",
            1_600_000_000 + id,
            id % 13,
            id % 13 + 1,
        )
        .unwrap();
    }
    text.push_str("]}");
    text
}

fn people(facts: &Facts) -> BTreeSet<String> {
    facts.people.iter().map(|person| person.person_id.clone()).collect()
}

#[test]
fn many_messages_come_in_batches_and_all_are_counted() {
    let (imported, result) = read_with(export(5_500).as_bytes(), &ImportOptions::default());
    result.unwrap();
    let taken: usize = imported.batches.iter().map(|(facts, _)| facts.messages.len()).sum();
    assert_eq!(taken + imported.skipped.len(), 5_500);
    assert_eq!(imported.done(), 5_500);
    assert!(imported.batches.iter().all(|(facts, _)| facts.messages.len() <= 1_000));
    assert_eq!(people(&imported.facts()).len(), imported.facts().people.len());
}

#[test]
fn the_same_file_means_the_same_twice() {
    for text in [SINGLE, FULL, OLD, &export(2_500)] {
        let (once, _) = read_with(text.as_bytes(), &ImportOptions::default());
        let (again, _) = read_with(text.as_bytes(), &ImportOptions::default());
        assert_eq!(once.batches, again.batches);
        assert_eq!(once.skipped, again.skipped);
    }
}

#[test]
fn a_killed_import_goes_on_where_it_was() {
    let (_folder, path) = file(export(3_300).as_bytes());
    let mut whole = Imported::default();
    TelegramExport.read(&path, &ImportOptions::default(), &mut whole).unwrap();
    for batches_max in 0..4 {
        let mut first = Imported { batches_max: Some(batches_max), ..Imported::default() };
        let stopped = TelegramExport.read(&path, &ImportOptions::default(), &mut first);
        assert!(matches!(stopped, Err(ImportError::Stopped(_))), "{batches_max}");
        let options = ImportOptions { messages_done: first.done(), ..ImportOptions::default() };
        let mut second = Imported::default();
        TelegramExport.read(&path, &options, &mut second).unwrap();
        let mut both = first.facts();
        both.extend(second.facts());
        assert_eq!(both.messages, whole.facts().messages, "{batches_max}");
        assert_eq!(people(&both), people(&whole.facts()), "{batches_max}");
        assert_eq!(both.held, whole.facts().held, "{batches_max}");
        assert_eq!(second.done(), whole.done(), "{batches_max}");
    }
}

/// Everything that was read was taken or skipped, as far as the file goes.
fn adds_up(imported: &Imported) -> bool {
    let mut last = 0;
    let grows = imported.batches.iter().all(|(_, messages)| {
        let grows = *messages >= last;
        last = *messages;
        grows
    });
    grows && imported.facts().messages.len() as u64 <= imported.done()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let (imported, _) = read_with(&bytes, &ImportOptions::default());
        prop_assert!(adds_up(&imported));
    }

    #[test]
    fn random_brackets_never_panic(text in r#"[{}\[\],:"\\ a1]{0,120}"#) {
        let (imported, _) = read_with(text.as_bytes(), &ImportOptions::default());
        prop_assert!(adds_up(&imported));
        let inside = format!("{{\"id\": 1, \"type\": \"x\", \"messages\": [{text}]}}");
        let (imported, _) = read_with(inside.as_bytes(), &ImportOptions::default());
        prop_assert!(adds_up(&imported));
    }

    #[test]
    fn a_mutated_export_never_panics_and_means_the_same_twice(
        which in 0_usize..3,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = [SINGLE, FULL, OLD][which].as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let (once, first) = read_with(&bytes, &ImportOptions::default());
        let (again, second) = read_with(&bytes, &ImportOptions::default());
        prop_assert!(adds_up(&once));
        prop_assert_eq!(once.batches, again.batches);
        prop_assert_eq!(first.is_ok(), second.is_ok());
    }

    #[test]
    fn resuming_anywhere_gives_the_rest(done in 0_u64..22) {
        let (whole, _) = read_with(SINGLE.as_bytes(), &ImportOptions::default());
        let options = ImportOptions { messages_done: done, ..ImportOptions::default() };
        let (rest, _) = read_with(SINGLE.as_bytes(), &options);
        let expected: Vec<_> =
            whole.facts().messages.into_iter().skip(usize::try_from(done).unwrap()).collect();
        prop_assert_eq!(rest.facts().messages, expected);
    }
}
