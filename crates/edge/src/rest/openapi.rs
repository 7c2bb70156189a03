//! OpenAPI 3.1, written by the catalogue.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hub::{Catalogue, Description, Entry, Method};
use protocol::{ErrorCode, ErrorEnvelope};
use serde_json::{Map, Value, json};

use crate::app::App;

/// The document of the running hub.
pub(crate) async fn openapi_document(State(app): State<App>) -> Response {
    let document = app
        .openapi
        .get_or_init(|| Bytes::from(openapi(&app.catalogue, &app.web.public_url).to_string()));
    ([(header::CONTENT_TYPE, "application/json")], document.clone()).into_response()
}

/// The OpenAPI document of a catalogue.
pub fn openapi(catalogue: &Catalogue, server_url: &str) -> Value {
    let mut paths = Map::new();
    for entry in catalogue.entries() {
        let methods = paths.entry(entry.route.path).or_insert_with(|| json!({}));
        if let Value::Object(methods) = methods {
            methods.insert(method_name(entry.route.method).to_owned(), operation(entry));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Waystation",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Durable threads for agents, people and services.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": server_url }],
        "security": [{ "bearer": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT" } },
            "schemas": { "Error": error_schema() },
        },
    })
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Put => "put",
        Method::Delete => "delete",
    }
}

fn operation(entry: &Entry) -> Value {
    let in_path: Vec<&str> = entry.route.parameters().collect();
    let Description { doc, input: mut rest, output } = entry.describe();
    let mut parameters = Vec::new();
    let takes_query = matches!(entry.route.method, Method::Get | Method::Delete);
    let required: Vec<Value> =
        rest.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = rest.get_mut("properties") {
        for name in &in_path {
            let schema = properties.remove(*name).unwrap_or_else(|| json!({ "type": "string" }));
            parameters
                .push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
        }
        if takes_query {
            for (name, schema) in std::mem::take(properties) {
                let needed = required.iter().any(|known| *known == name);
                parameters.push(
                    json!({ "name": name, "in": "query", "required": needed, "schema": schema }),
                );
            }
        }
    }
    let body_required: Vec<Value> =
        required.into_iter().filter(|name| !in_path.iter().any(|known| name == known)).collect();
    // Where no field has to be given, the whole body may be left out.
    let is_body_required = !body_required.is_empty();
    rest.insert("required".to_owned(), Value::Array(body_required));
    let mut document = json!({
        "operationId": entry.name,
        "summary": doc.lines().next().unwrap_or_default(),
        "description": format!("{doc}\n\nNeeds the scope `{}`.", entry.scope),
        "parameters": parameters,
        "responses": responses(&output),
    });
    if let (false, Value::Object(document)) = (takes_query, &mut document) {
        let content = json!({ "application/json": { "schema": rest } });
        let body = json!({ "required": is_body_required, "content": content });
        document.insert("requestBody".to_owned(), body);
    }
    document
}

fn responses(output: &Map<String, Value>) -> Value {
    let mut responses = Map::new();
    responses.insert(
        "200".to_owned(),
        json!({
            "description": "Done.",
            "content": { "application/json": { "schema": output } },
        }),
    );
    for status in [400, 401, 403, 404, 409, 413, 429, 503, 504, 507] {
        let codes: Vec<&str> = ErrorCode::ALL
            .iter()
            .filter(|code| code.http_status() == status)
            .map(|code| code.name())
            .collect();
        responses.insert(
            status.to_string(),
            json!({
                "description": codes.join(", "),
                "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
            }),
        );
    }
    Value::Object(responses)
}

fn error_schema() -> Value {
    let settings =
        schemars::generate::SchemaSettings::draft2020_12().for_serialize().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
    settings.into_generator().into_root_schema_for::<ErrorEnvelope>().to_value()
}
