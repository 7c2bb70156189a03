//! One connection of a link, from the first question to whatever ends it.

use connector_api::{ConnectorError, Result};
use protocol::limits::links as limits;
use store::StoreError;
use tokio_util::sync::CancellationToken;

use super::past::Reading;
use super::run::Link;
use super::sink::LinkSink;
use super::state::LinkStatus;

impl Link {
    /// Connects, and stays connected for as long as it can. It ends well only when it was stopped,
    /// or when another hub has taken over.
    pub(super) async fn attempt(&self, stop: &CancellationToken) -> Result<()> {
        let account = tokio::select! {
            checked = tokio::time::timeout(limits::LINK_CHECK_TIMEOUT, self.connector().check()) => {
                checked.map_err(|_| silent())??
            }
            () = stop.cancelled() => return Ok(()),
        };
        tracing::debug!(link = %self.row().name, account = %account.name, "a link's credentials work");
        if self.capabilities().stream {
            self.follow(stop).await
        } else {
            self.look_now_and_then(stop).await
        }
    }

    /// Follows the stream, and reads the past beside it.
    async fn follow(&self, stop: &CancellationToken) -> Result<()> {
        let from = self.stream_cursor().await?;
        // Before the stream says what it holds: what it does not is what was missed.
        self.open_gaps().await?;
        let sink = LinkSink::new(self);
        let ended = tokio::select! {
            ended = self.connector().stream(from, &sink, stop) => ended,
            () = self.read_past_beside() => return Ok(()),
            () = self.reconcile() => return Ok(()),
            () = self.keep_claim() => return Ok(()),
        };
        if stop.is_cancelled() {
            return Ok(());
        }
        match (ended, sink.take_refusal()) {
            (_, Some(error)) => Err(not_stored(&error)),
            (Err(error), None) => Err(error),
            (Ok(()), None) => {
                Err(ConnectorError::Unreachable { reason: "the stream ended".to_owned() })
            }
        }
    }

    /// Where the stream goes on: as stored, because an earlier connection of this run moved it.
    async fn stream_cursor(&self) -> Result<Option<String>> {
        let (workspace, name) = (self.row().workspace.clone(), self.row().name.clone());
        let link = self.hub().store.read(move |tx| tx.link(&workspace, &name)).await;
        link.map(|link| link.and_then(|link| link.stream_cursor))
            .map_err(|error: StoreError| not_stored(&error.into()))
    }

    /// Without a stream the service calls the hub, or is asked now and then.
    async fn look_now_and_then(&self, stop: &CancellationToken) -> Result<()> {
        self.tell(LinkStatus::Connected, String::new());
        let look = async {
            let mut reading = Reading::default();
            loop {
                self.open_gaps().await?;
                self.catch_up(&mut reading).await?;
                self.wait_for_look(&mut reading).await?;
            }
        };
        tokio::select! {
            failed = look => failed,
            () = self.reconcile() => Ok(()),
            () = self.keep_claim() => Ok(()),
            () = stop.cancelled() => Ok(()),
        }
    }

    /// Waits until it is time to ask for news. A service that calls by itself is never asked, only
    /// whether the credentials still work.
    async fn wait_for_look(&self, reading: &mut Reading) -> Result<()> {
        loop {
            tokio::select! {
                () = tokio::time::sleep(limits::LINK_LOOK_EVERY) => {}
                () = self.bells().new_chat.notified() => {
                    self.read_on(reading).await?;
                    continue;
                }
            }
            let checked =
                tokio::time::timeout(limits::LINK_CHECK_TIMEOUT, self.connector().check());
            checked.await.map_err(|_| silent())??;
            self.tell(LinkStatus::Connected, String::new());
            if !self.capabilities().hooks {
                return Ok(());
            }
        }
    }
}

/// The service says nothing.
pub(super) fn silent() -> ConnectorError {
    ConnectorError::Unreachable { reason: "it did not answer in time".to_owned() }
}

/// What was learned could not be kept.
pub(super) fn not_stored(error: &crate::Error) -> ConnectorError {
    if matches!(error, crate::Error::NotFound { .. }) {
        tracing::debug!("a link was changed or removed while it reported something");
    } else {
        tracing::warn!(%error, "what a link reported could not be stored; it is asked for again");
    }
    let reason = format!("the hub could not store what came ({})", error.code());
    ConnectorError::Unreachable { reason }
}
