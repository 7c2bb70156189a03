//! Ends a server when the program that started it is gone, however it went.
//!
//! The program holds the one end of a pipe and a small shell the other. When the program ends,
//! even by a kill that no destructor survives, the system closes the pipe, and the shell stops
//! the server and removes its folder.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Runs the command `$2 …` in its own process, which keeps this shell's id, and watches over it.
/// `$1` is the folder to remove afterwards; the pipe is the standard input.
///
/// While the program lives, an ended server keeps its id until the program has waited for it, so
/// the last loop waits for that too and then finds the folder gone already.
/// The word [`DISMISS`] on the pipe sends the watchdog away: the server will be started again.
pub(crate) const SCRIPT: &str = r#"
folder=$1
shift
exec 3<&0 </dev/null
{
    word=
    read -r word <&3
    [ "$word" = dismiss ] && exit
    kill -QUIT $$ 2>/dev/null
    tries=0
    while kill -0 $$ 2>/dev/null && [ $tries -lt 50 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    # Whoever ignores the first signal, because our own starter did, does not survive this one.
    [ $tries -lt 50 ] || kill -KILL $$
    cd /
    rm -rf "$folder"
} 2>/dev/null &
exec "$@" 3<&-
"#;

/// What the program writes to the pipe of a server that it stops itself.
pub(crate) const DISMISS: &[u8] = b"dismiss\n";

/// Keeps the signals of a terminal or a test runner from the watchdog, which must come last.
pub(crate) fn guard(command: &mut Command) {
    command.process_group(0);
}
