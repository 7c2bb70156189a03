//! Cutting a document into pieces that can be read by themselves: by heading, then by length.

use protocol::limits::memory as limits;

/// A piece of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The headings above it, the outermost first.
    pub heading: String,
    /// Its text.
    pub text: String,
}

/// Cuts a text into pieces.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut cutter = Cutter::default();
    let mut is_code = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_code = !is_code;
        }
        match heading(line).filter(|_| !is_code) {
            Some((depth, name)) => cutter.enter(depth, name),
            None => cutter.line(line, is_code),
        }
    }
    cutter.cut();
    cutter.pieces.truncate(limits::PIECES_MAX);
    cutter.pieces
}

/// The depth and the name of a Markdown heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let depth = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = line.get(depth..)?;
    let is_heading = (1..=6).contains(&depth) && rest.starts_with(' ');
    is_heading.then(|| (depth, rest.trim().trim_end_matches('#').trim()))
}

#[derive(Default)]
struct Cutter {
    pieces: Vec<Piece>,
    /// The headings that stand above, with their depths.
    above: Vec<(usize, String)>,
    text: String,
    chars: usize,
}

impl Cutter {
    fn enter(&mut self, depth: usize, name: &str) {
        self.cut();
        self.above.retain(|(known, _)| *known < depth);
        self.above.push((depth, name.to_owned()));
    }

    fn line(&mut self, line: &str, is_code: bool) {
        let chars = line.chars().count() + 1;
        // An empty line is a good place; inside of code only a full piece is.
        let is_good = line.trim().is_empty() && !is_code && self.chars >= limits::PIECE_CHARS;
        if is_good || self.chars + chars > limits::PIECE_CHARS_MAX {
            self.cut();
        }
        if chars > limits::PIECE_CHARS_MAX {
            self.long(line);
            return;
        }
        self.text.push_str(line);
        self.text.push('\n');
        self.chars += chars;
    }

    /// A line that is too long for a piece is cut where a word ends.
    fn long(&mut self, line: &str) {
        let mut rest = line;
        while !rest.is_empty() {
            let end =
                rest.char_indices().nth(limits::PIECE_CHARS).map_or(rest.len(), |(byte, _)| byte);
            let head = rest.get(..end).unwrap_or(rest);
            let end = if end == rest.len() {
                end
            } else {
                head.rfind(' ').filter(|space| *space > end / 2).map_or(end, |space| space + 1)
            };
            let (head, tail) = rest.split_at(end);
            self.text.push_str(head);
            self.cut();
            rest = tail;
        }
    }

    fn cut(&mut self) {
        let text = self.text.trim_matches('\n').trim_end();
        if !text.trim().is_empty() {
            let names: Vec<&str> = self.above.iter().map(|(_, name)| name.as_str()).collect();
            self.pieces.push(Piece { heading: names.join(" › "), text: text.to_owned() });
        }
        self.text.clear();
        self.chars = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_cut_and_stand_above_their_pieces() {
        let found =
            pieces("intro\n# Guide\none\n## Start\ntwo\n```\n# not a heading\n```\n# Other\nthree");
        let seen: Vec<(&str, &str)> =
            found.iter().map(|piece| (piece.heading.as_str(), piece.text.as_str())).collect();
        assert_eq!(
            seen,
            [
                ("", "intro"),
                ("Guide", "one"),
                ("Guide › Start", "two\n```\n# not a heading\n```"),
                ("Other", "three"),
            ]
        );
    }

    #[test]
    fn long_texts_are_cut_and_nothing_is_lost() {
        let paragraph = "word ".repeat(100);
        let text = vec![paragraph; 20].join("\n\n");
        let found = pieces(&text);
        assert!(found.len() > 5);
        assert!(found.iter().all(|piece| piece.text.chars().count() <= limits::PIECE_CHARS_MAX));
        let words: usize = found.iter().map(|piece| piece.text.split_whitespace().count()).sum();
        assert_eq!(words, 2_000);
        let line = "x".repeat(5_000);
        let joined: String = pieces(&line).into_iter().map(|piece| piece.text).collect();
        assert_eq!(joined, line);
    }
}
