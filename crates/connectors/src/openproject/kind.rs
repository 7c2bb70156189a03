//! What linking OpenProject takes.

use std::sync::Arc;

use connector_api::toolkit::{Destination, HttpClient};
use connector_api::{Connector, ConnectorError, ConnectorKind, Field, LinkSettings, Result};

use super::client::OpenProjectLink;

/// OpenProject, wherever it is hosted.
#[derive(Clone, Copy, Debug)]
pub struct OpenProject;

const FIELDS: &[Field] = &[
    Field {
        name: "base_url",
        prompt: "Address of your OpenProject",
        help: "As in the browser: https://projects.example.org, with the path where it has one.",
        default: None,
        is_secret: false,
    },
    Field {
        name: "webhook_secret",
        prompt: "Secret of the webhook (empty to have one made)",
        help: "A long random word of your own making, which you type into the webhook's settings as \
               Signature secret. Without it the hub takes nothing from OpenProject.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "webhook_secret_old",
        prompt: "Secret before that (empty unless you are replacing one)",
        help: "While a secret is replaced both are believed; take the old one away afterwards.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "api_key",
        prompt: "API key (empty to receive alone)",
        help: "Of an account of its own: My account, Access tokens, API. It may read and comment on \
               the work packages.",
        default: Some(""),
        is_secret: true,
    },
];

const GUIDE: &str = "\
OpenProject calls the hub through a webhook, and the hub comments with an API key.

1. Make an account of its own for the hub and let it see and comment on the work packages. As that
   account: My account, Access tokens, API: the token is `api_key`.
2. As an administrator: Administration, API and webhooks, Webhooks, create one. Payload URL is the
   hub's address of this link; Signature secret is `webhook_secret`, a long random word of your own
   making, the same there and here. It is not optional here: without it anybody could call.
3. Tick the events: work packages created and updated, work package comments, and whatever else the
   hub should know. Leave internal comments unticked: they would go no further than this hub anyway.
4. Choose the projects.

OpenProject gathers the changes of some minutes into one before it calls (Administration, Calendars
and dates or Work packages: aggregation), so what it says comes up to five minutes late.";

impl ConnectorKind for OpenProject {
    fn service(&self) -> &'static str {
        "openproject"
    }

    fn title(&self) -> &'static str {
        "OpenProject"
    }

    fn guide(&self) -> &'static str {
        GUIDE
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn made_secrets(&self) -> &'static [&'static str] {
        &["webhook_secret"]
    }

    fn connect(&self, settings: &LinkSettings, http: HttpClient) -> Result<Arc<dyn Connector>> {
        Destination::configured(settings.text("base_url"))?;
        let is_told = |name| !settings.secret(name).trim().is_empty();
        if is_told("webhook_secret_old") && !is_told("webhook_secret") {
            let reason = "is missing, though an old one is given".to_owned();
            return Err(ConnectorError::Setting { field: "webhook_secret".to_owned(), reason });
        }
        Ok(Arc::new(OpenProjectLink::new(settings, http)?))
    }
}
