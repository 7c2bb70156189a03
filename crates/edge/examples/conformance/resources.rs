//! The resources.

use rmcp::ErrorData;
use rmcp::model::ReadResourceResult;
use serde_json::{Value, json};

use crate::fixtures::PNG;
use crate::result;

/// Every resource.
pub(crate) fn list() -> Value {
    let resource = |uri: &str, kind: &str| json!({ "uri": uri, "name": uri, "description": "For testing", "mimeType": kind });
    let resources = [
        resource("test://static-text", "text/plain"),
        resource("test://static-binary", "image/png"),
        resource("test://watched-resource", "text/plain"),
    ];
    json!({ "resources": resources, "ttlMs": 0, "cacheScope": "private" })
}

/// The one template.
pub(crate) fn templates() -> Value {
    let template = json!({
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "For testing",
        "mimeType": "application/json",
    });
    json!({ "resourceTemplates": [template], "ttlMs": 0, "cacheScope": "private" })
}

/// One resource.
pub(crate) fn contents(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let content = match (uri, id) {
        ("test://static-text", _) => {
            let text = "This is the content of the static text resource.";
            json!({ "uri": uri, "mimeType": "text/plain", "text": text })
        }
        ("test://static-binary", _) => json!({ "uri": uri, "mimeType": "image/png", "blob": PNG }),
        ("test://watched-resource", _) => {
            json!({ "uri": uri, "mimeType": "text/plain", "text": "Watch me." })
        }
        (_, Some(id)) => {
            let data = json!({
                "id": id, "templateTest": true, "data": format!("Data for ID: {id}"),
            });
            json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() })
        }
        _ => {
            let data = json!({ "uri": uri });
            return Err(ErrorData::resource_not_found("Resource not found", Some(data)));
        }
    };
    result(json!({ "contents": [content], "ttlMs": 0, "cacheScope": "private" }))
}
