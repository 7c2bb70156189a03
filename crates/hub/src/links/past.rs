//! What was said before the link was made, and while nobody listened: read page by page beside the
//! stream, within a budget of requests. Gaps come first, because people ask about yesterday.

use std::collections::HashSet;

use connector_api::{ConnectorError, FactsPage, Result};
use protocol::limits::links as limits;
use store::{GapRow, StoreError, Tx};
use tokio::time::timeout;

use super::attempt::{not_stored, silent};
use super::mark::Mark;
use super::patience;
use super::run::Link;
use super::state::LinkStatus;

/// What to read next.
enum Job {
    /// What a chat has missed.
    Gap(GapRow),
    /// What was said in a chat before.
    Past {
        /// The chat.
        chat_id: String,
        /// Where its past goes on.
        from: Option<String>,
    },
}

/// How the reading goes, for as long as a connection lasts.
#[derive(Default)]
pub(super) struct Reading {
    /// Pages asked for.
    pages: u32,
    /// Failures in a row.
    failures: u32,
    /// Chats that the service does not give; the next connection asks again.
    refused: HashSet<String>,
}

impl Link {
    /// Reads the past for as long as the stream lasts. A stream that missed something ends, so gaps
    /// are opened when the next one begins, not here.
    pub(super) async fn read_past_beside(&self) {
        self.bells().up.notified().await;
        let mut reading = Reading::default();
        let mut read = self.catch_up(&mut reading).await;
        loop {
            if let Err(error) = &read {
                tracing::warn!(link = %self.row().name, reason = %error, "the past is not read on");
            }
            read = tokio::select! {
                () = self.bells().up.notified() => self.catch_up(&mut reading).await,
                () = self.bells().new_chat.notified() => self.read_on(&mut reading).await,
                () = tokio::time::sleep(limits::LINK_LOOK_EVERY), if read.is_err() => {
                    self.read_on(&mut reading).await
                }
            };
        }
    }

    /// Reads everything there is to read: first which chats there are, then what was said in them.
    pub(super) async fn catch_up(&self, reading: &mut Reading) -> Result<()> {
        if let Err(error) = self.list_chats(reading).await {
            // Chats that are known can be read all the same.
            tracing::info!(link = %self.row().name, reason = %error, "chats could not be listed");
        }
        self.read_on(reading).await
    }

    async fn list_chats(&self, reading: &mut Reading) -> Result<()> {
        if !self.capabilities().chat_list {
            return Ok(());
        }
        let mut from = None;
        for _ in 0..limits::CHAT_LIST_PAGES_MAX {
            reading.pace().await;
            match timeout(limits::LINK_PAGE_TIMEOUT, self.connector().chats(from.clone())).await {
                Ok(Ok(page)) => {
                    reading.failures = 0;
                    let (facts, next) = sound(page, from.as_deref())?;
                    self.commit(facts, Mark::None).await.map_err(|error| not_stored(&error))?;
                    match next {
                        Some(next) => from = Some(next),
                        None => return Ok(()),
                    }
                }
                Ok(Err(error)) => self.wait_or_give_up(error, reading).await?,
                Err(_) => self.wait_or_give_up(silent(), reading).await?,
            }
        }
        Ok(())
    }

    /// Whoever was held before may have missed something by now.
    pub(super) async fn open_gaps(&self) -> Result<()> {
        if !self.capabilities().history {
            return Ok(());
        }
        let row = self.row().row;
        let opened = self.hub().store.write(move |tx| tx.open_gaps(row)).await;
        opened.map(drop).map_err(|error: StoreError| not_stored(&error.into()))
    }

    /// Reads page after page until there is nothing left that the service gives.
    pub(super) async fn read_on(&self, reading: &mut Reading) -> Result<()> {
        if !self.capabilities().history {
            return Ok(());
        }
        while let Some(job) = self.next_job(reading).await? {
            reading.pace().await;
            let (chat_id, from) = job.place();
            let page = self.connector().history(&chat_id, from.clone());
            let page =
                timeout(limits::LINK_PAGE_TIMEOUT, page).await.unwrap_or_else(|_| Err(silent()));
            match page.and_then(|page| sound(page, from.as_deref())) {
                Ok((facts, next)) => {
                    reading.failures = 0;
                    let mark = job.mark(next);
                    self.commit(facts, mark).await.map_err(|error| not_stored(&error))?;
                }
                Err(error) => {
                    if let Err(error) = self.wait_or_give_up(error, reading).await {
                        tracing::info!(link = %self.row().name, reason = %error, "a chat is not given");
                        reading.failures = 0;
                        reading.refused.insert(chat_id);
                    }
                }
            }
        }
        Ok(())
    }

    async fn next_job(&self, reading: &Reading) -> Result<Option<Job>> {
        let (row, refused) = (self.row().row, reading.refused.clone());
        let job = self.hub().store.read(move |tx| find_job(tx, row, &refused)).await;
        job.map_err(|error: StoreError| not_stored(&error.into()))
    }

    /// Waits where waiting helps; otherwise the error is the answer.
    async fn wait_or_give_up(&self, error: ConnectorError, reading: &mut Reading) -> Result<()> {
        reading.failures += 1;
        let is_patient = matches!(error, ConnectorError::RateLimited { .. });
        if !error.is_passing() || (!is_patient && reading.failures > limits::HISTORY_TRIES_MAX) {
            return Err(error);
        }
        let random = u32::from_le_bytes(self.hub().random());
        let wait = patience::wait(&error, reading.failures, random);
        // Only a service that asks for patience is worth a word while the stream itself is up.
        if is_patient && self.state().status == LinkStatus::Connected {
            self.tell(LinkStatus::RateLimited, patience::state_after(&error).1);
            tokio::time::sleep(wait).await;
            if self.state().status == LinkStatus::RateLimited {
                self.tell(LinkStatus::Connected, String::new());
            }
        } else {
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }
}

impl Reading {
    /// Keeps to the budget.
    async fn pace(&mut self) {
        self.pages = self.pages.saturating_add(1);
        if self.pages > limits::HISTORY_PAGES_BURST {
            tokio::time::sleep(limits::HISTORY_PAGE_EVERY).await;
        }
    }
}

impl Job {
    /// The chat, and where its reading goes on.
    fn place(&self) -> (String, Option<String>) {
        match self {
            Self::Gap(gap) => (gap.remote_id.clone(), gap.cursor.clone()),
            Self::Past { chat_id, from } => (chat_id.clone(), from.clone()),
        }
    }

    fn mark(self, next: Option<String>) -> Mark {
        match self {
            Self::Gap(gap) => Mark::Gap { gap, next },
            Self::Past { chat_id, .. } => Mark::Past { chat_id, next },
        }
    }
}

fn find_job(
    tx: &mut Tx<'_>,
    link_row: i64,
    refused: &HashSet<String>,
) -> std::result::Result<Option<Job>, StoreError> {
    // However many chats are refused, one that is not lies behind them.
    let limit = refused.len().saturating_add(1);
    let gaps = tx.gaps_to_fill(link_row, limit)?;
    if let Some(gap) = gaps.into_iter().find(|gap| !refused.contains(&gap.remote_id)) {
        return Ok(Some(Job::Gap(gap)));
    }
    let chats = tx.chats_to_backfill(link_row, limit)?;
    let chat = chats.into_iter().find(|chat| !refused.contains(&chat.remote_id));
    Ok(chat.map(|chat| Job::Past { chat_id: chat.remote_id, from: chat.history_cursor }))
}

/// A page that leads to itself would be read for ever.
fn sound(page: FactsPage, from: Option<&str>) -> Result<(protocol::chat::Facts, Option<String>)> {
    if page.next.is_some() && page.next.as_deref() == from {
        let reason = "a page that leads further than itself".to_owned();
        return Err(ConnectorError::Protocol { reason });
    }
    Ok((page.facts, page.next))
}
