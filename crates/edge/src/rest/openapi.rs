//! OpenAPI 3.1, written by the catalogue.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hub::{Catalogue, Description, Entry, Method};
use protocol::{ErrorCode, ErrorEnvelope};
use serde_json::{Map, Value, json};

use super::input::kinds;
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
            "responses": refusals(),
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
                parameters.push(query_parameter(&name, needed, schema));
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

/// A field of the query. An object stands there as JSON: by itself OpenAPI would have each of its fields
/// be a parameter of its own.
fn query_parameter(name: &str, required: bool, schema: Value) -> Value {
    let is_object = kinds(&schema).iter().any(|kind| kind == "object");
    let (holder, held) = if is_object {
        ("content", json!({ "application/json": { "schema": schema } }))
    } else {
        ("schema", schema)
    };
    json!({ "name": name, "in": "query", "required": required, holder: held })
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
    for name in refusals().keys() {
        let refusal = json!({ "$ref": format!("#/components/responses/{name}") });
        responses.insert(name.clone(), refusal);
    }
    Value::Object(responses)
}

/// What every operation may be refused with, by status.
fn refusals() -> Map<String, Value> {
    let mut codes: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for (status, code) in of_operations().chain(OF_THE_EDGE) {
        codes.entry(status).or_default().push(code.name());
    }
    let refusals = codes.iter().map(|(status, codes)| (status.to_string(), codes.join(", ")));
    let other = [("default".to_owned(), "Any other refusal.".to_owned())];
    refusals.chain(other).map(|(name, description)| (name, refusal(&description))).collect()
}

/// How operations are refused.
fn of_operations() -> impl Iterator<Item = (u16, ErrorCode)> {
    ErrorCode::ALL.iter().map(|code| (code.http_status(), *code))
}

/// How requests are refused before any operation, where the status is not the code's own.
const OF_THE_EDGE: [(u16, ErrorCode); 2] =
    [(408, ErrorCode::Timeout), (431, ErrorCode::PayloadTooLarge)];

fn refusal(description: &str) -> Value {
    json!({
        "description": description,
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
    })
}

fn error_schema() -> Value {
    let settings =
        schemars::generate::SchemaSettings::draft2020_12().for_serialize().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
    settings.into_generator().into_root_schema_for::<ErrorEnvelope>().to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation of the document.
    fn operations(document: &Value) -> impl Iterator<Item = &Value> {
        let paths = document["paths"].as_object().unwrap().values();
        paths.flat_map(|methods| methods.as_object().unwrap().values())
    }

    #[test]
    fn an_object_in_a_query_is_said_to_be_json() {
        let document = openapi(&hub::catalogue(), "http://127.0.0.1:7788");
        let mut objects = 0;
        for operation in operations(&document) {
            for parameter in operation["parameters"].as_array().unwrap() {
                let plain = kinds(&parameter["schema"]);
                assert!(!plain.iter().any(|kind| kind == "object"), "{parameter}");
                objects += usize::from(parameter.get("content").is_some());
            }
        }
        assert!(objects > 0, "list_chats takes a filter");
    }

    #[test]
    fn every_status_of_a_refusal_is_in_the_document() {
        let document = openapi(&hub::catalogue(), "http://127.0.0.1:7788");
        let edge = ["408", "431", "default"].map(str::to_owned);
        let own = ErrorCode::ALL.iter().map(|code| code.http_status().to_string());
        let all: Vec<String> = own.chain(edge).collect();
        for operation in operations(&document) {
            let missing = all.iter().find(|status| operation["responses"].get(status).is_none());
            assert_eq!(missing, None, "{}", operation["operationId"]);
        }
    }
}
