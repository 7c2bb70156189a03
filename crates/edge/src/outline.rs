//! What stands outermost in a JSON text, whatever its length.

/// More than the outermost members of any message need; then nothing is known of them.
const OUTLINE_BYTES_MAX: usize = 4096;

/// The outermost object of a JSON text with what is inside its objects and lists left out.
///
/// The text is given piece by piece and only its outline is kept, so that a message too long to be held
/// can still be told from others. Nothing from the inside can pass for a member of the message.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    kept: Vec<u8>,
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl Outline {
    /// The next piece.
    pub(crate) fn add(&mut self, piece: &[u8]) {
        for &byte in piece {
            let before = self.depth;
            self.step(byte);
            // A bracket that opens or closes an inner value stands on both levels.
            if before.min(self.depth) <= 1 && self.kept.len() <= OUTLINE_BYTES_MAX {
                self.kept.push(byte);
            }
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// The outline, itself JSON where the text is; empty when it is too long as well.
    pub(crate) fn end(self) -> Vec<u8> {
        if self.kept.len() > OUTLINE_BYTES_MAX { Vec::new() } else { self.kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        let mut outline = Outline::default();
        text.as_bytes().chunks(3).for_each(|piece| outline.add(piece));
        String::from_utf8(outline.end()).unwrap()
    }

    #[test]
    fn what_is_inside_is_left_out() {
        let text = r#"{"id":7,"params":{"id":1,"a":[{"b":"}\""}]},"list":[[1],2],"method":"m"}"#;
        assert_eq!(of(text), r#"{"id":7,"params":{},"list":[],"method":"m"}"#);
        assert_eq!(of(r#"[{"id":7}]"#), "[{}]");
    }

    #[test]
    fn brackets_and_quotes_in_texts_are_words() {
        let text = r#"{"a":"\"},{[\\","id":"x]"}"#;
        assert_eq!(of(text), text);
    }

    #[test]
    fn an_outline_that_is_too_long_says_nothing() {
        assert_eq!(of(&format!(r#"{{"id":7,"a":"{}"}}"#, "x".repeat(OUTLINE_BYTES_MAX))), "");
        assert_eq!(
            of(&format!(r#"{{"id":7,"a":["{}"]}}"#, "x".repeat(9999))),
            r#"{"id":7,"a":[]}"#
        );
    }
}
