//! Splitting a text into parts that a service takes, at the ends of blocks where that is possible.

use std::rc::Rc;

use super::Rendered;
use super::line::{Fence, Line, units};

/// Splits a text into parts of at most so many units. There is at least one part.
pub(crate) fn split(blocks: &Rendered, units_max: usize) -> Vec<String> {
    let mut packer = Packer { units_max, ..Packer::default() };
    for block in blocks {
        packer.block(block);
    }
    packer.flush();
    if packer.parts.is_empty() {
        packer.parts.push(String::new());
    }
    packer.parts
}

#[derive(Default)]
struct Packer {
    units_max: usize,
    parts: Vec<String>,
    part: String,
    used: usize,
    /// The block that the part ends in the midst of.
    fence: Option<Rc<Fence>>,
}

impl Packer {
    fn block(&mut self, lines: &[Line]) {
        let size: usize = lines.iter().map(|line| units(&line.whole()) + 1).sum();
        if self.used > 0 && self.used + 2 + size > self.units_max && size <= self.units_max {
            self.flush();
        }
        let mut separator = "\n\n";
        for (index, line) in lines.iter().enumerate() {
            // What begins a block does not stand alone at the end of a part.
            let next = lines.get(index + 1).filter(|_| line.opens);
            let ahead = next.map_or(0, |next| units(&next.whole()).min(self.units_max / 4));
            self.line(line.clone(), separator, ahead);
            separator = "\n";
        }
        self.fence = None;
    }

    fn line(&mut self, line: Line, separator: &str, ahead: usize) {
        let mut line = line;
        let mut separator = separator;
        // Every round ends a part or takes at least one sign away.
        loop {
            let reserve = line.fence.as_ref().map_or(0, |fence| closing(fence)) + ahead;
            let gap = if self.used == 0 { 0 } else { units(separator) };
            if self.used + gap + units(&line.whole()) + reserve <= self.units_max {
                self.push(&line, separator);
                return;
            }
            if self.used > 0 && !self.is_just_begun() {
                self.break_off(&line);
                separator = "\n";
                continue;
            }
            let room = self.units_max.saturating_sub(self.used + gap + reserve);
            let (first, rest) = line.broken(room);
            if rest.text.is_empty() {
                self.push(&first, separator);
                return;
            }
            self.push(&first, separator);
            self.break_off(&rest);
            line = rest;
            separator = "\n";
        }
    }

    /// Whether nothing but the beginning of a block stands in the part.
    fn is_just_begun(&self) -> bool {
        self.fence.as_ref().is_some_and(|fence| self.part == fence.open)
    }

    fn push(&mut self, line: &Line, separator: &str) {
        if self.used > 0 {
            self.part.push_str(separator);
            self.used += units(separator);
        }
        let whole = line.whole();
        self.used += units(&whole);
        self.part.push_str(&whole);
        self.fence.clone_from(&line.fence);
    }

    /// Ends the part before this line, and begins the next one as the line needs it.
    fn break_off(&mut self, line: &Line) {
        self.flush();
        if let Some(fence) = &line.fence {
            self.part.clone_from(&fence.open);
            self.used = units(&fence.open);
            self.fence = Some(Rc::clone(fence));
        }
    }

    fn flush(&mut self) {
        if let Some(fence) = self.fence.take()
            && !fence.close.is_empty()
        {
            self.part.push('\n');
            self.part.push_str(&fence.close);
        }
        if !self.part.is_empty() {
            self.parts.push(std::mem::take(&mut self.part));
        }
        self.used = 0;
    }
}

fn closing(fence: &Fence) -> usize {
    if fence.close.is_empty() { 0 } else { units(&fence.close) + 1 }
}
