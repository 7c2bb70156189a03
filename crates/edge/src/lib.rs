//! The edges of Waystation: REST, MCP, health and metrics over HTTP, TLS and the private socket.
//!
//! An edge authenticates, turns bytes into an operation's name and JSON, and turns errors into a
//! status. It holds no rules: if two edges could disagree about something, it belongs in the hub.
#![forbid(unsafe_code)]

mod accept;
mod app;
mod auth;
mod certificate;
mod connection;
mod cors;
mod error;
mod fair;
mod front;
mod guard;
mod guests;
mod health;
mod hooks;
mod line_reader;
pub mod local;
pub mod mcp;
mod network;
mod outline;
pub mod rest;
pub mod server;
mod status;
pub mod tls;
mod trace;
mod visits;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

pub use app::{App, WebSettings};
pub use error::EdgeError;
pub use fair::Fairness;
pub use front::Front;

/// What the public listener serves.
pub fn public(app: &App) -> Front {
    Front::guarded(app, routes(app)).with_operations()
}

/// What the private socket serves: the public routes, any operation by name, and the owner's affairs.
pub fn private(app: &App, owner: local::Owner) -> Front {
    let routes = routes(app).merge(local::routes(owner).with_state(app.clone()));
    Front::guarded(app, local::greeted(app, routes))
}

/// Every route of the public listener, on one screen; whatever has none may be an operation's.
fn routes(app: &App) -> Router {
    let with_caller = Router::new()
        .route("/v1/call/{operation}", post(local::call))
        .route("/metrics", get(health::metrics))
        .route_service("/mcp", mcp::http_service(app.mcp(), &app.mcp_settings()))
        .layer(from_fn_with_state(app.clone(), auth::require_caller));
    let of_services = Router::new()
        .route("/hooks/{workspace}/{link}", get(hooks::receive).post(hooks::receive))
        .layer(from_fn_with_state(app.clone(), fair::paced));
    Router::new()
        .merge(with_caller)
        .merge(of_services)
        .route("/livez", get(health::livez))
        .route("/readyz", get(health::readyz))
        .route("/v1/openapi.json", get(rest::openapi_document))
        .route("/v1/schemas/envelope.json", get(rest::envelope_schema))
        .route("/.well-known/oauth-protected-resource", get(auth::resource_metadata))
        .route("/.well-known/oauth-protected-resource/mcp", get(auth::resource_metadata))
        .fallback(rest::answer_or_refuse)
        .method_not_allowed_fallback(status::other_method)
        .with_state(app.clone())
}
