//! What the kernel tells a watcher: another window, time to go, time to go on.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Continued, Sender, send, send_size};
use crate::keeper::frame::Mark;

/// Something that the main thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// This process goes on after it was stopped.
    Continued,
}

struct Signals {
    window: Signal,
    go_on: Signal,
    hang_up: Signal,
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            window: signal(SignalKind::window_change())?,
            go_on: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            hang_up: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }
}

/// Hears signals in a thread of its own until the process ends.
pub(super) fn hear(sender: Sender, continued: Continued) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (ready, is_ready) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        runtime.block_on(async {
            let signals = Signals::listen();
            let failed = signals.as_ref().err().map(|error| io::Error::from(error.kind()));
            drop(ready.send(failed));
            if let Ok(signals) = signals {
                serve(signals, &sender, &continued).await;
            }
        });
    });
    match is_ready.recv() {
        Ok(Some(error)) => Err(error),
        _ => Ok(()),
    }
}

async fn serve(mut signals: Signals, sender: &Sender, continued: &Continued) {
    loop {
        tokio::select! {
            _ = signals.window.recv() => send_size(sender),
            _ = signals.go_on.recv() => drop(continued.try_send(Heard::Continued)),
            _ = signals.hang_up.recv() => leave(sender),
            _ = signals.terminate.recv() => leave(sender),
            _ = signals.interrupt.recv() => leave(sender),
            _ = signals.quit.recv() => leave(sender),
        }
    }
}

/// The keeper answers, and that ends the main thread's work.
fn leave(sender: &Sender) {
    if send(sender, Mark::Leave, b"").is_err() {
        let stream = sender.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        drop(stream.shutdown(std::net::Shutdown::Both));
    }
}
