//! The generated reference says what the program says of itself today.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::tree::Tree;
use crate::violation::Violation;

/// The page that shows whether there is a generated reference.
const REFERENCE: &str = "docs/reference/operations.md";

/// Finds a reference that the program would write differently.
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    if tree.file(REFERENCE).is_none() || docs_fresh(&tree.root)? {
        return Ok(Vec::new());
    }
    let what = "the generated reference is stale, \
                run `cargo run -p waystation -- reference`";
    Ok(vec![Violation::new(REFERENCE, 1, what)])
}

/// Asks the program whether its reference is up to date. Its own words go to the error stream.
fn docs_fresh(root: &Path) -> anyhow::Result<bool> {
    let status = Command::new("cargo")
        .args(["run", "--quiet", "--package", "waystation", "--", "reference", "--check"])
        .current_dir(root)
        .stdout(std::io::stderr())
        .status()
        .context("cannot run cargo")?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_reference_there_is_nothing_to_check() {
        assert_eq!(check(&Tree::of(&[("README.md", "")])).unwrap(), []);
    }
}
