//! Giving work out again that was given up.

use protocol::relay::WorkState;
use protocol::{Scope, limits, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use store::{Tx, WorkRow};

use super::life;
use super::view::WorkView;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::relay::hooks;

/// Give work out again that was given up or is parked, as if it had never been tried. Its thread keeps its
/// order: it waits for what the thread has begun meanwhile, and comes before what is later. Whoever had it
/// before cannot complete it any more. Work that was put off is given out now, and with `queue` work moves.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequeueWork {
    /// The work.
    work_id: String,
    /// The queue it goes to, if not the one it stood in.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX))]
    queue: Option<String>,
}

impl Operation for RequeueWork {
    const NAME: &'static str = "requeue_work";
    const ROUTE: Route = Route::post("/v1/work/{work_id}/requeue");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Set;
    const TOOLSET: &'static str = "admin";
    type Output = WorkView;

    fn object(&self) -> Object<'_> {
        Object::named(&self.work_id)
    }

    async fn run(self, call: &Call) -> Result<WorkView> {
        let id = life::work_id(&self.work_id)?;
        if let Some(queue) = &self.queue {
            validate::name(queue).field("queue")?;
        }
        let (caller, now, queue) = (call.shared_caller(), call.now(), self.queue);
        let view = call
            .write(move |tx| {
                let mut work = life::lock(tx, id, &caller)?;
                let before = work.state;
                let moves = queue.as_ref().is_some_and(|queue| *queue != work.queue);
                let is_open = matches!(before, WorkState::Ready | WorkState::Behind);
                match before {
                    WorkState::Dead => {}
                    WorkState::Parked => check_parked(tx, &work)?,
                    _ if is_open && (moves || work.visible > now) => {}
                    WorkState::Ready | WorkState::Leased | WorkState::Behind => {
                        return Ok(Change::none(WorkView::of(work)));
                    }
                    WorkState::Done => {
                        return Err(Error::Conflict(
                            "this work is done; what it led to stands in its thread".to_owned(),
                        ));
                    }
                }
                if let Some(queue) = &queue {
                    work.queue.clone_from(queue);
                }
                if is_open {
                    work.visible = work.visible.min(now);
                    tx.update_work(&work)?;
                } else {
                    work.reason =
                        work.reason.map(|reason| format!("tried again; before: {reason}"));
                    tx.reopen_work(&mut work, now)?;
                }
                let detail = serde_json::json!({ "from": before, "queue": work.queue });
                let change = Change::of(work.id.to_string(), WorkView::of(work));
                Ok(change.with_detail(detail.to_string()))
            })
            .await?;
        hooks::work_arrived(&call.hub.live, &call.caller().workspace_id);
        Ok(view)
    }

    fn brief(output: &WorkView) -> String {
        format!("{} is {} in {}", output.work_id, output.state, output.queue)
    }
}

/// What is parked for a human's decision goes on by that decision.
fn check_parked(tx: &mut Tx<'_>, work: &WorkRow) -> Result<()> {
    match tx.open_proposal_of_work(work.row)? {
        Some(id) => Err(Error::Conflict(format!(
            "this work waits for a decision about {id}; decide it, or have it withdrawn first"
        ))),
        None => Ok(()),
    }
}
