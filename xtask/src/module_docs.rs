//! A folder of code begins with what it is for.

use crate::tree::Tree;
use crate::violation::Violation;

/// Finds `lib.rs` and `mod.rs` files that do not begin with a module comment.
#[expect(clippy::unnecessary_wraps, reason = "every check has one shape")]
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    let what = "the module says nothing of itself, begin with a `//!` sentence on what it is for";
    let roots = tree
        .rust_files()
        .filter(|file| matches!(file.path.rsplit('/').next(), Some("lib.rs" | "mod.rs")));
    let silent = roots.filter(|file| !file.text.starts_with("//!"));
    Ok(silent.map(|file| Violation::new(&file.path, 1, what)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::lines;

    #[test]
    fn a_silent_folder_is_found() {
        let tree = Tree::of(&[
            ("a/src/lib.rs", "//! Says it.\n"),
            ("a/src/b/mod.rs", "mod c;\n"),
            ("a/src/b/c.rs", "fn c() {}\n"),
        ]);
        let found = lines(&check(&tree).unwrap());
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a/src/b/mod.rs:1: "), "{found:?}");
    }
}
