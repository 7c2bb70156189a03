//! Session layers in Redis: under `session:{thread}`, as JSON, for a day.
//!
//! Nobody waits for a connection: it is made beforehand, and whoever asks while there is none is told so
//! at once. Values that stand under such a key and are no layer are reported, never trusted.
mod address;

use std::sync::Arc;

use connector_api::session::{SessionKeeper, SessionLayer, SharedKeeper};
use connector_api::{BoxFuture, ConnectorError, Result};
use parking_lot::Mutex;
use protocol::limits::relay::SESSION_MS_MAX;
use protocol::limits::session as limits;
use protocol::{Secret, ThreadId};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, ErrorKind, FromRedisValue, RedisError};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

/// The shape of what is kept; a reader of another shape makes the layer again.
const VERSION: u32 = 1;

/// Keeps a layer unless a newer one is there. Reading, comparing and writing are one step for everybody:
/// the script runs alone, and one connection can serve many at once, which watching a key would not allow.
/// What is no layer, of whatever kind, is replaced.
const KEEP: &str = r"
local kept = redis.pcall('GET', KEYS[1])
if type(kept) == 'string' then
    local is_json, layer = pcall(cjson.decode, kept)
    if is_json and type(layer) == 'table' and type(layer.through_seq) == 'number' then
        local through = tonumber(ARGV[1])
        local is_model = string.sub(tostring(layer.method), 1, 6) == 'model:'
        if layer.through_seq > through then return 0 end
        if layer.through_seq == through and is_model and ARGV[2] == '0' then return 0 end
    end
end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1
";

/// A layer as it stands in Redis.
#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    #[serde(flatten)]
    layer: SessionLayer,
}

/// The keeper of a Redis.
struct Redis {
    name: String,
    client: Client,
    connection: Mutex<Option<MultiplexedConnection>>,
}

/// Whether a URL names a Redis that can be asked; the error says what would be right, and no secret.
pub fn check(url: &Secret<String>) -> Result<()> {
    address::read(url).map(drop)
}

/// Builds the keeper of a Redis; does not reach out yet.
pub fn connect(url: &Secret<String>) -> Result<SharedKeeper> {
    let address = address::read(url)?;
    if address.is_in_the_clear {
        let at = &address.name;
        tracing::warn!(at, "session layers cross the network in the clear; use rediss:// instead");
    }
    let client = Client::open(address.info).map_err(|_| address::unusable("cannot be used"))?;
    Ok(Arc::new(Redis { name: address.name, client, connection: Mutex::default() }))
}

impl SessionKeeper for Redis {
    fn name(&self) -> &str {
        &self.name
    }

    fn connect(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            *self.connection.lock() = None;
            let config = AsyncConnectionConfig::new()
                .set_connection_timeout(Some(limits::SESSION_KEEPER_CONNECT_TIMEOUT))
                .set_response_timeout(Some(limits::SESSION_KEEPER_TIMEOUT));
            let made = self.client.get_multiplexed_async_connection_with_config(&config);
            let made = timeout(2 * limits::SESSION_KEEPER_CONNECT_TIMEOUT, made).await;
            let mut connection = made.map_err(|_| silent())?.map_err(|error| explain(&error))?;
            // One that is too slow would be asked, and waited for, in every turn.
            let _: String = in_time(redis::cmd("PING").query_async(&mut connection)).await?;
            *self.connection.lock() = Some(connection);
            Ok(())
        })
    }

    fn get(&self, thread: ThreadId) -> BoxFuture<'_, Result<Option<SessionLayer>>> {
        Box::pin(async move {
            let mut ask = redis::cmd("GET");
            let kept: Option<Vec<u8>> = self.ask(ask.arg(key(thread))).await?;
            kept.map(|bytes| decode(&bytes)).transpose()
        })
    }

    fn set<'a>(&'a self, thread: ThreadId, layer: &'a SessionLayer) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let kept = Kept { version: VERSION, layer: layer.clone() };
            let text = serde_json::to_string(&kept).expect("numbers and texts are JSON");
            let mut ask = redis::cmd("EVAL");
            ask.arg(KEEP).arg(1).arg(key(thread));
            ask.arg(layer.through_seq).arg(i32::from(layer.is_by_model()));
            let is_kept: i64 = self.ask(ask.arg(text).arg(SESSION_MS_MAX)).await?;
            Ok(is_kept == 1)
        })
    }

    fn forget(&self, thread: ThreadId) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let mut ask = redis::cmd("DEL");
            let _: i64 = self.ask(ask.arg(key(thread))).await?;
            Ok(())
        })
    }
}

impl Redis {
    /// Asks over the connection there is; one that fails is given up.
    async fn ask<T: FromRedisValue>(&self, what: &Cmd) -> Result<T> {
        let connection = self.connection.lock().clone();
        let Some(mut connection) = connection else {
            return Err(ConnectorError::Unreachable { reason: "not connected".to_owned() });
        };
        let answer = in_time(what.query_async(&mut connection)).await;
        if answer.as_ref().is_err_and(|error| !matches!(error, ConnectorError::Protocol { .. })) {
            *self.connection.lock() = None;
        }
        answer
    }
}

fn key(thread: ThreadId) -> String {
    format!("session:{thread}")
}

fn decode(bytes: &[u8]) -> Result<SessionLayer> {
    let unexpected = || ConnectorError::Protocol { reason: "expected a session layer".to_owned() };
    if bytes.len() > limits::SESSION_KEPT_BYTES_MAX {
        return Err(unexpected());
    }
    let kept: Kept = serde_json::from_slice(bytes).map_err(|_| unexpected())?;
    (kept.version == VERSION).then_some(kept.layer).ok_or_else(unexpected)
}

async fn in_time<T>(asked: impl Future<Output = std::result::Result<T, RedisError>>) -> Result<T> {
    let answer = timeout(limits::SESSION_KEEPER_TIMEOUT, asked).await;
    answer.map_err(|_| silent())?.map_err(|error| explain(&error))
}

fn silent() -> ConnectorError {
    ConnectorError::Unreachable { reason: "it does not answer in time".to_owned() }
}

/// What an error means; the server's own words may quote what it was sent, so they are not repeated.
fn explain(error: &RedisError) -> ConnectorError {
    if error.is_timeout() {
        return silent();
    }
    match (error.kind(), error.code()) {
        (_, Some("WRONGTYPE")) | (ErrorKind::Parse | ErrorKind::UnexpectedReturnType, _) => {
            ConnectorError::Protocol { reason: "expected a session layer".to_owned() }
        }
        (ErrorKind::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS" | "NOPERM")) => {
            ConnectorError::Unauthorized {
                reason:
                    "check the user and the password in relay.redis_url, and that GET, SET, DEL, \
                         EVAL and PING on session:* are allowed"
                        .to_owned(),
            }
        }
        (_, Some(code)) => ConnectorError::Refused { reason: code.to_owned() },
        (kind, None) => ConnectorError::Unreachable { reason: format!("{kind:?}") },
    }
}
