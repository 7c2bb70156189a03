//! A terminal without anybody in front of it: it gives a program a pseudo-terminal, answers what
//! programs ask a terminal, keeps every byte the program wrote, and types.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

/// What programs ask, and what a plain terminal answers.
const QUESTIONS: [(&[u8], &[u8]); 6] = [
    (b"\x1b[6n", b"\x1b[1;1R"),
    (b"\x1b[c", b"\x1b[?62;22c"),
    (b"\x1b[0c", b"\x1b[?62;22c"),
    (b"\x1b]10;?\x1b\\", b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    (b"\x1b]11;?\x1b\\", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
    (b"\x1b]11;?\x07", b"\x1b]11;rgb:0000/0000/0000\x07"),
];
/// The longest question, but for its last byte.
const QUESTION_PART_MAX: usize = 8;

/// A program with a terminal of its own. Dropping it kills the program.
pub struct Terminal {
    master: File,
    child: Child,
    seen: Arc<Seen>,
    reader: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Seen {
    output: Mutex<Vec<u8>>,
    more: Condvar,
}

impl Terminal {
    /// Starts a program. The command's own streams are replaced.
    pub fn open(command: &Command) -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags)?;
        rustix::pty::unlockpt(&master)?;
        let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
        let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&master, size)?;
        // `setsid` makes the terminal the program's own, and then becomes the program.
        let mut started = Command::new("setsid");
        started.arg("--ctty").arg(command.get_program()).args(command.get_args());
        started.stdin(slave.as_fd().try_clone_to_owned()?);
        started.stdout(slave.as_fd().try_clone_to_owned()?).stderr(slave);
        started.env_clear();
        let env = command.get_envs();
        started.envs(env.filter_map(|(name, value)| Some((name, value?))));
        if let Some(folder) = command.get_current_dir() {
            started.current_dir(folder);
        }
        let child = started.spawn()?;
        drop(started);
        let master = File::from(master);
        let seen = Arc::new(Seen::default());
        let (ours, theirs) = (master.try_clone()?, Arc::clone(&seen));
        let reader = std::thread::spawn(move || read(ours, &theirs));
        Ok(Self { master, child, seen, reader: Some(reader) })
    }

    /// Presses keys.
    pub fn press(&self, keys: &[u8]) -> io::Result<()> {
        (&self.master).write_all(keys)
    }

    /// Everything the program wrote so far.
    pub fn output(&self) -> Vec<u8> {
        self.seen.output.lock().clone()
    }

    /// How much the program wrote so far.
    pub fn output_len(&self) -> usize {
        self.seen.output.lock().len()
    }

    /// Waits until the program has written this behind a place in its output.
    pub fn shows(&self, text: &[u8], after: usize, patience: Duration) -> bool {
        #[expect(clippy::disallowed_methods, reason = "a program that never rests is given up on")]
        let deadline = Instant::now() + patience;
        let mut output = self.seen.output.lock();
        loop {
            let new = output.get(after..).unwrap_or_default();
            if new.windows(text.len()).any(|part| part == text) {
                return true;
            }
            if self.seen.more.wait_until(&mut output, deadline).timed_out() {
                return false;
            }
        }
    }

    /// The program's process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Whether what is typed is shown.
    pub fn echoes(&self) -> io::Result<bool> {
        let modes = rustix::termios::tcgetattr(&self.master)?;
        Ok(modes.local_modes.contains(rustix::termios::LocalModes::ECHO))
    }

    /// Waits until the program has ended.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
        // The reader ends when nobody holds the program's side; some may outlive the program, so it
        // is not waited for.
        drop(self.reader.take());
    }
}

fn read(mut master: File, seen: &Seen) {
    let mut buffer = vec![0; 64 * 1024];
    let mut answered = 0;
    // Reading ends with an error when the last program has closed its side.
    while let Ok(count) = master.read(&mut buffer) {
        if count == 0 {
            return;
        }
        let mut output = seen.output.lock();
        output.extend_from_slice(buffer.get(..count).unwrap_or_default());
        let (answers, until) = answers(output.get(answered..).unwrap_or_default());
        answered += until;
        drop(output);
        seen.more.notify_all();
        if master.write_all(&answers).is_err() {
            return;
        }
    }
}

/// What to answer, and how far everything is answered.
fn answers(new: &[u8]) -> (Vec<u8>, usize) {
    let (mut all, mut at) = (Vec::new(), 0);
    let mut until = new.len().saturating_sub(QUESTION_PART_MAX);
    while let Some(rest) = new.get(at..).filter(|rest| !rest.is_empty()) {
        match QUESTIONS.iter().find(|(question, _)| rest.starts_with(question)) {
            Some((question, answer)) => {
                all.extend_from_slice(answer);
                at += question.len();
                until = until.max(at);
            }
            None => at += 1,
        }
    }
    (all, until)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_a_terminal_and_what_is_typed_reaches_it() {
        let mut command = Command::new("sh");
        command.args(["-c", "test -t 0 && echo ready && read line && echo \"<$line>\""]);
        command.env("PATH", std::env::var_os("PATH").unwrap());
        let mut terminal = Terminal::open(&command).unwrap();
        assert!(terminal.shows(b"ready", 0, Duration::from_secs(10)));
        terminal.press(b"half a line\r").unwrap();
        assert!(terminal.shows(b"<half a line>", 0, Duration::from_secs(10)));
        assert!(terminal.wait().unwrap().success());
    }

    #[test]
    fn questions_are_answered_once_each_even_when_they_come_in_parts() {
        assert_eq!(answers(b"abc\x1b[6nxyz\x1b[c"), (b"\x1b[1;1R\x1b[?62;22c".to_vec(), 13));
        let (none, until) = answers(b"0123456789\x1b[6");
        assert!(none.is_empty() && until <= 10);
    }
}
