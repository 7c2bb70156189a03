//! What can be found out without costing anybody anything.

use std::path::{Path, PathBuf};

use edge::local::OwnerInfo;

use crate::cli::AgentClient;
use crate::commands::connect::{Connected, codex_trusts_hooks, is_connected};
use crate::commands::programs::{self, Installed};
use crate::paths::Place;
use crate::{reach, surroundings};

/// The hub, as a client sees it.
pub(super) struct HubFacts {
    /// What it says of itself, or why it does not answer.
    pub(super) found: Result<OwnerInfo, String>,
}

/// An agent's program.
pub(super) struct ProgramFacts {
    /// Which.
    pub(super) client: AgentClient,
    /// Where it is, if it is.
    pub(super) installed: Option<Installed>,
    /// Whether its files call this program, or why that cannot be told.
    pub(super) connected: Result<Connected, String>,
    /// Whether the program runs our hooks, where it asks the person first.
    pub(super) hooks_are_trusted: Option<bool>,
}

/// Asks the hub; one is started where none runs, as for every command.
pub(super) async fn hub(place: &Place) -> HubFacts {
    let found = async {
        let config = place.config()?;
        let greeting = reach::person(&place.environment, &config.workspace)?;
        reach::connect(place, &greeting).await?;
        let info = reach::owner_info(place, &config.workspace).await?;
        info.ok_or_else(|| anyhow::anyhow!("the hub went away"))
    };
    HubFacts { found: found.await.map_err(|error: anyhow::Error| format!("{error:#}")) }
}

/// Looks at a program and its files.
pub(super) async fn program(place: &Place, client: AgentClient) -> ProgramFacts {
    let installed = programs::find(client).await;
    let connected = connected(place, client).map_err(|error| format!("{error:#}"));
    let is_asked = matches!(connected, Ok(Connected::As(_))) && client == AgentClient::Codex;
    let hooks_are_trusted = is_asked.then(codex_trusts_hooks);
    ProgramFacts { client, installed, connected, hooks_are_trusted }
}

fn connected(place: &Place, client: AgentClient) -> anyhow::Result<Connected> {
    let program = surroundings::this_program()?;
    is_connected(client, &program, place)
}

/// The file of another program that agents' programs are often started by.
pub(super) fn other(name: &str) -> Option<PathBuf> {
    surroundings::program(Path::new(name))
}
