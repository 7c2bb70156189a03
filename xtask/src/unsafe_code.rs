//! `unsafe` stands in `supervisor` alone, where terminals need it.

use crate::lexer::has_word;
use crate::tree::Tree;
use crate::violation::Violation;

/// The one crate that may.
const HOME: [&str; 1] = ["crates/supervisor/"];

/// Finds `unsafe` anywhere else, tests included.
#[expect(clippy::unnecessary_wraps, reason = "every check has one shape")]
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    let what = "`unsafe` outside the supervisor, find a safe way or move it to crates/supervisor";
    let mut violations = Vec::new();
    for file in tree.rust_files().filter(|file| !file.is_in(&HOME)) {
        for (number, line) in (1..).zip(file.parts().lines) {
            if has_word(&line.code, "unsafe") {
                violations.push(Violation::new(&file.path, number, what));
            }
        }
    }
    Ok(violations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::lines;

    #[test]
    fn unsafe_code_outside_the_supervisor_is_found() {
        let source = "#![forbid(unsafe_code)]\n// unsafe\nlet a = \"unsafe\";\nunsafe { b() };\n";
        let tree = Tree::of(&[("crates/hub/src/a.rs", source), ("crates/supervisor/a.rs", source)]);
        let found = lines(&check(&tree).unwrap());
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/hub/src/a.rs:4: "), "{found:?}");
    }
}
