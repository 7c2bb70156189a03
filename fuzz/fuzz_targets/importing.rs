//! What every importer is held to: it ends, it never panics, and what it counts only grows.

use std::io::Write;

use connector_api::{ImportError, ImportOptions, ImportProgress, ImportSink, Importer, Skipped};
use protocol::chat::Facts;

/// Takes everything and checks that the counts make sense.
#[derive(Default)]
struct Counting {
    taken: u64,
    done: u64,
}

impl ImportSink for Counting {
    fn take(&mut self, facts: Facts, messages: u64) -> Result<(), ImportError> {
        assert!(messages >= self.done, "the place in a file only grows");
        self.done = messages;
        self.taken += facts.messages.len() as u64;
        assert!(self.taken <= self.done, "no message comes out of nothing");
        Ok(())
    }

    fn progress(&mut self, _: ImportProgress) {}

    fn skipped(&mut self, _: Skipped) {}
}

/// Reads bytes as a file of this name; whatever is wrong with them is an error, not a panic.
pub fn read(importer: &dyn Importer, name: &str, bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    let mut file = std::fs::File::create(&path).expect("a file in it");
    file.write_all(bytes).expect("room for it");
    drop(file);
    drop(importer.read(&path, &ImportOptions::default(), &mut Counting::default()));
}

/// The importers of a service.
pub fn importers(service: &str) -> &'static [&'static dyn Importer] {
    connectors::kind(service).expect("the service is there").importers()
}
