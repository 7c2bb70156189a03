//! Whether this link's own integration did something.

use std::collections::BTreeMap;

use parking_lot::RwLock;
use serde_json::Value;

use super::map::id;
use crate::foreign::Foreign;

/// Sentry's own id among those who do something, where nobody else did.
pub(super) const SENTRY_ITSELF: &str = "sentry";

/// Integrations that are remembered, beside this one, to know which of them this one is.
const KNOWN_MAX: usize = 256;

/// Who this link is at Sentry, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Own {
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The installation that Sentry calls the hub for: it stands in everything that Sentry says.
    installation: Option<String>,
    /// By installation, the integration that is installed there.
    integrations: BTreeMap<String, String>,
    /// The user in whose name the integration writes.
    user: Option<String>,
}

impl Own {
    /// Somebody who knows says which integration an installation is of: Sentry's list, or its webhook.
    pub(super) fn learn_installation(&self, installation: &Value) {
        let app = installation.object("app").and_then(|app| app.text("uuid"));
        if let (Some(uuid), Some(app)) = (installation.text("uuid"), app) {
            let mut known = self.known.write();
            if known.integrations.len() < KNOWN_MAX || known.integrations.contains_key(uuid) {
                known.integrations.insert(uuid.to_owned(), app.to_owned());
            }
        }
    }

    /// Whoever made a comment of ours is who this link is.
    pub(super) fn learn_user(&self, comment: &Value) {
        let id = comment.object("user").map(|user| id(user, "id")).filter(|id| !id.is_empty());
        if id.is_some() {
            self.known.write().user = id;
        }
    }

    /// Sentry has called the hub: it names the installation it calls for.
    pub(super) fn hear(&self, payload: &Value) {
        let uuid = payload.object("installation").and_then(|one| one.text("uuid"));
        let is_news = uuid.is_some() && self.known.read().installation.as_deref() != uuid;
        if is_news {
            self.known.write().installation = uuid.map(str::to_owned);
        }
        if let Some(installation) =
            payload.object("data").and_then(|data| data.object("installation"))
        {
            self.learn_installation(installation);
        }
    }

    /// Whether this link did it. Until the own integration is known each counts as this one, so that two
    /// programs do not answer each other for ever; and what carries our mark is ours whoever it is by,
    /// if it is a program.
    pub(super) fn did(&self, payload: &Value) -> bool {
        let Some(actor) = payload.object("actor") else { return false };
        let actor_id = id(actor, "id");
        let known = self.known.read();
        match actor.text("type") {
            _ if actor_id.is_empty() => false,
            Some("application") if actor_id != SENTRY_ITSELF => {
                let own = known.installation.as_ref().and_then(|own| known.integrations.get(own));
                own.is_none_or(|own| *own == actor_id) || is_marked(payload)
            }
            Some("application") => false,
            _ => known.user.as_ref() == Some(&actor_id),
        }
    }
}

/// Whether what was written ends with the link that every comment of ours ends with.
fn is_marked(payload: &Value) -> bool {
    let text = payload.object("data").and_then(|data| data.text("comment")).unwrap_or_default();
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    last.starts_with("[via Waystation](") && last.contains("#ws-out_") && last.ends_with(')')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_integration_is_this_one_until_it_is_known_better() {
        let own = Own::default();
        let by = |kind: &str, id: Value| json!({"actor": {"type": kind, "id": id, "name": "x"}});
        assert!(own.did(&by("application", json!("uuid-1"))));
        assert!(!own.did(&by("application", json!("sentry"))));
        assert!(!own.did(&by("user", json!(7))));
        assert!(!own.did(&json!({})));
        let ours = json!({"uuid": "install-1", "app": {"uuid": "uuid-1", "slug": "waystation"}});
        let other = json!({"uuid": "install-2", "app": {"uuid": "uuid-2", "slug": "other"}});
        own.learn_installation(&ours);
        own.learn_installation(&other);
        assert!(own.did(&by("application", json!("uuid-2"))), "which one is ours is not known yet");
        own.hear(&json!({"installation": {"uuid": "install-1"}}));
        assert!(own.did(&by("application", json!("uuid-1"))));
        assert!(!own.did(&by("application", json!("uuid-2"))));
        assert!(!own.did(&by("application", json!("sentry"))));
    }

    #[test]
    fn our_mark_and_our_user_are_known_too() {
        let own = Own::default();
        let ours = json!({"uuid": "i", "app": {"uuid": "uuid-1"}});
        own.hear(&json!({"installation": {"uuid": "i"}, "data": {"installation": ours}}));
        let text = "Known.\n\n[via Waystation](https://s/organizations/a/issues/1/#ws-out_1-0)";
        let by = |kind: &str, id: Value, text: &str| json!({"actor": {"type": kind, "id": id}, "data": {"comment": text}});
        assert!(own.did(&by("application", json!("uuid-9"), text)));
        assert!(!own.did(&by("application", json!("uuid-9"), &format!("{text} is wrong"))));
        assert!(!own.did(&by("user", json!(9), text)), "a person may quote us");
        own.learn_user(&json!({"user": {"id": "9"}}));
        assert!(own.did(&by("user", json!(9), "x")));
        assert!(!own.did(&by("user", json!(8), text)));
    }
}
