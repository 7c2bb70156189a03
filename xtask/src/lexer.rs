//! Takes Rust source apart into code, comments and string literals.
//!
//! The checks look for words, and a word in a comment is no code. This knows just enough of the
//! language to tell the three apart; it never judges whether the source compiles.

/// A Rust file, taken apart.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Parts {
    /// Every line, the first of which is number 1.
    pub(crate) lines: Vec<Line>,
    /// Every string literal.
    pub(crate) literals: Vec<Literal>,
}

/// One line without its literals.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Line {
    /// What the compiler reads.
    pub(crate) code: String,
    /// What people read.
    pub(crate) comment: String,
}

/// One string literal.
#[derive(Debug, PartialEq)]
pub(crate) struct Literal {
    /// The line it begins on.
    pub(crate) line: usize,
    /// Its text, with a blank for every escape and line break.
    pub(crate) text: String,
}

impl Parts {
    /// The lines before the unit tests, each with its number.
    pub(crate) fn lines_before_tests(&self) -> impl Iterator<Item = (usize, &Line)> {
        let is_test_module = |pair: &[Line]| match pair {
            [mark, module] => {
                mark.code.trim() == "#[cfg(test)]" && module.code.trim_start().starts_with("mod ")
            }
            _ => false,
        };
        let end = self.lines.windows(2).position(is_test_module).unwrap_or(self.lines.len());
        (1..).zip(&self.lines).take(end)
    }
}

/// Whether `code` holds `word` as a whole word.
pub(crate) fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !is_word_char(c)).any(|found| found == word)
}

/// Takes a source file apart.
pub(crate) fn take_apart(source: &str) -> Parts {
    let parts = Parts { lines: vec![Line::default()], literals: Vec::new() };
    let mut lexer = Lexer { rest: source, state: State::Code, last: ' ', parts };
    while lexer.step() {}
    lexer.parts
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[derive(Clone, Copy)]
enum State {
    Code,
    LineComment,
    BlockComment { depth: usize },
    Text,
    RawText { hashes: usize },
}

struct Lexer<'a> {
    rest: &'a str,
    state: State,
    /// The character of code before `rest`.
    last: char,
    parts: Parts,
}

impl Lexer<'_> {
    /// Reads one character or mark; false at the end of the source.
    fn step(&mut self) -> bool {
        match self.state {
            State::Code => self.step_code(),
            State::LineComment => {
                if self.rest.starts_with('\n') {
                    self.state = State::Code;
                }
                self.keep()
            }
            State::BlockComment { depth } => {
                if self.skip("/*") {
                    self.state = State::BlockComment { depth: depth + 1 };
                } else if self.skip("*/") {
                    self.state = match depth {
                        1 => State::Code,
                        _ => State::BlockComment { depth: depth - 1 },
                    };
                } else {
                    return self.keep();
                }
                true
            }
            State::Text => {
                if self.skip("\\") {
                    self.put(' ');
                    return self.drop_char();
                }
                if self.skip("\"") {
                    self.state = State::Code;
                    return true;
                }
                self.keep()
            }
            State::RawText { hashes } => {
                if self.skip(&format!("\"{}", "#".repeat(hashes))) {
                    self.state = State::Code;
                    return true;
                }
                self.keep()
            }
        }
    }

    fn step_code(&mut self) -> bool {
        if self.skip("//") {
            self.state = State::LineComment;
        } else if self.skip("/*") {
            self.state = State::BlockComment { depth: 1 };
        } else if let Some(hashes) = self.opens_raw_text() {
            self.skip("r");
            self.skip(&format!("{}\"", "#".repeat(hashes)));
            self.open_literal(State::RawText { hashes });
        } else if self.skip("\"") {
            self.open_literal(State::Text);
        } else if let Some(bytes) = self.char_literal_bytes() {
            self.rest = self.rest.get(bytes..).unwrap_or("");
        } else {
            return self.keep();
        }
        true
    }

    /// How many hashes guard the raw string that begins here, if one does.
    fn opens_raw_text(&self) -> Option<usize> {
        // The `r` of `br"…"` and `cr"…"` follows a letter; that of an identifier does as well.
        if is_word_char(self.last) && !matches!(self.last, 'b' | 'c') {
            return None;
        }
        let after = self.rest.strip_prefix('r')?;
        let quote = after.trim_start_matches('#');
        quote.starts_with('"').then_some(after.len() - quote.len())
    }

    /// How long the character literal is that begins here; `None` for a lifetime and all else.
    fn char_literal_bytes(&self) -> Option<usize> {
        let inside = self.rest.strip_prefix('\'')?;
        if let Some(escape) = inside.strip_prefix('\\') {
            let escaped = escape.chars().next()?.len_utf8();
            let close = escape.get(escaped..)?.find('\'')?;
            return Some(2 + escaped + close + 1);
        }
        let width = inside.chars().next()?.len_utf8();
        inside.get(width..)?.starts_with('\'').then_some(width + 2)
    }

    fn open_literal(&mut self, state: State) {
        self.state = state;
        self.last = ' ';
        self.parts.literals.push(Literal { line: self.parts.lines.len(), text: String::new() });
    }

    fn skip(&mut self, mark: &str) -> bool {
        let after = self.rest.strip_prefix(mark);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Keeps the next character where it belongs.
    fn keep(&mut self) -> bool {
        let next = self.rest.chars().next();
        next.inspect(|c| self.put(*c));
        self.drop_char()
    }

    /// Passes over the next character, which may still end a line.
    fn drop_char(&mut self) -> bool {
        let Some(c) = self.rest.chars().next() else { return false };
        if c == '\n' {
            self.parts.lines.push(Line::default());
        }
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or("");
        true
    }

    fn put(&mut self, c: char) {
        let c = if c == '\n' { ' ' } else { c };
        match (self.state, self.parts.lines.last_mut(), self.parts.literals.last_mut()) {
            (State::Text | State::RawText { .. }, _, Some(literal)) => literal.text.push(c),
            (State::Code, Some(line), _) => {
                line.code.push(c);
                self.last = c;
            }
            (_, Some(line), _) => line.comment.push(c),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &str) -> String {
        let lines: Vec<String> = take_apart(source).lines.into_iter().map(|l| l.code).collect();
        lines.join("|")
    }

    fn literals(source: &str) -> Vec<(usize, String)> {
        take_apart(source).literals.into_iter().map(|l| (l.line, l.text)).collect()
    }

    #[test]
    fn comments_are_no_code() {
        assert_eq!(code("a // b\nc /* d /* e */ f */ g"), "a  |c  g");
        assert_eq!(take_apart("a // b").lines[0].comment, " b");
    }

    #[test]
    fn literals_know_where_they_begin() {
        let source = "let a = \"x // \\\" y\";\nlet b = r#\"one\n\"two\"#; let c = br\"z\";";
        let expected = [(1, "x //   y"), (2, "one \"two"), (3, "z")];
        assert_eq!(literals(source), expected.map(|(line, text)| (line, text.to_owned())));
        assert_eq!(code("f(\"a\", 1)"), "f(, 1)");
    }

    #[test]
    fn lifetimes_and_characters_differ() {
        assert_eq!(code("fn f<'a>(x: &'a str) { m('\"', '\\'', 'ä', '\\u{1f}') }"), {
            "fn f<'a>(x: &'a str) { m(, , , ) }"
        });
    }

    #[test]
    fn a_name_that_ends_in_r_opens_nothing_raw() {
        assert_eq!(literals("for\"a\\\"b\""), [(1, "a b".to_owned())]);
        assert_eq!(code("r#type r#\"x\"# y"), "r#type  y");
    }

    #[test]
    fn a_continued_literal_keeps_the_line_numbers() {
        assert_eq!(literals("\"a\\\n b\";\n\"c\""), [(1, "a  b".to_owned()), (3, "c".to_owned())]);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("use axum::Router;", "axum"));
        assert!(!has_word("forbid(unsafe_code)", "unsafe"));
    }

    #[test]
    fn tests_end_the_program() {
        let parts = take_apart("a\n#[cfg(test)]\nuse x;\nb\n#[cfg(test)]\nmod tests {\nc\n}");
        let lines: Vec<usize> = parts.lines_before_tests().map(|(number, _)| number).collect();
        assert_eq!(lines, [1, 2, 3, 4]);
    }
}
