//! One line of output, and where it may be broken.

use std::rc::Rc;

/// A line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// What stands in front of it: marks of quotes and lists.
    pub(super) prefix: String,
    /// What stands in front of its rest, where it is broken.
    pub(super) rest_prefix: String,
    /// The line itself.
    pub(super) text: String,
    /// Where it may be broken, in order.
    pub(super) cuts: Vec<Cut>,
    /// The block it is part of, where that has to be ended and begun again around a break.
    pub(super) fence: Option<Rc<Fence>>,
    /// Whether it begins such a block.
    pub(super) opens: bool,
}

/// A place where a line may be broken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Bytes of text before it.
    pub(super) at: usize,
    /// How well it suits; less is better.
    pub(super) rank: u8,
}

/// What ends a block before a break, and begins it again behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fence {
    pub(super) open: String,
    pub(super) close: String,
}

impl Line {
    /// Adds something that is not broken inside; `depth` says how much markup is open around it.
    pub(super) fn atom(&mut self, text: &str, depth: usize) {
        self.text.push_str(text);
        let rank = match (depth, text.ends_with(char::is_whitespace)) {
            (0, true) => 0,
            (0, false) => 1,
            (_, true) => 2,
            (_, false) => 3,
        };
        self.cuts.push(Cut { at: self.text.len(), rank });
    }

    /// Adds markup that belongs to what comes next.
    pub(super) fn glue(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The whole of it.
    pub(super) fn whole(&self) -> String {
        if self.text.is_empty() {
            return self.prefix.trim_end().to_owned();
        }
        format!("{}{}", self.prefix, self.text)
    }

    /// Breaks it so that the first piece has at most so many units.
    pub(super) fn broken(&self, units_max: usize) -> (Self, Self) {
        let room = units_max.saturating_sub(units(&self.prefix));
        let at = self.break_at(room);
        let (head, tail) = self.text.split_at(at);
        let shifted = |cut: &Cut| Some(Cut { at: cut.at.checked_sub(at)?, rank: cut.rank });
        let first = Self { text: head.to_owned(), cuts: Vec::new(), ..self.clone() };
        let rest = Self {
            prefix: self.rest_prefix.clone(),
            text: tail.to_owned(),
            cuts: self.cuts.iter().filter_map(shifted).filter(|cut| cut.at > 0).collect(),
            opens: false,
            ..self.clone()
        };
        (first, rest)
    }

    /// The best place within the room: not in the first half of it, unless there is no other.
    fn break_at(&self, room: usize) -> usize {
        if units(&self.text) <= room {
            return self.text.len();
        }
        let (mut used, mut last) = (0, 0);
        let (mut early, mut late): (Option<Cut>, Option<Cut>) = (None, None);
        for cut in &self.cuts {
            used += units(self.text.get(last..cut.at).unwrap_or_default());
            last = cut.at;
            if used > room {
                break;
            }
            let best = if used <= room / 2 { &mut early } else { &mut late };
            if best.is_none_or(|best| cut.rank <= best.rank) {
                *best = Some(*cut);
            }
        }
        late.or(early).map_or_else(|| forced(&self.text, room), |cut| cut.at)
    }
}

/// Where a text that has no place to be broken is broken: at least one sign goes.
fn forced(text: &str, room: usize) -> usize {
    let mut used = 0;
    for (at, sign) in text.char_indices() {
        used += sign.len_utf16();
        if used > room && at > 0 {
            return at;
        }
    }
    text.len()
}

/// The length of a text as services count it, at most: some count code points, others these.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}
