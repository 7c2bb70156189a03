//! Where the database is, and how it is reached.

use std::time::Instant;

use parking_lot::Mutex;
use postgres::{Client, Config, NoTls};
use protocol::limits;

use crate::error::{Result, StoreError};

/// Where the database is, and how it is reached; shared by every connection to it.
pub(crate) struct Target {
    config: Config,
    attempts: Mutex<Attempts>,
}

/// What became of the latest attempts to connect.
#[derive(Default)]
struct Attempts {
    succeeded: u64,
    rest_until: Option<Instant>,
}

impl Target {
    /// Reads a URL such as `postgres://user@host/database`.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let mut config: Config = url.parse().map_err(StoreError::BadUrl)?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(limits::DATABASE_CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(limits::DATABASE_SILENCE_MAX);
        }
        Ok(Self { config, attempts: Mutex::default() })
    }

    /// Opens a connection. Whoever asks soon after somebody failed is refused at once, so that a server
    /// that does not answer holds up nobody for long; the first success lets everyone try again.
    pub(crate) fn connect(&self) -> Result<Client> {
        let succeeded_before = {
            let attempts = self.attempts.lock();
            if attempts.rest_until.is_some_and(|until| now() < until) {
                return Err(StoreError::Unreachable(None));
            }
            attempts.succeeded
        };
        let connected = self.config.connect(NoTls);
        let mut attempts = self.attempts.lock();
        match connected {
            Ok(client) => {
                attempts.succeeded += 1;
                attempts.rest_until = None;
                Ok(client)
            }
            Err(error) => {
                if attempts.succeeded == succeeded_before {
                    attempts.rest_until = Some(now() + limits::DATABASE_RECONNECT_PAUSE);
                }
                Err(StoreError::Unreachable(Some(error)))
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "measures the pause between two attempts")]
fn now() -> Instant {
    Instant::now()
}
