//! Tasks of the repository itself. `cargo xtask tidy` checks the house rules no compiler knows, and
//! `cargo xtask recording` makes a picture of what terminals showed.

#![forbid(unsafe_code)]

mod crate_graph;
mod docs_fresh;
mod file_length;
mod http_types;
mod lexer;
mod limits_used;
mod machine_paths;
mod module_docs;
mod recording;
mod recording_fresh;
mod sql;
mod todo;
mod tree;
mod unsafe_code;
mod violation;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use tree::Tree;
use violation::Violation;

/// One check: it looks at the tree and tells what breaks the rules.
type Check = fn(&Tree) -> anyhow::Result<Vec<Violation>>;

/// Every check `tidy` makes.
const CHECKS: [Check; 11] = [
    file_length::check,
    module_docs::check,
    sql::check,
    http_types::check,
    unsafe_code::check,
    crate_graph::check,
    limits_used::check,
    todo::check,
    machine_paths::check,
    docs_fresh::check,
    recording_fresh::check,
];

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["tidy"] => tidy(),
        ["recording", recorded, name] => {
            recording::make(Path::new(recorded), Path::new(name))?;
            Ok(ExitCode::SUCCESS)
        }
        ["recording", recorded, "at", second] => {
            let shown = recording::shown(Path::new(recorded), second.parse()?)?;
            writeln!(std::io::stdout(), "{shown}")?;
            Ok(ExitCode::SUCCESS)
        }
        _ => anyhow::bail!(
            "usage: cargo xtask tidy\n       cargo xtask recording RECORDED NAME\n       \
             cargo xtask recording RECORDED at SECOND"
        ),
    }
}

fn tidy() -> anyhow::Result<ExitCode> {
    let tree = Tree::read()?;
    let mut violations = Vec::new();
    for check in CHECKS {
        violations.extend(check(&tree)?);
    }
    violations.sort();
    let mut out = std::io::stdout().lock();
    for violation in &violations {
        writeln!(out, "{violation}")?;
    }
    writeln!(out, "tidy: {}; {} violations", file_length::summary(&tree), violations.len())?;
    Ok(if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
