//! Changing a draft in the person's own editor.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use edge::local::Client;
use protocol::limits;

use super::decide::{self, Wish};
use super::show::{self, number, text};
use super::unlock::unlock;
use crate::cli::Global;
use crate::commands::diff::{self, Lines};
use crate::commands::tty::Tty;
use crate::paint::Paint;
use crate::paths::Place;
use crate::surroundings;

/// `waystation approvals edit`.
pub(super) async fn run(
    place: &Place,
    hub: &mut Client,
    global: &Global,
    is_person: bool,
    id: &str,
    comment: Option<String>,
) -> Result<()> {
    // Before anything is written, so that no work is lost to a mistyped passphrase.
    if is_person {
        unlock(hub).await?;
    }
    let proposal = show::get(hub, id).await?;
    if !matches!(text(&proposal, "state"), "waiting" | "expired") {
        bail!("{id} is {}; it cannot be changed any more", text(&proposal, "state"));
    }
    let before = text(&proposal, "text");
    let draft = DraftFile::write(&place.folder, id, before)?;
    open_editor(draft.path())?;
    let after = draft.read()?;
    let after = after.strip_suffix('\n').filter(|_| !before.ends_with('\n')).unwrap_or(&after);
    let mut tty = Tty::open()?;
    let version = number(&proposal, "version");
    let changes = diff::unified("draft", before, after, Paint::of_stdout(), Lines::Whole);
    if changes.is_empty() {
        tty.say("Nothing was changed.\n")?;
    } else {
        tty.say(&format!("{changes}\n"))?;
    }
    let place = crate::output::safe(text(&proposal, "place"));
    if !tty.confirm(&format!("Send this to {place}?"))? {
        bail!("nothing was decided");
    }
    if is_person {
        // Whoever thought about it for long is asked again.
        unlock(hub).await?;
    }
    let wish = Wish { decision: "edit", text: Some(after.to_owned()), comment };
    decide::send(hub, global, id, version, wish).await
}

/// The draft in a file that only its owner reads. It is removed in the end.
struct DraftFile(PathBuf);

impl DraftFile {
    fn write(folder: &Path, id: &str, text: &str) -> Result<Self> {
        let name = format!("draft-{id}-{}.md", std::process::id());
        let path = folder.join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let mut file = file.with_context(|| format!("cannot write {}", path.display()))?;
        let draft = Self(path);
        file.write_all(text.as_bytes()).context("cannot write the draft")?;
        Ok(draft)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn read(&self) -> Result<String> {
        let bytes_max = limits::relay::ACTION_TEXT_BYTES_MAX as u64 + 1;
        let mut text = String::new();
        let file = File::open(&self.0).context("the draft is gone; nothing was decided")?;
        file.take(bytes_max).read_to_string(&mut text).context("the draft is no UTF-8 text")?;
        Ok(text)
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::warn!(%error, "the draft could not be removed");
        }
    }
}

/// Runs the editor on a file and waits for it. No shell reads the words: an editor with options is told
/// apart at its spaces.
fn open_editor(file: &Path) -> Result<()> {
    let editor = surroundings::editor().context(
        "no editor is known; set EDITOR, for example EDITOR=nano waystation approvals edit …",
    )?;
    let mut words = words(&editor).into_iter();
    let program = words.next().context("EDITOR is empty")?;
    let status = Command::new(&program).args(words).arg(file).status();
    let status = status
        .with_context(|| format!("the editor {} cannot be started", program.to_string_lossy()))?;
    if !status.success() {
        bail!("the editor ended with {status}; nothing was decided");
    }
    Ok(())
}

fn words(editor: &str) -> Vec<OsString> {
    editor.split_whitespace().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_may_have_options_and_no_shell_reads_them() {
        assert_eq!(words("code --wait"), ["code", "--wait"]);
        assert_eq!(words("vi; rm -rf $HOME"), ["vi;", "rm", "-rf", "$HOME"]);
        assert!(words("  ").is_empty());
    }

    #[test]
    fn a_draft_lies_in_a_file_of_its_owner_and_is_gone_afterwards() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let draft = DraftFile::write(folder.path(), "prop_x", "text\n").unwrap();
        let mode = std::fs::metadata(draft.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(draft.read().unwrap(), "text\n");
        let path = draft.path().to_owned();
        drop(draft);
        assert!(!path.exists());
    }
}
