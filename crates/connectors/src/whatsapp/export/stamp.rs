//! The time at the beginning of a line, read by its structure, whatever the language.
//!
//! A line is a new message when it begins with a whole date and a whole time and nothing else, in
//! brackets (iPhone), before a dash (Android) or before a colon (older iPhone). Which number is the day is not decided here.

use super::halves::{self, Half};
use super::tokens::{Token, tokens};
use super::words;

/// Which app wrote the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Platform {
    /// `[date, time] Name: text`
    Iphone,
    /// `date, time: Name: text`, until about 2017.
    OldIphone,
    /// `date, time - Name: text`
    Android,
}

/// How dates and times are written, which is the same throughout a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) platform: Platform,
    pub(super) separator: char,
    pub(super) time_first: bool,
    pub(super) precision: Precision,
    pub(super) has_half: bool,
    /// The first number of the date has four digits.
    pub(super) year_first: bool,
}

/// How exact the times of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Precision {
    Minute,
    Second,
}

/// One number of a date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) value: u32,
    /// How many digits it was written with.
    pub(super) width: u8,
    pub(super) era: Option<Era>,
}

/// From when years are counted, where the file says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    Reiwa,
    Heisei,
    Buddhist,
}

/// How the half of the day was written, as far as that tells where the file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HalfStyle {
    /// `PM`
    Upper,
    /// `pm`
    Lower,
    /// `p. m.`, `下午` and all others.
    Other,
}

/// A date and time with the numbers in the order in which they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) shape: Shape,
    pub(super) fields: [Field; 3],
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    pub(super) half_style: Option<HalfStyle>,
}

/// How far into a line a date and time may reach.
const STAMP_BYTES_MAX: usize = 120;

/// Reads the beginning of a line: the time, and what stands behind it.
pub(super) fn read(line: &str) -> Option<(Stamp, &str)> {
    let line = words::trim_marks_start(line);
    if let Some(inner) = line.strip_prefix('[') {
        let end = head(inner).find(']')?;
        let (stamp, rest) = inner.split_at_checked(end)?;
        let rest = rest.strip_prefix(']')?;
        return Some((parse(stamp, Platform::Iphone)?, rest.trim_start_matches(' ')));
    }
    // Nearly all lines that go on with a message are told apart by their first character.
    let first = line.chars().next()?;
    if words::digit(first).is_none() && !matches!(first, 'R' | 'H' | '令' | '平') {
        return None;
    }
    let signs =
        [(" - ", Platform::Android), (" – ", Platform::Android), (": ", Platform::OldIphone)];
    signs.into_iter().find_map(|(sign, platform)| {
        let (stamp, rest) = line.split_at_checked(head(line).find(sign)?)?;
        let stamp = parse(stamp, platform)?;
        // The older app wrote seconds; without them, it is a list of appointments.
        let fits = platform == Platform::Android || stamp.shape.precision == Precision::Second;
        Some((stamp, rest.strip_prefix(sign)?)).filter(|_| fits)
    })
}

fn head(text: &str) -> &str {
    let mut end = text.len().min(STAMP_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

struct Time {
    hour: u32,
    minute: u32,
    second: Option<u32>,
}

fn parse(text: &str, platform: Platform) -> Option<Stamp> {
    let tokens = tokens(text)?;
    let mut cursor = Cursor { tokens: &tokens };
    let time_first = matches!(cursor.tokens.get(1), Some(Token::Sign(':')));
    let mut half = None;
    let (fields, separator, time) = if time_first {
        let time = cursor.time()?;
        cursor.half(&mut half)?;
        let (fields, separator) = cursor.date()?;
        (fields, separator, time)
    } else {
        let (fields, separator) = cursor.date()?;
        cursor.half(&mut half)?;
        (fields, separator, cursor.time()?)
    };
    cursor.half(&mut half)?;
    if !cursor.tokens.is_empty() {
        return None;
    }
    let [first, ..] = fields;
    Some(Stamp {
        shape: Shape {
            platform,
            separator,
            time_first,
            precision: if time.second.is_some() { Precision::Second } else { Precision::Minute },
            has_half: half.is_some(),
            year_first: first.width == 4,
        },
        fields,
        hour: hour(time.hour, half.map(|(half, _)| half))?,
        minute: Some(time.minute).filter(|minute| *minute < 60)?,
        second: Some(time.second.unwrap_or(0)).filter(|second| *second < 60)?,
        half_style: half.map(|(_, style)| style),
    })
}

fn hour(hour: u32, half: Option<Half>) -> Option<u32> {
    let hour = match half {
        Some(Half::Morning) if hour == 12 => 0,
        // Some languages count noon as 0 in the afternoon.
        Some(Half::Afternoon) if hour < 12 => hour + 12,
        Some(Half::Noon) if hour < 10 => hour + 12,
        _ => hour,
    };
    Some(hour).filter(|hour| *hour < 24)
}

struct Cursor<'a> {
    tokens: &'a [Token],
}

impl Cursor<'_> {
    fn next(&mut self) -> Option<&Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn take_sign(&mut self, wanted: char) -> bool {
        let taken = matches!(self.tokens.first(), Some(Token::Sign(sign)) if *sign == wanted);
        if taken {
            self.next();
        }
        taken
    }

    fn take_word(&mut self, wanted: &str) -> bool {
        let taken = matches!(self.tokens.first(), Some(Token::Word(word)) if word == wanted);
        if taken {
            self.next();
        }
        taken
    }

    fn number(&mut self) -> Option<Field> {
        match self.next()? {
            Token::Number(field) => Some(*field),
            _ => None,
        }
    }

    /// A number of a date, which an era may precede: `R4`.
    fn field(&mut self) -> Option<Field> {
        let era = match self.tokens.first()? {
            Token::Word(word) => Some(match word.as_str() {
                "R" | "令和" => Era::Reiwa,
                "H" | "平成" => Era::Heisei,
                _ => return None,
            }),
            _ => None,
        };
        if era.is_some() {
            self.next();
        }
        Some(Field { era, ..self.number()? })
    }

    fn date(&mut self) -> Option<([Field; 3], char)> {
        let first = self.field()?;
        let separator = match self.next()? {
            Token::Sign(sign @ ('/' | '.' | '-')) => *sign,
            _ => return None,
        };
        let second = self.field()?;
        if !self.take_sign(separator) {
            return None;
        }
        let mut third = self.field()?;
        self.take_sign('.');
        if self.take_word("BE") || self.take_word("พ") && self.take_sign('.') && self.take_word("ศ")
        {
            third.era = Some(Era::Buddhist);
        }
        Some(([first, second, third], separator))
    }

    fn time(&mut self) -> Option<Time> {
        let hour = self.number()?.value;
        let separator = match self.next()? {
            Token::Sign(sign @ (':' | '.')) => Some(*sign),
            // Canadian French: `14 h 56 min 01 s`.
            Token::Word(word) if word == "h" => None,
            _ => return None,
        };
        let minute = self.number()?.value;
        let has_second = match separator {
            Some(sign) => {
                // A stop behind the time ends it; only a number behind the stop is a second.
                matches!(self.tokens.get(1), Some(Token::Number(_))) && self.take_sign(sign)
            }
            None => self.take_word("min"),
        };
        let second = if has_second { Some(self.number()?.value) } else { None };
        if separator.is_none() {
            self.take_word("s");
        }
        Some(Time { hour, minute, second })
    }

    /// Words between date and time, or behind them: the half of the day, or a word like "at".
    fn half(&mut self, known: &mut Option<(Half, HalfStyle)>) -> Option<()> {
        let mut joined = String::new();
        let mut signs = false;
        while let Some(token) = self.tokens.first() {
            match token {
                Token::Number(_) => break,
                Token::Sign('.') => signs |= !joined.is_empty(),
                Token::Sign(',') => {}
                Token::Sign(_) => return None,
                Token::Word(word) => joined.push_str(word),
            }
            self.next();
        }
        if joined.is_empty() || halves::is_filler(&joined) {
            return Some(());
        }
        if known.is_some() {
            return None;
        }
        // The Bulgarian "year" may stand before the half of the day.
        let word = joined.strip_prefix('г').unwrap_or(&joined);
        let style = match word {
            "AM" | "PM" if !signs => HalfStyle::Upper,
            "am" | "pm" if !signs => HalfStyle::Lower,
            _ => HalfStyle::Other,
        };
        *known = Some((halves::half(word)?, style));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_numbers(line: &str) -> (Vec<u32>, u32, u32, u32, &str) {
        let (stamp, rest) = read(line).unwrap_or_else(|| panic!("no time in {line}"));
        let fields = stamp.fields.iter().map(|field| field.value).collect();
        (fields, stamp.hour, stamp.minute, stamp.second, rest)
    }

    #[test]
    fn times_of_every_shape_are_read() {
        for (line, fields, hour, minute, second) in [
            ("[3/18/22, 2:56:01\u{202f}PM] A: x", [3, 18, 22], 14, 56, 1),
            ("18/03/2022, 14:56 - A: x", [18, 3, 2022], 14, 56, 0),
            ("[13.6.2018 klo 21.25.15] A: x", [13, 6, 2018], 21, 25, 15),
            ("13.6.2018 klo 21.25 - A: x", [13, 6, 2018], 21, 25, 0),
            ("\u{200e}[18/3/22 2:56:01\u{a0}p.\u{a0}m.] A: x", [18, 3, 22], 14, 56, 1),
            ("[14:56:01, 3/18/22] A: x", [3, 18, 22], 14, 56, 1),
            ("14:56, 18/03/2022 - A: x", [18, 3, 2022], 14, 56, 0),
            ("[3/27/R4, 0:05:09] A: x", [3, 27, 4], 0, 5, 9),
            ("[27/3/2565 BE, 14:56:01] A: x", [27, 3, 2565], 14, 56, 1),
            ("\u{200f}[١٨\u{200f}/٣\u{200f}/٢٠٢٢، ٢:٥٦:٠٠ م] A: x", [18, 3, 2022], 14, 56, 0),
            ("[۱۸/۳/۲۰۲۲،\u{200f} ۱۴:۵۶:۰۱] A: x", [18, 3, 2022], 14, 56, 1),
            ("2022. 3. 18. 오후 2:56 - A: x", [2022, 3, 18], 14, 56, 0),
            ("2022. 03. 18. 14:56 - A: x", [2022, 3, 18], 14, 56, 0),
            ("[2022/3/18 下午2:56:01] A: x", [2022, 3, 18], 14, 56, 1),
            ("2022/3/18 中午12:05 - A: x", [2022, 3, 18], 12, 5, 0),
            ("2022/3/18 午後0:05 - A: x", [2022, 3, 18], 12, 5, 0),
            ("[2022-03-18, 14 h 56 min 01 s] A: x", [2022, 3, 18], 14, 56, 1),
            ("18.03.22 г., 14:56 ч. - A: x", [18, 3, 22], 14, 56, 0),
            ("18/03/2022 à 14:56 - A: x", [18, 3, 2022], 14, 56, 0),
            ("18. 3. 2022. 14:56 - A: x", [18, 3, 2022], 14, 56, 0),
            ("24/8/30 PM 3:05 - A: x", [24, 8, 30], 15, 5, 0),
            ("3/18/14, 1:59:58 PM: A: x", [3, 18, 14], 13, 59, 58),
            ("13.06.18 21.25.15: A: x", [13, 6, 18], 21, 25, 15),
        ] {
            let read = read_numbers(line);
            assert_eq!(read, (fields.to_vec(), hour, minute, second, "A: x"), "{line}");
        }
    }

    #[test]
    fn twelve_o_clock_is_midnight_in_the_morning_and_noon_after_it() {
        assert_eq!(read_numbers("3/18/22, 12:05 AM - A: x").1, 0);
        assert_eq!(read_numbers("3/18/22, 12:05 PM - A: x").1, 12);
        assert_eq!(read_numbers("3/18/22, 11:05 PM - A: x").1, 23);
    }

    #[test]
    fn what_only_looks_like_a_time_is_none() {
        for line in [
            "",
            "[",
            "[]",
            "12 - 14: lunch",
            "18/03/2022 - A: x",
            "14:56 - A: x",
            "18/03/2022, 14:56 maybe - A: x",
            "18/03/2022, 14:76 - A: x",
            "18/03/2022, 25:06 - A: x",
            "[18/03/2022, 14:56:01 A: x",
            "18/03-2022, 14:56 - A: x",
            "111111111111/1/1, 1:11 - A: x",
            "hello - A: x",
            "18/03/2022, 14:56: A: x",
        ] {
            assert!(read(line).is_none(), "{line}");
        }
    }
}
