//! Where the database is, and how it is reached.

use std::time::Instant;

use parking_lot::Mutex;
use postgres::config::SslMode as ClientMode;
use postgres::{Client, Config, NoTls};
use protocol::limits;

use super::tls::{self, Tls};
use super::url::{DatabaseUrl, SslMode};
use crate::error::{Result, StoreError};

/// Where the database is, and how it is reached; shared by every connection to it.
pub(crate) struct Target {
    config: Config,
    tls: Option<Tls>,
    attempts: Mutex<Attempts>,
}

/// What became of the latest attempts to connect.
#[derive(Default)]
struct Attempts {
    succeeded: u64,
    is_outage: bool,
    rest_until: Option<Instant>,
}

impl Target {
    /// Reads a URL such as `postgres://user@host/database`.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let DatabaseUrl { mut config, ssl_mode, roots } = DatabaseUrl::parse(url)?;
        let tls = Tls::of(ssl_mode, roots.as_ref())?;
        config.ssl_mode(match ssl_mode {
            SslMode::Disable => ClientMode::Disable,
            SslMode::Prefer => ClientMode::Prefer,
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => ClientMode::Require,
        });
        if ssl_mode == SslMode::Require {
            tracing::warn!(
                "nobody checks who the database is; sslmode=verify-full in its URL does"
            );
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(limits::DATABASE_CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(limits::DATABASE_SILENCE_MAX);
        }
        Ok(Self { config, tls, attempts: Mutex::default() })
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
        let connected = match &self.tls {
            Some(tls) => self.config.connect(tls.clone()),
            None => self.config.connect(NoTls),
        };
        let connected = connected.map_err(tls::explain);
        let mut attempts = self.attempts.lock();
        match connected {
            Ok(client) => {
                if std::mem::take(&mut attempts.is_outage) {
                    tracing::info!("the database is back");
                }
                attempts.succeeded += 1;
                attempts.rest_until = None;
                Ok(client)
            }
            Err(error) => {
                if attempts.succeeded == succeeded_before {
                    attempts.rest_until = Some(now() + limits::DATABASE_RECONNECT_PAUSE);
                    // Said once, however often it is tried again; the first start says it itself.
                    if !std::mem::replace(&mut attempts.is_outage, true) && succeeded_before > 0 {
                        let cause = error.source().map(ToString::to_string);
                        tracing::warn!(%error, cause, "the database cannot be reached; trying again");
                    }
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
