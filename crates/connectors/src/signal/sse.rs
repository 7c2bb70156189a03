//! Server-sent events from pieces of any size, as the HTML standard reads them.

use protocol::limits::chats as limits;

/// What came out of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SseItem {
    /// A whole event.
    Event {
        /// Its id, where the daemon gives one.
        id: Option<String>,
        /// Its data, lines joined.
        data: String,
    },
    /// An event that was too large, and was passed over.
    TooLarge,
}

/// Puts pieces together. An event counts when its empty line has come, never before: what a broken
/// connection leaves half-said is not an event.
#[derive(Debug, Default)]
pub(super) struct SseParser {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    id: Option<String>,
    is_too_large: bool,
    /// The last byte was a CR, so an LF that follows belongs to it.
    after_cr: bool,
    /// Something of the stream has been read, so what looks like a byte order mark is none.
    is_begun: bool,
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl SseParser {
    /// Reads a piece; gives what it completed.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<SseItem> {
        let mut items = Vec::new();
        for &byte in piece {
            let continues_line_end = self.after_cr && byte == b'\n';
            self.after_cr = byte == b'\r';
            if continues_line_end {
                continue;
            }
            if byte == b'\r' || byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                self.end_line(&line, &mut items);
            } else if self.line.len() < limits::SIGNAL_EVENT_BYTES_MAX {
                self.line.push(byte);
            } else {
                self.is_too_large = true;
            }
        }
        items
    }

    fn end_line(&mut self, line: &[u8], items: &mut Vec<SseItem>) {
        let line = if self.is_begun {
            line
        } else {
            self.is_begun = true;
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        };
        if line.is_empty() {
            self.end_event(items);
            return;
        }
        let colon = line.iter().position(|&byte| byte == b':');
        let (field, value) = match colon {
            // A comment: the daemon's sign of life.
            Some(0) => return,
            Some(at) => line.split_at(at),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.add_data(value),
            b"id" if !value.contains(&0) => {
                self.id = Some(String::from_utf8_lossy(value).into_owned());
            }
            // The daemon sends one sort of event, and the caller decides when to come back.
            _ => {}
        }
    }

    fn add_data(&mut self, value: &[u8]) {
        let before = self.data.as_ref().map_or(0, Vec::len);
        if before.saturating_add(value.len()) >= limits::SIGNAL_EVENT_BYTES_MAX {
            self.is_too_large = true;
            return;
        }
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
    }

    fn end_event(&mut self, items: &mut Vec<SseItem>) {
        let data = self.data.take().unwrap_or_default();
        let id = self.id.take().filter(|id| !id.is_empty());
        if std::mem::take(&mut self.is_too_large) {
            items.push(SseItem::TooLarge);
        } else if !data.is_empty() {
            let data = String::from_utf8_lossy(&data).into_owned();
            items.push(SseItem::Event { id, data });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(data: &str) -> SseItem {
        SseItem::Event { id: None, data: data.to_owned() }
    }

    fn whole(text: &str) -> Vec<SseItem> {
        SseParser::default().push(text.as_bytes())
    }

    #[test]
    fn every_line_ending_ends_a_line() {
        for end in ["\n", "\r", "\r\n"] {
            let text = format!("event:receive{end}data:one{end}data: two{end}{end}");
            assert_eq!(whole(&text), [event("one\ntwo")], "{end:?}");
        }
    }

    #[test]
    fn a_line_end_split_between_pieces_is_one() {
        let mut parser = SseParser::default();
        assert_eq!(parser.push(b"data:x\r"), []);
        assert_eq!(parser.push(b"\ndata:y\r"), []);
        assert_eq!(parser.push(b"\n\r"), [event("x\ny")]);
        assert_eq!(parser.push(b"\n"), []);
    }

    #[test]
    fn comments_and_unknown_fields_say_nothing() {
        assert_eq!(whole(":\n:hello\nretry: 5\nfoo\nfoo: bar\ndata:x\n\n"), [event("x")]);
        assert_eq!(whole(":\n\n:\n\nevent:receive\n\ndata\n\n"), []);
    }

    #[test]
    fn an_id_is_kept_with_its_event() {
        let items = whole("id: 17-3\ndata:x\n\ndata:y\n\nid:a\0b\ndata:z\n\n");
        let first = SseItem::Event { id: Some("17-3".to_owned()), data: "x".to_owned() };
        assert_eq!(items, [first, event("y"), event("z")]);
    }

    #[test]
    fn half_an_event_is_none() {
        assert_eq!(whole("data:{\"envelope\":1}\n"), []);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_field() {
        assert_eq!(whole("\u{feff}data:x\n\n"), [event("x")]);
    }

    #[test]
    fn an_event_that_is_too_large_is_passed_over() {
        let long = "x".repeat(limits::SIGNAL_EVENT_BYTES_MAX);
        let text = format!("data:{long}\n\ndata:next\n\n");
        assert_eq!(whole(&text), [SseItem::TooLarge, event("next")]);
        let lines = format!("data:{}\n", &long[..1024]).repeat(2_000);
        assert_eq!(whole(&format!("{lines}\ndata:next\n\n")), [SseItem::TooLarge, event("next")]);
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_give_the_same_events(
            events in prop::collection::vec("[^\\r\\n\\u{feff}]{1,20}", 1..8),
            end in prop::sample::select(vec!["\n", "\r", "\r\n"]),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let texts = events.iter().map(|data| format!(":{end}data: {data}{end}{end}"));
            let text: String = texts.collect();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            at.push(text.len());
            at.sort_unstable();
            let mut parser = SseParser::default();
            let mut items = Vec::new();
            let mut from = 0;
            for to in at {
                items.extend(parser.push(&text.as_bytes()[from..to]));
                from = to;
            }
            let expected: Vec<SseItem> = events.iter().map(|data| event(data)).collect();
            prop_assert_eq!(items, expected);
        }

        #[test]
        fn no_bytes_break_it(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            SseParser::default().push(&bytes);
        }
    }
}
