//! Who calls over stdio: the process that started the hub, as its environment describes it.

use protocol::chat::ChatGrant;
use protocol::validate::{self, Invalid};
use protocol::{Caller, Role, Timestamp};

use super::claims::NEVER;
use super::error::IdentityError;

/// What the environment of the parent process says; the edge reads it, nothing else does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalEnv {
    /// The agent's name.
    pub agent: Option<String>,
    /// The agent's workspace.
    pub workspace: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// What the agent may do: worker or observer.
    pub role: Option<String>,
}

/// The caller behind a local process: agent `local` in workspace `default`, a worker, unless the
/// environment says otherwise. Its session is `new_session` unless it has one.
///
/// Whoever can start the hub here could also call itself operator, so no more than a worker's
/// rights come without a token.
pub fn local_caller(
    env: &LocalEnv,
    new_session: &str,
    now: Timestamp,
) -> Result<Caller, IdentityError> {
    let role = match set(env.role.as_ref()).map(str::parse) {
        None => Role::Worker,
        Some(Ok(role @ (Role::Worker | Role::Observer))) => role,
        Some(_) => return Err(IdentityError::LocalRoleNeedsToken),
    };
    let session_id = name("session", env.session.as_ref(), new_session)?;
    let agent_id = name("agent", env.agent.as_ref(), "local")?;
    validate::agent_id(&agent_id).map_err(|why| misnamed("agent", &why))?;
    Ok(Caller {
        agent_id,
        workspace_id: name("workspace", env.workspace.as_ref(), "default")?,
        role,
        scopes: role.default_scopes(),
        // Whoever starts a program as this user could read the data folder itself.
        chats: ChatGrant::All,
        toolsets: None,
        jti: format!("local-{session_id}"),
        session_id,
        iat: now,
        exp: NEVER,
    })
}

/// A variable that is set to nothing is not set.
fn set(value: Option<&String>) -> Option<&str> {
    value.map(String::as_str).filter(|text| !text.is_empty())
}

fn name(
    field: &'static str,
    value: Option<&String>,
    default: &str,
) -> Result<String, IdentityError> {
    let text = set(value).unwrap_or(default);
    validate::name(text).map_err(|why| misnamed(field, &why))?;
    Ok(text.to_owned())
}

fn misnamed(field: &'static str, why: &Invalid) -> IdentityError {
    IdentityError::LocalNameMalformed { field, problem: why.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_771_329_600_000);

    fn with_role(role: &str) -> Result<Caller, IdentityError> {
        let env = LocalEnv { role: Some(role.to_owned()), ..LocalEnv::default() };
        local_caller(&env, "session-1", NOW)
    }

    #[test]
    fn with_nothing_set_the_caller_is_a_local_worker() {
        let caller = local_caller(&LocalEnv::default(), "session-1", NOW).unwrap();
        assert_eq!(caller.agent_id, "local");
        assert_eq!(caller.workspace_id, "default");
        assert_eq!(caller.session_id, "session-1");
        assert_eq!(caller.role, Role::Worker);
        assert_eq!(caller.scopes, Role::Worker.default_scopes());
        assert!(caller.exp > NOW);
    }

    #[test]
    fn the_environment_names_the_caller() {
        let env = LocalEnv {
            agent: Some("reviewer".to_owned()),
            workspace: Some("acme".to_owned()),
            session: Some("s-7".to_owned()),
            role: Some("observer".to_owned()),
        };
        let caller = local_caller(&env, "session-1", NOW).unwrap();
        assert_eq!((caller.agent_id.as_str(), caller.session_id.as_str()), ("reviewer", "s-7"));
        assert_eq!(caller.role, Role::Observer);
    }

    #[test]
    fn authority_takes_a_token() {
        for role in ["operator", "orchestrator", "service", "plugin", "root", "Worker"] {
            let error = with_role(role).unwrap_err();
            assert!(matches!(error, IdentityError::LocalRoleNeedsToken), "{role}");
            assert!(error.to_string().contains("token"));
        }
        assert_eq!(with_role("").unwrap().role, Role::Worker);
    }

    #[test]
    fn nobody_is_the_hub_itself() {
        let env = LocalEnv { agent: Some("WayStation".to_owned()), ..LocalEnv::default() };
        let error = local_caller(&env, "session-1", NOW).unwrap_err().to_string();
        assert!(error.contains("the local agent") && error.contains("hub's own"), "{error}");
        let env = LocalEnv { workspace: Some("waystation".to_owned()), ..LocalEnv::default() };
        assert!(local_caller(&env, "session-1", NOW).is_ok());
    }

    #[test]
    fn a_name_that_a_terminal_would_read_is_refused() {
        let env = LocalEnv { agent: Some("a\u{1b}[2J".to_owned()), ..LocalEnv::default() };
        let error = local_caller(&env, "session-1", NOW).unwrap_err();
        assert!(error.to_string().starts_with("the local agent "), "{error}");
    }
}
