//! Who a started agent is: a session of the hub, whose token stands in its environment and, always
//! fresh, in a file.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, Result};
use protocol::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::door::{CallError, Door};
use super::job::is_plain;
use super::limits::ANSWER_PATIENCE;
use crate::paths::Place;

/// Where the token of a session is, in its folder.
pub(super) const TOKEN_FILE: &str = "token";

/// A session that was opened for an agent.
#[derive(Debug)]
pub(super) struct Opened {
    /// The hub's name for it.
    pub(super) session_id: String,
    token: Secret<String>,
}

/// What a session is opened for.
pub(super) struct Who<'a> {
    /// The agent.
    pub(super) agent: &'a str,
    /// The program.
    pub(super) runtime: &'a str,
    /// The folder.
    pub(super) cwd: Option<&'a Path>,
    /// The machine.
    pub(super) host: &'a str,
    /// The session to open again, if it is not a new one.
    pub(super) session_id: Option<&'a str>,
}

/// Opens a session, or gives one that is open a fresh token.
pub(super) async fn open(door: &Door, who: &Who<'_>) -> Result<Opened, CallError> {
    #[derive(Deserialize)]
    struct Answer {
        session_id: String,
        token: String,
    }
    let mut input = json!({ "agent_id": who.agent, "runtime": who.runtime, "host": who.host });
    let fields = input.as_object_mut().expect("the value was just written as an object");
    if let Some(cwd) = who.cwd {
        fields.insert("cwd".to_owned(), Value::from(cwd.to_string_lossy()));
    }
    if let Some(session_id) = who.session_id {
        fields.insert("session_id".to_owned(), session_id.into());
    }
    let answer = door.call("open_session", &input, ANSWER_PATIENCE).await?;
    let unreadable = |why: String| CallError::Away(why);
    let answer: Answer =
        serde_json::from_value(answer).map_err(|error| unreadable(error.to_string()))?;
    if !is_plain(&answer.session_id) {
        return Err(unreadable("the session's name cannot be a folder's".to_owned()));
    }
    Ok(Opened { session_id: answer.session_id, token: Secret::new(answer.token) })
}

impl Opened {
    /// Writes the token where the agent's commands look for it.
    pub(super) fn keep_token(&self, place: &Place) -> Result<()> {
        let folder = place.run_folder(&self.session_id);
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        write_whole(&folder.join(TOKEN_FILE), self.token.expose().as_bytes())
    }

    /// The environment of a program that is started as this session.
    pub(super) fn environment(
        &self,
        place: &Place,
        agent: &str,
        wake: &str,
    ) -> Vec<(String, String)> {
        let folder = place.run_folder(&self.session_id);
        let pairs = [
            ("WAYSTATION_TOKEN", self.token.expose().clone()),
            ("WAYSTATION_TOKEN_FILE", folder.join(TOKEN_FILE).to_string_lossy().into_owned()),
            ("WAYSTATION_SESSION", self.session_id.clone()),
            ("WAYSTATION_AGENT", agent.to_owned()),
            ("WAYSTATION_WAKE_ID", wake.to_owned()),
        ];
        place.variables().chain(pairs).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Puts a file in place whole, for its owner's eyes only.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let draft = path.with_extension("new");
    let write = || {
        let mut file = std::fs::File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&draft)?;
        file.write_all(bytes)?;
        std::fs::rename(&draft, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
