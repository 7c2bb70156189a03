//! The catalogue as MCP tools: described once, when the first agent asks, and listed by what a caller
//! may do.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use hub::{Catalogue, Description, Effect, Entry};
use protocol::{Scope, Scopes, Toolset, Toolsets};
use rmcp::model::{CacheScope, ListToolsResult, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use protocol::limits::mcp as limits;

/// Every tool.
pub(super) struct Tools {
    catalogue: Arc<Catalogue>,
    listed: OnceLock<Vec<Listed>>,
    names: HashMap<String, &'static str>,
}

/// A tool, the set it belongs to, and the scopes of which any one lets a caller see it.
struct Listed {
    set: Toolset,
    gates: Scopes,
    tool: Tool,
}

impl Tools {
    /// The operations of the catalogue.
    pub(super) fn of(catalogue: Arc<Catalogue>) -> Self {
        let names = catalogue.entries().iter().map(|entry| (spelling(entry.name), entry.name));
        Self { names: names.collect(), catalogue, listed: OnceLock::new() }
    }

    fn listed(&self) -> &[Listed] {
        self.listed.get_or_init(|| {
            let entries = self.catalogue.entries().iter();
            // What an owner does with the hub itself stays out of models' way; it can still be called.
            entries
                .filter(|entry| entry.scope != Scope::Admin)
                .filter_map(|entry| {
                    let set = Toolset::from_name(entry.toolset)?;
                    Some(Listed { set, gates: entry.gates(), tool: tool(entry) })
                })
                .collect()
        })
    }

    /// The tools of a caller among these sets, in the order of the documentation.
    pub(super) fn list(&self, scopes: Scopes, sets: Toolsets) -> ListToolsResult {
        let wanted = self.listed().iter().filter(|listed| sets.has(listed.set));
        let allowed = wanted.filter(|listed| listed.gates.and(scopes) != Scopes::default());
        ListToolsResult::with_all_items(allowed.map(|listed| listed.tool.clone()).collect())
            .with_ttl_ms(limits::TOOLS_TTL_MS)
            .with_cache_scope(CacheScope::Private)
    }

    /// The operation behind a tool's name, spelled with dots or with underscores.
    pub(super) fn operation<'a>(&self, name: &'a str) -> Cow<'a, str> {
        match self.names.get(name) {
            Some(operation) => Cow::Borrowed(operation),
            None => match self.names.get(&spelling(name)) {
                Some(operation) => Cow::Borrowed(operation),
                None => Cow::Borrowed(name),
            },
        }
    }
}

/// Some hosts refuse dots in the names of tools, so tools are listed without.
fn spelling(name: &str) -> String {
    name.replace('.', "_")
}

fn tool(entry: &Entry) -> Tool {
    let Description { doc, mut input, mut output } = entry.describe();
    shorten(&mut input, Keep::Descriptions);
    if !input.contains_key("properties") {
        input.insert("properties".to_owned(), json!({}));
    }
    shorten(&mut output, Keep::Nulls);
    let annotations = match entry.effect {
        // What changes nothing neither destroys nor repeats anything; saying so only costs space.
        Effect::Read => ToolAnnotations::new().read_only(true),
        effect => ToolAnnotations::new()
            .read_only(false)
            .destructive(effect == Effect::Destroy)
            .idempotent(effect.is_idempotent()),
    };
    let annotations = annotations.open_world(false);
    Tool::new(spelling(entry.name), doc, Arc::new(input))
        .with_raw_output_schema(Arc::new(output))
        .with_annotations(annotations)
}

/// The tools that do no more when they are asked twice.
pub(crate) fn repeatable() -> HashSet<String> {
    let catalogue = hub::catalogue();
    let entries = catalogue.entries().iter().filter(|entry| entry.effect.is_idempotent());
    entries.flat_map(|entry| [spelling(entry.name), entry.name.to_owned()]).collect()
}

/// What a schema for models must not lose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Inputs: the words say how to fill a field in. A field that may be null may be left out, and
    /// saying only that is shorter and understood by every host.
    Descriptions,
    /// Outputs: clients hold answers to the schema, so it must say what can be null. It requires
    /// nothing, because some clients hold refusals to it as well, and empty fields are left out. The
    /// words stand in the documentation.
    Nulls,
}

/// What is said of fields that repeat the token, for programs of old; models leave them out.
const OF_THE_TOKEN: &str = "Optional: must match your token.";

/// The mark of a field that programs fill in and models need not know of.
const UNLISTED: &str = "x-unlisted";

/// Takes out of a schema what costs space in a model's context and says nothing to it.
fn shorten(schema: &mut Map<String, Value>, keep: Keep) {
    for word in ["title", "format", "default"] {
        schema.remove(word);
    }
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.retain(|_, field| field.get(UNLISTED).is_none());
    }
    match keep {
        Keep::Nulls => {
            choices_as_enum(schema);
            schema.remove("description");
            schema.remove("minimum");
            schema.remove("required");
            // What stands in a list, and which words a field may hold, shows itself in every answer;
            // the reference describes it.
            schema.remove("items");
            if schema.contains_key("type") {
                schema.remove("enum");
            }
            choice_with_null(schema);
        }
        Keep::Descriptions => {
            without_null(schema);
            // Models do not count letters, and the words say where numbers end; whoever goes too far
            // is told so.
            for word in ["minLength", "maxLength", "pattern", "maxProperties", "minimum", "maximum"]
            {
                schema.remove(word);
            }
            if let Some(Value::String(words)) = schema.get_mut("description") {
                *words = words.replace('\n', " ");
            }
            // A list says what its items are.
            if let Some(Value::Object(items)) = schema.get_mut("items") {
                items.remove("description");
            }
            if schema.get("description").is_some_and(|words| words == OF_THE_TOKEN) {
                schema.remove("description");
            }
        }
    }
    choices_as_enum(schema);
    for (word, value) in schema.iter_mut() {
        match (word.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => {
                named.values_mut().filter_map(Value::as_object_mut).for_each(|s| shorten(s, keep));
            }
            (_, Value::Object(inner)) => shorten(inner, keep),
            (_, Value::Array(several)) => {
                several.iter_mut().filter_map(Value::as_object_mut).for_each(|s| shorten(s, keep));
            }
            _ => {}
        }
    }
}

/// A choice between constants is an enumeration, which every host understands.
fn choices_as_enum(schema: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = schema.get("oneOf") else { return };
    let constants: Option<Vec<Value>> = choices
        .iter()
        .map(|choice| choice.get("const").filter(|c| c.is_string()).cloned())
        .collect();
    if let Some(constants) = constants {
        schema.remove("oneOf");
        schema.insert("type".to_owned(), "string".into());
        schema.insert("enum".to_owned(), constants.into());
    }
}

/// A choice between words and nothing is a text or null.
fn choice_with_null(schema: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = schema.get("anyOf") else { return };
    let is_constant = |choice: &Value| choice["const"].is_string();
    let is_text = |choice: &Value| {
        let among = choice["oneOf"].as_array();
        choice["type"] == "string" || among.is_some_and(|words| words.iter().all(is_constant))
    };
    let [text, null] = choices.as_slice() else { return };
    if is_text(text) && null["type"] == "null" {
        schema.remove("anyOf");
        schema.insert("type".to_owned(), json!(["string", "null"]));
    }
}

fn without_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(choices)) = schema.get_mut("anyOf") else { return };
    choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
    if let [Value::Object(only)] = choices.as_mut_slice() {
        let only = std::mem::take(only);
        schema.remove("anyOf");
        for (word, value) in only {
            schema.entry(word).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_fits_into_the_context_it_is_given() {
        let list = Tools::of(Arc::new(hub::catalogue())).list(Scopes::ALL, Toolsets::default());
        let text = serde_json::to_string(&list).unwrap();
        assert!(text.len() <= 20 * 1024, "{} bytes", text.len());
        for tool in &list.tools {
            assert!(tool.name.len() <= 48, "{} leaves hosts no room for a prefix", tool.name);
            for schema in [&tool.input_schema, tool.output_schema.as_ref().unwrap()] {
                assert_eq!(schema["type"], "object", "{}", tool.name);
            }
        }
    }

    #[test]
    fn tools_come_in_sets() {
        let tools = Tools::of(Arc::new(hub::catalogue()));
        let names = |sets: &str| -> Vec<String> {
            let list = tools.list(Scopes::ALL, sets.parse().unwrap());
            list.tools.iter().map(|tool| tool.name.to_string()).collect()
        };
        let by_default = names("");
        assert!(by_default.iter().any(|name| name == "post_message"));
        assert!(by_default.iter().any(|name| name == "trigger_participant"));
        assert!(by_default.iter().any(|name| name == "list_chats"));
        assert_eq!(names("wakes"), ["list_agents", "list_wakes", "cancel_wake"]);
        assert!(names("relay").iter().any(|name| name == "get_tool_call"));
        let all = names("all");
        assert!(by_default.iter().all(|name| all.contains(name)));
        assert!(!all.iter().any(|name| name == "issue_token" || name == "claim_wakes"));
    }

    #[test]
    fn a_name_is_found_in_both_spellings() {
        let tools = Tools::of(Arc::new(hub::catalogue()));
        assert_eq!(tools.operation("post_message"), "post_message");
        assert_eq!(tools.operation("post.message"), "post_message");
        assert_eq!(tools.operation("no_such"), "no_such");
    }

    #[test]
    fn a_field_that_may_be_null_may_be_left_out() {
        let Value::Object(mut schema) = json!({
            "type": "object",
            "properties": {
                "title": { "type": ["string", "null"], "description": "Words." },
                "status": { "anyOf": [{ "enum": ["a"], "type": "string" }, { "type": "null" }] },
                "limit": { "type": ["integer", "null"], "format": "uint32", "minimum": 0 },
            },
        }) else {
            unreachable!()
        };
        shorten(&mut schema, Keep::Descriptions);
        let expected = json!({
            "title": { "type": "string", "description": "Words." },
            "status": { "enum": ["a"], "type": "string" },
            "limit": { "type": "integer" },
        });
        assert_eq!(schema["properties"], expected);
    }
}
