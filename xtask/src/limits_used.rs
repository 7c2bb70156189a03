//! A maximum that nothing keeps to, or proves, is no maximum.

use std::collections::HashMap;

use crate::tree::Tree;
use crate::violation::Violation;

/// Where every maximum is stated.
const HOME: &str = "crates/protocol/src/limits/";

/// Finds limits that no code names.
#[expect(clippy::unnecessary_wraps, reason = "every check has one shape")]
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    let mut mentions: HashMap<String, usize> = HashMap::new();
    let mut limits = Vec::new();
    for file in tree.rust_files() {
        for (number, line) in (1..).zip(&file.parts().lines) {
            let words = line.code.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
            for word in words.filter(|word| word.len() > 1 && *word == word.to_uppercase()) {
                *mentions.entry(word.to_owned()).or_default() += 1;
            }
            let stated = line.code.trim_start().strip_prefix("pub const ");
            if let Some((name, _)) = stated.and_then(|rest| rest.split_once(':'))
                && file.path.starts_with(HOME)
            {
                limits.push((name.to_owned(), file.path.clone(), number));
            }
        }
    }
    let unused = limits.into_iter().filter(|(name, ..)| mentions.get(name) == Some(&1));
    let what = "a limit that nothing keeps to, use it or delete it";
    Ok(unused.map(|(_, path, number)| Violation::new(&path, number, what)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::lines;

    #[test]
    fn a_limit_that_only_comments_name_is_found() {
        let tree = Tree::of(&[
            (
                "crates/protocol/src/limits/mod.rs",
                "pub const A_MAX: u8 = 1;\npub const B_MAX: u8 = A_MAX;\npub const C_MAX: u8 = 1;\n",
            ),
            ("crates/hub/src/a.rs", "// B_MAX\nconst D_MAX: u8 = 1;\n"),
            ("crates/hub/tests/it/a.rs", "use C_MAX;\n"),
        ]);
        let what = "a limit that nothing keeps to, use it or delete it";
        assert_eq!(
            lines(&check(&tree).unwrap()),
            [format!("crates/protocol/src/limits/mod.rs:2: {what}")]
        );
    }
}
