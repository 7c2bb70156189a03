//! The README prints the commands that its recording shows, and no others.

use serde_json::Value;

use crate::tree::{File, Tree};
use crate::violation::Violation;

/// The page, and the part of it that was recorded.
const PAGE: &str = "README.md";
const CHAPTER: &str = "## Three minutes";
/// The recording.
const CAST: &str = "docs/recordings/review.cast";
/// What is printed there and comes before the recording.
const BEFORE: &str = "cargo install";

/// Finds a chapter that prints other commands than were typed.
#[expect(clippy::unnecessary_wraps, reason = "every check has one shape")]
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    let (Some(page), Some(cast)) = (tree.file(PAGE), tree.file(CAST)) else {
        return Ok(Vec::new());
    };
    let (printed, typed) = (printed(page), typed(cast));
    let differs = printed.iter().zip(&typed).find(|((_, printed), typed)| printed != *typed);
    let violation = match differs {
        Some(((line, printed), typed)) => {
            Some((*line, format!("`{printed}` was recorded as `{typed}`, run `make recording`")))
        }
        None if printed.len() != typed.len() => {
            let what = format!("{} commands, and {} were recorded", printed.len(), typed.len());
            Some((1, format!("the three minutes have {what}, run `make recording`")))
        }
        None => None,
    };
    Ok(violation.map(|(line, what)| Violation::new(PAGE, line, what)).into_iter().collect())
}

/// The commands that the chapter prints, without what is said of them.
fn printed(page: &File) -> Vec<(usize, String)> {
    let chapter = page.numbered_lines().skip_while(|(_, line)| !line.starts_with(CHAPTER));
    let chapter = chapter
        .enumerate()
        .take_while(|(number, (_, line))| *number == 0 || !line.starts_with("## "))
        .map(|(_, line)| line);
    let commands = chapter.filter_map(|(number, line)| {
        let command = line.strip_prefix("$ ")?;
        let command = command.split(" # ").next().unwrap_or(command).trim_end();
        Some((number, command.to_owned()))
    });
    commands.filter(|(_, command)| !command.starts_with(BEFORE)).collect()
}

/// The commands that were typed: the marks of the recording.
fn typed(cast: &File) -> Vec<String> {
    let marks = cast.text.lines().skip(1).filter_map(|line| {
        let event: Value = serde_json::from_str(line).ok()?;
        let is_mark = event.get(1).and_then(Value::as_str) == Some("m");
        event.get(2).and_then(Value::as_str).filter(|_| is_mark).map(str::to_owned)
    });
    marks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::lines;

    const CASTED: &str = "{\"version\":2}\n[0.1,\"m\",\"waystation up\"]\n[0.2,\"o\",\"x\"]\n\
                          [1.0,\"m\",\"waystation connect\"]\n";

    fn found(page: &str) -> Vec<String> {
        lines(&check(&Tree::of(&[(PAGE, page), (CAST, CASTED)])).unwrap())
    }

    #[test]
    fn a_page_that_prints_what_was_typed_is_fresh() {
        let page = "$ elsewhere\n## Three minutes to x\n$ cargo install --path x\n\
                    $ waystation up     # in a terminal\n$ waystation connect\n## Then\n$ other\n";
        assert_eq!(found(page), Vec::<String>::new());
    }

    #[test]
    fn other_commands_are_found() {
        let page = "## Three minutes\n$ waystation up\n$ waystation doctor\n";
        let what = "`waystation doctor` was recorded as `waystation connect`, run `make recording`";
        assert_eq!(found(page), [format!("README.md:3: {what}")]);
        let what = "the three minutes have 1 commands, and 2 were recorded, run `make recording`";
        assert_eq!(found("## Three minutes\n$ waystation up\n"), [format!("README.md:1: {what}")]);
    }
}
