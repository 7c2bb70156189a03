//! Text from outside, made safe to look at: what a person would not see does not reach a model or a
//! terminal unseen either. It stays the text of a stranger; what it says is not judged here.
//!
//! | in the text | becomes |
//! |---|---|
//! | line feed and tab | themselves |
//! | `\r\n`, a lone `\r`, U+0085, U+2028, U+2029 | a line feed |
//! | other C0 controls and DEL | shown as their picture, such as ␛ |
//! | other C1 controls | shown as � |
//! | bidirectional controls (U+061C, 200E–F, 202A–E, 2066–9) and U+206A–F | removed |
//! | tags (U+E0000–E007F) and what is not assigned behind them | removed; a regional flag turns black |
//! | zero-width space, word joiner, byte order mark, soft hyphen, fillers and other invisible signs | removed |
//! | zero-width joiner | kept within an emoji and after a letter of a script that joins, else removed |
//! | zero-width non-joiner | kept between such letters, else removed |
//! | variation selectors | one is kept after a sign that can vary, else removed |
//! | more than [`limits::TEXT_BYTES_MAX`] | cut, with a mark that says how much |
//!
//! Cleaning what is clean changes nothing.

use std::borrow::Cow;

use crate::limits::chats as limits;

/// More than the mark of a cut takes, whatever number stands in it.
const CUT_MARK_BYTES: usize = 56;

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';

/// A message's text as it may be shown.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.len() <= limits::TEXT_BYTES_MAX && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len().min(limits::TEXT_BYTES_MAX));
    let mut cut = Cut { shown: 0, text: 0 };
    let mut chars = text.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        if shown.len() <= limits::TEXT_BYTES_MAX - CUT_MARK_BYTES {
            cut = Cut { shown: shown.len(), text: index };
        }
        let next = chars.peek().map(|(_, next)| *next);
        shown.extend(as_shown(shown.chars().next_back(), c, next));
        if shown.len() > limits::TEXT_BYTES_MAX {
            return Cow::Owned(cut_off(shown, &cut, text.len()));
        }
    }
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// A name as it may be shown: cleaned, on one line, without space at its ends, with single spaces
/// within. It may come out empty.
pub fn clean_name(text: &str) -> Cow<'_, str> {
    let name = clean(text);
    let spaces = |c: char| c.is_whitespace() && c != ' ';
    let is_tidy = name.trim().len() == name.len() && !name.contains(spaces) && !name.contains("  ");
    let name = if is_tidy {
        name
    } else {
        Cow::Owned(name.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    if name.len() <= limits::NAME_CHARS_MAX || name.chars().count() <= limits::NAME_CHARS_MAX {
        return name;
    }
    let mut head: String = name.chars().take(limits::NAME_CHARS_MAX - 1).collect();
    drop_joiners(&mut head);
    head.push('…');
    Cow::Owned(head)
}

/// A place to cut at, in what is shown and in the text it comes from.
struct Cut {
    shown: usize,
    text: usize,
}

fn cut_off(mut shown: String, cut: &Cut, text_bytes: usize) -> String {
    shown.truncate(cut.shown);
    drop_joiners(&mut shown);
    let hidden_bytes = text_bytes.saturating_sub(cut.text);
    shown + &format!("… [{hidden_bytes} more bytes not shown]")
}

/// A joiner whose second half was cut off joins nothing.
fn drop_joiners(shown: &mut String) {
    while shown.ends_with([JOINER, NON_JOINER]) {
        shown.pop();
    }
}

/// Whether a character is shown as it is, wherever it stands.
fn is_plain(c: char) -> bool {
    match c {
        '\n' | '\t' | ' '..='~' => true,
        '\0'..='\u{9f}' => false,
        _ => !is_invisible(c) && !is_selector(c),
    }
}

/// What becomes of a character after what is already shown and before what follows in the text.
fn as_shown(before: Option<char>, c: char, next: Option<char>) -> Option<char> {
    if is_plain(c) {
        return Some(c);
    }
    let keep = match c {
        '\r' => return (next != Some('\n')).then_some('\n'),
        '\u{85}' | '\u{2028}' | '\u{2029}' => return Some('\n'),
        '\0'..='\u{1f}' => return char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => return Some('␡'),
        '\u{80}'..='\u{9f}' => return Some(char::REPLACEMENT_CHARACTER),
        JOINER => {
            before.is_some_and(joins)
                || (before.is_some_and(ends_emoji) && next.is_some_and(is_pictograph))
        }
        NON_JOINER => before.is_some_and(joins) && next.is_some_and(joins),
        _ if is_selector(c) => before.is_some_and(|before| varies(before, c)),
        _ => false,
    };
    keep.then_some(c)
}

/// Characters that show nothing by themselves, the two joiners and the line separators included.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

fn is_selector(c: char) -> bool {
    matches!(c,
        '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether a character may look different after a selector. Only then is the selector kept: a text
/// could otherwise carry a hidden one, a selector per letter.
fn varies(c: char, selector: char) -> bool {
    match selector {
        '\u{180b}'..='\u{180f}' => matches!(c, '\u{1820}'..='\u{18aa}'),
        '\u{e0100}'..='\u{e01ef}' => is_han(c),
        // Emoji and text style: digits become keycaps, the rest are pictographs.
        '\u{fe0e}' | '\u{fe0f}' => is_pictograph(c) || matches!(c, '0'..='9' | '#' | '*'),
        // The registered forms of CJK, of Myanmar and Phags-pa letters, and of mathematical signs.
        _ => {
            is_han(c)
                || matches!(c,
                    '\u{1000}'..='\u{109f}' | '\u{2205}'..='\u{22ff}' | '\u{2a00}'..='\u{2aff}'
                    | '\u{3001}'..='\u{303f}' | '\u{a840}'..='\u{a877}' | '\u{aa60}'..='\u{aa7f}'
                    | '\u{ff01}'..='\u{ff60}')
        }
    }
}

fn is_han(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Whether a letter or mark belongs to a script whose letters join, where a joiner or non-joiner
/// spells a different word: Arabic and its kin, and the Indic scripts.
fn joins(c: char) -> bool {
    let is_script = matches!(c,
        '\u{600}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{1a20}'..='\u{1cff}' | '\u{a840}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{11fff}');
    is_script && is_plain(c) && !c.is_whitespace()
}

fn ends_emoji(c: char) -> bool {
    is_pictograph(c) || c == '\u{fe0f}'
}

/// Pictographs and skin tones: the blocks that hold them, and the few that stand elsewhere.
fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}'
        | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}
