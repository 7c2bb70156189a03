//! Files stay short enough to enter: no giant, and most of them fit on a few screens.

use crate::tree::{File, Tree};
use crate::violation::Violation;

/// The longest file of the program.
const LINES_MAX: usize = 600;
/// The longest file of tests, where one table may be long and still be easy to read.
const TEST_LINES_MAX: usize = 1_000;
/// The length that half of the program's files keep to.
const MEDIAN_LINES_MAX: usize = 150;
/// The length that nine in ten of the program's files keep to.
const P90_LINES_MAX: usize = 400;
/// The languages people write here.
const EXTENSIONS: [&str; 8] = ["rs", "py", "js", "mjs", "ts", "sh", "sql", "css"];

/// Finds files that are too long, and a program whose files are too long on the whole.
#[expect(clippy::unnecessary_wraps, reason = "every check has one shape")]
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    let written = tree.files.iter().filter(|file| EXTENSIONS.contains(&file.extension()));
    let mut violations: Vec<Violation> = written.filter_map(too_long).collect();
    let spread = Spread::of(tree);
    for (name, lines, lines_max) in [
        ("median", spread.median, MEDIAN_LINES_MAX),
        ("90th percentile", spread.p90, P90_LINES_MAX),
    ] {
        if lines > lines_max {
            let what = format!(
                "the {name} of file lengths is {lines} lines, above {lines_max}, split the longest"
            );
            violations.push(Violation::new(&spread.longest_path, 1, what));
        }
    }
    Ok(violations)
}

/// How long files are, in one line.
pub(crate) fn summary(tree: &Tree) -> String {
    let Spread { files, median, p90, .. } = Spread::of(tree);
    format!("{files} Rust files without tests, median {median} lines, nine in ten at most {p90}")
}

fn too_long(file: &File) -> Option<Violation> {
    let lines_max = if file.is_test() { TEST_LINES_MAX } else { LINES_MAX };
    let lines = file.text.lines().count();
    (lines > lines_max).then(|| {
        let what = format!("{lines} lines, above {lines_max}, split it by subject");
        Violation::new(&file.path, lines_max + 1, what)
    })
}

/// How the lengths of the program's Rust files are spread.
struct Spread {
    files: usize,
    median: usize,
    p90: usize,
    longest_path: String,
}

impl Spread {
    fn of(tree: &Tree) -> Self {
        let program = tree.rust_files().filter(|file| !file.is_test());
        let mut lengths: Vec<(usize, &str)> =
            program.map(|file| (file.text.lines().count(), file.path.as_str())).collect();
        lengths.sort_unstable();
        // The nearest rank: the shortest length that so many in a hundred keep to.
        let percentile = |percent: usize| {
            let rank = (lengths.len() * percent).div_ceil(100).max(1);
            lengths.get(rank - 1).map_or(0, |(lines, _)| *lines)
        };
        Self {
            files: lengths.len(),
            median: percentile(50),
            p90: percentile(90),
            longest_path: lengths.last().map(|(_, path)| (*path).to_owned()).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::lines;

    #[test]
    fn a_file_above_the_limit_is_found() {
        let short = "x\n";
        let long = "x\n".repeat(601);
        let tree = Tree::of(&[
            ("a.rs", short),
            ("b.rs", short),
            ("c.rs", short),
            ("crates/a/tests/it.rs", &long),
            ("crates/a/long.py", &long),
            ("Cargo.lock", &long),
        ]);
        assert_eq!(
            lines(&check(&tree).unwrap()),
            ["crates/a/long.py:601: 601 lines, above 600, split it by subject"]
        );
    }

    #[test]
    fn a_file_at_the_limit_may_stay() {
        let tests = "x\n".repeat(1_000);
        let tree = Tree::of(&[("a.rs", "x"), ("tests/b.rs", &tests)]);
        assert_eq!(check(&tree).unwrap(), []);
    }

    #[test]
    fn a_program_of_long_files_is_found() {
        let long = "x\n".repeat(151);
        let tree = Tree::of(&[("a.rs", "x"), ("b.rs", &long), ("c.rs", &long)]);
        assert_eq!(
            lines(&check(&tree).unwrap()),
            ["c.rs:1: the median of file lengths is 151 lines, above 150, split the longest"]
        );
        let expected = "3 Rust files without tests, median 151 lines, nine in ten at most 151";
        assert_eq!(summary(&tree), expected);
    }
}
