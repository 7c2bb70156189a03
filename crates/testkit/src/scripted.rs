//! A scripted terminal program that behaves as agent CLIs do: it has a composer, dialogs, slow redraws,
//! bracketed paste, an Enter that is no Enter when it comes too soon, and a transcript of what it was
//! told.

mod composer;
mod options;
mod screen;

use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::Signal;
use rustix::stdio;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};

use self::composer::{Composer, Told};
pub use self::options::Options;
use self::screen::Screen;

/// The program's file. It is built with the workspace, or now.
pub fn program() -> PathBuf {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(find).clone()
}

fn find() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a file");
    let folder = test.parent().and_then(std::path::Path::parent);
    let file = folder.expect("tests lie in a folder of their own").join("scripted-agent");
    if !file.is_file() {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--quiet", "--package", "waystation-testkit", "--bins"]);
        let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status();
        assert!(built.is_ok_and(|built| built.success()) && file.is_file(), "it cannot be built");
    }
    file
}

/// Runs until Ctrl-D on an empty line, or Ctrl-C twice.
pub fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            drop(writeln!(io::stderr(), "{error}"));
            return ExitCode::from(2);
        }
    };
    match Agent::start(options).and_then(Agent::run) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            drop(writeln!(io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

struct Agent {
    options: Options,
    before: Termios,
    composer: Composer,
    screen: Screen,
    dialog: Option<Vec<u8>>,
    turns: u32,
    working_until: Option<Instant>,
    last_letter: Option<Instant>,
    windows: PipeReader,
}

#[expect(clippy::disallowed_methods, reason = "a terminal program lives in real time")]
fn now() -> Instant {
    Instant::now()
}

impl Agent {
    fn start(options: Options) -> io::Result<Self> {
        let before = tcgetattr(stdio::stdin())?;
        let agent = Self {
            composer: Composer::default(),
            screen: Screen::new(&options),
            dialog: None,
            turns: 0,
            working_until: None,
            last_letter: None,
            windows: windows()?,
            before,
            options,
        };
        agent.enter()?;
        Ok(agent)
    }

    fn enter(&self) -> io::Result<()> {
        let mut raw = self.before.clone();
        raw.make_raw();
        tcsetattr(stdio::stdin(), OptionalActions::Now, &raw)?;
        if self.options.marks_pastes {
            screen::print("\x1b[?2004h")?;
        }
        Ok(())
    }

    fn leave(&self) -> io::Result<()> {
        if self.options.marks_pastes {
            screen::print("\x1b[?2004l")?;
        }
        tcsetattr(stdio::stdin(), OptionalActions::Now, &self.before)?;
        Ok(())
    }

    fn run(mut self) -> io::Result<u8> {
        self.draw()?;
        let mut buffer = [0; 4096];
        loop {
            let patience = if self.working_until.is_some() { 30 } else { 1_000 };
            match self.wait(Duration::from_millis(patience))? {
                Ready::Keys => {}
                Ready::Nothing => {
                    self.work()?;
                    continue;
                }
                Ready::Window => {
                    self.draw()?;
                    continue;
                }
            }
            let count = rustix::io::read(stdio::stdin(), &mut buffer[..])?;
            if count == 0 {
                break;
            }
            let bytes = buffer.get(..count).unwrap_or_default();
            append(self.options.keys.as_ref(), bytes)?;
            for byte in bytes {
                if let Some(code) = self.take(*byte)? {
                    self.leave()?;
                    return Ok(code);
                }
            }
            self.draw()?;
        }
        self.leave()?;
        Ok(0)
    }

    fn wait(&mut self, patience: Duration) -> io::Result<Ready> {
        let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
        let mut fds = [
            PollFd::from_borrowed_fd(stdio::stdin(), PollFlags::IN),
            PollFd::new(&self.windows, PollFlags::IN),
        ];
        let found = match rustix::event::poll(&mut fds, Some(&patience)) {
            Ok(_) => fds.map(|fd| !fd.revents().is_empty()),
            Err(rustix::io::Errno::INTR) => [false, false],
            Err(error) => return Err(error.into()),
        };
        Ok(match found {
            [_, true] => {
                self.windows.read_exact(&mut [0])?;
                Ready::Window
            }
            [true, _] => Ready::Keys,
            _ => Ready::Nothing,
        })
    }

    /// Takes a byte; answers the exit code when it was the last.
    fn take(&mut self, byte: u8) -> io::Result<Option<u8>> {
        if let Some(typed) = &mut self.dialog {
            typed.push(byte);
            if byte == b'\r' {
                let answer = String::from_utf8_lossy(typed).into_owned();
                self.dialog = None;
                self.write("dialog", &answer)?;
            }
            return Ok(None);
        }
        let soon = self.last_letter.is_some_and(|last| last.elapsed() < self.options.burst);
        match self.composer.take(byte, soon) {
            Told::Nothing => {}
            Told::Letter => self.last_letter = Some(now()),
            Told::Line(line) => self.submit(&line)?,
            Told::Stop => {
                self.leave()?;
                // As programs do that read Ctrl-Z themselves.
                rustix::process::kill_current_process_group(Signal::TSTP)?;
                self.enter()?;
                self.draw()?;
            }
            Told::End => return Ok(Some(self.options.exit_code)),
        }
        Ok(None)
    }

    fn submit(&mut self, line: &str) -> io::Result<()> {
        self.write("line", line)?;
        self.turns += 1;
        self.screen.remember(line);
        if self.options.dialog_every > 0 && self.turns.is_multiple_of(self.options.dialog_every) {
            self.dialog = Some(Vec::new());
        }
        if !self.options.turn.is_zero() {
            self.working_until = Some(now() + self.options.turn);
        }
        Ok(())
    }

    /// Shows that it works, while it does.
    fn work(&mut self) -> io::Result<()> {
        if self.working_until.is_some_and(|until| now() >= until) {
            self.working_until = None;
        }
        if self.working_until.is_some() || self.screen.was_busy() {
            self.draw()?;
        }
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        self.screen.draw(&self.composer, self.dialog.is_some(), self.working_until.is_some())
    }

    fn write(&self, kind: &str, text: &str) -> io::Result<()> {
        let line = serde_json::json!({ kind: text });
        append(self.options.transcript.as_ref(), format!("{line}\n").as_bytes())
    }
}

fn append(path: Option<&PathBuf>, bytes: &[u8]) -> io::Result<()> {
    let Some(path) = path else { return Ok(()) };
    File::options().create(true).append(true).open(path)?.write_all(bytes)
}

/// What happened.
enum Ready {
    Keys,
    Window,
    Nothing,
}

/// A pipe that gets a byte whenever the window changes.
fn windows() -> io::Result<PipeReader> {
    let (reader, mut writer) = io::pipe()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            let Ok(mut changes) = signal(SignalKind::window_change()) else { return };
            while changes.recv().await.is_some() && writer.write_all(&[0]).is_ok() {}
        });
    });
    Ok(reader)
}
