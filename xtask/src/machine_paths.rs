//! Documentation speaks of the project, never of the machine somebody wrote it on.

use crate::tree::{File, Tree};
use crate::violation::Violation;

/// Folders that exist on somebody's machine and mean nothing to a reader.
const MACHINE_FOLDERS: [&str; 2] = ["/work/", "/root/"];

/// Finds paths of a machine in Markdown and in the comments of Rust.
#[expect(clippy::unnecessary_wraps, reason = "every check has one shape")]
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for file in &tree.files {
        for (number, text) in documentation(file) {
            for folder in MACHINE_FOLDERS.iter().filter(|folder| names_folder(&text, folder)) {
                let what = format!("`{folder}` is a path of one machine, write it from the root");
                violations.push(Violation::new(&file.path, number, what));
            }
        }
    }
    Ok(violations)
}

fn documentation(file: &File) -> Vec<(usize, String)> {
    match file.extension() {
        "rs" => (1..).zip(file.parts().lines.into_iter().map(|line| line.comment)).collect(),
        "md" => file.numbered_lines().map(|(number, line)| (number, line.to_owned())).collect(),
        _ => Vec::new(),
    }
}

/// Whether a path begins with the folder: `/a/work/b` and `https://host/work/` are others.
fn names_folder(text: &str, folder: &str) -> bool {
    text.match_indices(folder).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '-' | '_' | '}'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::lines;

    #[test]
    fn a_path_of_a_machine_is_found() {
        let tree = Tree::of(&[
            ("a.md", "See `/work/x`.\nSee docs/work/x and https://host.example/work/x.\n"),
            ("b.rs", "/// Lies in /root/x.\nlet a = \"/root/x\";\n"),
        ]);
        let what = "is a path of one machine, write it from the root";
        assert_eq!(
            lines(&check(&tree).unwrap()),
            [format!("a.md:1: `/work/` {what}"), format!("b.rs:1: `/root/` {what}")]
        );
    }
}
