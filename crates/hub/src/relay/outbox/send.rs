//! Sending one action: part by part, each marked as being sent before its request goes out. What may have
//! arrived is looked for, again and again for a while, before it is sent once more.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use connector_api::{Arrived, ConnectorError, Part, Receipt};
use protocol::Timestamp;
use protocol::limits::relay as limits;
use store::OutboxRow;

use super::patience;
use super::prepare::{Ready, Unready, prepare};
use super::record::{Open, Step, record};
use super::{state, view};
use crate::error::Result;
use crate::hub::Hub;

/// How an attempt went, for the metrics.
const SENT: &str = "sent";
const FOUND: &str = "found";
const UNKNOWN: &str = "unknown";
const LIMITED: &str = "limited";
const REFUSED: &str = "refused";

/// Sends an action as far as it gets now, and writes down how far that was.
pub(crate) async fn send(hub: Arc<Hub>, row: OutboxRow) {
    let id = row.id;
    if let Err(error) = try_send(&hub, row).await {
        // Its lease ends, and then it is looked at again.
        tracing::debug!(%error, outbox = %id, "an action is left for the next look");
    }
}

async fn try_send(hub: &Arc<Hub>, row: OutboxRow) -> Result<()> {
    let step = match prepare(hub, &row).await? {
        Ok(ready) => {
            let sender = Sender { hub, ready };
            return sender.run(row).await;
        }
        Err(Unready::Wait(ms, reason)) => {
            let due = hub.now().plus_ms(ms);
            Step::Wait { due, reason, answer: None, open: Open::Same }
        }
        Err(Unready::Dead(reason)) => Step::Dead { reason, answer: None, open: Open::Same },
        Err(Unready::Needless(reason)) => Step::Needless { reason },
    };
    if matches!(step, Step::Dead { .. }) {
        state::count_dead(&hub.metrics, "none");
    }
    record(hub, &row, step).await.map(drop)
}

/// One that sends one action.
struct Sender<'a> {
    hub: &'a Arc<Hub>,
    ready: Ready,
}

/// Whether to go on with an action.
enum Next {
    Go(Box<OutboxRow>),
    Stop,
}

impl Sender<'_> {
    async fn run(&self, mut row: OutboxRow) -> Result<()> {
        let done = usize::try_from(row.parts_done).unwrap_or(usize::MAX);
        for part in self.ready.parts.iter().skip(done) {
            if row.sending {
                match self.look(row, part).await? {
                    Next::Go(next) if is_past(&next, part) => {
                        row = *next;
                        continue;
                    }
                    Next::Go(next) => row = *next,
                    Next::Stop => return Ok(()),
                }
            }
            match self.post(row, part).await? {
                Next::Go(next) => row = *next,
                Next::Stop => return Ok(()),
            }
        }
        Ok(())
    }

    /// Asks the service whether a part arrived whose answer nobody heard.
    async fn look(&self, row: OutboxRow, part: &Part) -> Result<Next> {
        let began = began();
        if let Some(arrived) = self.heard(&row).await? {
            self.observe(FOUND, began);
            let receipt = self.ready.connector.receipt_of(&self.ready.posting, part, &arrived);
            return self.arrived(&row, part, receipt).await;
        }
        let asked = self.ready.connector.find_posted(&self.ready.posting, part);
        let found = timed(asked).await;
        match found {
            Ok(Some(receipt)) => {
                self.observe(FOUND, began);
                self.hub.outbox.breakers.succeed(&self.ready.place);
                self.arrived(&row, part, receipt).await
            }
            Ok(None) => {
                self.hub.outbox.breakers.succeed(&self.ready.place);
                self.not_found(row).await
            }
            // Nobody can tell, so it is sent again: the service knows its mark.
            Err(ConnectorError::Unsupported { .. }) => self.step(&row, Step::NotThere).await,
            Err(ConnectorError::CannotTell) => self.cannot_tell(row).await,
            Err(ConnectorError::RateLimited { retry_after }) => {
                self.limited(&row, retry_after, Open::Same).await
            }
            Err(error) if error.is_passing() => {
                self.silent();
                let reason = "the service could not be asked whether it arrived";
                self.again(&row, reason, &error, Open::Unasked).await
            }
            Err(error) => {
                let reason = "it is not known whether it arrived, and the service does not say";
                self.give_up(&row, reason.to_owned(), Some(error.to_string()), Open::Same).await
            }
        }
    }

    /// What the service said by itself of a part whose answer was lost.
    async fn heard(&self, row: &OutboxRow) -> Result<Option<Arrived>> {
        let known = view::receipts(row);
        let (id, outbox_row) = (row.id, row.row);
        let posted = self.hub.store.read(move |tx| tx.posted_of(outbox_row)).await?;
        // Parts go one after the other, so what is not known yet is the one that was being sent.
        let mut new = posted
            .into_iter()
            .filter(|(remote_id, _)| known.iter().all(|receipt| receipt.remote_id != *remote_id));
        Ok(new.next().map(|(remote_id, at)| Arrived { mark: id.to_string(), remote_id, at }))
    }

    /// Nobody can be asked. The service may still say by itself that it arrived; if it does not, a
    /// person has to look.
    async fn cannot_tell(&self, row: OutboxRow) -> Result<Next> {
        if let Some(pause_ms) = patience::look_again_ms(row.looks) {
            let reason = "its answer was lost; the service may still say whether it arrived";
            let (due, open) =
                (self.hub.now().plus_ms(pause_ms), Open::Asked { looks: row.looks + 1 });
            return self.wait(&row, due, reason, None, open).await;
        }
        let reason = "it is not known whether it arrived, and the service cannot be asked: look there, \
                      then redrive it as not arrived, or cancel it";
        self.give_up(&row, reason.to_owned(), None, Open::Same).await
    }

    /// A part is not there, or not yet to be seen.
    async fn not_found(&self, row: OutboxRow) -> Result<Next> {
        let now = self.hub.now();
        if let Some(pause_ms) = patience::look_again_ms(row.looks) {
            let reason = "its answer was lost; the service is asked again whether it arrived";
            let (due, open) = (now.plus_ms(pause_ms), Open::Asked { looks: row.looks + 1 });
            return self.wait(&row, due, reason, None, open).await;
        }
        let Some(back_off_ms) = self.back_off_ms(row.attempts) else {
            let reason = format!("it was tried {} times and never arrived", row.attempts);
            return self.give_up(&row, reason, None, Open::No).await;
        };
        match patience::rest_ms(back_off_ms) {
            0 => self.step(&row, Step::NotThere).await,
            rest_ms => {
                let due = now.plus_ms(rest_ms);
                self.wait(&row, due, "it did not arrive; it is sent again", None, Open::No).await
            }
        }
    }

    /// Sends a part.
    async fn post(&self, row: OutboxRow, part: &Part) -> Result<Next> {
        if let Err((due, reason)) = self.admit() {
            return self.wait(&row, due, reason, None, Open::Same).await;
        }
        let Some(row) = record(self.hub, &row, Step::Sending).await? else { return Ok(Next::Stop) };
        if row.attempts > 1 {
            state::count_retry(&self.hub.metrics, &self.ready.service);
        }
        // A machine that slept since then must not send: somebody else may have taken over.
        if !has_time(&row, self.hub.now()) {
            return Ok(Next::Stop);
        }
        let began = began();
        let posted = timed(self.ready.connector.post(&self.ready.posting, part)).await;
        match posted {
            Ok(receipt) => {
                self.observe(SENT, began);
                self.hub.outbox.breakers.succeed(&self.ready.place);
                self.arrived(&row, part, receipt).await
            }
            Err(ConnectorError::RateLimited { retry_after }) => {
                self.observe(LIMITED, began);
                self.hub.outbox.breakers.succeed(&self.ready.place);
                self.limited(&row, retry_after, Open::NotCounted).await
            }
            Err(error @ ConnectorError::NotReached { .. }) => {
                self.observe(REFUSED, began);
                self.silent();
                self.again(&row, "the service cannot be reached", &error, Open::No).await
            }
            Err(error) if error.is_passing() => {
                self.observe(UNKNOWN, began);
                self.silent();
                let pause_ms = patience::look_again_ms(0).unwrap_or_default();
                let due = self.hub.now().plus_ms(pause_ms);
                let reason = "its answer was lost; the service is asked whether it arrived";
                let open = Open::Asked { looks: 1 };
                self.wait(&row, due, reason, Some(error.to_string()), open).await
            }
            Err(error @ ConnectorError::Conflict { .. }) => {
                self.observe(REFUSED, began);
                self.again(&row, "something is in its way at the service", &error, Open::No).await
            }
            Err(ConnectorError::Stopping) => {
                let due = self.hub.now();
                self.wait(&row, due, "the hub was stopping", None, Open::NotCounted).await
            }
            Err(error) => {
                self.observe(REFUSED, began);
                self.hub.outbox.breakers.succeed(&self.ready.place);
                let reason = "the service did not take it".to_owned();
                self.give_up(&row, reason, Some(error.to_string()), Open::No).await
            }
        }
    }

    /// Whether the service may be sent to now; if not, when to ask again and why.
    fn admit(&self) -> std::result::Result<(), (Timestamp, &'static str)> {
        const SILENT: &str = "the service does not answer and is left alone for a while";
        let (now, outbox) = (self.hub.now(), &self.hub.outbox);
        outbox.breakers.look(&self.ready.place, now).map_err(|due| (due, SILENT))?;
        outbox
            .paces
            .take(&self.ready.paces, now)
            .map_err(|due| (due, "the service takes no more for the moment"))?;
        outbox.breakers.enter(&self.ready.place, now).map_err(|due| (due, SILENT))
    }

    async fn arrived(&self, row: &OutboxRow, part: &Part, receipt: Receipt) -> Result<Next> {
        let is_last = part.index + 1 >= self.ready.parts.len();
        let index = i64::try_from(part.index).unwrap_or(i64::MAX);
        let receipt = Box::new(receipt);
        self.step(row, Step::Arrived { index, receipt, is_last }).await
    }

    async fn limited(&self, row: &OutboxRow, retry_after: Duration, open: Open) -> Result<Next> {
        let wait_ms = i64::try_from(retry_after.as_millis()).unwrap_or(i64::MAX);
        let wait_ms = wait_ms.clamp(1, limits::OUTBOX_RETRY_AFTER_MS_MAX);
        let due = self.hub.now().plus_ms(wait_ms);
        self.hub.outbox.paces.hold(&self.ready.paces, due);
        self.wait(row, due, "the service asks for patience", None, open).await
    }

    /// What failed is tried again after a while, unless it was tried often enough.
    async fn again(
        &self,
        row: &OutboxRow,
        reason: &str,
        error: &ConnectorError,
        open: Open,
    ) -> Result<Next> {
        let answer = Some(error.to_string());
        let Some(wait_ms) = self.back_off_ms(row.attempts) else {
            let reason = format!("it was tried {} times: {reason}", row.attempts);
            return self.give_up(row, reason, answer, open).await;
        };
        let due = self.hub.now().plus_ms(wait_ms);
        self.wait(row, due, reason, answer, open).await
    }

    async fn give_up(
        &self,
        row: &OutboxRow,
        reason: String,
        answer: Option<String>,
        open: Open,
    ) -> Result<Next> {
        state::count_dead(&self.hub.metrics, &self.ready.service);
        tracing::warn!(outbox = %row.id, %reason, "an action was given up");
        self.step(row, Step::Dead { reason, answer, open }).await
    }

    async fn wait(
        &self,
        row: &OutboxRow,
        due: Timestamp,
        reason: &str,
        answer: Option<String>,
        open: Open,
    ) -> Result<Next> {
        self.step(row, Step::Wait { due, reason: reason.to_owned(), answer, open }).await
    }

    async fn step(&self, row: &OutboxRow, step: Step) -> Result<Next> {
        let goes_on = matches!(step, Step::Arrived { .. } | Step::NotThere);
        let recorded = record(self.hub, row, step).await?;
        Ok(match recorded {
            Some(row) if goes_on => Next::Go(Box::new(row)),
            _ => Next::Stop,
        })
    }

    fn silent(&self) {
        if self.hub.outbox.breakers.fail(&self.ready.place, self.hub.now()) {
            tracing::warn!(place = %self.ready.place, "a service does not answer; it is left alone");
        }
    }

    fn back_off_ms(&self, attempts: i64) -> Option<i64> {
        patience::back_off_ms(attempts, u32::from_le_bytes(self.hub.random()))
    }

    fn observe(&self, outcome: &'static str, began: Instant) {
        state::count_send(&self.hub.metrics, &self.ready.service, outcome, began.elapsed());
    }
}

/// Whether a part has arrived.
fn is_past(row: &OutboxRow, part: &Part) -> bool {
    usize::try_from(row.parts_done).unwrap_or(0) > part.index
}

/// Whether a request that goes out now has ended before somebody else takes over.
fn has_time(row: &OutboxRow, now: Timestamp) -> bool {
    let timeout_ms = i64::try_from(limits::OUTBOX_SEND_TIMEOUT.as_millis()).unwrap_or(i64::MAX);
    row.lease.is_some_and(|until| now.plus_ms(timeout_ms) < until)
}

/// A request that takes too long has an unknown end.
async fn timed<T>(
    request: impl Future<Output = connector_api::Result<T>>,
) -> connector_api::Result<T> {
    match tokio::time::timeout(limits::OUTBOX_SEND_TIMEOUT, request).await {
        Ok(answered) => answered,
        Err(_) => {
            Err(ConnectorError::Unreachable { reason: "it did not answer in time".to_owned() })
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "measures how long the service takes")]
fn began() -> Instant {
    Instant::now()
}
