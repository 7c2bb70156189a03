//! The text as scanners see it: one spelling for every digit, dash and space, nothing invisible, and
//! the escapes of JSON, URLs and HTML undone where they hide a sign that matters.

/// A text and where each of its characters stands in the original.
pub(super) struct Folded {
    chars: Vec<char>,
    /// The first byte of each character in the original, and the length of it at the end.
    starts: Vec<usize>,
}

/// Zero of each alphabet's decimal digits.
const ZEROS: [u32; 24] = [
    0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66,
    0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x17e0, 0x1810, 0xff10, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec,
    0x1d7f6,
];

/// Escapes that hide a sign, and the sign. Hexadecimal digits are written in lower case.
const ESCAPES: [(&str, char); 19] = [
    ("%40", '@'),
    ("%2b", '+'),
    ("%20", ' '),
    ("%3a", ':'),
    ("%2f", '/'),
    ("%3d", '='),
    ("%22", '"'),
    ("&#64;", '@'),
    ("&#x40;", '@'),
    ("&#064;", '@'),
    ("&commat;", '@'),
    ("&#46;", '.'),
    ("&#43;", '+'),
    ("&nbsp;", ' '),
    ("&quot;", '"'),
    ("\\u0040", '@'),
    ("\\u002b", '+'),
    ("\\u0022", '"'),
    ("\\u00a0", ' '),
];
const ESCAPE_CHARS_MAX: usize = 8;

impl Folded {
    /// Folds a text.
    pub(super) fn of(text: &str) -> Self {
        let mut folded = Self {
            chars: Vec::with_capacity(text.len()),
            starts: Vec::with_capacity(text.len() + 1),
        };
        let mut rest = text;
        let mut at = 0;
        while let Some(c) = rest.chars().next() {
            let (sign, taken) = unescaped(rest, c).unwrap_or((Some(fold(c)), c.len_utf8()));
            let after = rest.get(taken..).unwrap_or_default();
            if let Some(sign) = sign.filter(|_| !is_invisible(c)) {
                folded.starts.push(at);
                folded.chars.push(folded.in_place(sign, after));
            }
            at += taken;
            rest = after;
        }
        folded.starts.push(text.len());
        folded
    }

    /// The long sound of Japanese is written for a dash between digits.
    fn in_place(&self, sign: char, after: &str) -> char {
        let is_digit = |c: char| fold(c).is_ascii_digit();
        let is_between = self.chars.last().is_some_and(char::is_ascii_digit)
            && after.chars().next().is_some_and(is_digit);
        if sign == 'ー' && is_between { '-' } else { sign }
    }

    /// How many characters there are.
    pub(super) fn len(&self) -> usize {
        self.chars.len()
    }

    /// Every character.
    pub(super) fn chars(&self) -> &[char] {
        &self.chars
    }

    /// The character at a place; NUL beyond the ends.
    pub(super) fn at(&self, place: usize) -> char {
        self.chars.get(place).copied().unwrap_or('\0')
    }

    /// The character so many places before; NUL beyond the ends.
    pub(super) fn back(&self, place: usize, by: usize) -> char {
        place.checked_sub(by).map_or('\0', |place| self.at(place))
    }

    /// The characters between two places.
    pub(super) fn slice(&self, start: usize, end: usize) -> &[char] {
        self.chars.get(start..end.min(self.chars.len())).unwrap_or_default()
    }

    /// The same as text.
    pub(super) fn text(&self, start: usize, end: usize) -> String {
        self.slice(start, end).iter().collect()
    }

    /// Whether the letters from here on are these, which are in lower case.
    pub(super) fn says(&self, place: usize, lower: &str) -> bool {
        lower.chars().enumerate().all(|(n, c)| self.at(place + n).to_ascii_lowercase() == c)
    }

    /// Where a character begins in the original.
    pub(super) fn byte(&self, place: usize) -> usize {
        self.starts.get(place).or(self.starts.last()).copied().unwrap_or(0)
    }

    /// The place after the characters from here on that pass, at most so many.
    pub(super) fn skip(&self, from: usize, most: usize, pass: impl Fn(char) -> bool) -> usize {
        let mut place = from;
        while place < self.chars.len() && place - from < most && pass(self.at(place)) {
            place += 1;
        }
        place
    }
}

/// A sign that an escape hides, and how many bytes hide it.
fn unescaped(rest: &str, c: char) -> Option<(Option<char>, usize)> {
    if !matches!(c, '%' | '&' | '\\') {
        return None;
    }
    let escape = ESCAPES.iter().find(|(escape, _)| {
        rest.get(..escape.len()).is_some_and(|start| start.eq_ignore_ascii_case(escape))
    });
    if let Some((escape, sign)) = escape {
        debug_assert!(escape.len() <= ESCAPE_CHARS_MAX);
        return Some((Some(*sign), escape.len()));
    }
    let sign = match (c, rest.chars().nth(1)?) {
        ('\\', 'n' | 'r') => '\n',
        ('\\', 't') => '\t',
        ('\\', quoted @ ('"' | '/' | '\'')) => quoted,
        _ => return None,
    };
    Some((Some(sign), 2))
}

/// Characters that nobody sees, put between others to hide them.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{34f}' | '\u{61c}'
    )
}

fn fold(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    let code = u32::from(c);
    for zero in ZEROS {
        if (zero..zero + 10).contains(&code) {
            return char::from_digit(code - zero, 10).unwrap_or(c);
        }
    }
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(code - 0xfee0).unwrap_or(c),
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            ' '
        }
        '\u{2028}' | '\u{2029}' | '\u{85}' => '\n',
        '\u{2010}'..='\u{2015}'
        | '\u{2043}'
        | '\u{2212}'
        | '\u{fe58}'
        | '\u{fe63}'
        | '\u{207b}' => '-',
        '\u{2024}' | '\u{ff61}' | '\u{fe52}' | '\u{b7}' => '.',
        '\u{fe6b}' => '@',
        '\u{fe62}' => '+',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}' => '"',
        '\u{2018}' | '\u{2019}' | '\u{201a}' => '\'',
        '\u{fe59}' => '(',
        '\u{fe5a}' => ')',
        '\u{2044}' | '\u{2215}' => '/',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        Folded::of(text).chars.iter().collect()
    }

    #[test]
    fn every_spelling_of_a_sign_becomes_one() {
        assert_eq!(folded("４１１１‑１１１１"), "4111-1111");
        assert_eq!(folded("٠١٢ ०१२"), "012 012");
        assert_eq!(folded("a\u{200b}b\u{feff}c\u{ad}d"), "abcd");
        assert_eq!(folded("1\u{a0}2\u{202f}3\u{3000}4"), "1 2 3 4");
        assert_eq!(folded("０９０ー１２３４"), "090-1234");
        assert_eq!(folded("コーヒー"), "コーヒー");
        assert_eq!(folded("bob%40example.org &#64; \\u0040"), "bob@example.org @ @");
        assert_eq!(folded(r#"a\n\"b\""#), "a\n\"b\"");
        assert_eq!(folded("100 % & \\"), "100 % & \\");
    }

    #[test]
    fn a_place_is_found_again_in_the_original() {
        let text = "é\u{200b}４x";
        let folded = Folded::of(text);
        assert_eq!(folded.chars, ['é', '4', 'x']);
        assert_eq!(&text[folded.byte(1)..folded.byte(2)], "４");
        assert_eq!(folded.byte(3), text.len());
    }
}
