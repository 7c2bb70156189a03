//! Anything at all as an export of slack.
#![no_main]

#[path = "importing.rs"]
mod importing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for importer in importing::importers("slack") {
        importing::read(*importer, "export.zip", bytes);
    }
});
