//! Wakes whom the policies say for what was posted, behind the write path and never in its way.
//!
//! It follows the log with a cursor that is written with the wakes it asks for, so a wake is neither
//! lost nor asked for twice. While nobody is to be woken the cursor is only written now and then:
//! looking at a message again asks for nothing that was asked for before.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::limits::wake as limits;
use protocol::{Timestamp, WakeId};
use store::{StoreError, Tx};
use tokio_util::sync::CancellationToken;

use super::trouble::Trouble;
use crate::audit::Commitment;
use crate::call::{Change, Identity};
use crate::clock::Entropy;
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::wakes::look::{self, Candidate};
use crate::wakes::request::Requested;

/// Where the cursor is remembered.
const CURSOR: &str = "wakes_looked_upto";
/// What it is called in the audit trail.
const ACTION: &str = "wake";
/// Who does it.
const ACTOR: &str = "waystation";
/// After a look it rests so many times as long as the look took: it takes an eighth of one core, and in a
/// flood it looks at many posts together. The first post after a pause is looked at at once.
const REST: u32 = 7;
/// How long it rests at most.
const REST_MAX: Duration = Duration::from_millis(250);
/// How long it rests after an error.
const STEP_ASIDE: Duration = Duration::from_millis(100);
/// Looks by itself now and then: another hub may have written to the same database.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Runs until it is stopped.
pub(crate) async fn run(hub: Arc<Hub>, started: Timestamp, stop: CancellationToken) {
    let mut watch = hub.live.watch();
    watch.add_everything();
    let mut follower: Option<Follower> = None;
    let mut trouble = Trouble::default();
    while !stop.is_cancelled() {
        #[expect(clippy::disallowed_methods, reason = "measures how long the look takes")]
        let began = Instant::now();
        match turn(&hub, &mut follower, started).await {
            Ok(Turn::Idle) => {
                trouble.is_over();
                tokio::select! {
                    () = watch.changed() => {}
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    () = stop.cancelled() => break,
                }
            }
            // Nobody has a session, so posts are left alone until somebody has.
            Ok(Turn::Nobody) => {
                trouble.is_over();
                tokio::select! {
                    () = hub.wakes.rung() => {}
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    () = stop.cancelled() => break,
                }
            }
            Ok(Turn::Looked) => {
                trouble.is_over();
                tokio::time::sleep((began.elapsed() * REST).min(REST_MAX)).await;
            }
            Err(Error::Store(StoreError::Closed | StoreError::Failed)) => return,
            Err(error) => {
                trouble.say(&error, "posts wake nobody for the moment; trying again");
                tokio::time::sleep(STEP_ASIDE).await;
            }
        }
    }
    if let Some(follower) = follower {
        follower.remember(&hub).await;
    }
}

/// How far it has looked.
struct Follower {
    upto: i64,
    /// What a start after a crash would find.
    durable_upto: i64,
}

/// What a turn found.
enum Turn {
    /// Nothing was posted.
    Idle,
    /// There is nobody to be woken.
    Nobody,
    /// Something was looked at, and there may be more.
    Looked,
}

/// Looks at one portion of the log.
async fn turn(hub: &Arc<Hub>, follower: &mut Option<Follower>, started: Timestamp) -> Result<Turn> {
    let follower = match follower {
        Some(follower) => follower,
        None => follower.insert(Follower::find(hub, started).await?),
    };
    let after = follower.upto;
    let settled = hub.store.read(|tx| Ok::<_, Error>(tx.settled_message_row()?)).await?;
    if settled <= after {
        return Ok(Turn::Idle);
    }
    let (base, now) = (hub.settings.wake.policy(), hub.now());
    let looked = hub.store.read(move |tx| look::look(tx, &base, (after, settled), now)).await?;
    let (upto, is_anyone_there) = (looked.upto, looked.is_anyone_there);
    follower.go_on(hub, upto, looked.candidates).await?;
    Ok(if is_anyone_there { Turn::Looked } else { Turn::Nobody })
}

impl Follower {
    /// Where it stood. At the very first start it begins with what is posted from then on, though
    /// posts may be there before this is asked.
    async fn find(hub: &Arc<Hub>, started: Timestamp) -> Result<Self> {
        let known = hub.store.read(|tx| Ok::<_, Error>(tx.fact(CURSOR)?)).await?;
        if let Some(upto) = known.and_then(|text| text.parse().ok()) {
            return Ok(Self { upto, durable_upto: upto });
        }
        let upto = hub
            .store
            .read(move |tx| Ok::<_, Error>(tx.newest_message_row_before(started)?))
            .await?;
        hub.store.write(move |tx| tx.set_fact(CURSOR, &upto.to_string())).await?;
        Ok(Self { upto, durable_upto: upto })
    }

    /// Asks for the wakes and moves the cursor, in one transaction.
    async fn go_on(&mut self, hub: &Arc<Hub>, upto: i64, candidates: Vec<Candidate>) -> Result<()> {
        let is_far = upto - self.durable_upto >= limits::WAKE_CURSOR_ROWS_MAX;
        if !candidates.is_empty() || is_far {
            let candidates = Arc::new(candidates);
            let (asking, means, now) = (Arc::clone(&candidates), hub.wake_means(), hub.now());
            hub.store
                .write(move |tx| {
                    for candidate in &*asking {
                        let asked = candidate.ask(tx, now, &means)?;
                        if let Some(Requested::New(id) | Requested::Noted(id)) = asked {
                            enter(tx, candidate, id, now, &*means.entropy)?;
                        }
                    }
                    Ok::<_, Error>(tx.set_fact(CURSOR, &upto.to_string())?)
                })
                .await?;
            self.durable_upto = upto;
            hub.audit_bell.notify_one();
            // Whoever waits looks for itself; another hub may have asked for the wake a moment ago.
            for candidate in &*candidates {
                hub.wakes.ring(&candidate.workspace, &candidate.agent);
            }
        }
        self.upto = upto;
        Ok(())
    }

    /// Writes the cursor of a hub that ends.
    async fn remember(self, hub: &Arc<Hub>) {
        if self.upto == self.durable_upto {
            return;
        }
        let upto = self.upto.to_string();
        let written = hub.store.write(move |tx| tx.set_fact(CURSOR, &upto)).await;
        if let Err(error) = written {
            tracing::debug!(%error, "the last posts will be looked at again");
        }
    }
}

/// Enters a wake that nobody asked for in the audit trail.
fn enter(
    tx: &mut Tx<'_>,
    candidate: &Candidate,
    wake: WakeId,
    now: Timestamp,
    entropy: &dyn Entropy,
) -> Result<()> {
    let identity = Identity::of_service(&candidate.workspace, ACTOR, now, entropy);
    let request = Commitment::request(&identity.salt, &[]);
    let detail = serde_json::json!({ "agent_id": candidate.agent });
    let change = Change::of(wake.to_string(), wake).with_detail(detail.to_string());
    change.enter(tx, &identity, ACTION, &request).map(drop)
}
