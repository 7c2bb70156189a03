//! The session layer: what was said, one line a turn, in at most so many bytes.
//!
//! What is longer is summarised by quoting: the last two turns and what humans decided always stay, then
//! the sentences that say most, in their order. Addresses and ids that a decision names survive. Where a
//! model has written points about the older turns, they stand first, and what was said since follows.

use std::collections::BTreeMap;

use protocol::limits::session::SESSION_TAIL_BYTES_MIN;
use protocol::limits::tools as limits;

use super::material::Turn;
use crate::relay::prose::{Candidate, choose, head, is_decision, references, sentences};
use crate::threads::one_line;

/// Turns at the end that always stay.
const LAST: usize = 2;
/// What one sentence may come to, in bytes.
const SENTENCE_BYTES_MAX: usize = 280;
/// What one name may come to, in bytes.
const NAME_BYTES_MAX: usize = 60;
/// What stands before what decisions name and no quoted sentence holds.
const NAMED: &str = "named in decisions: ";

/// Every turn, one line each.
pub(super) fn whole(turns: &[Turn]) -> String {
    let lines: Vec<String> =
        turns.iter().map(|turn| line(turn, limits::CONTEXT_TURN_SCAN_BYTES_MAX)).collect();
    lines.join("\n")
}

/// One turn as a line, with at most so many bytes of what it says.
pub(super) fn line(turn: &Turn, bytes_max: usize) -> String {
    format!("{}{}", label(turn), one_line(&turn.text, bytes_max))
}

/// A layer that begins with a model's points.
pub(super) struct Pointed {
    /// What it says.
    pub(super) text: String,
    /// Whether everything said since is in it, not only what says most.
    pub(super) is_whole: bool,
}

/// A model's points of the turns up to a number, and then what was said since, in at most so many bytes.
/// The last turns and what humans decided stay in their own words. `None` when there is no room for it.
pub(super) fn with_points(
    points: &str,
    through_seq: i64,
    turns: &[Turn],
    bytes_max: usize,
) -> Option<Pointed> {
    let last = turns.len().saturating_sub(LAST);
    let own = turns
        .iter()
        .enumerate()
        .filter(|(index, turn)| turn.seq > through_seq || turn.is_approval || *index >= last);
    let own: Vec<Turn> = own.map(|(_, turn)| turn.clone()).collect();
    let room = bytes_max.checked_sub(points.len() + 1)?;
    if room < SESSION_TAIL_BYTES_MIN {
        return None;
    }
    let lines = whole(&own);
    let is_whole = lines.len() <= room;
    let lines = if is_whole { lines } else { summarise(&own, room) };
    let mut text = format!("{points}\n{lines}");
    let named = named_in_decisions(turns, bytes_max / 2);
    let there = references(&text);
    let missing: Vec<String> =
        named.into_iter().filter(|named| !there.contains(&named.as_str())).collect();
    if !missing.is_empty() {
        text.push('\n');
        text.push_str(&line_of(&missing));
    }
    (text.len() <= bytes_max).then_some(Pointed { text, is_whole })
}

/// The turns without lines that only repeat, as a quotation, what an earlier turn said.
pub(super) fn without_repeats(turns: &[Turn]) -> Vec<Turn> {
    let mut said = String::new();
    let mut kept = Vec::with_capacity(turns.len());
    for turn in turns {
        let is_repeat = |line: &str| {
            let quoted = line.trim_start().strip_prefix('>').map(str::trim);
            quoted.is_some_and(|quoted| quoted.is_empty() || said.contains(quoted))
        };
        let lines: Vec<&str> = turn.text.lines().filter(|line| !is_repeat(line)).collect();
        let text = lines.join("\n");
        said.push_str(head(&turn.text, limits::CONTEXT_TURN_SCAN_BYTES_MAX));
        said.push('\n');
        kept.push(Turn { text, ..turn.clone() });
    }
    kept
}

fn label(turn: &Turn) -> String {
    format!("{} {}: ", turn.speaker.name(), one_line(&turn.sender, NAME_BYTES_MAX))
}

/// A sentence of a turn.
struct Piece {
    turn: usize,
    at: usize,
    text: String,
    bonus: f64,
}

/// What the turns come down to, in at most so many bytes. The same turns give the same summary.
pub(super) fn summarise(turns: &[Turn], bytes_max: usize) -> String {
    let named = named_in_decisions(turns, bytes_max / 2);
    let mut chosen: BTreeMap<(usize, usize), String> = BTreeMap::new();
    let mut room = bytes_max.saturating_sub(line_of(&named).len() + 1);
    keep_mandatory(turns, &mut room, &mut chosen);
    let pieces = pieces(turns, &chosen);
    let candidates: Vec<Candidate<'_>> = pieces
        .iter()
        .map(|piece| Candidate {
            text: &piece.text,
            bonus: piece.bonus,
            // Each might have a line of its own.
            bytes: piece.text.len() + turns.get(piece.turn).map_or(0, |turn| label(turn).len()) + 1,
        })
        .collect();
    for index in choose(&candidates, room) {
        if let Some(piece) = pieces.get(index) {
            chosen.insert((piece.turn, piece.at), piece.text.clone());
        }
    }
    let mut text = render(turns, &chosen);
    let there: Vec<String> = references(&text).into_iter().map(str::to_owned).collect();
    let missing: Vec<String> = named.into_iter().filter(|named| !there.contains(named)).collect();
    let line = line_of(&missing);
    if !line.is_empty() && text.len() + line.len() < bytes_max {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
    }
    head(&text, bytes_max).to_owned()
}

fn line_of(named: &[String]) -> String {
    if named.is_empty() { String::new() } else { format!("{NAMED}{}", named.join(" ")) }
}

/// What decisions name, the newest first, as far as there is room for it.
pub(super) fn named_in_decisions(turns: &[Turn], room: usize) -> Vec<String> {
    let mut named: Vec<String> = Vec::new();
    let mut used = NAMED.len();
    for turn in turns.iter().rev() {
        let text = head(&turn.text, limits::CONTEXT_TURN_SCAN_BYTES_MAX);
        for sentence in sentences(text).into_iter().filter(|s| turn.is_approval || is_decision(s)) {
            let line = one_line(sentence, limits::CONTEXT_TURN_SCAN_BYTES_MAX);
            for reference in references(&line) {
                let is_known = named.iter().any(|known| known == reference);
                if !is_known && used + reference.len() < room {
                    used += reference.len() + 1;
                    named.push(reference.to_owned());
                }
            }
        }
    }
    named
}

/// The last turns, and then what humans decided, the newest first.
fn keep_mandatory(turns: &[Turn], room: &mut usize, chosen: &mut BTreeMap<(usize, usize), String>) {
    let last = turns.iter().enumerate().rev().take(LAST);
    let approvals = turns.iter().enumerate().rev().skip(LAST).filter(|(_, turn)| turn.is_approval);
    for (index, turn) in last.chain(approvals) {
        let label = label(turn);
        let most = SENTENCE_BYTES_MAX.min(room.saturating_sub(label.len() + 1));
        // A few letters would say nothing.
        if most < 20 {
            break;
        }
        let text = one_line(&turn.text, most);
        *room -= label.len() + text.len() + 1;
        chosen.insert((index, 0), text);
    }
}

/// The sentences of all turns that are not there already.
#[expect(clippy::cast_precision_loss, reason = "there are at most a hundred turns")]
fn pieces(turns: &[Turn], chosen: &BTreeMap<(usize, usize), String>) -> Vec<Piece> {
    let all = turns.len().max(1) as f64;
    let mut pieces = Vec::new();
    for (index, turn) in turns.iter().enumerate() {
        if chosen.contains_key(&(index, 0)) {
            continue;
        }
        let text = head(&turn.text, limits::CONTEXT_TURN_SCAN_BYTES_MAX);
        for (at, sentence) in sentences(text).into_iter().enumerate() {
            let text = one_line(sentence, SENTENCE_BYTES_MAX);
            let first = if at == 0 { 0.15 } else { 0.0 };
            let decision = if is_decision(&text) { 0.5 } else { 0.0 };
            let names = if references(&text).is_empty() { 0.0 } else { 0.25 };
            let recency = 0.2 * (index as f64) / all;
            let bonus = first + decision + names + recency + turn.speaker.weight();
            pieces.push(Piece { turn: index, at: at + 1, text, bonus });
        }
    }
    pieces
}

fn render(turns: &[Turn], chosen: &BTreeMap<(usize, usize), String>) -> String {
    let mut text = String::new();
    let mut last = None;
    for ((index, _), sentence) in chosen {
        if last == Some(index) {
            text.push(' ');
        } else {
            if last.is_some() {
                text.push('\n');
            }
            text.push_str(&turns.get(*index).map(label).unwrap_or_default());
        }
        last = Some(index);
        text.push_str(sentence);
    }
    text
}
