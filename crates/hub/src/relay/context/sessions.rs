//! Where session layers are kept between turns: in the store, or beside it where a keeper is configured.
//!
//! A turn never depends on what is kept. While the keeper is away nobody asks it, its answers have little
//! time, and what it answers is believed only under the hub's own seal.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use connector_api::ConnectorError;
use connector_api::session::{SessionLayer, SharedKeeper};
use parking_lot::Mutex;
use protocol::limits::relay::{SESSION_LAYER_BYTES_MAX, SESSION_MS_MAX};
use protocol::limits::session as limits;
use protocol::{ThreadId, Timestamp};
use store::SessionLayerRow;
use tokio::sync::Notify;

use super::material::Turn;
use super::seal::LayerKey;
use super::summaries::Summaries;
use crate::hub::Hub;

/// The session layers of a hub.
pub(crate) struct Sessions {
    keeper: Option<SharedKeeper>,
    key: LayerKey,
    is_up: AtomicBool,
    /// Rings when the keeper is lost.
    lost: Notify,
    /// What is to be done at the keeper, a thread each.
    waiting: Mutex<BTreeMap<ThreadId, Waiting>>,
    /// Rings when there is something to do in the background.
    pub(crate) bell: Notify,
    /// What a model is asked to write.
    pub(crate) summaries: Summaries,
}

/// What is to be done at the keeper about a thread.
#[derive(Default)]
struct Waiting {
    /// Forget what is there.
    forget: bool,
    /// Then keep this.
    layer: Option<SessionLayer>,
}

impl Sessions {
    pub(crate) fn new(keeper: Option<SharedKeeper>, key: &[u8]) -> Self {
        Self {
            keeper,
            key: LayerKey::new(key),
            is_up: AtomicBool::new(false),
            lost: Notify::new(),
            waiting: Mutex::default(),
            bell: Notify::new(),
            summaries: Summaries::default(),
        }
    }

    /// The keeper beside the store, if there is one.
    pub(crate) fn keeper(&self) -> Option<&SharedKeeper> {
        self.keeper.as_ref()
    }

    /// Whether layers are kept in the store.
    pub(super) fn are_stored(&self) -> bool {
        self.keeper.is_none()
    }

    /// Whether a layer that is made now would be kept soon.
    pub(super) fn can_keep(&self) -> bool {
        self.are_stored() || self.is_up.load(Ordering::Relaxed)
    }

    /// The layer that is kept beside the store.
    pub(super) async fn beside(&self, hub: &Hub, thread: ThreadId) -> Option<SessionLayer> {
        let keeper = self.keeper.as_ref()?;
        let count = |outcome: &'static str| {
            hub.metrics.count(
                "waystation_session_layers_asked_total",
                "Session layers asked for beside the store, by outcome.",
                &[("outcome", outcome)],
                1,
            );
        };
        if !self.is_up.load(Ordering::Relaxed) {
            count("away");
            return None;
        }
        match keeper.get(thread).await {
            Ok(Some(layer)) if self.is_ours(thread, &layer) => {
                count("found");
                Some(layer)
            }
            Ok(None) => {
                count("missing");
                None
            }
            // Nobody vouches for what is there, and it could stand in the way of what is kept next.
            Ok(Some(_)) | Err(ConnectorError::Protocol { .. }) => {
                count("foreign");
                self.later(thread, |waiting| waiting.forget = true);
                None
            }
            Err(error) => {
                count("failed");
                self.lose(&error);
                None
            }
        }
    }

    fn is_ours(&self, thread: ThreadId, layer: &SessionLayer) -> bool {
        layer.summary.len() <= SESSION_LAYER_BYTES_MAX && self.key.made(thread, layer)
    }

    /// A kept layer, if it was made lately and of what these turns say now.
    pub(super) fn usable(
        &self,
        layer: Option<SessionLayer>,
        turns: &[Turn],
        now: Timestamp,
    ) -> Option<SessionLayer> {
        let age_ms = |layer: &SessionLayer| now.ms_since(Timestamp::from_ms(layer.updated_ms));
        layer.filter(|layer| age_ms(layer) < SESSION_MS_MAX && self.key.is_of(layer, turns))
    }

    /// A layer of these turns.
    pub(super) fn layer(
        &self,
        turns: &[Turn],
        summary: String,
        method: &str,
        now: Timestamp,
    ) -> SessionLayer {
        let ends = |turn: Option<&Turn>| turn.map_or(0, |turn| turn.seq);
        SessionLayer {
            from_seq: ends(turns.first()),
            through_seq: ends(turns.last()),
            summary,
            method: method.to_owned(),
            updated_ms: now.as_ms(),
            turns: self.key.turns(turns.iter()),
            seal: String::new(),
        }
    }

    /// Has something done at the keeper, in the background.
    fn later(&self, thread: ThreadId, change: impl FnOnce(&mut Waiting)) {
        let mut waiting = self.waiting.lock();
        // Where there is no room, it is made again in a later turn.
        if waiting.len() < limits::SESSION_KEEPS_WAITING_MAX || waiting.contains_key(&thread) {
            change(waiting.entry(thread).or_default());
        }
        drop(waiting);
        self.bell.notify_one();
    }

    /// Does at the keeper what waits for it.
    pub(crate) async fn flush(&self) {
        let Some(keeper) = &self.keeper else { return };
        while self.is_up.load(Ordering::Relaxed) {
            let next = self.waiting.lock().pop_first();
            let Some((thread, todo)) = next else { return };
            if let Err(error) = act(keeper, thread, &todo).await {
                self.lose(&error);
            }
        }
    }

    /// The keeper answers.
    pub(crate) fn found(&self) {
        self.is_up.store(true, Ordering::Relaxed);
        self.bell.notify_one();
    }

    /// Waits until the keeper is lost.
    pub(crate) async fn lost(&self) {
        self.lost.notified().await;
    }

    /// The keeper failed somebody: it is left alone until it is connected again, which is said once.
    fn lose(&self, error: &ConnectorError) {
        if self.is_up.swap(false, Ordering::Relaxed) {
            let at = self.keeper.as_ref().map_or("", |keeper| keeper.name());
            tracing::warn!(at, %error, "session layers are made anew until their keeper answers");
            self.lost.notify_one();
        }
    }
}

async fn act(
    keeper: &SharedKeeper,
    thread: ThreadId,
    todo: &Waiting,
) -> Result<(), ConnectorError> {
    if todo.forget {
        keeper.forget(thread).await?;
    }
    if let Some(layer) = &todo.layer {
        let is_kept = keeper.set(thread, layer).await?;
        tracing::debug!(%thread, is_kept, "a session layer was handed to its keeper");
    }
    Ok(())
}

/// Keeps a layer for the next turn. Nothing depends on it.
pub(super) async fn keep(hub: &Arc<Hub>, row: i64, thread: ThreadId, layer: SessionLayer) {
    let sessions = &hub.sessions;
    if sessions.are_stored() {
        let layer = to_row(layer);
        let kept = hub.store.write(move |tx| tx.set_session_layer(row, &layer)).await;
        if let Err(error) = kept {
            tracing::debug!(%error, "a session layer was not kept; it is made again");
        }
        return;
    }
    let seal = sessions.key.seal(thread, &layer);
    let layer = SessionLayer { seal, ..layer };
    sessions.later(thread, |waiting| {
        let stays = waiting.layer.as_ref().is_some_and(|there| {
            (there.through_seq, there.is_by_model()) > (layer.through_seq, layer.is_by_model())
        });
        if !stays {
            waiting.layer = Some(layer);
        }
    });
}

pub(super) fn from_row(row: SessionLayerRow) -> SessionLayer {
    SessionLayer {
        from_seq: row.from_seq,
        through_seq: row.through_seq,
        summary: row.summary,
        method: row.method,
        updated_ms: row.updated.as_ms(),
        turns: row.turns,
        seal: String::new(),
    }
}

fn to_row(layer: SessionLayer) -> SessionLayerRow {
    SessionLayerRow {
        from_seq: layer.from_seq,
        through_seq: layer.through_seq,
        summary: layer.summary,
        method: layer.method,
        updated: Timestamp::from_ms(layer.updated_ms),
        turns: layer.turns,
    }
}
