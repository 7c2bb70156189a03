//! Unlocking a terminal for decisions, on the private socket alone.
//!
//! These are no operations: an operation commits to its input in the audit trail, and a commitment to a
//! passphrase would let somebody guess it there without being slowed down.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Json, Router};
use hub::relay::approvals::terminal;
use protocol::id::RequestId;
use protocol::{Caller, Scope, Secret};
use serde::Deserialize;
use serde_json::json;

use crate::app::App;
use crate::front::Client;
use crate::server::LocalProcess;
use crate::status;

type Who = Option<Extension<Arc<Caller>>>;
type At = Option<Extension<Arc<Client>>>;

/// The routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/local/approvals/terminal", post(standing))
        .route("/local/approvals/unlock", post(unlock))
        .route("/local/approvals/passphrase", post(set_passphrase))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unlock {
    passphrase: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetPassphrase {
    old: Option<String>,
    new: String,
}

/// How it stands with the terminal of whoever asks.
async fn standing(State(app): State<App>, caller: Who, client: At) -> Response {
    let Some((_, pid)) = person(caller, client) else { return nobody(&app) };
    match terminal::standing(&app.hub, pid).await {
        Ok(found) => Json(json!({
            "is_set": found.is_set, "is_unlocked": found.is_unlocked, "refusal": found.refusal,
        }))
        .into_response(),
        Err(error) => refused(&app, &error),
    }
}

/// Unlocks the terminal of whoever asks, if the passphrase is right.
async fn unlock(
    State(app): State<App>,
    caller: Who,
    client: At,
    Json(given): Json<Unlock>,
) -> Response {
    let Some((workspace, pid)) = person(caller, client) else { return nobody(&app) };
    done(&app, terminal::unlock(&app.hub, (&workspace, pid), Secret::new(given.passphrase)).await)
}

/// Sets the passphrase.
async fn set_passphrase(
    State(app): State<App>,
    caller: Who,
    client: At,
    Json(given): Json<SetPassphrase>,
) -> Response {
    let Some((workspace, pid)) = person(caller, client) else { return nobody(&app) };
    let (old, new) = (given.old.map(Secret::new), Secret::new(given.new));
    done(&app, terminal::set_passphrase(&app.hub, (&workspace, pid), old, new).await)
}

/// The process of a person who calls themselves the operator.
fn person(caller: Who, client: At) -> Option<(String, i32)> {
    let (Extension(caller), Extension(client)) = (caller?, client?);
    let LocalProcess(pid) = client.process?;
    caller.scopes.has(Scope::Admin).then(|| (caller.workspace_id.clone(), pid))
}

fn nobody(app: &App) -> Response {
    status::refused(
        app,
        StatusCode::FORBIDDEN,
        "only the operator's own terminal can be unlocked",
        "type the command at the prompt of a terminal of your own, without WAYSTATION_AGENT or a token \
         in the environment",
    )
}

fn done(app: &App, result: hub::Result<()>) -> Response {
    match result {
        Ok(()) => Json(json!({ "ok": true })).into_response(),
        Err(error) => refused(app, &error),
    }
}

fn refused(app: &App, error: &hub::Error) -> Response {
    status::of_error(error, RequestId(app.hub.new_uid(app.hub.now())))
}
