//! Where the parts of a JSON text stand in it.

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Element {
    /// Its first byte.
    pub(super) start: usize,
    /// The byte after its last.
    pub(super) end: usize,
    /// What it holds.
    pub(super) kind: Kind,
}

/// What a value holds.
#[derive(Debug)]
pub(super) enum Kind {
    /// Members.
    Object(Vec<Part>),
    /// Items.
    Array(Vec<Part>),
    /// Nothing that could be changed by itself.
    Scalar,
}

/// A member of an object or an item of an array.
#[derive(Debug)]
pub(super) struct Part {
    /// A member's name.
    pub(super) key: Option<String>,
    /// The first byte: of the name, or of an item's value.
    pub(super) start: usize,
    /// The value.
    pub(super) value: Element,
}

impl Element {
    /// The members or items.
    pub(super) fn parts(&self) -> &[Part] {
        match &self.kind {
            Kind::Object(parts) | Kind::Array(parts) => parts,
            Kind::Scalar => &[],
        }
    }

    /// The member of this name; the last one counts, as it does for whoever reads the file.
    pub(super) fn member(&self, name: &str) -> Option<&Part> {
        self.parts().iter().rev().find(|part| part.key.as_deref() == Some(name))
    }
}

/// Finds the parts of a text that a JSON parser has accepted.
pub(super) fn scan(text: &str) -> Option<Element> {
    Scanner { bytes: text.as_bytes(), text, at: 0 }.value()
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn value(&mut self) -> Option<Element> {
        let start = self.skip_space();
        let kind = match self.peek()? {
            b'{' => Kind::Object(self.parts(b'}')?),
            b'[' => Kind::Array(self.parts(b']')?),
            b'"' => {
                self.string()?;
                Kind::Scalar
            }
            _ => {
                while self.peek().is_some_and(|byte| {
                    !byte.is_ascii_whitespace() && !matches!(byte, b',' | b']' | b'}')
                }) {
                    self.at += 1;
                }
                Kind::Scalar
            }
        };
        Some(Element { start, end: self.at, kind })
    }

    fn parts(&mut self, close: u8) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        loop {
            // The opening sign, or the comma behind the part before.
            self.at += 1;
            let start = self.skip_space();
            if self.peek()? == close {
                self.at += 1;
                return Some(parts);
            }
            let mut key = None;
            if close == b'}' {
                let name = self.string()?;
                key = Some(serde_json::from_str(name).ok()?);
                self.skip_space();
                self.at += 1;
            }
            let value = self.value()?;
            parts.push(Part { key, start, value });
            self.skip_space();
            if self.peek()? == close {
                self.at += 1;
                return Some(parts);
            }
        }
    }

    fn string(&mut self) -> Option<&str> {
        let start = self.at;
        self.at += 1;
        while self.peek()? != b'"' {
            self.at += if self.peek()? == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        self.text.get(start..self.at)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) -> usize {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_found_where_it_stands() {
        let text = r#" { "a\"b" : [1, "]", {}], "c":{"d":null} } "#;
        let root = scan(text).unwrap();
        assert_eq!(&text[root.start..root.end], text.trim());
        let list = &root.member("a\"b").unwrap().value;
        let items: Vec<&str> =
            list.parts().iter().map(|part| &text[part.value.start..part.value.end]).collect();
        assert_eq!(items, ["1", "\"]\"", "{}"]);
        let inner = &root.member("c").unwrap().value;
        assert_eq!(&text[inner.start..inner.end], r#"{"d":null}"#);
    }
}
