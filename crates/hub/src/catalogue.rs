//! The one door. Every edge comes through [`Catalogue::call`], and scope, quota, limits, validation,
//! timing and audit are decided here, once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use protocol::{Caller, ErrorCode, Scope, Scopes, limits, validate};
use schemars::generate::Contract;
use schemars::transform::RecursiveTransform;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use tracing::Instrument;

use crate::audit::{Asked, Commitment, OwnedEntry};
use crate::call::{Call, Identity};
use crate::chats;
use crate::choices::{self, Texts};
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::identity::IdentityError;
use crate::operation::{Answer, Answered, Effect, Operation, Quota, Route};
use crate::unbroken::{Unbroken, Work};

/// What an edge hands in.
pub enum Input {
    /// JSON text.
    Bytes(Vec<u8>),
    /// A JSON object that was parsed already.
    Map(Map<String, Value>),
}

/// Reads an input; what is asked is known before it is worked on.
type Run = fn(Call, &[u8]) -> (Asked, Work);

/// One operation, its types forgotten.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Where it stands in REST.
    pub route: Route,
    /// The coarse gate.
    pub scope: Scope,
    /// Another gate that lets a caller in as well.
    pub other_scope: Option<Scope>,
    /// Whether it changes anything.
    pub effect: Effect,
    /// Which quota it uses.
    pub quota: Quota,
    /// Whether it is over before anyone could hear of its progress or take it back.
    pub is_brief: bool,
    goes_on: bool,
    /// The set of MCP tools it belongs to.
    pub toolset: &'static str,
    describe: fn() -> Description,
    description: OnceLock<Description>,
    run: Run,
}

/// What an operation is for, what it takes and what it answers.
pub struct Description {
    /// Its documentation.
    pub doc: String,
    /// What it takes, as JSON Schema.
    pub input: Map<String, Value>,
    /// What it answers, as JSON Schema.
    pub output: Map<String, Value>,
}

impl Entry {
    /// The scopes of which any one lets a caller in.
    pub fn gates(&self) -> Scopes {
        let scope = Scopes::of(&[self.scope]);
        self.other_scope.map_or(scope, |other| scope.with(other))
    }

    /// Whether a caller with these scopes gets in.
    pub fn lets_in(&self, scopes: Scopes) -> bool {
        self.gates().and(scopes) != Scopes::default()
    }

    /// Whether it waits for others, so that it must not hold a place meanwhile.
    pub fn waits(&self) -> bool {
        self.quota == Quota::Waits
    }

    /// Whether asking this twice does no more than asking once.
    pub fn may_repeat(&self, input: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Keyed {
            idempotency_key: Option<IgnoredAny>,
        }
        let keyed = || serde_json::from_slice::<Keyed>(input).ok()?.idempotency_key;
        self.effect.is_idempotent() || keyed().is_some()
    }

    /// Its description, made when somebody asks for it first: most are never asked for.
    pub fn description(&self) -> &Description {
        self.description.get_or_init(self.describe)
    }

    /// Its description, for whoever keeps it in another shape.
    pub fn describe(&self) -> Description {
        (self.describe)()
    }

    /// The fields it takes, each with its schema.
    pub fn fields(&self) -> Option<&Map<String, Value>> {
        self.description().input.get("properties").and_then(Value::as_object)
    }

    /// Forgets the types of an operation.
    pub fn of<O: Operation>() -> Self {
        Self {
            name: O::NAME,
            route: O::ROUTE,
            scope: O::SCOPE,
            other_scope: O::OTHER_SCOPE,
            effect: O::EFFECT,
            quota: O::QUOTA,
            is_brief: O::IS_BRIEF,
            goes_on: O::GOES_ON,
            toolset: O::TOOLSET,
            describe: Description::of::<O>,
            description: OnceLock::new(),
            run: |call, text| match parse::<O>(text) {
                Ok(operation) => {
                    let asked = Asked::of(operation.object());
                    let work = async move {
                        let output = operation.run(&call).await?;
                        Ok::<_, Error>(Box::new(Answered::<O>::new(output)) as Box<dyn Answer>)
                    };
                    (asked, Box::pin(work) as Work)
                }
                Err(refusal) => {
                    (Asked::default(), Box::pin(std::future::ready(Err(refusal))) as Work)
                }
            },
        }
    }
}

impl Description {
    fn of<O: Operation>() -> Self {
        let mut input = schema::<O>(Contract::Deserialize);
        let doc = match input.remove("description") {
            Some(Value::String(doc)) => doc,
            _ => String::new(),
        };
        // An operation that takes nothing says so too.
        input.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        let mut output = schema::<O::Output>(Contract::Serialize);
        output.remove("description");
        Self { doc, input, output }
    }
}

/// The list of operations and the single door to them.
pub struct Catalogue {
    entries: Vec<Entry>,
    by_name: HashMap<&'static str, usize>,
}

impl Catalogue {
    /// The catalogue of these operations.
    pub fn new(entries: Vec<Entry>) -> Self {
        let by_name = entries.iter().enumerate().map(|(i, entry)| (entry.name, i)).collect();
        Self { entries, by_name }
    }

    /// Every operation, in the order of the documentation.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// One operation.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name).and_then(|index| self.entries.get(*index))
    }

    /// The one door.
    pub async fn call(&self, mut call: Call, name: &str, input: Input) -> Result<Box<dyn Answer>> {
        let entry = self.get(name).ok_or_else(|| Error::UnknownOperation {
            name: printable(name),
            nearest: validate::nearest(name, self.by_name.keys().copied()),
        })?;
        call.action = entry.name;
        let text = input.into_text();
        call.request = Commitment::request(&call.identity.salt, &text);
        let sound = check(&text);
        let span = tracing::debug_span!("operation", name = entry.name,
            request = %call.identity.request_id, agent = %call.caller().agent_id,
            trace = call.identity.trace.as_ref().map(|trace| trace.trace_id.as_str()));
        #[expect(clippy::disallowed_methods, reason = "measures how long the call takes")]
        let began = Instant::now();
        let (hub, identity, request) =
            (Arc::clone(&call.hub), Arc::clone(&call.identity), call.request);
        let mut asked = Asked::default();
        let work = admitted(entry, call, (text, sound), &mut asked);
        let mut result = work.instrument(span).await;
        if entry.toolset == chats::TOOLSET {
            result = result.map_err(Error::of_chats);
        }
        let took = began.elapsed();
        if let Some(outcome) = outcome_to_enter(entry, &identity, &result) {
            let answer = result.as_ref().map_or_else(|_| Bytes::new(), |answer| answer.json());
            let response = Commitment::response(&identity.salt, &answer);
            let (call, action) = (Arc::clone(&identity), entry.name);
            let left = OwnedEntry { call, action, asked, outcome, request, response };
            if let Err(error) = hub.audit_reads.add(left).await {
                result = Err(error);
            }
        }
        let outcome = outcome(&result);
        hub.metrics.observe(entry.name, outcome, took);
        // Only whoever traces a call looks for it in the log.
        if let Some(trace) = &identity.trace {
            tracing::info!(operation = entry.name, request = %identity.request_id, outcome,
                agent = %identity.caller.agent_id, trace = trace.trace_id, parent = trace.parent_id,
                took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX), "call answered");
        }
        if let Err(error) = &result
            && error.code() == ErrorCode::Internal
        {
            let source = std::error::Error::source(error).map(tracing::field::display);
            tracing::error!(operation = entry.name, request = %identity.request_id, %error, source, "an operation broke");
        }
        result
    }
}

fn outcome(result: &Result<Box<dyn Answer>>) -> &'static str {
    result.as_ref().map_or_else(|error| error.code().name(), |_| "ok")
}

/// What the entry of a call says of its end, where one is still to be made. A change that went well has
/// left its entry already, and floods must not fill the trail: whoever has no good token leaves none, as
/// at every edge. While the store is out of reach or full there is nothing to enter a refusal in: those
/// who try again and again would only keep readers from what waits to be entered.
fn outcome_to_enter(
    entry: &Entry,
    identity: &Identity,
    result: &Result<Box<dyn Answer>>,
) -> Option<&'static str> {
    match result {
        Ok(_) if entry.effect == Effect::Read => Some("ok"),
        Ok(_) => identity.was_done_before().then_some("unchanged"),
        Err(
            Error::RateLimited { .. }
            | Error::TooManyWaits { .. }
            | Error::Overloaded
            | Error::Identity(_),
        ) => None,
        Err(error) => match error.code() {
            ErrorCode::Unavailable | ErrorCode::StorageFull => None,
            code => Some(code.name()),
        },
    }
}

async fn admitted(
    entry: &Entry,
    call: Call,
    (text, sound): (Vec<u8>, Result<()>),
    asked: &mut Asked,
) -> Result<Box<dyn Answer>> {
    // An edge may have verified the token long ago, when its connection began.
    call.hub.revocations.require_good(call.caller(), call.now())?;
    if !entry.lets_in(call.caller().scopes) {
        return Err(Error::MissingScope { scope: entry.scope });
    }
    call.hub.quotas.take(call.caller(), entry.quota, call.now())?;
    sound?;
    let hub = Arc::clone(&call.hub);
    let cancelled = call.cancelled.clone();
    let waiter = entry.waits().then(|| call.shared_caller());
    let must_end = entry.goes_on && entry.effect != Effect::Read;
    let mut has_begun = false;
    let (about, work) = (entry.run)(call, &text);
    *asked = about;
    let _waiter = match &waiter {
        Some(caller) => Some(hub.waiters.begin(caller)?),
        None => None,
    };
    let work = async {
        let _place = if entry.waits() { None } else { Some(place(&hub).await?) };
        has_begun = true;
        Unbroken::new(work, must_end.then(|| Arc::clone(&hub))).await
    };
    let work = tokio::time::timeout(limits::REQUEST_TIMEOUT, work);
    let ended = tokio::select! {
        biased;
        ended = work => ended,
        () = cancelled.cancelled() => return Err(Error::Cancelled),
        () = taken_back(&hub, waiter.as_deref()), if waiter.is_some() => {
            return Err(IdentityError::Revoked.into());
        }
    };
    ended.unwrap_or_else(|_| {
        let may_double = has_begun && !entry.may_repeat(&text);
        Err(Error::Timeout { seconds: limits::REQUEST_TIMEOUT.as_secs(), may_double })
    })
}

/// Ends when the token of whoever waits is revoked.
async fn taken_back(hub: &Hub, waiter: Option<&Caller>) {
    match waiter {
        Some(caller) => hub.revocations.revoked(caller).await,
        None => std::future::pending().await,
    }
}

/// One of the places for requests in flight; a long queue for them is refused.
async fn place(hub: &Hub) -> Result<tokio::sync::SemaphorePermit<'_>> {
    if let Ok(place) = hub.places.try_acquire() {
        return Ok(place);
    }
    let queued = Queued::behind(&hub.waiting);
    if queued.before >= limits::REQUESTS_WAITING_MAX {
        return Err(Error::Overloaded);
    }
    hub.places.acquire().await.map_err(|_| Error::Stopping)
}

/// One who waits for a place. Whoever hangs up meanwhile waits no longer.
struct Queued<'a> {
    waiting: &'a AtomicUsize,
    /// How many waited already.
    before: usize,
}

impl<'a> Queued<'a> {
    fn behind(waiting: &'a AtomicUsize) -> Self {
        Self { before: waiting.fetch_add(1, Ordering::Relaxed), waiting }
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Input {
    fn into_text(self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Map(map) => serde_json::to_vec(&map).expect("a JSON object prints as JSON"),
        }
    }
}

/// What every input keeps to, whichever operation it is for.
fn check(text: &[u8]) -> Result<()> {
    if text.len() > limits::BODY_BYTES_MAX {
        return Err(Error::TooLarge { bytes_max: limits::BODY_BYTES_MAX });
    }
    if validate::nests_too_deep(text) {
        let message = format!("the JSON nests deeper than {} levels", limits::JSON_DEPTH_MAX);
        return Err(Error::Invalid { field: String::new(), message, hint: None });
    }
    // The parser would take a list for an object, its items for fields in order.
    if text.trim_ascii_start().first() == Some(&b'[') {
        return Err(malformed("a list is no object"));
    }
    Ok(())
}

fn parse<O: Operation>(text: &[u8]) -> Result<O> {
    let operation = serde_json::from_slice(text).map_err(|error| refusal::<O>(text, &error))?;
    if choices::may_be_objects(text) {
        let value = serde_json::from_slice(text).map_err(|error| malformed(&error.to_string()))?;
        let again = serde_path_to_error::deserialize::<_, O>(Texts(value));
        return again.map_err(|error| explain(O::NAME, &error.path().to_string(), error.inner()));
    }
    Ok(operation)
}

/// The plain parser is fast but does not say which field it refused, and it calls some wrong types a
/// syntax error; only a refusal pays for reading the text again to find out.
fn refusal<O: Operation>(text: &[u8], error: &serde_json::Error) -> Error {
    let value: Value = match serde_json::from_slice(text) {
        Ok(value) => value,
        Err(error) => return malformed(&error.to_string()),
    };
    if let Err(error) = serde_path_to_error::deserialize::<_, O>(value) {
        return explain(O::NAME, &error.path().to_string(), error.inner());
    }
    // What stands there twice is gone from the value.
    let mut text = serde_json::Deserializer::from_slice(text);
    let again = serde_path_to_error::deserialize::<_, O>(&mut text);
    let path = again.map_or_else(|error| error.path().to_string(), |_| ".".to_owned());
    explain(O::NAME, &path, error)
}

/// Says which field is wrong, in our words, from the parser's. The path leads to that field, or to the
/// object in which it is missing or doubled.
fn explain(operation: &str, path: &str, error: &serde_json::Error) -> Error {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    let path = if path == "." { String::new() } else { printable(path) };
    let quoted = |what: &str| text.strip_prefix(what).and_then(|rest| rest.strip_suffix('`'));
    if let Some(name) = quoted("missing field `") {
        return Error::invalid(within(&path, name), "is missing");
    }
    if let Some(rest) = text.strip_prefix("unknown field `") {
        let name = rest.split('`').next().unwrap_or_default();
        let known: Vec<&str> = rest.split('`').skip(2).step_by(2).collect();
        let nearest = validate::nearest(name, known.iter().copied());
        let name = printable(name);
        let holder = holder(&path, &name);
        let field = within(holder, &name);
        let holder = if holder.is_empty() { operation } else { holder };
        let hint = match nearest {
            Some(near) => format!("did you mean {near}?"),
            None => format!("{holder} takes: {}", known.join(", ")),
        };
        let message = format!("{name} is not a field of {holder}");
        return Error::Invalid { field, message, hint: Some(hint) };
    }
    if let Some(name) = quoted("duplicate field `") {
        return Error::invalid(within(holder(&path, name), name), "stands there twice");
    }
    let subject = if path.is_empty() { "the input" } else { &path };
    Error::Invalid { message: format!("{subject}: {}", printable(text)), field: path, hint: None }
}

/// The object in which a field stands, from a path to it or to that object.
fn holder<'a>(path: &'a str, name: &str) -> &'a str {
    path.strip_suffix(name).map_or(path, |before| before.trim_end_matches('.'))
}

/// The path to a field of an object.
fn within(holder: &str, name: &str) -> String {
    if holder.is_empty() { name.to_owned() } else { format!("{holder}.{name}") }
}

fn malformed(text: &str) -> Error {
    Error::Invalid {
        field: String::new(),
        message: format!("the input is not valid JSON: {text}"),
        hint: Some("send one JSON object in UTF-8".to_owned()),
    }
}

/// Text from outside, safe to print and not too long.
fn printable(text: &str) -> String {
    text.chars().take(200).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// The JSON Schema of a type as it is read or as it is written, without the words that only cost space.
fn schema<T: schemars::JsonSchema>(contract: Contract) -> Map<String, Value> {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.contract = contract;
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        settings.transforms.push(Box::new(RecursiveTransform(drop_empty_default)));
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let Value::Object(mut map) = schema.to_value() else { return Map::new() };
    map.remove("title");
    map
}

/// That nothing is taken where nothing is given need not be said.
fn drop_empty_default(schema: &mut schemars::Schema) {
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}
