//! Server-sent events, as MCP uses them: each event's data is one message.

/// Reads events out of the pieces of a stream.
#[derive(Default)]
pub(super) struct Events {
    /// A line whose end has not come yet.
    line: Vec<u8>,
    /// The data of an event whose end has not come yet.
    data: Vec<u8>,
}

impl Events {
    /// Takes a piece, and answers the messages that it completes; `None` when one is too large.
    pub(super) fn take(&mut self, piece: &[u8], bytes_max: usize) -> Option<Vec<Vec<u8>>> {
        let mut messages = Vec::new();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.len() + self.data.len() > bytes_max {
                return None;
            }
            if part.last() == Some(&b'\n') {
                let line = std::mem::take(&mut self.line);
                messages.extend(self.read(&line));
            }
        }
        Some(messages)
    }

    fn read(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return Some(std::mem::take(&mut self.data)).filter(|data| !data.is_empty());
        }
        // Names, numbers and comments of events say nothing to a client on a pipe.
        let data = line.strip_prefix(b"data:")?;
        self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_however_the_stream_is_cut() {
        let stream = b": ping\nid: 1\ndata: {\"a\":1}\n\nevent: message\r\ndata:{\"b\":\r\ndata:2}\r\n\r\ndata:\n\n";
        let whole: Vec<Vec<u8>> = vec![b"{\"a\":1}".to_vec(), b"{\"b\":2}".to_vec()];
        for size in 1..stream.len() {
            let mut events = Events::default();
            let mut messages = Vec::new();
            for piece in stream.chunks(size) {
                messages.extend(events.take(piece, 1_000).unwrap());
            }
            assert_eq!(messages, whole, "in pieces of {size}");
        }
        assert!(Events::default().take(&[b'x'; 100], 99).is_none());
    }
}
