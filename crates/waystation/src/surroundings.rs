//! What the machine around us says: other programs' variables, and the terminal.
//!
//! Our own settings are read in `config` alone.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Widths that a table can be drawn in.
const COLUMNS_MIN: usize = 40;
const COLUMNS_MAX: usize = 240;
/// The width where there is no terminal: nothing is cut for whoever reads a pipe.
const COLUMNS: usize = 10_000;

/// The home folder.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// A folder that another program's variable names.
pub(crate) fn folder(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).filter(|folder| !folder.is_empty())?;
    std::path::absolute(PathBuf::from(folder)).ok()
}

/// The file that a shell would start by this name; a path is taken as it is.
pub(crate) fn program(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return is_executable(name).then(|| name.to_owned());
    }
    let search = std::env::var_os("PATH")?;
    std::env::split_paths(&search)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

/// The person's editor, as they set it for every program.
pub(crate) fn editor() -> Option<String> {
    let set = |variable: &str| {
        let value = std::env::var_os(variable)?.into_string().ok()?;
        (!value.trim().is_empty()).then_some(value)
    };
    set("VISUAL").or_else(|| set("EDITOR"))
}

fn is_executable(file: &Path) -> bool {
    use rustix::fs::{Access, access};
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

/// This program's file as others should call it. The one on the search path comes first, for it
/// stays where it is when a new version is installed.
pub(crate) fn this_program() -> std::io::Result<PathBuf> {
    let running = std::env::current_exe()?;
    let named = program(Path::new("waystation"));
    let is_same = |file: &PathBuf| file.canonicalize().is_ok_and(|file| file == running);
    Ok(named.filter(is_same).unwrap_or(running))
}

/// Whether what is printed may have colours.
pub(crate) fn wants_colour() -> bool {
    std::io::stdout().is_terminal() && has_colours()
}

/// Whether what is said beside that, on stderr, may have colours.
pub(crate) fn wants_colour_on_stderr() -> bool {
    std::io::stderr().is_terminal() && has_colours()
}

fn has_colours() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_dumb && !is_unwanted
}

/// How wide and high the terminal is; no height where there is none.
pub(crate) fn size() -> (usize, Option<usize>) {
    let found = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let found = found.filter(|size| size.ws_col > 0 && size.ws_row > 0);
    let width = found.map(|size| usize::from(size.ws_col).clamp(COLUMNS_MIN, COLUMNS_MAX));
    (width.unwrap_or(COLUMNS), found.map(|size| usize::from(size.ws_row)))
}

/// The kind of terminal, as it calls itself.
pub(crate) fn terminal() -> Option<String> {
    std::env::var_os("TERM").map(|term| term.to_string_lossy().into_owned())
}
