//! The README prints the commands that its recordings show, and no others.

use serde_json::Value;

use crate::tree::{File, Tree};
use crate::violation::Violation;

/// The page.
const PAGE: &str = "README.md";
/// The parts of it that were recorded, and the recordings.
const CHAPTERS: [(&str, &str); 2] = [
    ("## Three minutes", "docs/recordings/review.cast"),
    ("## People's chats", "docs/recordings/chats.cast"),
];
/// What is printed there and comes before a recording.
const BEFORE: &str = "cargo install";

/// Finds a chapter that prints other commands than were typed.
#[expect(clippy::unnecessary_wraps, reason = "every check has one shape")]
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Violation>> {
    let Some(page) = tree.file(PAGE) else { return Ok(Vec::new()) };
    let recorded = CHAPTERS.iter().filter_map(|(chapter, cast)| Some((chapter, tree.file(cast)?)));
    Ok(recorded.filter_map(|(chapter, cast)| difference(page, chapter, cast)).collect())
}

/// The first difference between a chapter and its recording.
fn difference(page: &File, chapter: &str, cast: &File) -> Option<Violation> {
    let (printed, typed) = (printed(page, chapter), typed(cast));
    let differs = printed.iter().zip(&typed).find(|((_, printed), typed)| printed != *typed);
    let (line, what) = match differs {
        Some(((line, printed), typed)) => {
            (*line, format!("`{printed}` was recorded as `{typed}`, run `make recording`"))
        }
        None if printed.len() != typed.len() => {
            let what = format!("{} commands, and {} were recorded", printed.len(), typed.len());
            (1, format!("\"{chapter}\" has {what}, run `make recording`"))
        }
        None => return None,
    };
    Some(Violation::new(PAGE, line, what))
}

/// The commands that a chapter prints, without what is said of them.
fn printed(page: &File, chapter: &str) -> Vec<(usize, String)> {
    let chapter = page.numbered_lines().skip_while(|(_, line)| !line.starts_with(chapter));
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

    const CHATS: &str = "## People's chats\n$ waystation import x\n";

    fn found(page: &str) -> Vec<String> {
        let [(_, review), (_, chats)] = CHAPTERS;
        let chats_casted = "{\"version\":2}\n[0.1,\"m\",\"waystation import x\"]\n";
        lines(&check(&Tree::of(&[(PAGE, page), (review, CASTED), (chats, chats_casted)])).unwrap())
    }

    #[test]
    fn a_page_that_prints_what_was_typed_is_fresh() {
        let page = "$ elsewhere\n## Three minutes to x\n$ cargo install --path x\n\
                    $ waystation up     # in a terminal\n$ waystation connect\n## Then\n$ other\n";
        assert_eq!(found(&format!("{page}{CHATS}")), Vec::<String>::new());
    }

    #[test]
    fn other_commands_are_found() {
        let page = format!("## Three minutes\n$ waystation up\n$ waystation doctor\n{CHATS}");
        let what = "`waystation doctor` was recorded as `waystation connect`, run `make recording`";
        assert_eq!(found(&page), [format!("README.md:3: {what}")]);
        let what = "\"## Three minutes\" has 1 commands, and 2 were recorded, run `make recording`";
        let page = format!("## Three minutes\n$ waystation up\n{CHATS}");
        assert_eq!(found(&page), [format!("README.md:1: {what}")]);
    }
}
