//! Deciding at this terminal: about the draft that was named, or the one that is shown now.

use anyhow::{Result, bail};
use edge::local::Client;
use serde_json::json;

use super::show::{self, number};
use super::unlock::unlock;
use crate::cli::Global;
use crate::commands::compact;
use crate::commands::tty::Tty;
use crate::paint::Paint;
use crate::{failure, output};

/// What a person wants.
pub(super) struct Wish {
    pub(super) decision: &'static str,
    pub(super) text: Option<String>,
    pub(super) comment: Option<String>,
}

/// `waystation approvals approve`, `respond` and `reject`.
pub(super) async fn run(
    hub: &mut Client,
    global: &Global,
    is_person: bool,
    id: &str,
    draft: Option<i64>,
    wish: Wish,
) -> Result<()> {
    let draft = match draft {
        Some(draft) => draft,
        None => shown(hub, id, wish.decision).await?,
    };
    if is_person {
        unlock(hub).await?;
    }
    send(hub, global, id, draft, wish).await
}

/// Shows the draft that stands and asks whether this is the one.
async fn shown(hub: &mut Client, id: &str, decision: &str) -> Result<i64> {
    let proposal = show::get(hub, id).await?;
    let mut tty = Tty::open()?;
    let paint = Paint::of_stdout();
    tty.say(&format!("{}\n\n", show::draft(&proposal, paint)))?;
    let draft = number(&proposal, "version");
    let question = format!("{decision} draft {draft}?");
    if !tty.confirm(&question)? {
        bail!("nothing was decided");
    }
    Ok(draft)
}

/// Tells the hub what was decided.
pub(super) async fn send(
    hub: &mut Client,
    global: &Global,
    id: &str,
    draft: i64,
    wish: Wish,
) -> Result<()> {
    let input = compact(json!({
        "proposal_id": id, "version": draft, "decision": wish.decision, "text": wish.text,
        "comment": wish.comment,
    }));
    let called = hub.call("decide_proposal", &input).await.map_err(failure::of_client)?;
    output::answer(global.json, &called.answer, &called.brief)
}
