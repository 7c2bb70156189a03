//! Two versions of a file, as the lines in which they differ.

use crate::output;
use crate::paint::Paint;

/// Lines around a change.
const CONTEXT_LINES: usize = 3;
/// Beyond this many pairs of lines the middle is shown as replaced whole.
const PAIRS_MAX: usize = 4_000_000;
/// A line is shown so far.
const LINE_CHARS_MAX: usize = 160;
/// Names whose values are nobody's business, not even beside a change.
const SECRET_NAMES: [&str; 6] = ["token", "secret", "password", "key", "authorization", "bearer"];

/// How much of a line is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// Not endless, and without the values of secrets: it is a file that holds other things too.
    Short,
    /// All of it: somebody decides about exactly this.
    Whole,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Same,
    Gone,
    New,
}

/// A unified diff; empty when nothing differs.
pub(super) fn unified(
    name: &str,
    before: &str,
    after: &str,
    paint: Paint,
    lines_shown: Lines,
) -> String {
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let lines = compare(&old, &new);
    let mut text = String::new();
    let (mut old_at, mut new_at) = (0, 0);
    let mut shown_to = 0;
    let is_near = |index: usize| {
        let from = index.saturating_sub(CONTEXT_LINES);
        let to = (index + CONTEXT_LINES + 1).min(lines.len());
        lines.get(from..to).unwrap_or_default().iter().any(|(sign, _)| *sign != Sign::Same)
    };
    for (index, (sign, line)) in lines.iter().enumerate() {
        if is_near(index) {
            if text.is_empty() {
                let head = paint.strong(&["--- ", name, "\n+++ ", name].concat());
                text.push_str(&head);
                text.push('\n');
            }
            if shown_to != index || index == 0 {
                let hunk = format!("@@ -{} +{} @@", old_at + 1, new_at + 1);
                text.push_str(&paint.place(&hunk));
                text.push('\n');
            }
            shown_to = index + 1;
            let line = match lines_shown {
                Lines::Short => shown(line),
                Lines::Whole => output::safe(line),
            };
            text.push_str(&match sign {
                Sign::Same => [" ", &line].concat(),
                Sign::Gone => paint.bad(&["-", &line].concat()),
                Sign::New => paint.good(&["+", &line].concat()),
            });
            text.push('\n');
        }
        old_at += usize::from(*sign != Sign::New);
        new_at += usize::from(*sign != Sign::Gone);
    }
    text
}

/// Every line of both, in order, and where it comes from.
fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Sign, &'a str)> {
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) =
        (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    let old_middle = old_rest.get(..old_rest.len() - tail).unwrap_or_default();
    let new_middle = new_rest.get(..new_rest.len() - tail).unwrap_or_default();
    let signed = |sign: Sign| move |line: &&'a str| (sign, *line);
    let mut lines: Vec<(Sign, &str)> = old.iter().take(head).map(signed(Sign::Same)).collect();
    if old_middle.len().saturating_mul(new_middle.len()) > PAIRS_MAX {
        lines.extend(old_middle.iter().map(signed(Sign::Gone)));
        lines.extend(new_middle.iter().map(signed(Sign::New)));
    } else {
        lines.extend(middle(old_middle, new_middle));
    }
    lines.extend(old_rest.iter().skip(old_middle.len()).map(signed(Sign::Same)));
    lines
}

/// The longest common subsequence, by the table that everybody knows.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Sign, &'a str)> {
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    let at = |common: &[u32], row: usize, column: usize| {
        common.get(row * width + column).copied().unwrap_or(0)
    };
    for (row, left) in old.iter().enumerate().rev() {
        for (column, right) in new.iter().enumerate().rev() {
            let length = if left == right {
                at(&common, row + 1, column + 1) + 1
            } else {
                at(&common, row + 1, column).max(at(&common, row, column + 1))
            };
            if let Some(cell) = common.get_mut(row * width + column) {
                *cell = length;
            }
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut lines = Vec::with_capacity(old.len() + new.len());
    loop {
        match (old.get(row), new.get(column)) {
            (Some(left), Some(right)) if left == right => {
                lines.push((Sign::Same, *left));
                row += 1;
                column += 1;
            }
            (Some(left), right)
                if right.is_none()
                    || at(&common, row + 1, column) >= at(&common, row, column + 1) =>
            {
                lines.push((Sign::Gone, *left));
                row += 1;
            }
            (_, Some(right)) => {
                lines.push((Sign::New, *right));
                column += 1;
            }
            (_, None) => return lines,
        }
    }
}

/// A line as it may be shown: harmless, not endless, and without secrets.
fn shown(line: &str) -> String {
    let line = output::safe(&masked(line)).replace('\t', "    ");
    if line.chars().count() <= LINE_CHARS_MAX {
        return line;
    }
    line.chars().take(LINE_CHARS_MAX).chain(['…']).collect()
}

/// Hides the value of a line whose name sounds like a secret's: `"api_key": "***"`.
fn masked(line: &str) -> String {
    let Some(at) = line.find([':', '=']) else { return line.to_owned() };
    let (name, rest) = line.split_at(at);
    let lower = name.to_ascii_lowercase();
    // A list of variables' names, such as ours, holds no value.
    let is_list = rest.trim_start_matches([':', '=', ' ']).starts_with('[');
    if is_list || !SECRET_NAMES.iter().any(|secret| lower.contains(secret)) {
        return line.to_owned();
    }
    let (Some(open), Some(close)) = (rest.find('"'), rest.rfind('"')) else {
        return line.to_owned();
    };
    if open == close {
        return line.to_owned();
    }
    let head = rest.get(..=open).unwrap_or_default();
    let tail = rest.get(close..).unwrap_or_default();
    format!("{name}{head}***{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown_with_a_little_around_it() {
        let before: Vec<String> = (1..=30).map(|n| format!("line {n}\n")).collect();
        let before = before.concat();
        let after = before.replace("line 5\n", "five\nand a half\n").replace("line 25\n", "");
        insta::assert_snapshot!(unified("a file", &before, &after, Paint::plain(), Lines::Short), @r"
        --- a file
        +++ a file
        @@ -2 +2 @@
         line 2
         line 3
         line 4
        -line 5
        +five
        +and a half
         line 6
         line 7
         line 8
        @@ -22 +23 @@
         line 22
         line 23
         line 24
        -line 25
         line 26
         line 27
         line 28
        ");
        assert_eq!(unified("a file", &before, &before, Paint::plain(), Lines::Short), "");
    }

    #[test]
    fn a_new_file_is_all_new() {
        let shown = unified("f", "", "a\nb\n", Paint::plain(), Lines::Short);
        assert_eq!(shown, "--- f\n+++ f\n@@ -1 +1 @@\n+a\n+b\n");
    }

    #[test]
    fn neighbours_keep_their_secrets() {
        let after = "\"API_KEY\": \"sk-123\",\nOPENAI_TOKEN = \"sk-456\"\nnew\nenv_vars = [\"A_TOKEN\"]\n\x1b[2J\n";
        let shown = unified("f", "", after, Paint::plain(), Lines::Short);
        assert!(!shown.contains("sk-") && !shown.contains('\x1b'), "{shown}");
        assert!(shown.contains("+\"API_KEY\": \"***\",") && shown.contains("A_TOKEN"), "{shown}");
    }
}
