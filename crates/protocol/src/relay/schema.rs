//! The published JSON Schema of the envelope (draft-07), made from the types themselves.

use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Value, json};

use super::{Envelope, channel, envelope_role};

/// The version of the envelope that this hub speaks; one that names none speaks it too.
pub const MCP_VERSION: &str = "0.1.0";
/// The MAJOR versions that this hub understands: one that is not among them may mean anything.
pub const MCP_MAJORS: [u64; 1] = [0];

/// The schema of the envelope, as it is read.
pub fn envelope() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.contract = Contract::Deserialize;
        settings.inline_subschemas = true;
    });
    let schema = settings.into_generator().into_root_schema_for::<Envelope>();
    let mut schema = schema.to_value();
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("$id".to_owned(), json!("urn:waystation:schema:envelope:0"));
    }
    // Both are open: what stands there is known, and anything else comes out again as it went in.
    examples(&mut schema, "channel", &channel::ALL);
    examples(&mut schema, "role", &envelope_role::ALL);
    schema
}

fn examples(schema: &mut Value, field: &str, known: &[&str]) {
    let field = schema.pointer_mut(&format!("/properties/{field}")).and_then(Value::as_object_mut);
    if let Some(field) = field {
        field.insert("examples".to_owned(), json!(known));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The types that a part of a schema allows.
    fn types(schema: &Value, path: &str) -> Vec<String> {
        match schema.pointer(path).and_then(|part| part.get("type")) {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(many)) => {
                many.iter().map(|one| one.as_str().unwrap().to_owned()).collect()
            }
            other => panic!("{path} has no type: {other:?}"),
        }
    }

    #[test]
    fn the_schema_says_what_the_specification_says() {
        let schema = envelope();
        assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
        assert_eq!(schema["title"], "MCPMessage");
        assert_eq!(types(&schema, ""), ["object"]);
        let mut required: Vec<&str> = schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        required.sort_unstable();
        assert_eq!(required, ["channel", "content", "id", "role", "timestamp"]);
        for (path, kinds) in [
            ("id", &["string"][..]),
            ("timestamp", &["string"]),
            ("channel", &["string"]),
            ("role", &["string"]),
            ("context", &["object"]),
            ("context/properties/system", &["string"]),
            ("context/properties/session", &["string"]),
            ("context/properties/task", &["string"]),
            ("content", &["string"]),
            ("tool_call", &["object", "null"]),
            ("tool_call/properties/name", &["string"]),
            ("tool_call/properties/args", &["object"]),
            ("tool_call/properties/result", &["object", "null"]),
            ("memory_update", &["object", "null"]),
            ("memory_update/properties/data", &["object"]),
            ("memory_update/properties/ttl", &["integer"]),
            ("retrieval_refs", &["array"]),
            ("retrieval_refs/items", &["string"]),
            ("meta", &["object"]),
        ] {
            let allowed = types(&schema, &format!("/properties/{path}"));
            for kind in kinds {
                assert!(allowed.iter().any(|one| one == kind), "{path} allows {allowed:?}");
            }
        }
        assert_eq!(schema["properties"]["timestamp"]["format"], "date-time");
        let kinds = schema["properties"]["memory_update"]["properties"]["kind"].to_string();
        assert!(kinds.contains("\"episodic\"") && kinds.contains("\"long_term\""), "{kinds}");
        for known in ["slack", "github", "sentry", "openproject", "internal"] {
            let channels = &schema["properties"]["channel"];
            assert!(channels["examples"].as_array().unwrap().contains(&known.into()));
            assert!(channels.get("enum").is_none(), "a channel is open");
        }
        assert_eq!(schema["additionalProperties"], true);
    }
}
