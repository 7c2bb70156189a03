//! Anything at all as an export of telegram.
#![no_main]

#[path = "importing.rs"]
mod importing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for importer in importing::importers("telegram") {
        importing::read(*importer, "result.json", bytes);
    }
});
