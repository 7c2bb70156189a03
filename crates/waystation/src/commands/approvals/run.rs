//! The sub-commands.

use anyhow::Result;
use edge::local::Client;

use super::{decide, edit, list, passphrase, show};
use crate::cli::{ApprovalsArgs, ApprovalsCommand, Global};
use crate::paths::Place;
use crate::reach;

/// `waystation approvals`.
pub(crate) async fn run(place: &Place, global: &Global, args: ApprovalsArgs) -> Result<()> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut hub: Client = reach::connect(place, &greeting).await?;
    let is_person = greeting.operator;
    match args.command {
        None => list::run(&mut hub, global, args.all, args.limit).await,
        Some(ApprovalsCommand::Show { id }) => show::run(&mut hub, global, &id).await,
        Some(ApprovalsCommand::Approve { id, about }) => {
            let wish = decide::Wish { decision: "approve", text: None, comment: about.comment };
            decide::run(&mut hub, global, is_person, &id, about.draft, wish).await
        }
        Some(ApprovalsCommand::Reject { id, about }) => {
            let wish = decide::Wish { decision: "reject", text: None, comment: about.comment };
            decide::run(&mut hub, global, is_person, &id, about.draft, wish).await
        }
        Some(ApprovalsCommand::Respond { id, text, draft }) => {
            let wish = decide::Wish { decision: "respond", text: Some(text), comment: None };
            decide::run(&mut hub, global, is_person, &id, draft, wish).await
        }
        Some(ApprovalsCommand::Edit { id, comment }) => {
            edit::run(place, &mut hub, global, is_person, &id, comment).await
        }
        Some(ApprovalsCommand::Passphrase) => passphrase::run(&mut hub).await,
    }
}
