//! The Graph API: calls, refusals, files.

use std::time::Duration;

use connector_api::toolkit::{ApiAnswer, ApiRequest, Destination, HttpClient, HttpError};
use connector_api::{Account, ConnectorError, Result};
use protocol::limits::{self, chats};
use protocol::{Secret, Timestamp};
use serde_json::Value;

use super::person::digits;
use crate::foreign::{Foreign, refusal};

/// Where Meta keeps files. The token goes nowhere else.
const FILE_HOSTS: &[&str] = &["fbsbx.com", "facebook.com", "fbcdn.net", "whatsapp.net"];

/// The Graph API, as one phone number.
#[derive(Debug)]
pub(super) struct Graph {
    base: Destination,
    /// `https://graph.facebook.com`, to know addresses of the same place.
    origin: String,
    token: Secret<String>,
    phone_number_id: String,
    http: HttpClient,
}

impl Graph {
    /// Reaches out to nobody yet.
    pub(super) fn new(
        base_url: &str,
        token: &str,
        phone_number_id: &str,
        http: HttpClient,
    ) -> Result<Self> {
        let base = Destination::configured(base_url)?;
        if phone_number_id.is_empty() || digits(phone_number_id) != phone_number_id {
            let reason = "is the id of the number, digits only".to_owned();
            return Err(ConnectorError::Setting { field: "phone_number_id".to_owned(), reason });
        }
        Ok(Self {
            base,
            origin: origin(base_url),
            token: Secret::new(token.trim().to_owned()),
            phone_number_id: phone_number_id.to_owned(),
            http,
        })
    }

    /// Asks whether the token works, and for which number.
    pub(super) async fn check(&self) -> Result<Account> {
        let request = ApiRequest::get(&self.base, &self.phone_number_id)?
            .parameter("fields", "display_phone_number,verified_name,quality_rating");
        let (number, _) = self.call(request).await?;
        let name = [number.text("verified_name"), number.text("display_phone_number")];
        let mut notes = Vec::new();
        if number.text("quality_rating") == Some("RED") {
            notes.push("WhatsApp rates this number's quality as low and may limit it".to_owned());
        }
        Ok(Account {
            name: name.into_iter().flatten().collect::<Vec<_>>().join(", "),
            id: self.phone_number_id.clone(),
            notes,
        })
    }

    /// Hands a message over; gives the answer and when it was given.
    pub(super) async fn post_message(&self, body: Value) -> Result<(Value, Option<Timestamp>)> {
        let path = format!("{}/messages", self.phone_number_id);
        self.call(ApiRequest::post(&self.base, &path)?.json(body)).await
    }

    /// Fetches a file: first where it lies for the next five minutes, then the file.
    pub(super) async fn fetch(&self, media_id: &str, bytes_max: usize) -> Result<Vec<u8>> {
        if media_id.is_empty() || !media_id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(ConnectorError::Refused { reason: "there is no such file".to_owned() });
        }
        let request = ApiRequest::get(&self.base, media_id)?
            .parameter("phone_number_id", &self.phone_number_id);
        let (media, _) = self.call(request).await?;
        let bytes = media.number("file_size").and_then(|bytes| usize::try_from(bytes).ok());
        if bytes.is_some_and(|bytes| bytes > bytes_max) {
            return Err(HttpError::TooLarge { bytes_max }.into());
        }
        let file = self.file(media.text("url").unwrap_or_default())?;
        let request = ApiRequest::at(&file)
            .bearer(self.token.expose())
            .timeout(chats::WHATSAPP_MEDIA_TIMEOUT)
            .bytes_max(bytes_max);
        let answer = self.http.call(request).await?;
        if answer.is_success() {
            return Ok(answer.body);
        }
        Err(refused(&answer, &Value::Null))
    }

    /// The address of a file, if it is one of Meta's.
    fn file(&self, url: &str) -> Result<Destination> {
        let below = url.strip_prefix(&self.origin).is_some_and(|rest| rest.starts_with('/'));
        if below {
            return Ok(Destination::configured(url)?);
        }
        let elsewhere =
            || ConnectorError::Protocol { reason: "a file at one of Meta's addresses".to_owned() };
        let file = Destination::foreign(url).map_err(|_| elsewhere())?;
        let is_metas = FILE_HOSTS.iter().any(|host| {
            file.host()
                .strip_suffix(host)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        });
        if is_metas { Ok(file) } else { Err(elsewhere()) }
    }

    async fn call(&self, request: ApiRequest) -> Result<(Value, Option<Timestamp>)> {
        let request = request
            .bearer(self.token.expose())
            .timeout(limits::EGRESS_TIMEOUT)
            .bytes_max(limits::API_ANSWER_BYTES_MAX);
        let answer = self.http.call(request).await?;
        let value: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        match value.object("error") {
            Some(error) => Err(refused(&answer, error)),
            None if answer.is_success() && value.is_object() => Ok((value, answer.date)),
            None if answer.is_success() => {
                Err(ConnectorError::Protocol { reason: "the Graph API answers in JSON".to_owned() })
            }
            None => Err(refused(&answer, &Value::Null)),
        }
    }
}

/// What a refusal means, by its code; the codes say more than the statuses.
fn refused(answer: &ApiAnswer, error: &Value) -> ConnectorError {
    let code = error.number("code").unwrap_or_default();
    let said = refusal(error.text("message").unwrap_or("no reason given"));
    let patience = |otherwise: Duration| ConnectorError::RateLimited {
        retry_after: answer.retry_after.unwrap_or(otherwise),
    };
    match (code, answer.status) {
        (131_056, _) => patience(chats::WHATSAPP_PAIR_PAUSE),
        (4 | 80_007 | 130_429 | 131_048 | 133_016, _) | (0, 429) => patience(chats::WHATSAPP_PAUSE),
        (131_047, _) => ConnectorError::Refused {
            reason: "more than 24 hours have passed since they last wrote; \
                     WhatsApp takes only templates until they write again"
                .to_owned(),
        },
        (3 | 10 | 190 | 131_005 | 131_031 | 200..=299, _) => ConnectorError::Unauthorized {
            reason: format!("{said}; make a new token with whatsapp_business_messaging"),
        },
        (0, 401 | 403) => ConnectorError::Unauthorized { reason: said },
        (1 | 2 | 131_000 | 131_016 | 133_004, _) | (0, 500..) => {
            ConnectorError::Unreachable { reason: format!("WhatsApp: {said}") }
        }
        _ => ConnectorError::Refused { reason: format!("{said} ({code})") },
    }
}

/// The part of a URL before its path.
fn origin(url: &str) -> String {
    let after_scheme = url.find("://").map_or(0, |at| at.saturating_add(3));
    let rest = url.get(after_scheme..).unwrap_or_default();
    let end = rest.find('/').map_or(url.len(), |at| after_scheme.saturating_add(at));
    url.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use connector_api::toolkit::HttpSettings;
    use serde_json::json;

    use super::*;

    fn graph(base_url: &str) -> Graph {
        let http = HttpClient::new(&HttpSettings::default()).unwrap();
        Graph::new(base_url, "t", "1", http).unwrap()
    }

    fn answer(status: u16) -> ApiAnswer {
        ApiAnswer { status, retry_after: None, date: None, headers: Vec::new(), body: Vec::new() }
    }

    #[test]
    fn the_token_goes_only_where_meta_keeps_files() {
        let graph = graph("https://graph.facebook.com/v26.0");
        for good in [
            "https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1&ext=2&hash=x",
            "https://graph.facebook.com/file",
            "https://mmg.whatsapp.net/x",
        ] {
            assert!(graph.file(good).is_ok(), "{good}");
        }
        for bad in [
            "https://evil.example/?fbsbx.com",
            "https://evilfbsbx.com/",
            "https://graph.facebook.com.evil.example/x",
            "https://graph.facebook.com@evil.example/x",
            "http://lookaside.fbsbx.com/",
            "https://lookaside.fbsbx.com:8443/",
            "https://127.0.0.1/",
            "file:///etc/passwd",
            "",
        ] {
            assert!(graph.file(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn refusals_are_told_apart_by_their_codes() {
        let of = |code: i64, status: u16| {
            refused(&answer(status), &json!({"code": code, "message": "said"}))
        };
        let ConnectorError::RateLimited { retry_after } = of(131_056, 400) else { panic!() };
        assert_eq!(retry_after, Duration::from_secs(6));
        assert!(matches!(of(130_429, 400), ConnectorError::RateLimited { .. }));
        assert!(of(131_047, 400).to_string().contains("24 hours"));
        assert!(matches!(of(190, 401), ConnectorError::Unauthorized { .. }));
        assert!(matches!(of(131_000, 500), ConnectorError::Unreachable { .. }));
        assert!(matches!(of(131_026, 400), ConnectorError::Refused { .. }));
        let bare = |status| refused(&answer(status), &Value::Null);
        assert!(matches!(bare(429), ConnectorError::RateLimited { .. }));
        assert!(matches!(bare(503), ConnectorError::Unreachable { .. }));
        assert!(matches!(bare(403), ConnectorError::Unauthorized { .. }));
    }

    #[test]
    fn patience_is_as_long_as_the_service_says() {
        let slow = ApiAnswer { retry_after: Some(Duration::from_secs(9)), ..answer(429) };
        let refused = refused(&slow, &json!({"code": 80_007}));
        let ConnectorError::RateLimited { retry_after } = refused else { panic!() };
        assert_eq!(retry_after, Duration::from_secs(9));
    }

    #[test]
    fn a_phone_number_id_is_digits() {
        let http = HttpClient::new(&HttpSettings::default()).unwrap();
        for bad in ["", "+49 151", "1/../2", "me"] {
            let refused = Graph::new("https://graph.facebook.com", "t", bad, http.clone());
            assert!(matches!(refused, Err(ConnectorError::Setting { .. })), "{bad}");
        }
    }
}
