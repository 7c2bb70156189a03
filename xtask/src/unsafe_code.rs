//! `unsafe` stands where the kernel or SQLite has no safe name for something: in `supervisor`, which
//! leaves terminals, and in `logfile`, which stands between SQLite and its log.

use crate::lexer::has_word;
use crate::tree::Tree;
use crate::violation::Violation;

/// The crates that may.
const HOMES: [&str; 2] = ["crates/logfile/", "crates/supervisor/"];

/// Finds `unsafe` anywhere else, tests included.
#[expect(clippy::unnecessary_wraps, reason = "every check has one shape")]
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    let what = "`unsafe` outside its two crates, find a safe way";
    let mut violations = Vec::new();
    for file in tree.rust_files().filter(|file| !file.is_in(&HOMES)) {
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
    fn unsafe_code_outside_its_crates_is_found() {
        let source = "#![forbid(unsafe_code)]\n// unsafe\nlet a = \"unsafe\";\nunsafe { b() };\n";
        let tree = Tree::of(&[("crates/hub/src/a.rs", source), ("crates/supervisor/a.rs", source)]);
        let found = lines(&check(&tree).unwrap());
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/hub/src/a.rs:4: "), "{found:?}");
    }
}
