//! The drawing of the crates in ARCHITECTURE.md is the graph cargo builds, arrow by arrow.
//!
//! The drawing is a fenced block marked `crates`, with a line such as `hub -> store protocol`
//! for each crate; a crate that needs none of ours has no arrow. A package `waystation-hub` is
//! drawn as `hub`. What only tests need is not drawn.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Tree;
use crate::violation::Violation;

const DRAWING: &str = "ARCHITECTURE.md";

/// One crate of the drawing.
struct Drawn<'a> {
    line: usize,
    needs: BTreeSet<&'a str>,
}

/// Finds arrows that only the drawing or only cargo has.
#[expect(clippy::unnecessary_wraps, reason = "every check has one shape")]
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    let text = tree.file(DRAWING).map_or("", |file| file.text.as_str());
    let Some((start, drawn)) = parse(text) else {
        let what = "no drawing of the crates, add a block fenced with ```crates";
        return Ok(vec![Violation::new(DRAWING, 1, what)]);
    };
    let actual = actual(tree);
    let mut violations = Vec::new();
    for (name, needs) in &actual {
        let at = drawn.get(name).map_or(start, |drawn| drawn.line);
        if !drawn.contains_key(name) {
            let what = format!("the drawing lacks the crate {name}, add its line");
            violations.push(Violation::new(DRAWING, at, what));
        }
        let nothing = BTreeSet::new();
        for need in needs.difference(drawn.get(name).map_or(&nothing, |drawn| &drawn.needs)) {
            let what = format!(
                "the drawing lacks {name} -> {need}, draw the arrow or drop the dependency"
            );
            violations.push(Violation::new(DRAWING, at, what));
        }
    }
    for (name, Drawn { line, needs }) in &drawn {
        let Some(real) = actual.get(name) else {
            let what = format!("there is no crate {name}, remove its line");
            violations.push(Violation::new(DRAWING, *line, what));
            continue;
        };
        for need in needs.difference(real) {
            let what = format!("{name} does not depend on {need}, remove the arrow");
            violations.push(Violation::new(DRAWING, *line, what));
        }
    }
    Ok(violations)
}

fn actual(tree: &Tree) -> BTreeMap<&str, BTreeSet<&str>> {
    let ours: BTreeSet<&str> = tree.packages.iter().map(|package| package.name.as_str()).collect();
    let needs = |dependencies: &'_ [String]| {
        let mut needs = BTreeSet::new();
        for name in &ours {
            if dependencies.iter().any(|dependency| dependency == name) {
                needs.insert(drawn_name(name));
            }
        }
        needs
    };
    let packages = tree.packages.iter();
    packages.map(|package| (drawn_name(&package.name), needs(&package.dependencies))).collect()
}

fn drawn_name(package: &str) -> &str {
    package.strip_prefix("waystation-").unwrap_or(package)
}

/// The line the drawing begins on, and its crates; `None` when there is no drawing.
fn parse(text: &str) -> Option<(usize, BTreeMap<&str, Drawn<'_>>)> {
    let mut lines = (1..).zip(text.lines().map(str::trim));
    let (start, _) = lines.find(|(_, line)| *line == "```crates")?;
    let block = lines.take_while(|(_, line)| *line != "```").filter(|(_, line)| !line.is_empty());
    let crates = block.map(|(line, entry)| {
        let (name, needs) = entry.split_once("->").unwrap_or((entry, ""));
        (name.trim(), Drawn { line, needs: needs.split_whitespace().collect() })
    });
    Some((start, crates.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::lines;

    fn tree(drawing: &str) -> Tree {
        Tree::of(&[(DRAWING, drawing)])
            .with_package("waystation-hub", "hub/Cargo.toml", &["serde", "waystation-store"])
            .with_package("waystation-store", "store/Cargo.toml", &["serde"])
    }

    #[test]
    fn a_true_drawing_passes() {
        let drawing = "# Crates\n```crates\nhub -> store\n\nstore\n```\nhub -> nothing\n";
        assert_eq!(check(&tree(drawing)).unwrap(), []);
    }

    #[test]
    fn a_missing_drawing_is_found() {
        let found = lines(&check(&tree("hub -> store")).unwrap());
        let what = "no drawing of the crates, add a block fenced with ```crates";
        assert_eq!(found, [format!("ARCHITECTURE.md:1: {what}")]);
    }

    #[test]
    fn every_difference_is_found_at_its_line() {
        let found = lines(&check(&tree("```crates\nstore -> hub\nedge\n```")).unwrap());
        assert_eq!(
            found,
            [
                "ARCHITECTURE.md:1: the drawing lacks the crate hub, add its line",
                "ARCHITECTURE.md:1: the drawing lacks hub -> store, \
                 draw the arrow or drop the dependency",
                "ARCHITECTURE.md:3: there is no crate edge, remove its line",
                "ARCHITECTURE.md:2: store does not depend on hub, remove the arrow",
            ]
        );
    }
}
