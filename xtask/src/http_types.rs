//! HTTP servers are known to `edge` alone, so that no rule can depend on how a request came in.

use crate::lexer::has_word;
use crate::tree::{File, Package, Tree};
use crate::violation::Violation;

/// Where an HTTP server may stand: the edge, the fakes that tests talk to, what we measure with,
/// and this check.
const HOMES: [&str; 4] = ["crates/edge/", "crates/testkit/", "bench/", "xtask/"];

/// The crates a server is made of, as `Cargo.toml` names them.
const SERVER_CRATES: [&str; 4] = ["axum", "http", "hyper", "hyper-util"];

/// Those of them whose name is no ordinary word: found in code even when another crate hands
/// them on.
const SERVER_PATHS: [&str; 3] = ["axum", "hyper", "hyper_util"];

/// Finds HTTP servers outside the edge.
#[expect(clippy::unnecessary_wraps, reason = "every check has one shape")]
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for package in &tree.packages {
        if !HOMES.iter().any(|home| package.manifest.starts_with(home)) {
            violations.extend(in_manifest(tree, package));
        }
    }
    for file in tree.rust_files().filter(|file| !file.is_in(&HOMES) && !file.is_test()) {
        for (number, line) in file.parts().lines_before_tests() {
            for path in SERVER_PATHS.iter().filter(|path| has_word(&line.code, path)) {
                let what = format!("`{path}` outside the edge, let crates/edge translate");
                violations.push(Violation::new(&file.path, number, what));
            }
        }
    }
    Ok(violations)
}

fn in_manifest(tree: &Tree, package: &Package) -> Vec<Violation> {
    let manifest = tree.file(&package.manifest);
    let line_of = |name: &str| {
        let is_entry = |line: &str| {
            line.strip_prefix(name).is_some_and(|after| after.starts_with(['.', ' ', '=']))
        };
        let mut lines = manifest.into_iter().flat_map(File::numbered_lines);
        lines.find(|(_, line)| is_entry(line)).map_or(1, |(number, _)| number)
    };
    let found = package.dependencies.iter().filter(|name| SERVER_CRATES.contains(&name.as_str()));
    found
        .map(|name| {
            let what = format!(
                "depends on `{name}`, which only the edge may, move what needs it to crates/edge"
            );
            Violation::new(&package.manifest, line_of(name), what)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::lines;

    #[test]
    fn a_server_outside_the_edge_is_found() {
        let source = "// axum\nuse axum::Router;\nuse crate::toolkit::http;\n\
                      #[cfg(test)]\nmod tests {\n    use axum::Router;\n}\n";
        let tree = Tree::of(&[
            ("crates/edge/src/lib.rs", source),
            ("crates/hub/src/a.rs", source),
            ("crates/hub/tests/it.rs", source),
        ]);
        assert_eq!(
            lines(&check(&tree).unwrap()),
            ["crates/hub/src/a.rs:2: `axum` outside the edge, let crates/edge translate"]
        );
    }

    #[test]
    fn a_manifest_that_asks_for_a_server_is_found() {
        let manifest = "[dependencies]\nhttp-body-util = \"1\"\nhttp.workspace = true\n";
        let tree = Tree::of(&[("crates/hub/Cargo.toml", manifest)])
            .with_package("hub", "crates/hub/Cargo.toml", &["http-body-util", "http"])
            .with_package("edge", "crates/edge/Cargo.toml", &["http"]);
        let found = lines(&check(&tree).unwrap());
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/hub/Cargo.toml:3: depends on `http`"), "{found:?}");
    }
}
