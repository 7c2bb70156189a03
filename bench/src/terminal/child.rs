//! The program in the terminal: it echoes keys, and floods the terminal when asked to.

use std::io::{Read, Write};

use anyhow::Result;
use rustix::stdio;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// The key that asks for a flood, followed by a digit for each ten megabytes and a stop.
pub(super) const FLOOD: u8 = b'F';
/// The key that ends it all.
pub(super) const END: u8 = b'Q';
/// What comes after a flood.
pub(super) const OVER: &[u8] = b"<over>";
/// What is printed once it listens.
pub(super) const READY: &[u8] = b"<ready>";

/// Runs until it is told to end.
pub(crate) fn run() -> Result<()> {
    let cooked = tcgetattr(stdio::stdin())?;
    let mut raw = cooked.clone();
    raw.make_raw();
    tcsetattr(stdio::stdin(), OptionalActions::Now, &raw)?;
    let (mut keys, mut out) = (std::io::stdin().lock(), std::io::stdout().lock());
    out.write_all(READY)?;
    out.flush()?;
    let mut key = [0];
    loop {
        keys.read_exact(&mut key)?;
        match key {
            [END] => break,
            [FLOOD] => {
                keys.read_exact(&mut key)?;
                let megabytes = usize::from(key.map(|digit| digit.saturating_sub(b'0'))[0]) * 10;
                // As most programs print: the kernel makes the line ends.
                tcsetattr(stdio::stdin(), OptionalActions::Drain, &cooked)?;
                flood(&mut out, megabytes)?;
                tcsetattr(stdio::stdin(), OptionalActions::Drain, &raw)?;
                out.write_all(OVER)?;
            }
            [other] => out.write_all(&[other])?,
        }
        out.flush()?;
    }
    tcsetattr(stdio::stdin(), OptionalActions::Drain, &cooked)?;
    Ok(())
}

fn flood(out: &mut impl Write, megabytes: usize) -> std::io::Result<()> {
    const BLOCK: usize = 64 * 1024;
    let line = b"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzx\n";
    let block: Vec<u8> = line.iter().copied().cycle().take(BLOCK).collect();
    for _ in 0..megabytes * 1024 * 1024 / BLOCK {
        out.write_all(&block)?;
    }
    out.flush()
}
