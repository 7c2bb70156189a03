//! The live client of a daemon.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_api::toolkit::{ApiRequest, HttpClient, HttpError};
use connector_api::{
    Account, BoxFuture, Capabilities, Connector, ConnectorError, FactsPage, Outbound, Result, Sent,
    Sink, sent_facts,
};
use protocol::chat::{Alias, ChatFact, ChatType, Facts, PersonFact};
use protocol::limits::chats as limits;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::address::{Address, is_number, is_uuid};
use super::endpoint::Endpoint;
use super::envelope::Translator;
use super::follow;
use super::rpc::{Rpc, refused_status};
use crate::foreign::{Foreign, moment_ms};

/// What an answer in base64 has beside the file.
const ANSWER_EXTRA_BYTES: usize = 4 * 1024;

/// The live client of a daemon.
#[derive(Debug)]
pub(super) struct SignalConnector {
    rpc: Rpc,
    translator: Translator,
    pub(super) silence_max: Duration,
}

impl SignalConnector {
    /// Reaches out to nobody yet.
    pub(super) fn new(endpoint: Endpoint, account: &str, http: HttpClient) -> Self {
        let account = account.trim().to_owned();
        Self {
            translator: Translator::new(&account),
            rpc: Rpc { endpoint, account, http },
            silence_max: limits::SIGNAL_SILENCE_MAX,
        }
    }

    async fn check_account(&self) -> Result<Account> {
        if let Endpoint::Http(base) = &self.rpc.endpoint {
            let answer = self.rpc.http.call(ApiRequest::get(base, "api/v1/check")?).await?;
            if !answer.is_success() {
                return Err(refused_status(answer.status));
            }
        }
        let version = self.rpc.call("version", Map::new()).await?;
        let accounts = self.accounts().await?;
        let named = self.rpc.account.as_str();
        let known: Vec<&str> = accounts.iter().flatten().filter_map(name_of).collect();
        let mut notes = Vec::new();
        if let Some(version) = version.text("version") {
            notes.push(format!("signal-cli {version}"));
        }
        if accounts.is_some() && known.is_empty() {
            notes.push("the daemon has no account; run `signal-cli link`".to_owned());
        } else if accounts.is_some() && !named.is_empty() && !known.contains(&named) {
            notes
                .push(format!("{named} is not registered with this daemon; run `signal-cli link`"));
        } else if named.is_empty() && known.len() > 1 {
            notes
                .push("the daemon has several accounts; set `account` to read only one".to_owned());
        }
        let name =
            if named.is_empty() { known.first().copied().unwrap_or_default() } else { named };
        let id = self.own_id().await.unwrap_or_default();
        Ok(Account { name: name.to_owned(), id, notes })
    }

    /// The accounts of a daemon that serves several; `None` for one that serves a single one.
    async fn accounts(&self) -> Result<Option<Vec<Value>>> {
        let bytes_max = protocol::limits::API_ANSWER_BYTES_MAX;
        match self.rpc.ask("listAccounts", Map::new(), bytes_max).await? {
            Ok(Value::Array(accounts)) => Ok(Some(accounts)),
            Ok(_) => Err(ConnectorError::Protocol { reason: "a list of accounts".to_owned() }),
            Err(failure) if failure.is_unknown_method() => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    /// The owner's UUID: what the daemon knows, or what Signal says of the number.
    async fn own_id(&self) -> Option<String> {
        if let Some(id) = self.translator.own_id() {
            return Some(id.to_owned());
        }
        let account = self.rpc.account.as_str();
        if is_uuid(account) {
            return Some(account.to_owned());
        }
        let accounts = self.accounts().await.ok().flatten().unwrap_or_default();
        let mut own = accounts.iter().filter(|known| {
            account.is_empty() && accounts.len() == 1 || known.text("number") == Some(account)
        });
        let id = match own.find_map(|known| known.text("aci")) {
            Some(id) => id.to_owned(),
            None if account.is_empty() => return None,
            None => {
                let params = object(json!({ "recipient": [account] }));
                let found = self.rpc.call("getUserStatus", params).await.ok()?;
                found.as_array()?.iter().find_map(|status| status.text("uuid"))?.to_owned()
            }
        };
        self.translator.learn_own_id(&id);
        Some(id)
    }

    async fn list_chats(&self) -> Result<FactsPage> {
        let mut facts = Facts::default();
        let groups = self.rpc.call("listGroups", Map::new()).await?;
        for group in groups.as_array().into_iter().flatten() {
            let Some(id) = group.text("id") else { continue };
            facts.chats.push(ChatFact {
                chat_id: id.to_owned(),
                chat_type: Some(ChatType::Group),
                name: group.text("name").map(str::to_owned),
                participant_count: u32::try_from(group.list("members").len()).ok(),
                ..ChatFact::default()
            });
        }
        let contacts = self.rpc.call("listContacts", Map::new()).await?;
        for contact in contacts.as_array().into_iter().flatten() {
            self.read_contact(contact, &mut facts);
        }
        Ok(FactsPage { facts, next: None })
    }

    fn read_contact(&self, contact: &Value, facts: &mut Facts) {
        let Some(address) = Address::plain(contact) else { return };
        let name = contact_name(contact);
        let mut person = address.person(name.as_deref());
        person.is_self = address.number.as_deref() == Some(self.rpc.account.as_str())
            || self.translator.own_id() == Some(address.id.as_str());
        if let Some(username) = contact.text("username") {
            person.aliases.push(Alias::Username(username.to_owned()));
        }
        facts.people.push(person);
        if contact.is_set("isBlocked") || contact.is_set("isHidden") {
            return;
        }
        facts.chats.push(ChatFact {
            chat_id: address.id.clone(),
            chat_type: Some(ChatType::Direct),
            name,
            former_ids: address.number.into_iter().filter(|number| *number != address.id).collect(),
            ..ChatFact::default()
        });
    }

    async fn send_message(&self, message: &Outbound) -> Result<Sent> {
        let mut params = object(json!({ "message": message.text }));
        // A direct chat is named by its person; everything else is the id of a group.
        if is_uuid(&message.chat_id) || is_number(&message.chat_id) {
            params.insert("recipient".to_owned(), json!([message.chat_id]));
        } else {
            params.insert("groupId".to_owned(), Value::from(message.chat_id.as_str()));
        }
        if let Some(reply_to) = &message.reply_to {
            let quoted = reply_to
                .rsplit_once(':')
                .and_then(|(author, sent_ms)| Some((author, sent_ms.parse::<i64>().ok()?)));
            let (author, sent_ms) = quoted.ok_or_else(|| ConnectorError::Refused {
                reason: "there is no such message to answer".to_owned(),
            })?;
            params.insert("quoteAuthor".to_owned(), Value::from(author));
            params.insert("quoteTimestamp".to_owned(), Value::from(sent_ms));
        }
        let author = self.own_id().await;
        let result = self.rpc.call("send", params).await?;
        refused_by_all(&result)?;
        let sent_ms = result.number("timestamp").unwrap_or_default();
        let at = moment_ms(sent_ms)
            .ok_or_else(|| ConnectorError::Protocol { reason: "the time of sending".to_owned() })?;
        let author = author.unwrap_or_else(|| self.rpc.account.clone());
        let message_id = format!("{author}:{sent_ms}");
        let own = PersonFact { person_id: author, is_self: true, ..PersonFact::default() };
        let facts = sent_facts(message, &message_id, at, own);
        Ok(Sent { message_id, at, facts })
    }

    async fn fetch_file(&self, id: &str, bytes_max: usize) -> Result<Vec<u8>> {
        let encoded_max = bytes_max.div_ceil(3).saturating_mul(4);
        let answer_max = encoded_max.saturating_add(ANSWER_EXTRA_BYTES);
        let params = object(json!({ "id": id }));
        let answer = self.rpc.ask("getAttachment", params, answer_max).await??;
        let data = answer.text("data").unwrap_or_default();
        let bytes = STANDARD
            .decode(data)
            .map_err(|_| ConnectorError::Protocol { reason: "a file in base64".to_owned() })?;
        if bytes.len() > bytes_max {
            return Err(HttpError::TooLarge { bytes_max }.into());
        }
        Ok(bytes)
    }
}

impl Connector for SignalConnector {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            stream: true,
            chat_list: true,
            send: true,
            media: true,
            ..Default::default()
        }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(self.check_account())
    }

    fn stream<'a>(
        &'a self,
        from: Option<String>,
        sink: &'a dyn Sink,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<()>> {
        let silence_max = self.silence_max;
        Box::pin(follow::follow(&self.rpc, &self.translator, from, silence_max, sink, stop))
    }

    fn chats(&self, _from: Option<String>) -> BoxFuture<'_, Result<FactsPage>> {
        Box::pin(self.list_chats())
    }

    fn send<'a>(&'a self, message: &'a Outbound) -> BoxFuture<'a, Result<Sent>> {
        Box::pin(self.send_message(message))
    }

    fn chat_units_max(&self) -> Option<usize> {
        Some(limits::SIGNAL_TEXT_UNITS_MAX)
    }

    fn fetch<'a>(&'a self, remote_id: &'a str, bytes_max: usize) -> BoxFuture<'a, Result<Vec<u8>>> {
        Box::pin(self.fetch_file(remote_id, bytes_max))
    }
}

/// What an account goes by: its number, or its id where it has none.
fn name_of(account: &Value) -> Option<&str> {
    account.text("number").or(account.text("aci"))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The name the owner gave somebody, or the one they gave themselves.
fn contact_name(contact: &Value) -> Option<String> {
    let both = |value: &Value, given: &str, family: &str| {
        let parts: Vec<&str> =
            [value.text(given), value.text(family)].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    };
    let own = |field: &str| contact.text(field).map(str::to_owned);
    own("nickName")
        .or_else(|| both(contact, "nickGivenName", "nickFamilyName"))
        .or_else(|| own("name"))
        .or_else(|| both(contact, "givenName", "familyName"))
        .or_else(|| both(contact.object("profile")?, "givenName", "familyName"))
        .or_else(|| own("username"))
}

/// A message that reached nobody was not sent, though the daemon says when it tried.
fn refused_by_all(result: &Value) -> Result<()> {
    let results = result.list("results");
    if results.is_empty() || results.iter().any(|one| one.text("type") == Some("SUCCESS")) {
        return Ok(());
    }
    let patience = results.iter().find(|one| one.text("type") == Some("RATE_LIMIT_FAILURE"));
    if let Some(limited) = patience {
        let seconds = limited.number("retryAfterSeconds").and_then(|n| u64::try_from(n).ok());
        let retry_after = seconds.map_or(limits::SIGNAL_CALL_TIMEOUT, Duration::from_secs);
        return Err(ConnectorError::RateLimited { retry_after });
    }
    let kinds = results.iter().find_map(|one| one.text("type")).unwrap_or("no reason given");
    Err(ConnectorError::Refused { reason: format!("it reached nobody ({kinds})") })
}
