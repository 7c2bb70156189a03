//! Where a sender's name ends and the text begins, decided by the names that come again.

use std::collections::{HashMap, HashSet};

use protocol::limits::import as limits;

use super::{system, words};

/// How many colons a name is thought to hold at most.
const COLONS_MAX: usize = 3;
/// So often a name that holds a colon must come again to be believed, beside others like it.
const RECURS_MIN: u64 = 3;
/// So often it must come again where it is the only one.
const RECURS_ALONE_MIN: u64 = 10;

/// The ways to part a line into a name and a text, the shortest name first.
fn splits(body: &str) -> impl Iterator<Item = (&str, &str)> {
    let inner = body
        .match_indices(": ")
        .filter_map(|(at, _)| Some((body.get(..at)?, body.get(at.checked_add(2)?..)?)));
    // Editors take away the space at the end of a line whose text begins in the next one.
    let last = body.strip_suffix(':').map(|name| (name, ""));
    inner
        .chain(last)
        .take(COLONS_MAX)
        .filter(|(name, _)| name.len() <= limits::NAME_BYTES_MAX && !words::trim(name).is_empty())
}

/// The first way to part a line.
pub(super) fn first_split(body: &str) -> Option<(&str, &str)> {
    splits(body).next()
}

/// How often a name was used.
#[derive(Clone, Copy, Debug, Default)]
struct Uses {
    messages: u64,
    notices: u64,
}

/// Counts names while a file is surveyed.
#[derive(Debug, Default)]
pub(super) struct NameTally {
    first: HashMap<String, Uses>,
    longer: HashMap<String, u64>,
}

/// Whether a line holds what somebody wrote, or what the app did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    Person,
    App,
}

impl NameTally {
    pub(super) fn add(&mut self, body: &str, voice: Voice) {
        for (index, (name, text)) in splits(body).enumerate() {
            let name = clean(name);
            if index > 0 {
                // A text that ends with a colon is no name.
                if !text.is_empty() {
                    self.add_longer(name);
                }
            } else if self.first.len() < limits::NAMES_MAX || self.first.contains_key(&name) {
                let uses = self.first.entry(name).or_default();
                match voice {
                    Voice::Person => uses.messages += 1,
                    Voice::App => uses.notices += 1,
                }
            }
        }
    }

    fn add_longer(&mut self, name: String) {
        if self.longer.len() >= limits::NAMES_MAX && !self.longer.contains_key(&name) {
            // Nearly all of these are texts that hold a colon, and do not come again.
            self.longer.retain(|_, uses| *uses > 1);
            if self.longer.len() >= limits::NAMES_MAX {
                return;
            }
        }
        *self.longer.entry(name).or_default() += 1;
    }

    /// Whether a name came before.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.first.contains_key(name) || self.first.contains_key(&clean(name))
    }

    /// Whether a person, and not only the app itself, wrote under this name.
    pub(super) fn is_person(&self, name: &str) -> bool {
        self.first.get(name).is_some_and(|uses| uses.messages > 0)
    }

    /// Decides which names there are.
    pub(super) fn decide(&self) -> Names {
        let mut longer = HashSet::new();
        let mut children: HashMap<&str, Vec<(&str, u64)>> = HashMap::new();
        for (name, uses) in self.longer.iter().filter(|(_, uses)| **uses >= RECURS_MIN) {
            if let Some(parent) = parent(name) {
                children.entry(parent).or_default().push((name, *uses));
            }
        }
        // A longer name is believed when the shorter one never stands without one like it.
        let mut open: Vec<(&str, u64)> = self
            .first
            .iter()
            .map(|(name, uses)| (name.as_str(), uses.messages.saturating_add(uses.notices)))
            .collect();
        while let Some((name, uses)) = open.pop() {
            let children = children.get(name).map(Vec::as_slice).unwrap_or_default();
            let total: u64 = children.iter().map(|(_, uses)| uses).sum();
            if total == uses && (children.len() > 1 || uses >= RECURS_ALONE_MIN) {
                longer.extend(children.iter().map(|(child, _)| (*child).to_owned()));
                open.extend(children);
            }
        }
        let rejected: HashSet<String> = self
            .first
            .iter()
            .filter(|(name, uses)| uses.messages <= 1 && is_part_of_notice(name))
            .map(|(name, _)| name.clone())
            .collect();
        let mut people: HashSet<String> = self
            .first
            .iter()
            .filter(|(name, uses)| uses.messages > 0 && !rejected.contains(*name))
            .map(|(name, _)| name.clone())
            .collect();
        for name in &longer {
            if let Some(parent) = parent(name) {
                people.remove(parent);
            }
        }
        people.extend(longer.iter().cloned());
        Names { longer, rejected, people: people.len() }
    }
}

fn parent(name: &str) -> Option<&str> {
    name.rsplit_once(": ").map(|(parent, _)| parent)
}

/// Whether this is the first half of one of the app's own lines that happens to hold a colon.
pub(super) fn is_part_of_notice(name: &str) -> bool {
    let open = |opening: char, closing: char| {
        name.matches(opening).count() > name.matches(closing).count()
    };
    let quoted = name.matches('"').count() % 2 == 1
        || open('“', '”')
        || open('„', '“')
        || open('«', '»')
        || open('「', '」');
    quoted || system::notice(name).is_some()
}

/// The names of a file.
#[derive(Debug, Default)]
pub(super) struct Names {
    longer: HashSet<String>,
    rejected: HashSet<String>,
    people: usize,
}

impl Names {
    /// How many people write.
    pub(super) fn people(&self) -> usize {
        self.people
    }

    /// Parts a line into a name and a text; `None` for a line of the app itself.
    pub(super) fn split<'a>(&self, body: &'a str) -> Option<(String, &'a str)> {
        let mut chosen = None;
        for (name, text) in splits(body) {
            let name = clean(name);
            if chosen.is_none() {
                if self.rejected.contains(&name) {
                    return None;
                }
                chosen = Some((name, text));
                if self.longer.is_empty() {
                    break;
                }
            } else if self.longer.contains(&name) {
                chosen = Some((name, text));
            }
        }
        chosen
    }
}

/// A name without marks and spaces around it.
pub(super) fn clean(name: &str) -> String {
    words::trim(&words::without_marks(name)).to_owned()
}

/// The name to show: people who are in nobody's address book have a tilde before theirs.
pub(super) fn shown(name: &str) -> &str {
    name.strip_prefix('~').map_or(name, words::trim)
}

/// A telephone number, as `+` and digits, where a name is nothing else.
pub(super) fn phone(name: &str) -> Option<String> {
    let rest = name.strip_prefix('+')?;
    let mut number = String::from("+");
    for character in rest.chars() {
        if let Some(value) = words::digit(character) {
            number.push(char::from_digit(value, 10)?);
        } else if !(character.is_whitespace() || matches!(character, '-' | '‑' | '(' | ')' | '.'))
        {
            return None;
        }
    }
    (8..=16).contains(&number.len()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(lines: &[&str]) -> Names {
        let mut tally = NameTally::default();
        for line in lines {
            tally.add(line, Voice::Person);
        }
        tally.decide()
    }

    #[test]
    fn a_text_may_hold_a_colon() {
        let names = names(&["Anna: note: milk", "Anna: hello", "Ben: note: bread"]);
        assert_eq!(names.split("Anna: note: milk").unwrap(), ("Anna".to_owned(), "note: milk"));
        assert_eq!(names.people(), 2);
    }

    #[test]
    fn a_name_that_comes_again_may_hold_a_colon() {
        let lines = [
            "Work: Anna: a",
            "Work: Anna: b: c",
            "Work: Ben: d",
            "Work: Anna: e",
            "Work: Ben: f",
            "Work: Ben: g",
        ];
        let names = names(&lines);
        assert_eq!(names.split("Work: Anna: b: c").unwrap(), ("Work: Anna".to_owned(), "b: c"));
        assert_eq!(names.people(), 2);
    }

    #[test]
    fn a_habit_is_no_name() {
        let names = names(&["Anna: todo: milk", "Anna: todo: bread", "Anna: todo: tea", "Ben: ok"]);
        assert_eq!(names.split("Anna: todo: tea").unwrap(), ("Anna".to_owned(), "todo: tea"));
    }

    #[test]
    fn a_notice_that_holds_a_colon_has_no_sender() {
        let line = "Anna created group \"Work: 2024\"";
        assert_eq!(names(&[line, "Anna: hello"]).split(line), None);
    }

    #[test]
    fn a_telephone_number_is_digits_however_it_is_written() {
        assert_eq!(phone("+49 151 1234-5678").unwrap(), "+4915112345678");
        assert_eq!(phone("+1 (555) 010-9999").unwrap(), "+15550109999");
        assert_eq!(phone("+٩٦٦ ٥٠ ١٢٣ ٤٥٦٧").unwrap(), "+966501234567");
        assert_eq!(phone("+1 to that"), None);
        assert_eq!(phone("Anna"), None);
        assert_eq!(clean("\u{202a}+49 151 12345678\u{202c}"), "+49 151 12345678");
    }
}
