//! Anything at all as an address; what is understood is printed and understood again.
#![no_main]

use protocol::chat::uri::MessagesUri;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(uri) = text.parse::<MessagesUri>() {
        let printed = uri.to_string();
        if printed.len() <= protocol::limits::chats::URI_BYTES_MAX {
            assert_eq!(printed.parse::<MessagesUri>().expect("the canonical spelling"), uri);
        }
    }
});
