//! A person has used the buttons or the editor of a proposal at a service.

use std::sync::Arc;

use connector_api::{Connector, Draft, HookAnswer, Interaction, Wish};
use protocol::limits::approvals as limits;
use serde_json::json;
use store::LinkRow;

use super::button::Button;
use super::decide::{self, Decider, Deciding, MISSING};
use super::key::{self, Means};
use super::life::{Decision, Proposal, Via};
use crate::audit::Commitment;
use crate::call::Identity;
use crate::error::{Error, Result};
use crate::hub::Hub;

/// What it is called in the audit trail, whichever way a human decides.
const ACTION: &str = "decide_proposal";

/// Does what a person wants, or says why not. `answer` is what the service is told when all is well.
pub(crate) async fn interaction(
    hub: &Arc<Hub>,
    link: &Arc<LinkRow>,
    connector: &dyn Connector,
    interaction: Interaction,
    answer: HookAnswer,
) -> HookAnswer {
    match fulfil(hub, link, connector, &interaction).await {
        Ok(()) => answer,
        Err(error) => {
            hub.approvals.count_refusal();
            tracing::info!(link = %link.name, code = error.code().name(), "a wish was refused");
            let reason = match &error {
                Error::Internal(_) | Error::Store(_) => {
                    "the hub could not do this; nothing was decided, try again".to_owned()
                }
                other => other.to_string(),
            };
            connector.refuse_wish(&interaction, &reason)
        }
    }
}

async fn fulfil(
    hub: &Arc<Hub>,
    link: &Arc<LinkRow>,
    connector: &dyn Connector,
    interaction: &Interaction,
) -> Result<()> {
    let means = key::means(hub).await?;
    let button = Button::open(&means.key, link.row, &interaction.token).ok_or_else(|| {
        Error::InsufficientAuthority("this button is not one of this hub's".to_owned())
    })?;
    let decider = decider(link, interaction);
    let decision = match &interaction.wish {
        Wish::OpenEditor => {
            return open(&means, connector, interaction, &decider, button, false).await;
        }
        Wish::OpenRemark => {
            return open(&means, connector, interaction, &decider, button, true).await;
        }
        Wish::Approve => Decision::Approve,
        Wish::ApproveEdited { text } => Decision::Edit(text.clone()),
        Wish::Respond { text } => Decision::Respond(text.clone()),
        Wish::Reject => Decision::Reject,
    };
    let now = hub.now();
    let deciding =
        Deciding { id: button.id, version: button.version, decision, comment: None, now };
    let identity = Identity::of_service(&link.workspace, &decider.sender, now, &*hub.entropy());
    let asked = json!([button.id, button.version, deciding.decision.state()]).to_string();
    let request = Commitment::request(&identity.salt, asked.as_bytes());
    let work = means.clone();
    let output = hub
        .store
        .write(move |tx| {
            decide::decide(tx, &work, &decider, &deciding)?.enter(tx, &identity, ACTION, &request)
        })
        .await?;
    hub.audit_bell.notify_one();
    decide::announce(&means, &output, Via::Chat);
    Ok(())
}

/// Who has used a button.
fn decider(link: &LinkRow, interaction: &Interaction) -> Decider {
    let sender = format!("{}:{}", link.service, interaction.user_id);
    let name = match interaction.user_name.as_str() {
        "" => sender.clone(),
        name => format!("{name} ({sender})"),
    };
    Decider {
        name,
        via: Via::Chat,
        channel: link.service.clone(),
        sender,
        known_as: interaction.user_id.clone(),
        session: format!("link:{}", link.name),
        workspace: link.workspace.clone(),
    }
}

/// Opens the service's editor, at once: what lets it be opened is good for three seconds.
async fn open(
    means: &Means,
    connector: &dyn Connector,
    interaction: &Interaction,
    decider: &Decider,
    button: Button,
    is_remark: bool,
) -> Result<()> {
    let Some(trigger) = &interaction.trigger else {
        return Err(Error::Conflict("the service gave nothing to open its editor with".to_owned()));
    };
    let (looking, asked) = (means.clone(), decider.clone());
    let proposal = means
        .hub
        .store
        .read(move |tx| {
            let row = tx.proposal(button.id)?.filter(|row| row.workspace == asked.workspace);
            let proposal = Proposal::of(row.ok_or(MISSING)?)?;
            decide::authorise(tx, &looking, &proposal, &asked)?;
            let earlier = decide::draft(tx, &proposal, button.version)?;
            proposal.check_draft(button.version, earlier.as_ref())?;
            Ok::<_, Error>(proposal)
        })
        .await?;
    let draft = Draft {
        token: interaction.token.clone(),
        text: proposal.action().text.clone(),
        place: proposal.action().place.clone(),
        is_remark,
    };
    let opened =
        tokio::time::timeout(limits::EDITOR_OPEN_TIMEOUT, connector.open_editor(trigger, &draft));
    match opened.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Error::Conflict(format!("the editor cannot be opened: {error}"))),
        Err(_) => Err(Error::Conflict(
            "the service did not open its editor in time; press the button again".to_owned(),
        )),
    }
}
