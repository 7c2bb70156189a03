//! Where Claude Code keeps its records.

use std::path::{Path, PathBuf};

use crate::session::Session;

/// The variable that moves the folder.
pub(super) const VARIABLE: &str = "CLAUDE_CONFIG_DIR";

/// The folder of whoever runs this process.
pub fn default() -> Option<PathBuf> {
    match std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => of_home(),
    }
}

/// The folder where nothing moves it.
pub(super) fn of_home() -> Option<PathBuf> {
    std::env::home_dir()
        .filter(|home| !home.as_os_str().is_empty())
        .map(|home| home.join(".claude"))
}

/// The folder that a transcript stands in: `FOLDER/projects/PROJECT/SESSION.jsonl`.
pub fn of_transcript(transcript: &Path) -> Option<&Path> {
    let projects = transcript.parent()?.parent()?;
    projects.file_name().filter(|name| *name == "projects")?;
    projects.parent()
}

/// The folder of a session, or else this one.
pub(super) fn of_session<'a>(session: &'a Session, otherwise: &'a Path) -> &'a Path {
    session.transcript.as_deref().and_then(of_transcript).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_says_in_whose_folder_it_stands() {
        let path = Path::new("/home/me/.claude/projects/-srv-project/s-1.jsonl");
        assert_eq!(of_transcript(path), Some(Path::new("/home/me/.claude")));
        assert_eq!(of_transcript(Path::new("/somewhere/else.jsonl")), None);
    }
}
