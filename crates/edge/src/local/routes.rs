//! What only the private socket offers: any operation by name, and the owner's own affairs.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use hub::Input;
use protocol::{Caller, Scope, limits};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::{fair, status, trace};

/// What the owner of a data folder says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OwnerInfo {
    /// The program's version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Where others find it; nothing when it was started on demand.
    pub url: Option<String>,
}

/// What the private routes need beside the app.
#[derive(Clone)]
pub struct Owner {
    /// What it says of itself.
    pub info: OwnerInfo,
    /// Ends the owner when cancelled: another process wants to take over.
    pub stop: CancellationToken,
}

/// The routes of the private socket beside the public ones.
pub(crate) fn routes(owner: Owner) -> Router<App> {
    Router::new()
        .route("/local/call/{operation}", post(call))
        .route("/local/info", get(info).post(info))
        .route("/local/stop", post(stop))
        .merge(super::approvals::routes())
        .layer(Extension(owner))
}

/// Calls any operation by name: `{"answer": …, "brief": …}`. Hosts on other machines use it too.
pub(crate) async fn call(
    State(app): State<App>,
    caller: Option<Extension<Arc<Caller>>>,
    Path(operation): Path<String>,
    request: Request,
) -> Response {
    let Some(Extension(caller)) = caller else {
        return status::unauthorized(&app, "this request does not say who asks");
    };
    let (parts, body) = request.into_parts();
    let gone = CancellationToken::new();
    let _hang_up = gone.clone().drop_guard();
    let call = app.hub.call(caller, trace::of(&parts.headers), gone);
    let request_id = call.identity.request_id;
    let body = match fair::read(body, limits::BODY_BYTES_MAX).await {
        Ok(body) => body,
        Err(why) => return fair::not_read(&app, why, parts.version, request_id),
    };
    match app.catalogue.call(call, &operation, Input::Bytes(body)).await {
        Ok(answer) => {
            let brief = serde_json::to_string(&answer.brief()).expect("text prints as JSON");
            let mut json = b"{\"answer\":".to_vec();
            json.extend_from_slice(&answer.json());
            json.extend(format!(",\"brief\":{brief}}}").into_bytes());
            ([(header::CONTENT_TYPE, "application/json")], json).into_response()
        }
        Err(error) => status::of_error(&error, request_id),
    }
}

async fn info(Extension(owner): Extension<Owner>) -> Json<OwnerInfo> {
    Json(owner.info)
}

/// Lets go of the data folder, so that another process may own it.
async fn stop(
    State(app): State<App>,
    Extension(owner): Extension<Owner>,
    caller: Option<Extension<Arc<Caller>>>,
) -> Response {
    if !caller.is_some_and(|caller| caller.scopes.has(Scope::Admin)) {
        return status::refused(
            &app,
            StatusCode::FORBIDDEN,
            "only the operator may stop the hub",
            "run this as the user who owns the data folder",
        );
    }
    owner.stop.cancel();
    "stopping\n".into_response()
}
