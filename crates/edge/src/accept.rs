//! Accepting connections. While none can be accepted, as when file descriptors have run out, there is a
//! pause between two tries, and the log hears of it once.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;

use hub::duties::Trouble;
use protocol::limits;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// Something that connections come from.
pub(crate) trait Listen {
    /// A connection, with what is known of its other end.
    type Accepted;

    /// The next one. May be dropped while it waits.
    fn accept(&self) -> impl Future<Output = Result<Self::Accepted>> + Send;
}

impl Listen for TcpListener {
    type Accepted = (TcpStream, SocketAddr);

    async fn accept(&self) -> Result<Self::Accepted> {
        Self::accept(self).await
    }
}

impl Listen for UnixListener {
    type Accepted = UnixStream;

    async fn accept(&self) -> Result<Self::Accepted> {
        Self::accept(self).await.map(|(stream, _)| stream)
    }
}

/// The connections of a listener, one after the other.
pub(crate) struct Accepting<L> {
    listener: L,
    trouble: Trouble,
}

impl<L: Listen> Accepting<L> {
    pub(crate) fn new(listener: L) -> Self {
        Self { listener, trouble: Trouble::default() }
    }

    /// The next connection. May be dropped while it waits.
    pub(crate) async fn next(&mut self) -> L::Accepted {
        loop {
            match self.listener.accept().await {
                Ok(accepted) => {
                    self.trouble.is_over();
                    return accepted;
                }
                Err(error) if is_gone(&error) => {
                    tracing::debug!(%error, "a connection was gone before it began");
                }
                Err(error) => {
                    let what = "no connection can be accepted for the moment; trying again";
                    self.trouble.say(&error, what);
                    // Others must end before the next can begin.
                    tokio::time::sleep(limits::ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

/// Whether only this one connection is lost, by its own fault.
fn is_gone(error: &Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use parking_lot::Mutex;
    use tokio::time::Instant;
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    /// Accepts, or fails to, as it was told.
    struct Told(Mutex<VecDeque<Result<u32>>>);

    impl Listen for Told {
        type Accepted = u32;

        async fn accept(&self) -> Result<u32> {
            self.0.lock().pop_front().expect("it was told what to do")
        }
    }

    /// Counts warnings.
    #[derive(Clone, Default)]
    struct Warnings(Arc<AtomicUsize>);

    impl Subscriber for Warnings {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() <= Level::WARN
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    fn no_descriptors() -> Result<u32> {
        Err(rustix::io::Errno::MFILE.into())
    }

    #[tokio::test(start_paused = true)]
    async fn when_nothing_can_be_accepted_it_pauses_and_says_so_once() {
        let warnings = Warnings::default();
        let _here = tracing::subscriber::set_default(warnings.clone());
        let said = || warnings.0.load(Ordering::SeqCst);
        let mut told: VecDeque<Result<u32>> = (0..5).map(|_| no_descriptors()).collect();
        told.extend([Ok(1), Ok(2), no_descriptors(), Ok(3)]);
        let mut accepting = Accepting::new(Told(Mutex::new(told)));
        let before = Instant::now();
        assert_eq!(accepting.next().await, 1);
        assert_eq!((before.elapsed(), said()), (5 * limits::ACCEPT_PAUSE, 1));
        assert_eq!((accepting.next().await, accepting.next().await), (2, 3));
        assert_eq!((before.elapsed(), said()), (6 * limits::ACCEPT_PAUSE, 2), "it was over");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_hangs_up_early_holds_up_nobody() {
        let gone = || Err(ErrorKind::ConnectionAborted.into());
        let told = VecDeque::from([gone(), gone(), Ok(1)]);
        let mut accepting = Accepting::new(Told(Mutex::new(told)));
        let before = Instant::now();
        assert_eq!((accepting.next().await, before.elapsed().as_nanos()), (1, 0));
    }
}
