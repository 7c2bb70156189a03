//! What linking a webhook takes.

use std::sync::Arc;

use connector_api::toolkit::{Destination, HttpClient};
use connector_api::{Connector, ConnectorError, ConnectorKind, Field, LinkSettings, Result};
use protocol::Secret;

use super::client::WebhookLink;
use super::recipient::Recipient;
use super::sign::Signer;

/// A webhook of anybody's.
#[derive(Clone, Copy, Debug)]
pub struct Webhook;

const FIELDS: &[Field] = &[
    Field {
        name: "url",
        prompt: "Address to call",
        help: "It is https on port 443, on the public internet.",
        default: None,
        is_secret: true,
    },
    Field {
        name: "secret",
        prompt: "Secret shared with the receiver (empty to sign with a key alone)",
        help: "whsec_ and the base64 of 24 to 64 random bytes: printf whsec_; openssl rand -base64 32. \
               Two of them, with a blank between, both sign while one is replaced.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "signing_key",
        prompt: "ed25519 key to sign with (empty to use a secret alone)",
        help: "whsk_ and the base64 of the key's 32 bytes. Checking the link says the public half, \
               whpk_, which the receiver gets.",
        default: Some(""),
        is_secret: true,
    },
    Field {
        name: "encrypt_to",
        prompt: "The receiver's public key (empty to send what TLS protects alone)",
        help: "A JSON Web Key on P-256 or X25519. With it the body is a JWE, ECDH-ES with A256GCM.",
        default: Some(""),
        is_secret: false,
    },
    Field {
        name: "private_host",
        prompt: "Host inside your own network that may be called (usually empty)",
        help: "Only if the address is meant to lead there: the same host as in it, 10.0.0.5 say. A name \
               has to be listed in the hub's configuration as well.",
        default: Some(""),
        is_secret: false,
    },
];

const GUIDE: &str = "\
The hub calls an address of yours, signed as Standard Webhooks say (https://www.standardwebhooks.com),
so that any of its libraries checks it.

1. Make a secret: printf whsec_; openssl rand -base64 32. It is `secret`, here and at the receiver.
   Or sign with a key: printf whsk_; openssl rand -base64 32 is `signing_key`, and the receiver gets the
   public half that checking the link says.
2. The receiver answers with any status from 200 to 299 within 15 seconds. It gets the same webhook-id
   again when its answer was lost, and does the work once.
3. To hide the body from everybody between: the receiver makes a key pair on P-256 or X25519, and its
   public JSON Web Key is `encrypt_to`.";

impl ConnectorKind for Webhook {
    fn service(&self) -> &'static str {
        "webhook"
    }

    fn title(&self) -> &'static str {
        "Webhook"
    }

    fn guide(&self) -> &'static str {
        GUIDE
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn connect(&self, settings: &LinkSettings, http: HttpClient) -> Result<Arc<dyn Connector>> {
        let url = settings.secret("url").trim();
        let to = destination(url, settings.text("private_host").trim())?;
        let signer = Signer::read(settings.secret("secret"), settings.secret("signing_key"))?;
        let recipient = match settings.text("encrypt_to").trim() {
            "" => None,
            key => Some(Recipient::read(key)?),
        };
        let url = Secret::new(url.to_owned());
        Ok(Arc::new(WebhookLink { to, url, signer, recipient, http }))
    }
}

/// Where a webhook may go: out into the internet, unless the owner names the very host inside.
fn destination(url: &str, private_host: &str) -> Result<Destination> {
    let wrong = |error: &dyn std::fmt::Display| ConnectorError::Setting {
        field: "url".to_owned(),
        reason: format!(
            "cannot be called: {error}; name its host as private_host if it is meant to lead inside"
        ),
    };
    let judged = if private_host.is_empty() {
        Destination::foreign(url)
    } else {
        Destination::configured(url)
    };
    let to = judged.map_err(|error| wrong(&error))?;
    if !private_host.is_empty() && to.host() != private_host {
        return Err(wrong(&"private_host is another host than the one in url"));
    }
    Ok(to)
}
