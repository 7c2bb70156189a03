//! Citing: a text that leans on documents names each of them, wherever it goes, and its readers get links.

use protocol::limits::{self as all_limits, relay as limits};
use protocol::relay::{Citation, cite};
use protocol::{TaskId, validate};
use store::Tx;

use crate::error::{Checked, Error, Result};
use crate::memory::documents;
use crate::relay::envelope;

/// What a text leans on, and who says so.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leans<'a> {
    /// Its author says so.
    Named(&'a [String]),
    /// Its author says nothing, so it is what was retrieved for it.
    Retrieved(&'a [String]),
}

impl<'a> Leans<'a> {
    /// The documents.
    pub(crate) fn refs(self) -> &'a [String] {
        match self {
            Self::Named(refs) | Self::Retrieved(refs) => refs,
        }
    }
}

/// Checks the ids that an author names.
pub(crate) fn check_refs(field: &str, refs: &[String]) -> Result<()> {
    if refs.len() > limits::RETRIEVAL_REFS_MAX {
        let reason = format_args!("must be at most {}", limits::RETRIEVAL_REFS_MAX);
        return Err(Error::invalid(field, reason));
    }
    for (place, id) in refs.iter().enumerate() {
        validate::line(id, all_limits::NAME_CHARS_MAX).field(&format!("{field}[{place}]"))?;
    }
    Ok(())
}

/// Refuses a text that does not cite each document that it leans on, and says what to write.
pub(crate) fn check(field: &str, text: &str, leans: Leans<'_>) -> Result<()> {
    let missing = cite::missing(text, leans.refs());
    if missing.is_empty() {
        return Ok(());
    }
    let marks: Vec<String> = missing.iter().map(|id| format!("[[ref:{id}]]")).collect();
    let marks = marks.join(" ");
    let hint = match leans {
        Leans::Named(_) => {
            format!("write {marks} where the text leans on it, or leave the ref out")
        }
        Leans::Retrieved(_) => format!(
            "this task retrieved them: write {marks} where the text leans on them, or name in \
             retrieval_refs those that it leans on, [] for none"
        ),
    };
    Err(Error::invalid_hint(field, format_args!("does not cite {}", missing.join(", ")), hint))
}

/// The documents that were retrieved for a task, in a thread, the newest first.
pub(crate) fn retrieved(tx: &mut Tx<'_>, thread_row: i64, task: TaskId) -> Result<Vec<String>> {
    let mut refs: Vec<String> = Vec::new();
    for seq in tx.answers_of_task(thread_row, task, limits::TASK_ANSWERS_MAX)? {
        let Some(answer) = tx.message(thread_row, seq)? else { continue };
        for id in envelope::refs_of(&answer) {
            if refs.len() < limits::RETRIEVAL_REFS_MAX && !refs.contains(&id) {
                refs.push(id);
            }
        }
    }
    Ok(refs)
}

/// The documents behind a text: those it leans on, and whatever else it cites that is known here. What
/// it cites and nobody knows is a number alone for its readers.
pub(crate) fn citations(
    tx: &mut Tx<'_>,
    workspace: &str,
    text: &str,
    leans: Leans<'_>,
) -> Result<Vec<Citation>> {
    let mut found = documents::citations(tx, workspace, leans.refs())?;
    for id in cite::cited(text) {
        if found.len() >= limits::RETRIEVAL_REFS_MAX {
            break;
        }
        if found.iter().all(|known| known.id != id) {
            found.extend(documents::citation(tx, workspace, id)?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_must_be_cited_and_what_to_write_is_said() {
        let refs = ["a".to_owned(), "b".to_owned()];
        assert!(check("text", "see [[ref:a]] and [[ref: b ]]", Leans::Named(&refs)).is_ok());
        let error = check("text", "see [[ref:a]]", Leans::Named(&refs)).unwrap_err();
        assert_eq!(error.to_string(), "text does not cite b");
        assert!(error.hint().unwrap().contains("[[ref:b]]"));
        let error = check("text", "nothing", Leans::Retrieved(&refs)).unwrap_err();
        let hint = error.hint().unwrap();
        assert!(hint.contains("[[ref:a]] [[ref:b]]") && hint.contains("[] for none"), "{hint}");
        assert!(check("text", "nothing", Leans::Retrieved(&[])).is_ok());
    }
}
