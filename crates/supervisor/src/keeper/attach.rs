//! A person's end: their terminal shows the program's, and their keys go to it.
//!
//! Three threads: one copies keys, one copies output, one hears the kernel's signals. Whatever happens,
//! the terminal is left as it was found.

mod raw;
mod signals;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::Signal;
use rustix::stdio;

use self::raw::Raw;
use self::signals::Heard;
use super::frame::{self, Mark};
use super::prefix::{Meant, Prefix};
use super::protocol::{Answer, Request};
use super::socket;
use crate::clock;
use crate::limits::OUTPUT_BATCH_BYTES;
use crate::modes::Modes;
use crate::pty::Manner;
use crate::screen::Size;

/// How watching ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The program ended with this code.
    Program(i32),
    /// The person left; the program lives on.
    Left,
    /// The keeper is gone.
    Lost,
}

/// How long a stop of our own takes to reach us.
const STOP_PATIENCE: Duration = Duration::from_millis(200);

type Sender = Arc<Mutex<UnixStream>>;

/// Watches a keeper's terminal on this process's own until one of them ends.
pub fn attach(path: &Path) -> io::Result<Ended> {
    let stream = socket::connect(path)?;
    let manner = if raw::is_terminal() { Manner::Terminal } else { Manner::Plain };
    let size = raw::size().unwrap_or_default();
    let request = Request::Attach { size, manner };
    let mut line = serde_json::to_vec(&request).map_err(io::Error::other)?;
    line.push(b'\n');
    (&stream).write_all(&line)?;
    let sender: Sender = Arc::new(Mutex::new(stream.try_clone()?));
    let mut reader = BufReader::with_capacity(OUTPUT_BATCH_BYTES, stream);
    let mut answer = String::new();
    reader.read_line(&mut answer)?;
    match serde_json::from_str(&answer) {
        Ok(Answer::Done) => {}
        Ok(Answer::Wrong(why)) => return Err(io::Error::other(why)),
        _ => return Ok(Ended::Lost),
    }
    let (heard, continued) = std::sync::mpsc::sync_channel(1);
    signals::hear(Arc::clone(&sender), heard)?;
    let terminal = Raw::enter()?;
    let keys = Arc::clone(&sender);
    // It ends with the process: nobody can take back a read from a terminal.
    std::thread::spawn(move || copy_keys(&keys));
    let ended = copy_output(&mut reader, &sender, &terminal, &continued);
    terminal.leave();
    ended
}

fn send(sender: &Sender, mark: Mark, body: &[u8]) -> io::Result<()> {
    let mut stream = sender.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    stream.write_all(&frame::frame(mark, body))
}

/// Copies keys until there are no more.
fn copy_keys(sender: &Sender) {
    let mut prefix = Prefix::default();
    let mut buffer = [0; 16 * 1024];
    let mut last = b'\n';
    let is_terminal = raw::is_terminal();
    loop {
        let read = rustix::io::retry_on_intr(|| rustix::io::read(stdio::stdin(), &mut buffer[..]));
        let bytes = match read {
            Ok(count) if count > 0 => buffer.get(..count).unwrap_or_default(),
            _ => break,
        };
        last = bytes.last().copied().unwrap_or(last);
        let meant = if is_terminal {
            prefix.take(bytes, clock::now())
        } else {
            Meant::Pass(bytes.to_vec())
        };
        let (keys, leaves) = match meant {
            Meant::Pass(keys) => (keys, false),
            Meant::Leave(keys) => (keys, true),
        };
        if !keys.is_empty() && send(sender, Mark::Keys, &keys).is_err() {
            return;
        }
        if leaves {
            // A keeper that is gone has nothing to let go of.
            drop(send(sender, Mark::Leave, b""));
            return;
        }
    }
    let mark = if is_terminal { Mark::Leave } else { Mark::NoMoreKeys };
    drop(send(sender, mark, if last == b'\n' { b"\n" } else { b"" }));
}

/// Copies output until the end.
fn copy_output(
    reader: &mut BufReader<UnixStream>,
    sender: &Sender,
    terminal: &Raw,
    continued: &Receiver<Heard>,
) -> io::Result<Ended> {
    let mut body = Vec::with_capacity(OUTPUT_BATCH_BYTES);
    let mut modes = Modes::default();
    loop {
        let Ok(mark) = read_frame(reader, &mut body) else {
            // Nobody else puts the terminal back now.
            drop(print(&modes.undo()));
            return Ok(Ended::Lost);
        };
        match mark {
            Mark::Output => {
                modes.take(&body);
                if print(&body).is_err() {
                    // The terminal is gone; the program is not.
                    drop(send(sender, Mark::Leave, b""));
                    return Ok(Ended::Left);
                }
            }
            Mark::Ended => return Ok(Ended::Program(frame::to_code(&body))),
            Mark::Leave => return Ok(Ended::Left),
            Mark::Stopped => suspend(sender, terminal, continued),
            Mark::Keys | Mark::Window | Mark::NoMoreKeys | Mark::GoOn => return Ok(Ended::Lost),
        }
    }
}

/// Reads a frame; its body replaces what was there.
fn read_frame(reader: &mut BufReader<UnixStream>, body: &mut Vec<u8>) -> io::Result<Mark> {
    let mut head = [0; frame::HEAD_BYTES];
    reader.read_exact(&mut head)?;
    let (mark, length) = frame::of_head(head).ok_or(io::ErrorKind::InvalidData)?;
    body.resize(length, 0);
    reader.read_exact(body)?;
    Ok(mark)
}

fn print(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::write(stdio::stdout(), bytes));
        match written {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            // Somebody else made it so; we wait as for any other terminal.
            Err(rustix::io::Errno::AGAIN) => raw::wait_for_room()?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Stops as the program did, and goes on as soon as the shell says so.
fn suspend(sender: &Sender, terminal: &Raw, continued: &Receiver<Heard>) {
    if !raw::is_terminal() {
        return;
    }
    terminal.leave();
    while continued.try_recv().is_ok() {}
    if rustix::process::kill_current_process_group(Signal::TSTP).is_ok() {
        // The kernel may stop another thread first; then this one must not run ahead. Where nothing
        // stops, because no shell looks after this process, it just goes on.
        if continued.recv_timeout(STOP_PATIENCE).is_err() {
            tracing::debug!("nobody stopped this process");
        }
    }
    terminal.enter_again();
    drop(send(sender, Mark::GoOn, b""));
    send_size(sender);
}

fn send_size(sender: &Sender) {
    if let Some(size) = raw::size() {
        drop(send(sender, Mark::Window, &frame::of_size(size)));
    }
}

/// The way to the main thread.
type Continued = SyncSender<Heard>;

/// The size of this process's terminal, for those who start a program.
pub fn own_size() -> Option<Size> {
    raw::size()
}
