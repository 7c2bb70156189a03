//! RFC 9728: where a client that has no token may get one.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use protocol::Scope;

use crate::app::App;
use crate::status;

/// The protected-resource metadata; there is none without an outside issuer.
pub(crate) async fn resource_metadata(State(app): State<App>) -> Response {
    if app.web.authorization_servers.is_empty() {
        return status::no_such_route(&app);
    }
    Json(serde_json::json!({
        "resource": format!("{}/mcp", app.web.public_url),
        "authorization_servers": app.web.authorization_servers,
        "scopes_supported": Scope::ALL.map(Scope::name),
        "bearer_methods_supported": ["header"],
        "resource_name": "Waystation",
    }))
    .into_response()
}
