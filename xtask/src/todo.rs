//! Work left for later has an issue, or it is not left.

use crate::lexer::has_word;
use crate::tree::{File, Tree};
use crate::violation::Violation;

/// The marks people leave.
const MARKS: [&str; 2] = ["TODO", "FIXME"];

/// Files that people write beside Rust, by the end of their name.
const ENDINGS: [&str; 9] = [".md", ".toml", ".sh", ".py", ".js", ".mjs", ".ts", ".sql", "Makefile"];

/// Finds marks that name no issue.
#[expect(clippy::unnecessary_wraps, reason = "every check has one shape")]
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for file in &tree.files {
        for (number, text) in readable_lines(file) {
            for mark in MARKS.iter().filter(|mark| lacks_issue(&text, mark)) {
                let what = format!("{mark} without an issue, do it now or write TODO(#123)");
                violations.push(Violation::new(&file.path, number, what));
            }
        }
    }
    Ok(violations)
}

/// What people read of a file: the comments of Rust, and all of any other.
fn readable_lines(file: &File) -> Vec<(usize, String)> {
    if file.extension() == "rs" {
        return (1..).zip(file.parts().lines.into_iter().map(|line| line.comment)).collect();
    }
    if !ENDINGS.iter().any(|ending| file.path.ends_with(ending)) {
        return Vec::new();
    }
    file.numbered_lines().map(|(number, line)| (number, without_quotes(line))).collect()
}

/// The line without what stands between backticks, where prose names a mark and leaves none.
fn without_quotes(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

fn lacks_issue(text: &str, mark: &str) -> bool {
    let mut parts = text.split(mark);
    let _before = parts.next();
    has_word(text, mark) && parts.any(|after| !names_issue(after))
}

fn names_issue(after: &str) -> bool {
    let number = after.strip_prefix("(#").and_then(|rest| rest.split_once(')'));
    number.is_some_and(|(digits, _)| digits.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::lines;

    #[test]
    fn a_mark_without_an_issue_is_found() {
        let tree = Tree::of(&[
            ("a.rs", "// TODO: later\nlet a = \"TODO\";\n// TODO(#12): later\n"),
            ("b.md", "A `TODO` needs an issue.\nTODO(soon)\nTODOs\n"),
            ("c.json", "TODO"),
        ]);
        let what = "TODO without an issue, do it now or write TODO(#123)";
        assert_eq!(
            lines(&check(&tree).unwrap()),
            [format!("a.rs:1: {what}"), format!("b.md:2: {what}")]
        );
    }
}
