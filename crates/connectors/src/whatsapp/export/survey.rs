//! The first reading of a file: how its dates are written, who writes, and what sort of chat it is.
//!
//! Nothing of this can be known from the beginning of a file alone. What is kept does not grow
//! with the file.

use std::collections::HashMap;

use connector_api::{DayOrder, ImportError};
use protocol::limits::import as limits;

use super::dates::{Order, Tally};
use super::locales;
use super::names::{self, NameTally, Names, Voice};
use super::stamp::{self, Platform, Shape};
use super::system::{self, Notice};
use super::words::OWN_MARK;

/// What the first reading found.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) shape: Shape,
    pub(super) order: Order,
    pub(super) names: Names,
    pub(super) is_group: bool,
    /// The file begins where the chat begins.
    pub(super) is_whole: bool,
    /// The name under which an iPhone writes its notices, which is the chat's.
    pub(super) title: Option<String>,
    people: NameTally,
}

impl Survey {
    /// Whether somebody of this name writes in the chat.
    pub(super) fn is_person(&self, name: &str) -> bool {
        self.people.is_person(name)
    }
}

/// Reads a file for the first time.
#[derive(Debug, Default)]
pub(super) struct Surveyor {
    shapes: Vec<ShapeTally>,
}

impl Surveyor {
    pub(super) fn add(&mut self, line: &str) {
        let Some((stamp, body)) = stamp::read(line) else { return };
        if let Some(tally) = self.shapes.iter_mut().find(|tally| tally.shape == stamp.shape) {
            tally.add(&stamp, body);
        } else if self.shapes.len() < limits::DATE_SHAPES_MAX {
            let mut tally = ShapeTally::new(stamp.shape);
            tally.add(&stamp, body);
            self.shapes.push(tally);
        }
    }

    /// How many lines begin a message, of the shape that most of them have.
    pub(super) fn messages(&self) -> u64 {
        self.shapes.iter().map(|tally| tally.stamps).max().unwrap_or(0)
    }

    pub(super) fn finish(
        self,
        place: &str,
        stated: Option<DayOrder>,
    ) -> Result<Survey, ImportError> {
        let most = self.messages();
        let Some(tally) = self.shapes.into_iter().find(|tally| tally.stamps == most) else {
            return Err(ImportError::Malformed {
                place: place.to_owned(),
                reason: "no line begins with a date and time; expected a chat as WhatsApp exports \
                         it, with lines like \"31/12/2024, 18:30 - Anna: Hello\""
                    .to_owned(),
            });
        };
        tally.finish(place, stated)
    }
}

#[derive(Debug)]
struct ShapeTally {
    shape: Shape,
    stamps: u64,
    dates: Tally,
    names: NameTally,
    languages: HashMap<&'static str, u64>,
    is_group: bool,
    is_whole: bool,
    title: Option<String>,
    example: String,
}

/// How much of the first date is shown to whoever must decide.
const EXAMPLE_CHARACTERS_MAX: usize = 40;

impl ShapeTally {
    fn new(shape: Shape) -> Self {
        Self {
            shape,
            stamps: 0,
            dates: Tally::new(),
            names: NameTally::default(),
            languages: HashMap::new(),
            is_group: false,
            is_whole: false,
            title: None,
            example: String::new(),
        }
    }

    fn add(&mut self, stamp: &stamp::Stamp, body: &str) {
        let is_first = self.stamps == 0;
        self.stamps += 1;
        self.dates.add(stamp);
        if is_first {
            let [first, second, third] = stamp.fields.map(|field| field.value);
            let separator = stamp.shape.separator;
            self.example = format!("{first}{separator}{second}{separator}{third}")
                .chars()
                .take(EXAMPLE_CHARACTERS_MAX)
                .collect();
        }
        // One of the app's own lines may hold a colon, as in the name of a group.
        let split = names::first_split(body)
            .filter(|(name, _)| self.names.knows(name) || !names::is_part_of_notice(name));
        let text = split.map_or(body, |(_, text)| text);
        let found = locales::placeholder(text);
        if let Some(tag) = found.and_then(|found| found.tag) {
            *self.languages.entry(tag).or_default() += 1;
        }
        let is_own = split.is_none() || text.starts_with(OWN_MARK);
        let notice =
            if found.is_none() && (is_own || is_first) { system::notice(text) } else { None };
        if let Some((notice, tag)) = notice {
            self.hear(notice, tag, split.map(|(name, _)| name), is_first);
        }
        let is_notice = matches!(notice, Some((Notice::Encrypted, _)));
        let is_app = is_notice || text.starts_with(OWN_MARK) && !is_sent(text);
        let voice = if is_app { Voice::App } else { Voice::Person };
        self.names.add(body, voice);
    }

    fn hear(&mut self, notice: Notice, tag: &'static str, name: Option<&str>, is_first: bool) {
        *self.languages.entry(tag).or_default() += 1;
        self.is_whole |= is_first && notice.is_beginning();
        self.is_group |= matches!(notice, Notice::Created | Notice::Group);
        if notice == Notice::Encrypted && self.title.is_none() {
            self.title = name.map(names::clean);
        }
    }

    fn finish(self, place: &str, stated: Option<DayOrder>) -> Result<Survey, ImportError> {
        let language =
            self.languages.iter().max_by_key(|(tag, count)| (**count, **tag)).map(|(tag, _)| *tag);
        let order = self.dates.decide(stated, self.shape.separator, language).ok_or_else(|| {
            ImportError::Undecided(format!(
                "{place}: nothing in the file tells whether dates like {} begin with the day or \
                 with the month; say it with --day-order dmy or --day-order mdy",
                self.example
            ))
        })?;
        let names = self.names.decide();
        // An iPhone writes the notices of a group under the group's name.
        let under_group_name = self.shape.platform != Platform::Android
            && names.people() > 1
            && self.title.as_ref().is_some_and(|title| !self.names.is_person(title));
        Ok(Survey {
            shape: self.shape,
            order,
            is_group: self.is_group || names.people() > 2 || under_group_name,
            names,
            is_whole: self.is_whole,
            title: self.title,
            people: self.names,
        })
    }
}

/// Whether a text that the app marked as its own stands for something that a person sent.
fn is_sent(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let phrase = line.rsplit(OWN_MARK).next().unwrap_or_default();
    line.ends_with('>') || line.ends_with(':') || locales::placeholder(phrase).is_some()
}
