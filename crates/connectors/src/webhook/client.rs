//! The live client of one webhook.

use connector_api::toolkit::{ApiAnswer, ApiRequest, Destination, HttpClient};
use connector_api::{
    Account, BoxFuture, Capabilities, Connector, ConnectorError, Pace, Part, Posting, Receipt,
    Result,
};
use protocol::Secret;
use protocol::limits::outbound as limits;
use serde_json::{Map, Value, json};

use super::jwe;
use super::recipient::Recipient;
use super::sign::Signer;
use crate::moment::this_second;
use crate::outcome::patience;

/// One link.
#[derive(Debug)]
pub(super) struct WebhookLink {
    pub(super) to: Destination,
    pub(super) url: Secret<String>,
    pub(super) signer: Signer,
    pub(super) recipient: Option<Recipient>,
    pub(super) http: HttpClient,
}

impl WebhookLink {
    async fn call(&self, part: &Part) -> Result<Receipt> {
        let body = serde_json::to_vec(&part.body)
            .map_err(|_| ConnectorError::Refused { reason: "the body is no JSON".to_owned() })?;
        let (kind, body) = match &self.recipient {
            Some(recipient) => ("application/jose", jwe::encrypt(recipient, &body)?.into_bytes()),
            None => ("application/json", body),
        };
        let at = this_second();
        let request = ApiRequest::post_to(&self.to)
            .header("webhook-id", part.mark.clone())
            .header("webhook-timestamp", at.to_string())
            .header("webhook-signature", self.signer.sign(&part.mark, at, &body))
            .bytes(kind, body)
            .timeout(limits::WEBHOOK_TIMEOUT)
            .bytes_max(limits::WEBHOOK_ANSWER_BYTES_MAX);
        understood(&self.http.call(request).await?)?;
        Ok(Receipt { remote_id: part.mark.clone(), ..Receipt::default() })
    }
}

/// What a receiver's status means.
fn understood(answer: &ApiAnswer) -> Result<()> {
    let reason = |help: &str| format!("the receiver answered with status {}{help}", answer.status);
    match answer.status {
        200..300 => Ok(()),
        408 | 409 | 425 | 429 => Err(ConnectorError::RateLimited { retry_after: patience(answer) }),
        503 if answer.retry_after.is_some() => {
            Err(ConnectorError::RateLimited { retry_after: patience(answer) })
        }
        410 => Err(ConnectorError::Refused {
            reason: reason(": it wants to be called no more; remove the link"),
        }),
        401 | 403 => Err(ConnectorError::Unauthorized {
            reason: reason("; check that it knows the link's secret or key"),
        }),
        300..400 => Err(ConnectorError::Refused {
            reason: reason(": it points elsewhere, and no redirect is followed; change url"),
        }),
        400..500 => Err(ConnectorError::Refused { reason: reason("") }),
        _ => Err(ConnectorError::Unreachable { reason: reason("") }),
    }
}

impl Connector for WebhookLink {
    fn capabilities(&self) -> Capabilities {
        Capabilities { relay: true, ..Capabilities::default() }
    }

    /// Nobody can be asked without being told something, so only the settings are judged.
    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        let mut notes: Vec<String> = self
            .signer
            .public_keys()
            .into_iter()
            .map(|key| format!("the receiver checks signatures with {key}"))
            .collect();
        notes.push(match &self.recipient {
            Some(_) => "bodies are encrypted to the receiver".to_owned(),
            None => "bodies are signed, and encrypted by TLS alone".to_owned(),
        });
        let host = self.to.host().to_owned();
        Box::pin(std::future::ready(Ok(Account { name: host.clone(), id: host, notes })))
    }

    /// A link has one address, its own.
    fn address_of(&self, url: &str) -> Option<Map<String, Value>> {
        (url == self.url.expose()).then(Map::new)
    }

    fn render(&self, posting: &Posting) -> Result<Vec<Part>> {
        let body = json!({
            "type": "waystation.action",
            "data": {
                "id": posting.mark, "place": posting.action.place, "text": posting.action.text,
                "citations": posting.action.citations, "footer": posting.footer,
            },
        });
        // The id of the webhook stays the same however often it is sent: the receiver knows it again.
        Ok(vec![Part { index: 0, body, mark: posting.mark.clone() }])
    }

    fn paces(&self, _posting: &Posting) -> Vec<Pace> {
        vec![Pace {
            destination: format!("webhook:{}", self.to.host()),
            count: limits::WEBHOOK_CALLS_PER_SECOND,
            per_ms: 1_000,
        }]
    }

    fn post<'a>(&'a self, _posting: &'a Posting, part: &'a Part) -> BoxFuture<'a, Result<Receipt>> {
        Box::pin(self.call(part))
    }

    /// Nobody can be asked what arrived: it is sent again, with the same id.
    fn find_posted<'a>(
        &'a self,
        _posting: &'a Posting,
        _part: &'a Part,
    ) -> BoxFuture<'a, Result<Option<Receipt>>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}
