//! Summarising a thread without a model.

use protocol::{Scope, limits};
use schemars::JsonSchema;
use serde::Deserialize;

use super::rules;
use super::summary::Summary;
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Summarise a thread, however long: what was found, fixed and verified, what is still open, with
/// message numbers to read on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummarizeThread {
    /// The thread.
    thread_id: String,
    /// How many of the newest messages highlights come from, default 200; findings are counted over all.
    #[schemars(range(min = 1))]
    max_messages: Option<u32>,
}

impl Operation for SummarizeThread {
    const NAME: &'static str = "summarize_thread";
    const ROUTE: Route = Route::get("/v1/threads/{thread_id}/summary");
    const SCOPE: Scope = Scope::ThreadsRead;
    const EFFECT: Effect = Effect::Read;
    type Output = Summary;

    fn object(&self) -> Object<'_> {
        Object::named(&self.thread_id)
    }

    async fn run(self, call: &Call) -> Result<Summary> {
        let id = rules::thread_id(&self.thread_id)?;
        let newest = self.max_messages.unwrap_or(limits::SUMMARY_MESSAGES_DEFAULT);
        if newest == 0 {
            return Err(Error::invalid("max_messages", "must be at least 1"));
        }
        let caller = call.shared_caller();
        let (thread, fold, known) = call
            .read(move |tx| {
                let thread = rules::enter(tx, id, &caller, "read")?;
                let kept = rules::kept_fold(tx, &thread)?;
                let known = kept.through_seq();
                let fold = rules::bring_forward(tx, &thread, kept)?;
                Ok((thread, fold, known))
            })
            .await?;
        let mut summary = fold.summary(thread.status);
        summary.keep_after(thread.head_seq - i64::from(newest));
        if fold.through_seq() - known >= limits::SUMMARY_KEEP_EVERY {
            // A view that can always be made again: kept without waiting for anybody's answer.
            let kept = call.hub.store.write(move |tx| rules::keep_fold(tx, &thread, &fold)).await;
            if let Err(error) = kept {
                tracing::debug!(%error, "a folded summary was not kept");
            }
        }
        Ok(summary)
    }

    fn brief(output: &Summary) -> String {
        text(output)
    }
}

/// The summary for a model or a person.
fn text(summary: &Summary) -> String {
    let mut lines = vec![format!("{} (thread is {})", summary.summary, summary.last_status)];
    lines.extend(
        summary.open_items.iter().map(|item| format!("- open #{}: {}", item.seq, item.text)),
    );
    lines.extend(summary.highlights.iter().map(|said| format!("- #{}: {}", said.seq, said.text)));
    lines.join("\n")
}
