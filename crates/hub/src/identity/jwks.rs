//! The keys of an outside issuer: fetched when needed, kept, and good for a day while the issuer is away.
//!
//! A fetch is a task of its own that any number may wait for. So there is never more than one, and it
//! goes on to its end whether they wait or not: an issuer may be slower than its callers are patient.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use connector_api::toolkit::{Destination, HttpClient, HttpError};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use parking_lot::Mutex;
use protocol::{Timestamp, limits};
use serde::Deserialize;
use tokio::task::JoinSet;
use tracing::{debug, warn};

use super::algorithm::SigningAlgorithm;
use super::error::IdentityError;
use super::jwk::Jwk;
use super::public_key::PublicKey;

/// How long a request waits for new keys when the old ones would do.
const STALE_PATIENCE: Duration = Duration::from_secs(1);

/// Why an issuer's keys could not be had.
#[derive(Debug, thiserror::Error)]
pub enum JwksError {
    /// They could not be fetched.
    #[error("the key set could not be fetched")]
    Http(#[from] HttpError),
    /// What came is no key set.
    #[error("the document is not a JSON web key set; check jwks_url")]
    Malformed,
    /// There are too many.
    #[error("the key set has more than {} keys", limits::JWKS_KEYS_MAX)]
    TooManyKeys,
    /// None of them is for the pinned algorithm.
    #[error("the key set has no signing key for the issuer's algorithm; check `algorithm`")]
    NoUsableKey,
}

type KeySet = HashMap<String, Arc<PublicKey>>;
type Fetched = Result<Arc<KeySet>, Arc<JwksError>>;
type Fetch = Shared<BoxFuture<'static, Fetched>>;

/// An issuer's keys.
pub(super) struct Jwks {
    http: HttpClient,
    from: Destination,
    algorithm: SigningAlgorithm,
    state: Arc<Mutex<State>>,
    /// The fetch under way; it ends with us.
    tasks: Mutex<JoinSet<()>>,
}

#[derive(Default)]
struct State {
    keys: Arc<KeySet>,
    fetched_at: Option<Timestamp>,
    attempted_at: Option<Timestamp>,
    /// Why the last fetch brought nothing.
    failure: Option<Arc<JwksError>>,
    in_flight: Option<Fetch>,
}

/// What is known about a key without asking anybody.
enum Known {
    Fresh(Arc<PublicKey>),
    Stale(Arc<PublicKey>),
    No,
}

impl Jwks {
    pub(super) fn new(http: HttpClient, from: Destination, algorithm: SigningAlgorithm) -> Self {
        Self { http, from, algorithm, state: Arc::default(), tasks: Mutex::default() }
    }

    /// The key of this id, fetched if that may help.
    pub(super) async fn key(
        &self,
        key_id: &str,
        now: Timestamp,
    ) -> Result<Arc<PublicKey>, IdentityError> {
        let known = self.state.lock().known(key_id, now);
        match known {
            Known::Fresh(key) => Ok(key),
            Known::Stale(key) => {
                match tokio::time::timeout(STALE_PATIENCE, self.refresh(now)).await {
                    Ok(Ok(keys)) => keys.get(key_id).cloned().ok_or(IdentityError::KeyUnknown),
                    Ok(Err(_)) | Err(_) => Ok(key),
                }
            }
            Known::No => {
                let keys = self.refresh(now).await?;
                keys.get(key_id).cloned().ok_or(IdentityError::KeyUnknown)
            }
        }
    }

    /// Fetches the keys, or joins whoever is doing so; an error when it is too early for another
    /// try or the try failed.
    async fn refresh(&self, now: Timestamp) -> Result<Arc<KeySet>, IdentityError> {
        self.board(now)?.await.map_err(IdentityError::IssuerKeysUnavailable)
    }

    fn board(&self, now: Timestamp) -> Result<Fetch, IdentityError> {
        let mut state = self.state.lock();
        if let Some(fetch) = &state.in_flight {
            return Ok(fetch.clone());
        }
        if is_within(limits::JWKS_REFETCH_MIN, state.attempted_at, now) {
            return Err(state.unknown());
        }
        let (http, from, algorithm) = (self.http.clone(), self.from.clone(), self.algorithm);
        let landing = Arc::downgrade(&self.state);
        let fetch = async move {
            let fetched = fetch(&http, &from, algorithm).await;
            land(&landing, from.host(), now, &fetched);
            fetched
        };
        let fetch = fetch.boxed().shared();
        state.attempted_at = Some(now);
        state.in_flight = Some(fetch.clone());
        let mut tasks = self.tasks.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(fetch.clone().map(drop));
        Ok(fetch)
    }
}

/// Keeps what a fetch has brought, before anybody hears of it.
fn land(state: &Weak<Mutex<State>>, host: &str, began_at: Timestamp, fetched: &Fetched) {
    let Some(state) = state.upgrade() else { return };
    let mut state = state.lock();
    state.in_flight = None;
    match fetched {
        Ok(keys) => {
            debug!(host, keys = keys.len(), "key set fetched");
            state.keys = Arc::clone(keys);
            state.fetched_at = Some(began_at);
            state.failure = None;
        }
        Err(why) => {
            warn!(host, error = %why, "key set not fetched");
            state.failure = Some(Arc::clone(why));
        }
    }
}

impl State {
    fn known(&self, key_id: &str, now: Timestamp) -> Known {
        match self.keys.get(key_id) {
            Some(key) if is_within(limits::JWKS_FRESH, self.fetched_at, now) => {
                Known::Fresh(Arc::clone(key))
            }
            Some(key) if self.is_usable(now) => Known::Stale(Arc::clone(key)),
            _ => Known::No,
        }
    }

    /// Whether keys that are no longer fresh may be used while the issuer is away. A clock that was set
    /// back makes them no older.
    fn is_usable(&self, now: Timestamp) -> bool {
        let most_ms = i64::try_from(limits::JWKS_STALE_MAX.as_millis()).unwrap_or(i64::MAX);
        self.fetched_at.is_some_and(|then| (-most_ms..most_ms).contains(&now.ms_since(then)))
    }

    /// Why a key is not known: the issuer has none of that id, or could not be asked when it last was.
    fn unknown(&self) -> IdentityError {
        match &self.failure {
            Some(why) => IdentityError::IssuerKeysUnavailable(Arc::clone(why)),
            None => IdentityError::KeyUnknown,
        }
    }
}

/// Whether `then` is less than `span` ago. A moment that lies ahead, after the clock was set back,
/// is not.
fn is_within(span: Duration, then: Option<Timestamp>, now: Timestamp) -> bool {
    let span_ms = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    then.is_some_and(|then| (0..span_ms).contains(&now.ms_since(then)))
}

async fn fetch(http: &HttpClient, from: &Destination, algorithm: SigningAlgorithm) -> Fetched {
    let document = http.get(from, limits::JWKS_BYTES_MAX).await.map_err(JwksError::from)?;
    Ok(Arc::new(parse(&document, algorithm)?))
}

fn parse(document: &[u8], algorithm: SigningAlgorithm) -> Result<KeySet, JwksError> {
    #[derive(Deserialize)]
    struct Document {
        keys: Vec<serde_json::Value>,
    }
    let document: Document = serde_json::from_slice(document).map_err(|_| JwksError::Malformed)?;
    if document.keys.len() > limits::JWKS_KEYS_MAX {
        return Err(JwksError::TooManyKeys);
    }
    let mut keys = KeySet::new();
    for key in document.keys {
        // A key of a kind we do not know must not spoil the others.
        let usable = serde_json::from_value::<Jwk>(key).ok();
        if let Some((id, key)) = usable.and_then(|key| key.for_algorithm(algorithm)) {
            keys.entry(id).or_insert_with(|| Arc::new(key));
        }
    }
    if keys.is_empty() {
        return Err(JwksError::NoUsableKey);
    }
    Ok(keys)
}
