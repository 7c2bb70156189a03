//! Connecting an account.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use connector_api::{Account, Connector, ConnectorError, ConnectorKind, LinkSettings};
use protocol::limits::links as limits;
use protocol::{Scope, Secret};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use store::{LinkRow, NewLink};
use tokio::time::timeout;

use super::attempt::silent;
use super::before::Before;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::chats::rules;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::relay::approvals::terminal;

/// Connect an account at a service, such as a Telegram bot, as a source of chats. The credentials are
/// tried first; what is secret among them is kept sealed and never shown again. A source of the same
/// name keeps its chats, and what is not given again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddLink {
    /// The service: `telegram`, `slack`, `signal`, `whatsapp`, `github`, `sentry`, `openproject` or
    /// `webhook`.
    service: String,
    /// The source's id, such as `slack-work`; the service's name unless you say otherwise.
    name: Option<String>,
    /// What the service asks for, by name: `{"bot_token": "…"}`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    settings: BTreeMap<String, Given>,
    /// Store the link even if its credentials do not work now.
    #[serde(default)]
    unchecked: bool,
}

/// Random bytes of a secret that the hub makes.
const SECRET_BYTES: usize = 24;

/// One thing that was given. Whatever is wrong with it is said without showing it.
#[derive(Debug)]
struct Given(Secret<String>);

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        match Value::deserialize(from) {
            Ok(Value::String(text)) => Ok(Self(Secret::new(text))),
            _ => Err(D::Error::custom("expected a text")),
        }
    }
}

/// The link.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AddLinkOutput {
    /// The source's id.
    name: String,
    /// The service.
    service: String,
    /// Whose credentials they are; empty where they were not tried.
    account: String,
    /// What a person should know: rights that are missing, modes that hide messages.
    notes: Vec<String>,
    /// Whether a source of this name was there before.
    is_replaced: bool,
    /// Where it was linked already: the names of the settings that are other than before.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<Vec<String>>,
    /// Where the service calls the hub, below its public address; absent where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_path: Option<String>,
    /// Secrets that the hub has made for you to tell the service. They are never shown again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    secrets_made: BTreeMap<&'static str, String>,
}

impl Operation for AddLink {
    const NAME: &'static str = "add_link";
    const ROUTE: Route = Route::post("/v1/links");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Set;
    const GOES_ON: bool = true;
    const TOOLSET: &'static str = "admin";
    type Output = AddLinkOutput;

    fn object(&self) -> Object<'_> {
        Object::maybe(self.name.as_deref())
    }

    async fn run(self, call: &Call) -> Result<AddLinkOutput> {
        let links = &call.hub.links;
        let Some(kind) = links.kind(&self.service) else {
            return Err(unknown_service(&links.services()));
        };
        terminal::guard_link(call, kind.service()).await?;
        let name = self.name.unwrap_or_else(|| self.service.clone());
        rules::source_name("name", &name)?;
        let before = Before::find(call, kind.service(), &name).await?;
        let mut settings = sorted(kind, self.settings, before.as_ref())?;
        let secrets_made = make_secrets(kind, &mut settings, call);
        let replaced = before.as_ref().map(|before| before.replaced(&settings));
        let connector = kind.connect(&settings, links.parts.http.clone()).map_err(setting)?;
        let account =
            if self.unchecked { Account::default() } else { check(kind, &*connector).await? };
        let sealed = (!settings.secrets.is_empty()).then(|| {
            let workspace = &call.caller().workspace_id;
            links.parts.vault.seal(call.hub.random(), workspace, &name, &settings.secrets)
        });
        let hook_path = super::hook::path(&*connector, &call.caller().workspace_id, &name);
        let (service, plain) = (kind.service(), settings.plain);
        let stored = Stored {
            name,
            service,
            plain,
            sealed,
            account,
            hook_path,
            secrets_made,
            version: before.map(|before| before.version),
            replaced,
        };
        let output = store(call, stored).await?;
        links.announce_change();
        Ok(output)
    }

    fn brief(output: &AddLinkOutput) -> String {
        let whose = match output.account.as_str() {
            "" => "unchecked",
            account => account,
        };
        let is_linked = match output.replaced.as_deref() {
            None => "is linked".to_owned(),
            Some([]) => "was linked already; nothing was replaced".to_owned(),
            Some(names) => format!("was linked already; replaced: {}", names.join(", ")),
        };
        let mut lines = vec![format!("{} {is_linked} ({}, {whose})", output.name, output.service)];
        lines.extend(output.notes.iter().map(|note| format!("note: {note}")));
        lines.join("\n")
    }
}

struct Stored {
    name: String,
    service: &'static str,
    plain: BTreeMap<String, String>,
    sealed: Option<Vec<u8>>,
    account: Account,
    hook_path: Option<String>,
    secrets_made: BTreeMap<&'static str, String>,
    /// The version of the link whose settings are in these.
    version: Option<i64>,
    replaced: Option<Vec<String>>,
}

/// Makes the secrets that the hub can make and that were not given.
fn make_secrets(
    kind: &dyn ConnectorKind,
    settings: &mut LinkSettings,
    call: &Call,
) -> BTreeMap<&'static str, String> {
    let mut made = BTreeMap::new();
    for name in kind.made_secrets() {
        if settings.secret(name).is_empty() {
            let secret = URL_SAFE_NO_PAD.encode(call.hub.random::<SECRET_BYTES>());
            settings.secrets.insert((*name).to_owned(), Secret::new(secret.clone()));
            made.insert(*name, secret);
        }
    }
    made
}

async fn store(call: &Call, new: Stored) -> Result<AddLinkOutput> {
    let identity = Arc::clone(&call.identity);
    let plain = serde_json::to_string(&new.plain).map_err(|e| Error::Internal(Box::new(e)))?;
    call.write(move |tx| {
        let workspace = &identity.caller.workspace_id;
        let known = tx.lock_link(workspace, &new.name)?;
        if let Some(known) = &known {
            rules::not_being_purged(known)?;
            require_same(known, &new)?;
            require_unchanged(known, &new)?;
        }
        tx.put_link(&NewLink {
            workspace,
            name: &new.name,
            service: new.service,
            is_live: true,
            settings: &plain,
            secrets: new.sealed.as_deref(),
            account: &new.account.name,
            created_by: &identity.caller.agent_id,
            at: identity.now,
        })?;
        let output = AddLinkOutput {
            name: new.name.clone(),
            service: new.service.to_owned(),
            account: new.account.name.clone(),
            notes: new.account.notes.clone(),
            is_replaced: known.is_some(),
            replaced: new.replaced.clone(),
            hook_path: new.hook_path.clone(),
            secrets_made: new.secrets_made.clone(),
        };
        let detail = serde_json::json!({ "service": new.service, "account": new.account.name });
        Ok(Change::of(new.name.clone(), output).with_detail(detail.to_string()))
    })
    .await
}

/// Another account's chats must not be mixed into a source.
fn require_same(known: &LinkRow, new: &Stored) -> Result<()> {
    let (name, service) = (&known.name, &known.service);
    if service != new.service {
        return Err(Error::Conflict(format!(
            "the source {name} is one of {service}; choose another name"
        )));
    }
    let (before, now) = (&known.account, &new.account.name);
    if !before.is_empty() && !now.is_empty() && before != now {
        return Err(Error::Conflict(format!(
            "the source {name} is the account {before}, these credentials are of {now}; choose \
             another name, or remove the link first to put {now} in its place"
        )));
    }
    Ok(())
}

/// What somebody else gave meanwhile must not be taken back unseen.
fn require_unchanged(known: &LinkRow, new: &Stored) -> Result<()> {
    if known.is_live && new.version != Some(known.version) {
        return Err(Error::Conflict(format!(
            "the source {} was linked by somebody else just now; look at it and try again",
            known.name
        )));
    }
    Ok(())
}

/// What was given, with what stays, told apart into what may be shown and what may not.
fn sorted(
    kind: &dyn ConnectorKind,
    given: BTreeMap<String, Given>,
    before: Option<&Before>,
) -> Result<LinkSettings> {
    if given.len() > limits::LINK_SETTINGS_MAX {
        return Err(Error::invalid("settings", "holds more than any service asks for"));
    }
    let mut given: BTreeMap<String, String> =
        given.into_iter().map(|(name, Given(value))| (name, value.expose().clone())).collect();
    if let Some((name, _)) =
        given.iter().find(|(_, value)| value.len() > limits::LINK_SETTING_BYTES_MAX)
    {
        return Err(Error::invalid(format!("settings.{name}"), "is too long"));
    }
    if let Some(before) = before {
        before.complete(kind.fields(), &mut given)?;
    }
    LinkSettings::sorted(kind.fields(), &given).map_err(setting)
}

/// Asks the service whether the credentials work.
pub(super) async fn check(kind: &dyn ConnectorKind, connector: &dyn Connector) -> Result<Account> {
    let checked = timeout(limits::LINK_CHECK_TIMEOUT, connector.check()).await;
    checked.unwrap_or_else(|_| Err(silent())).map_err(|error| match error {
        ConnectorError::Setting { .. } => setting(error),
        other => Error::LinkFailed { service: kind.title().to_owned(), reason: other.to_string() },
    })
}

fn setting(error: ConnectorError) -> Error {
    match error {
        ConnectorError::Setting { field, reason } => {
            Error::invalid(format!("settings.{field}"), reason)
        }
        other => Error::invalid("settings", other),
    }
}

fn unknown_service(known: &[&str]) -> Error {
    let hint = if known.is_empty() {
        "this hub was built without connectors".to_owned()
    } else {
        format!("the services are {}", known.join(", "))
    };
    Error::invalid_hint("service", "is not one this hub knows", hint)
}
