//! Who may pull from a queue: anybody, unless every route that fills it names an agent.

use protocol::Caller;

use crate::error::{Error, Result};
use crate::relay::settings::{RelayRoute, RouteTarget};

/// Refuses an agent that no route of a queue names.
pub(super) fn check(routes: &[RelayRoute], queue: &str, caller: &Caller) -> Result<()> {
    let mut named = Vec::new();
    for route in routes {
        let RouteTarget::Work { queue: filled, agent } = &route.target else { continue };
        if filled != queue {
            continue;
        }
        match agent {
            None => return Ok(()),
            Some(agent) if *agent == caller.agent_id => return Ok(()),
            Some(agent) => named.push(agent.as_str()),
        }
    }
    if named.is_empty() {
        return Ok(());
    }
    named.sort_unstable();
    named.dedup();
    Err(Error::InsufficientAuthority(format!(
        "the queue {queue} is for {}; pull from another, or ask the operator for a route",
        named.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(queue: &str, agent: Option<&str>) -> RelayRoute {
        let target = RouteTarget::Work { queue: queue.to_owned(), agent: agent.map(str::to_owned) };
        RelayRoute { target, ..RelayRoute::default() }
    }

    fn caller(agent: &str) -> Caller {
        let now = protocol::Timestamp::from_ms(0);
        Caller {
            agent_id: agent.to_owned(),
            workspace_id: "w".to_owned(),
            role: protocol::Role::Worker,
            session_id: "s".to_owned(),
            scopes: protocol::Scopes::ALL,
            chats: protocol::chat::ChatGrant::None,
            toolsets: None,
            jti: "j".to_owned(),
            iat: now,
            exp: now,
        }
    }

    #[test]
    fn a_queue_whose_routes_all_name_agents_is_for_these() {
        let routes = [route("triage", Some("a")), route("triage", Some("b")), route("open", None)];
        check(&routes, "triage", &caller("a")).unwrap();
        check(&routes, "triage", &caller("b")).unwrap();
        let error = check(&routes, "triage", &caller("c")).unwrap_err();
        assert!(error.to_string().contains("is for a, b"), "{error}");
        check(&routes, "open", &caller("c")).unwrap();
        check(&routes, "unheard-of", &caller("c")).unwrap();
        let also_open = [route("triage", Some("a")), route("triage", None)];
        check(&also_open, "triage", &caller("c")).unwrap();
    }
}
