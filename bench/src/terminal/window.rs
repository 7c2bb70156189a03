//! A person's window: it reads what a program prints as fast as a terminal could.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};

use anyhow::{Context, Result, bail};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::child::{END, FLOOD, OVER, READY};
use crate::stats;

/// A window with a program in it.
pub(super) struct Window {
    master: File,
    child: Child,
    buffer: Vec<u8>,
}

impl Window {
    /// Opens a window and waits until the program listens.
    pub(super) fn open(mut command: Command) -> Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags)?;
        unlockpt(&master)?;
        let slave = ioctl_tiocgptpeer(&master, flags)?;
        let size = Winsize { ws_row: 50, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size)?;
        let child = command
            .stdin(slave.try_clone()?)
            .stdout(slave.try_clone()?)
            .stderr(slave)
            .spawn()
            .context("the program does not start")?;
        // It holds the program's side of the terminal, which must not outlive the program.
        drop(command);
        let mut window = Self { master: File::from(master), child, buffer: vec![0; 1024 * 1024] };
        window.read_until(READY)?;
        Ok(window)
    }

    /// How many megabytes a second pass.
    pub(super) fn flood(&mut self, megabytes: usize) -> Result<f64> {
        let tens = u8::try_from(megabytes / 10)?;
        let began = stats::now();
        self.master.write_all(&[FLOOD, b'0' + tens])?;
        let bytes = self.read_until(OVER)?;
        Ok(stats::number(bytes) / 1e6 / stats::since(began))
    }

    /// How long each key takes to come back, in milliseconds.
    pub(super) fn echoes(&mut self, keys: usize) -> Result<Vec<f64>> {
        let mut millis = Vec::with_capacity(keys);
        for _ in 0..keys {
            let began = stats::now();
            self.master.write_all(b"k")?;
            self.read_until(b"k")?;
            millis.push(stats::since(began) * 1e3);
            // Nobody types faster, and an idle program sleeps between keys.
            std::thread::sleep(stats::seconds(0.001));
        }
        Ok(millis)
    }

    /// Ends the program.
    pub(super) fn end(mut self) -> Result<()> {
        self.master.write_all(&[END])?;
        // What is printed last must be read, or the program waits for it.
        while let Ok(1..) = self.master.read(&mut self.buffer) {}
        self.child.wait()?;
        Ok(())
    }

    /// Reads until something was printed; answers how many bytes that took.
    fn read_until(&mut self, mark: &[u8]) -> Result<usize> {
        let mut total = 0;
        let mut tail: Vec<u8> = Vec::new();
        loop {
            let count = self.master.read(&mut self.buffer)?;
            if count == 0 {
                bail!("the program ended");
            }
            total += count;
            let fresh = self.buffer.get(..count).unwrap_or_default();
            let from = count.saturating_sub(mark.len());
            tail.extend_from_slice(fresh.get(from..).unwrap_or_default());
            if tail.windows(mark.len()).any(|window| window == mark) {
                return Ok(total);
            }
            let old = tail.len().saturating_sub(mark.len());
            tail.drain(..old);
        }
    }
}
