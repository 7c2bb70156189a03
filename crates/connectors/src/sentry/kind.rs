//! What linking Sentry takes.

use std::sync::Arc;

use connector_api::toolkit::{Destination, HttpClient};
use connector_api::{Connector, ConnectorError, ConnectorKind, Field, LinkSettings, Result};

use super::client::SentryLink;

/// Sentry, and Sentry that somebody hosts themselves.
#[derive(Clone, Copy, Debug)]
pub struct Sentry;

const FIELDS: &[Field] = &[
    Field {
        name: "client_secret",
        prompt: "Client secret of the integration",
        help: "It stands on the integration's page under Credentials. Without it the hub takes \
               nothing from Sentry.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "client_secret_old",
        prompt: "Client secret before that (empty unless you are replacing one)",
        help: "While a secret is replaced both are believed; take the old one away afterwards.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "token",
        prompt: "Token of the integration (empty to receive alone)",
        help: "It stands on the integration's page under Tokens, and needs Issue & Event: Read & Write.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "organization",
        prompt: "Slug of your organization",
        help: "The first word of Sentry's address: acme in https://acme.sentry.io.",
        default: Some(""),
        is_secret: false,
    },
    Field {
        name: "base_url",
        prompt: "Address of Sentry",
        help: "https://us.sentry.io or https://de.sentry.io where your data lies there; your own \
               address where you host it yourself.",
        default: Some("https://sentry.io"),
        is_secret: false,
    },
];

const GUIDE: &str = "\
Sentry calls the hub through an internal integration, and the hub comments with its token.

1. Settings, Developer Settings, Create New Integration, Internal Integration. Name it Waystation.
2. Webhook URL: the hub's address of this link, which must be reachable as https. Switch Alert Rule
   Action on.
3. Permissions: Issue & Event: Read & Write. Project, Organization: Read. Alerts: Read.
4. Webhooks: tick issue, error (if your plan has it), comment and seer.
5. Save. Client Secret is `client_secret`; make a token, which is `token`; `organization` is the first
   word of Sentry's address.
6. For alerts: Alerts, Create Alert; as action choose Send a notification via Waystation.

Sentry waits one second for an answer and does not send again what it could not deliver; after the hub
was away it asks Sentry itself what it missed, with the token.

To replace the client secret: rotate it at Sentry, give the new one as `client_secret` and the one
until now as `client_secret_old`. Take that away afterwards:
waystation link add sentry --set client_secret_old=";

impl ConnectorKind for Sentry {
    fn service(&self) -> &'static str {
        "sentry"
    }

    fn title(&self) -> &'static str {
        "Sentry"
    }

    fn guide(&self) -> &'static str {
        GUIDE
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn connect(&self, settings: &LinkSettings, http: HttpClient) -> Result<Arc<dyn Connector>> {
        check(settings)?;
        Ok(Arc::new(SentryLink::new(settings, http)?))
    }
}

/// Finds settings that cannot be meant so, before anything relies on them.
fn check(settings: &LinkSettings) -> Result<()> {
    let is_told = |name| !settings.secret(name).trim().is_empty();
    let wrong = |field: &str, reason: &str| {
        Err(ConnectorError::Setting { field: field.to_owned(), reason: reason.to_owned() })
    };
    Destination::configured(settings.text("base_url"))?;
    let organization = settings.text("organization").trim();
    let is_slug = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !organization.bytes().all(is_slug) {
        return wrong("organization", "is a slug: letters, digits, - and _");
    }
    if is_told("token") && organization.is_empty() {
        return wrong("organization", "is needed with a token: the first word of Sentry's address");
    }
    if is_told("client_secret_old") && !is_told("client_secret") {
        return wrong("client_secret", "is missing, though an old one is given");
    }
    Ok(())
}
