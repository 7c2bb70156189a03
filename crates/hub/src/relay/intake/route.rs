//! What is to become of something that a service said: what the connector meant, unless a route of the
//! operator's says otherwise.

use connector_api::{Inbound, Intent};
use protocol::limits::relay as limits;
use protocol::relay::DeliveryOutcome;

use crate::relay::settings::{RelayRoute, RouteTarget};

/// What is to become of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It is work in a queue, and an agent is told.
    Work { queue: String, agent: Option<String> },
    /// It stands in its thread, and no more.
    Note,
    /// It is kept, and stands nowhere.
    Aside(DeliveryOutcome),
}

impl Decision {
    /// What stands in the delivery.
    pub(crate) fn outcome(&self) -> DeliveryOutcome {
        match self {
            Self::Work { .. } => DeliveryOutcome::Work,
            Self::Note => DeliveryOutcome::Noted,
            Self::Aside(outcome) => *outcome,
        }
    }
}

/// What is to become of something that a link said.
pub(crate) fn decide(routes: &[RelayRoute], link: &str, inbound: &Inbound) -> Decision {
    match inbound.intent {
        Intent::Own => return Decision::Aside(DeliveryOutcome::Own),
        Intent::Private => return Decision::Aside(DeliveryOutcome::Private),
        Intent::Control => return Decision::Aside(DeliveryOutcome::Control),
        Intent::Work | Intent::Reply | Intent::Note => {}
    }
    let is_work = matches!(inbound.intent, Intent::Work | Intent::Reply);
    match routes.iter().find(|route| fits(route, link, inbound)) {
        Some(RelayRoute { target: RouteTarget::Ignore, .. }) => {
            Decision::Aside(DeliveryOutcome::Dropped)
        }
        // A change of something that is known makes no work of its own, whatever a route says.
        _ if inbound.changes.is_some() => Decision::Note,
        Some(RelayRoute { event, command, target: RouteTarget::Work { queue, agent }, .. })
            // What nobody has to act on is work only where a route names it.
            if is_work || event.is_some() || command.is_some() =>
        {
            Decision::Work { queue: queue.clone(), agent: agent.clone() }
        }
        _ if is_work => Decision::Work { queue: limits::QUEUE_DEFAULT.to_owned(), agent: None },
        _ => Decision::Note,
    }
}

fn fits(route: &RelayRoute, link: &str, inbound: &Inbound) -> bool {
    let of =
        |wanted: &Option<String>, is_so: &dyn Fn(&str) -> bool| wanted.as_deref().is_none_or(is_so);
    of(&route.link, &|wanted| wanted == link)
        && of(&route.event, &|pattern| matches(pattern, &inbound.event))
        && of(&route.command, &|wanted| command(inbound) == Some(wanted))
}

/// The command that something is: `/triage`, of a service that has commands or as its first word.
fn command(inbound: &Inbound) -> Option<&str> {
    let named = inbound.facts.get("command").and_then(serde_json::Value::as_str);
    named.or_else(|| inbound.text.split_whitespace().next()).filter(|word| word.starts_with('/'))
}

/// Whether a name fits a pattern, in which `*` stands for any run of characters.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(event: &str, intent: Intent) -> Inbound {
        Inbound { event: event.to_owned(), intent, ..Inbound::default() }
    }

    fn to(queue: &str) -> RouteTarget {
        RouteTarget::Work { queue: queue.to_owned(), agent: None }
    }

    fn work(queue: &str) -> Decision {
        Decision::Work { queue: queue.to_owned(), agent: None }
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, fits) in [
            ("issues.opened", "issues.opened", true),
            ("issues.*", "issues.opened", true),
            ("*.opened", "issues.opened", true),
            ("*", "", true),
            ("i*s.*d", "issues.opened", true),
            ("a*a", "a", false),
            ("issues.*", "issue_comment.created", false),
            ("issues", "issues.opened", false),
            ("**", "x", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn the_first_route_that_fits_decides() {
        let route = |link: Option<&str>, event: Option<&str>, target| RelayRoute {
            link: link.map(str::to_owned),
            event: event.map(str::to_owned),
            command: None,
            target,
        };
        let routes = [
            route(Some("github"), Some("issues.labeled"), RouteTarget::Ignore),
            route(None, Some("issues.closed"), to("closed")),
            route(Some("github"), None, to("github")),
        ];
        let decided = |link, event, intent| decide(&routes, link, &said(event, intent));
        assert_eq!(decided("github", "issues.opened", Intent::Work), work("github"));
        assert_eq!(decided("sentry", "issue.created", Intent::Work), work("default"));
        assert_eq!(
            decided("github", "issues.labeled", Intent::Work),
            Decision::Aside(DeliveryOutcome::Dropped)
        );
        // A route that names an event makes work of what nobody had to act on; one that does not, does
        // not.
        assert_eq!(decided("github", "issues.closed", Intent::Note), work("closed"));
        assert_eq!(decided("github", "issues.edited", Intent::Note), Decision::Note);
        for (intent, outcome) in [
            (Intent::Own, DeliveryOutcome::Own),
            (Intent::Private, DeliveryOutcome::Private),
            (Intent::Control, DeliveryOutcome::Control),
        ] {
            assert_eq!(decided("github", "issues.closed", intent), Decision::Aside(outcome));
        }
    }

    #[test]
    fn a_command_is_known_by_its_name_or_its_first_word() {
        let route = RelayRoute {
            command: Some("/triage".to_owned()),
            target: to("triage"),
            ..RelayRoute::default()
        };
        let mut slash = said("command", Intent::Work);
        slash.facts.insert("command".to_owned(), "/triage".into());
        assert_eq!(decide(std::slice::from_ref(&route), "slack", &slash), work("triage"));
        let mut comment = said("issue_comment.created", Intent::Note);
        comment.text = "/triage please".to_owned();
        assert_eq!(decide(std::slice::from_ref(&route), "github", &comment), work("triage"));
        comment.text = "please /triage".to_owned();
        assert_eq!(decide(&[route], "github", &comment), Decision::Note);
    }

    #[test]
    fn a_change_never_makes_work() {
        let mut change = said("issue_comment.edited", Intent::Work);
        change.changes = Some("issuecomment:1".to_owned());
        let named =
            RelayRoute { event: Some("*".to_owned()), target: to("all"), ..RelayRoute::default() };
        assert_eq!(decide(&[named], "github", &change), Decision::Note);
    }
}
