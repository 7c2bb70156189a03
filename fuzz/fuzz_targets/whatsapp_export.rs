//! Anything at all as an export of whatsapp.
#![no_main]

#[path = "importing.rs"]
mod importing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for importer in importing::importers("whatsapp") {
        importing::read(*importer, "WhatsApp Chat with Antti.txt", bytes);
    }
});
