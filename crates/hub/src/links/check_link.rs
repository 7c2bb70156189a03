//! Asking a service whether a link's credentials work.

use connector_api::{Account, ConnectorError};
use protocol::Scope;
use protocol::limits::links as limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::LinkRow;
use tokio::time::timeout;

use super::attempt::silent;
use super::patience;
use super::state::LinkStatus;
use crate::audit::Object;
use crate::call::Call;
use crate::chats::rules;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Ask a service now whether a link's credentials work, and say what to do if they do not.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckLink {
    /// The source's id.
    name: String,
}

/// How the link is doing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckLinkOutput {
    /// The source's id.
    name: String,
    /// The service.
    service: String,
    /// Whether its credentials work.
    works: bool,
    /// Whose they are.
    account: String,
    /// What a person should know.
    notes: Vec<String>,
    /// How the link was doing before this question.
    status: LinkStatus,
    /// Why it does not work.
    reason: String,
    /// What to do about it.
    next_step: String,
}

impl Operation for CheckLink {
    const NAME: &'static str = "check_link";
    const ROUTE: Route = Route::post("/v1/links/{name}/check");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = "admin";
    type Output = CheckLinkOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.name)
    }

    async fn run(self, call: &Call) -> Result<CheckLinkOutput> {
        let link = find(call, self.name).await?;
        if !link.is_live {
            return Err(Error::Conflict(format!(
                "the source {} is an archive without an account; waystation link add {} connects one",
                link.name, link.service
            )));
        }
        let status = rules::state(&call.hub, &link).status;
        let checked = check(call, &link).await;
        if checked.is_ok() {
            call.hub.links.try_again(link.row);
        }
        let (reason, next_step) = match &checked {
            Ok(_) => (String::new(), String::new()),
            Err(error) => (error.to_string(), next_step(error, &link)),
        };
        let works = checked.is_ok();
        let account = checked.unwrap_or_default();
        Ok(CheckLinkOutput {
            works,
            account: account.name,
            notes: account.notes,
            status,
            reason,
            next_step,
            name: link.name,
            service: link.service,
        })
    }

    fn brief(output: &CheckLinkOutput) -> String {
        let mut lines = if output.works {
            vec![format!("{} works: {} ({})", output.name, output.account, output.service)]
        } else {
            vec![format!("{} does not work: {}", output.name, output.reason)]
        };
        lines.extend(output.notes.iter().map(|note| format!("note: {note}")));
        if !output.next_step.is_empty() {
            lines.push(output.next_step.clone());
        }
        lines.join("\n")
    }
}

/// A link of the caller's workspace.
pub(super) async fn find(call: &Call, name: String) -> Result<LinkRow> {
    let caller = call.shared_caller();
    call.read(move |tx| {
        tx.link(&caller.workspace_id, &name)?.ok_or(Error::NotFound { what: "link" })
    })
    .await
}

async fn check(call: &Call, link: &LinkRow) -> connector_api::Result<Account> {
    let connector = call.hub.links.connect(link)?;
    timeout(limits::LINK_CHECK_TIMEOUT, connector.check()).await.unwrap_or_else(|_| Err(silent()))
}

fn next_step(error: &ConnectorError, link: &LinkRow) -> String {
    match patience::state_after(error).0 {
        LinkStatus::NeedsAttention => format!(
            "Mend that at the service, or give the link new credentials: waystation link add {} --name {}",
            link.service, link.name
        ),
        LinkStatus::RateLimited => "Wait; the hub tries again by itself.".to_owned(),
        _ => "Check that the service can be reached from here; the hub tries again by itself."
            .to_owned(),
    }
}
