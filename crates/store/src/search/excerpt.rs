//! One line of a message around the first word that was looked for.

use super::expression;
use super::words;

/// Between the start of an excerpt and the word it shows stands this part of its length, at most.
const LEAD_PART: usize = 3;
const CUT: char = '…';

/// A line of at most so many characters from `body`, around the first word of the search `text`.
///
/// Line breaks become spaces; other control characters and those that turn the direction of text
/// become `U+FFFD`. Without a matching word the line is the beginning of the body.
pub fn highlight(body: &str, text: &str, chars_max: usize) -> String {
    let line = one_line(body);
    let folded: Vec<char> = line.iter().map(|char| fold(*char)).collect();
    let found = needles(text).iter().filter_map(|needle| needle.find(&folded)).min();
    cut(&line, found.unwrap_or(0), chars_max)
}

struct Needle {
    word: Vec<char>,
    /// The word may go on: it was a beginning, or its script has no spaces.
    is_open: bool,
}

/// The first word of each piece that must occur.
fn needles(text: &str) -> Vec<Needle> {
    let wanted = expression::pieces(text).filter(|piece| !piece.is_unwanted);
    let words = wanted.filter_map(|piece| {
        let all = one_line(piece.text);
        let mut parts = all.split(|char| !char.is_alphanumeric()).filter(|part| !part.is_empty());
        let word: Vec<char> = parts.next()?.iter().map(|char| fold(*char)).collect();
        let is_last = parts.next().is_none();
        let is_open = (piece.is_beginning && is_last)
            || word.first().is_some_and(|char| words::is_unspaced(*char));
        Some(Needle { word, is_open })
    });
    words.collect()
}

impl Needle {
    fn find(&self, folded: &[char]) -> Option<usize> {
        let size = self.word.len();
        (0..=folded.len().checked_sub(size)?).find(|start| {
            let rest = folded.get(*start..).unwrap_or_default();
            rest.starts_with(&self.word) && (self.is_open || is_whole(folded, *start, size))
        })
    }
}

/// Whether no letter stands right before or behind.
fn is_whole(folded: &[char], start: usize, size: usize) -> bool {
    let is_letter = |at: Option<usize>| {
        let neighbour = at.and_then(|at| folded.get(at));
        neighbour.is_some_and(|char| char.is_alphanumeric() && !words::is_unspaced(*char))
    };
    !is_letter(start.checked_sub(1)) && !is_letter(start.checked_add(size))
}

/// Single spaces instead of breaks, and nothing that could disturb a terminal or a page.
fn one_line(body: &str) -> Vec<char> {
    let mut line = Vec::with_capacity(body.len());
    for char in body.trim().chars() {
        match char {
            _ if char.is_whitespace() => {
                if line.last() != Some(&' ') {
                    line.push(' ');
                }
            }
            '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' => {}
            _ if char.is_control() || turns_text(char) => line.push('\u{fffd}'),
            _ => line.push(char),
        }
    }
    line
}

/// Whether a character turns the direction of text.
fn turns_text(char: char) -> bool {
    matches!(
        char,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

fn cut(line: &[char], found: usize, chars_max: usize) -> String {
    if line.len() <= chars_max {
        return line.iter().collect();
    }
    // Near the end the excerpt begins earlier, so that it is as long as it may be.
    let latest = line.len().saturating_sub(chars_max.saturating_sub(1));
    let start = found.saturating_sub(chars_max / LEAD_PART).min(latest);
    let start = if start <= 1 { 0 } else { start };
    let mut room = chars_max.saturating_sub(usize::from(start > 0));
    let is_end_cut = line.len() - start > room;
    room = room.saturating_sub(usize::from(is_end_cut));
    let mut text = String::new();
    if start > 0 && chars_max > 0 {
        text.push(CUT);
    }
    text.extend(line.iter().skip(start).take(room));
    if is_end_cut && chars_max > usize::from(start > 0) {
        text.push(CUT);
    }
    text
}

/// Lower case without the marks of European letters, much as the index does it.
fn fold(char: char) -> char {
    const PLAIN: &str = "aaaaaaaceeeeiiiidnooooo×ouuuuyþsaaaaaaaceeeeiiiidnooooo÷ouuuuyþy";
    const EXTENDED: &str = "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllllllln\
                            nnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
    let lower = char.to_lowercase().next().unwrap_or(char);
    let (table, first) = match lower {
        '\u{c0}'..='\u{ff}' => (PLAIN, 0xc0),
        '\u{100}'..='\u{17f}' => (EXTENDED, 0x100),
        _ => return lower,
    };
    let at = usize::try_from(u32::from(lower).saturating_sub(first)).unwrap_or(usize::MAX);
    table.chars().nth(at).unwrap_or(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_excerpt_surrounds_the_first_matching_word() {
        let body = format!("{}\nthe deploy\tfailed {}", "before ".repeat(50), "after ".repeat(50));
        let line = highlight(&body, "Failed", 40);
        assert!(line.contains("deploy failed after"), "{line}");
        assert!(line.starts_with('…') && line.ends_with('…'), "{line}");
        assert_eq!(line.chars().count(), 40);
    }

    #[test]
    fn parts_of_words_do_not_count_but_beginnings_and_signs_do() {
        let body = format!("{} art", "party ".repeat(30));
        assert!(highlight(&body, "art", 20).ends_with(" art"));
        assert!(highlight(&body, "par*", 20).starts_with("party"));
        let body = format!("{}東京都に行く", "x ".repeat(30));
        assert!(highlight(&body, "京都", 10).contains("京都"));
    }

    #[test]
    fn case_and_accents_do_not_matter() {
        let body = format!("{} Café Žižek", "x ".repeat(50));
        assert!(highlight(&body, "cafe", 20).contains("Café"));
        assert!(highlight(&body, "zizek", 20).contains("Žižek"));
        let folded: String = "ÀéñøÿĂčđęğıłńőřşţůŵźžſ".chars().map(fold).collect();
        assert_eq!(folded, "aenoyacdegilnorstuwzzs");
    }

    #[test]
    fn nothing_disturbs_the_terminal() {
        assert_eq!(highlight("a\u{1b}[2J\u{202e}b\r\nc", "zzz", 50), "a\u{fffd}[2J\u{fffd}b c");
    }

    #[test]
    fn the_length_is_kept_whatever_it_is() {
        let body = "wort ".repeat(20);
        for chars_max in 0..110 {
            assert!(highlight(&body, "wort", chars_max).chars().count() <= chars_max);
            assert!(
                highlight(&format!("{body} ende"), "ende", chars_max).chars().count() <= chars_max
            );
        }
        assert_eq!(highlight("", "x", 10), "");
    }
}
