//! Which operation stands at a path.

use std::borrow::Cow;

use axum::http::{HeaderValue, Method};
use hub::{Catalogue, Entry};
use serde_json::Value;

use super::input::Fields;

/// Every operation by its path and method.
pub(crate) struct Table(matchit::Router<Place>);

/// What stands at one path.
struct Place {
    /// By their methods.
    operations: Vec<(hub::Method, &'static str)>,
    /// Those methods, as a refusal of another one names them.
    allowed: HeaderValue,
}

/// What a request finds.
pub(super) enum Found<'a> {
    /// An operation, with the fields that its path fills; none where the path is no text.
    Operation(&'a Entry, Option<Fields<'a>>),
    /// Operations for these methods alone.
    OtherMethods(&'a HeaderValue),
    Nothing,
}

impl Table {
    pub(crate) fn new(catalogue: &Catalogue) -> Self {
        let mut places: Vec<(&str, Vec<_>)> = Vec::new();
        for entry in catalogue.entries() {
            let operation = (entry.route.method, entry.name);
            match places.iter_mut().find(|(path, _)| *path == entry.route.path) {
                Some((_, operations)) => operations.push(operation),
                None => places.push((entry.route.path, vec![operation])),
            }
        }
        let mut router = matchit::Router::new();
        for (path, operations) in places {
            let names: Vec<_> = operations.iter().map(|(method, _)| names(*method)).collect();
            let allowed = HeaderValue::from_str(&names.join(",")).expect("methods are words");
            let placed = router.insert(path, Place { operations, allowed });
            placed.expect("a test walks all paths of the catalogue");
        }
        Self(router)
    }

    /// What stands at the path of a request.
    pub(super) fn find<'a>(
        &'a self,
        catalogue: &'a Catalogue,
        method: &Method,
        path: &'a str,
    ) -> Found<'a> {
        let Ok(matched) = self.0.at(path) else { return Found::Nothing };
        let Place { operations, allowed } = matched.value;
        let wanted = match *method {
            Method::GET | Method::HEAD => hub::Method::Get,
            Method::POST => hub::Method::Post,
            Method::PUT => hub::Method::Put,
            Method::DELETE => hub::Method::Delete,
            _ => return Found::OtherMethods(allowed),
        };
        let operation = operations.iter().find(|(method, _)| *method == wanted);
        let Some(entry) = operation.and_then(|(_, name)| catalogue.get(name)) else {
            return Found::OtherMethods(allowed);
        };
        let field = |(name, text)| Some((name, Value::String(decoded(text)?.into_owned())));
        Found::Operation(entry, matched.params.iter().map(field).collect())
    }
}

/// A method as the header says it.
fn names(method: hub::Method) -> &'static str {
    match method {
        hub::Method::Get => "GET,HEAD",
        hub::Method::Post => "POST",
        hub::Method::Put => "PUT",
        hub::Method::Delete => "DELETE",
    }
}

/// A part of a path as text; nothing where it is none. A percent sign that begins no code is itself.
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    percent_encoding::percent_decode_str(text).decode_utf8().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(table: &Table, method: &Method, path: &str) -> Option<(String, Vec<String>)> {
        match table.find(&hub::catalogue(), method, path) {
            Found::Operation(entry, fields) => {
                let texts = fields?
                    .into_iter()
                    .map(|(name, text)| format!("{name}={}", text.as_str().unwrap()));
                Some((entry.name.to_owned(), texts.collect()))
            }
            Found::OtherMethods(_) | Found::Nothing => None,
        }
    }

    #[test]
    fn every_operation_is_found_at_its_path() {
        let catalogue = hub::catalogue();
        let table = Table::new(&catalogue);
        for entry in catalogue.entries() {
            let path = entry.route.path.replace('{', "a-").replace('}', "-z");
            let method = match entry.route.method {
                hub::Method::Get => Method::GET,
                hub::Method::Post => Method::POST,
                hub::Method::Put => Method::PUT,
                hub::Method::Delete => Method::DELETE,
            };
            let fields = entry.route.parameters().map(|name| format!("{name}=a-{name}-z"));
            let found = operation(&table, &method, &path);
            assert_eq!(found, Some((entry.name.to_owned(), fields.collect())), "{path}");
        }
    }

    #[test]
    fn words_come_before_fields_and_other_methods_are_named() {
        let table = Table::new(&hub::catalogue());
        let name = |method, path| operation(&table, &method, path).map(|(name, _)| name);
        assert_eq!(name(Method::POST, "/v1/wakes/claim").as_deref(), Some("claim_wakes"));
        assert_eq!(name(Method::HEAD, "/v1/threads").as_deref(), Some("list_threads"));
        assert_eq!(name(Method::GET, "/v1/threads/"), None);
        assert_eq!(name(Method::GET, "/livez"), None);
        let catalogue = hub::catalogue();
        match table.find(&catalogue, &Method::PATCH, "/v1/threads") {
            Found::OtherMethods(allowed) => assert_eq!(allowed, "POST,GET,HEAD"),
            Found::Operation(..) | Found::Nothing => panic!("there are operations at this path"),
        }
    }

    #[test]
    fn parts_of_paths_are_decoded_once() {
        for (text, is) in [
            ("a+b", Some("a+b")),
            ("a%20b%2Fc", Some("a b/c")),
            ("%2525", Some("%25")),
            ("%zz%4", Some("%zz%4")),
            ("%e4%bd%a0", Some("你")),
            ("%ff", None),
        ] {
            assert_eq!(decoded(text).as_deref(), is, "{text}");
        }
    }
}
