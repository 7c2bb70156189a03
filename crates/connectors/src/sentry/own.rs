//! Whether this link's own integration did something.

use parking_lot::RwLock;
use serde_json::Value;

use crate::foreign::Foreign;

/// Sentry's own id among those who do something, where nobody else did.
pub(super) const SENTRY_ITSELF: &str = "sentry";

/// Who this link is at Sentry, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// The integration's id, once the way out has asked for it.
    id: RwLock<Option<String>>,
}

impl Own {
    /// The way out has learned the integration's id.
    #[cfg_attr(not(test), expect(dead_code, reason = "the way out tells it"))]
    pub(super) fn learn(&self, id: &str) {
        *self.id.write() = Some(id.to_owned());
    }

    /// Whether this link did it. Until the own id is known every integration counts as this one, so
    /// that two programs do not answer each other for ever.
    pub(super) fn did(&self, payload: &Value) -> bool {
        let Some(actor) = payload.object("actor") else { return false };
        let id = match actor.get("id") {
            Some(Value::String(id)) => id.clone(),
            Some(other) => other.to_string(),
            None => return false,
        };
        let is_program = actor.text("type") == Some("application") && id != SENTRY_ITSELF;
        is_program && self.id.read().as_ref().is_none_or(|own| *own == id)
    }
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
        own.learn("uuid-1");
        assert!(own.did(&by("application", json!("uuid-1"))));
        assert!(!own.did(&by("application", json!("uuid-2"))));
    }
}
