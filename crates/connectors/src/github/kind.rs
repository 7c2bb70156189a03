//! What linking GitHub takes.

use std::sync::Arc;

use connector_api::toolkit::{Destination, HttpClient};
use connector_api::{Connector, ConnectorError, ConnectorKind, Field, LinkSettings, Result};

use super::client::GithubLink;

/// GitHub, and GitHub Enterprise Server.
#[derive(Clone, Copy, Debug)]
pub struct Github;

const FIELDS: &[Field] = &[
    Field {
        name: "webhook_secret",
        prompt: "Secret of the webhook (empty to have one made)",
        help: "A long random word of your own making, which you type into the webhook's settings as \
               well. Without it the hub takes nothing from GitHub.",
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
        name: "app_id",
        prompt: "Client id or app id of your GitHub App (empty to use a token)",
        help: "It stands on the app's page, General, About: Iv23… or a number.",
        default: Some(""),
        is_secret: false,
    },
    Field {
        name: "private_key",
        prompt: "Private key of the app",
        help: "The whole .pem file that GitHub gives you under General, Private keys, on one line: \
               `tr '\\n' ' ' < key.pem`.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "installation_id",
        prompt: "Id of the app's installation",
        help: "The number at the end of the address of its page under Settings, Applications, \
               Configure. The link then takes that one's deliveries alone; empty, it takes all.",
        default: Some(""),
        is_secret: false,
    },
    Field {
        name: "token",
        prompt: "Fine-grained token (empty to use an app)",
        help: "It begins with github_pat_ and may read and write issues and pull requests.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "base_url",
        prompt: "Address of the API",
        help: "https://HOST/api/v3 for GitHub Enterprise Server.",
        default: Some("https://api.github.com"),
        is_secret: false,
    },
];

const GUIDE: &str = "\
GitHub calls the hub when something happens; the hub answers with comments. A GitHub App does both.

1. Open Settings, Developer settings, GitHub Apps, New GitHub App (of your organization, if the
   repositories are its). Name it, and give any address as homepage.
2. Webhook: tick Active. Webhook URL is the hub's address of this link, which must be reachable as
   https. Webhook secret is `webhook_secret`: a long random word of your own making, the same there
   and here. Keep SSL verification enabled.
3. Repository permissions: Issues, Pull requests and Discussions: read and write. Checks, Actions,
   Contents, Deployments: read. Metadata: read.
4. Subscribe to events: Issues, Issue comment, Pull request, Pull request review, Pull request review
   comment, Pull request review thread, Check run, Workflow run, Push, Discussion, Discussion comment,
   Release. More is welcome: nothing is refused.
5. Create the app. Its Client ID is `app_id`. Generate a private key: the file is `private_key`. It is
   asked for on one line, so pipe it in:
   tr '\\n' ' ' < key.pem | waystation link add github --secret-stdin private_key …
6. Install App: choose the repositories. The number at the end of that page's address is
   `installation_id`.

Without an app: make a webhook of the repository or organization (Settings, Webhooks; content type
application/json) with the same address and secret, and a fine-grained token of an account of its own
with the rights of step 3 as `token`.

To replace the secret: give the new one as `webhook_secret` and the one until now as
`webhook_secret_old`, change it at GitHub, then take the old one away:
waystation link add github --set webhook_secret_old=";

impl ConnectorKind for Github {
    fn service(&self) -> &'static str {
        "github"
    }

    fn title(&self) -> &'static str {
        "GitHub"
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
        check(settings)?;
        Ok(Arc::new(GithubLink::new(settings, http)?))
    }
}

/// Finds settings that cannot be meant so, before anything relies on them.
fn check(settings: &LinkSettings) -> Result<()> {
    let is_given = |name| !settings.text(name).trim().is_empty();
    let is_told = |name| !settings.secret(name).trim().is_empty();
    let wrong = |field: &str, reason: &str| {
        Err(ConnectorError::Setting { field: field.to_owned(), reason: reason.to_owned() })
    };
    Destination::configured(settings.text("base_url"))?;
    if is_given("app_id") && is_told("token") {
        return wrong(
            "token",
            "is given beside app_id; an app makes its own tokens, give one of them",
        );
    }
    if is_given("app_id") != is_told("private_key") {
        return wrong("private_key", "and app_id belong together: give both, or neither");
    }
    if is_told("private_key") && !settings.secret("private_key").contains("-----BEGIN ") {
        return wrong("private_key", "is the whole .pem file, from -----BEGIN to the end");
    }
    let is_number = settings.text("installation_id").trim().bytes().all(|b| b.is_ascii_digit());
    if !is_number {
        return wrong("installation_id", "is a number");
    }
    let id = settings.text("app_id").trim();
    if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.') {
        return wrong("app_id", "is the client id, such as Iv23liABC, or the app id, a number");
    }
    if is_told("webhook_secret_old") && !is_told("webhook_secret") {
        return wrong("webhook_secret", "is missing, though an old one is given");
    }
    Ok(())
}
