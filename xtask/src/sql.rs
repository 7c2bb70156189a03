//! SQL text stands in `store` alone, so that both engines run the same statements.

use crate::tree::Tree;
use crate::violation::Violation;

/// Where SQL may stand: the store and its tests, the tests of the log's layer, of throw-away databases
/// and those that tamper with one, the programs we measure ourselves against, and this check.
const HOMES: [&str; 10] = [
    "crates/store/",
    "crates/logfile/tests/",
    "crates/testkit/tests/",
    "crates/hub/tests/audit/",
    "crates/hub/tests/it/tamper.rs",
    "crates/hub/tests/it/wake_policy.rs",
    "crates/hub/tests/tools/rights.rs",
    "crates/waystation/tests/it/audit.rs",
    "bench/",
    "xtask/",
];

/// How statements begin. The house writes keywords in upper case, so prose is safe.
const BEGINNINGS: [&str; 4] = ["SELECT ", "INSERT INTO ", "DELETE FROM ", "CREATE TABLE "];

/// Finds SQL outside the store.
#[expect(clippy::unnecessary_wraps, reason = "every check has one shape")]
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for file in tree.files.iter().filter(|file| !file.is_in(&HOMES)) {
        if file.extension() == "sql" {
            let what = "a file of SQL outside the store, move it to crates/store";
            violations.push(Violation::new(&file.path, 1, what));
        } else if file.extension() == "rs" {
            let what = "SQL outside the store, give crates/store a method for it";
            let statements =
                file.parts().literals.into_iter().filter(|literal| is_statement(&literal.text));
            violations.extend(statements.map(|found| Violation::new(&file.path, found.line, what)));
        }
    }
    Ok(violations)
}

fn is_statement(text: &str) -> bool {
    let updates = text.split_once("UPDATE ").is_some_and(|(_, after)| after.contains("SET "));
    updates || BEGINNINGS.iter().any(|beginning| text.contains(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::lines;

    #[test]
    fn a_statement_outside_the_store_is_found() {
        let source = "// SELECT in a comment is fine.\nlet a = \"UPDATE threads\n  SET x = 1\";\n\
                      let b = \"WITH t AS (SELECT 1)\";\n";
        let tree = Tree::of(&[
            ("crates/hub/src/a.rs", source),
            ("crates/store/src/a.rs", source),
            ("crates/hub/schema.sql", ""),
        ]);
        let what = "SQL outside the store, give crates/store a method for it";
        assert_eq!(
            lines(&check(&tree).unwrap()),
            [
                format!("crates/hub/src/a.rs:2: {what}"),
                format!("crates/hub/src/a.rs:4: {what}"),
                "crates/hub/schema.sql:1: a file of SQL outside the store, move it to crates/store"
                    .to_owned(),
            ]
        );
    }

    #[test]
    fn prose_is_no_statement() {
        for text in ["select a thread", "UPDATE the page", "SELECTED", "please update and set x"] {
            assert!(!is_statement(text), "{text}");
        }
    }
}
