//! HAL, as OpenProject writes it: what belongs to a thing is a link with a title, or is embedded.

use connector_api::Actor;
use serde_json::Value;

use crate::foreign::Foreign;
use crate::words::title;

/// The title of a link: the name of a status, a project, a person.
pub(super) fn linked<'a>(thing: &'a Value, name: &str) -> Option<&'a str> {
    let link = thing.object("_links").and_then(|links| links.object(name));
    let embedded = || {
        let inner = thing.object("_embedded")?.object(name)?;
        inner.text("name").or(inner.text("subject"))
    };
    link.and_then(|link| link.text("title")).or_else(embedded)
}

/// The id at the end of a link's address, if it leads to what is asked for: `/api/v3/users/7`.
pub(super) fn linked_id(thing: &Value, name: &str, folder: &str) -> Option<i64> {
    let link = thing.object("_links").and_then(|links| links.object(name));
    let address = link.and_then(|link| link.text("href"));
    let of_link = address.and_then(|address| {
        let (rest, id) = address.rsplit_once('/')?;
        (rest.rsplit('/').next() == Some(folder)).then(|| id.parse().ok())?
    });
    of_link.or_else(|| thing.object("_embedded")?.object(name)?.number("id"))
}

/// The text somebody wrote in a formattable field.
pub(super) fn raw<'a>(thing: &'a Value, name: &str) -> &'a str {
    thing.object(name).and_then(|field| field.text("raw")).unwrap_or_default()
}

/// The person behind a link.
pub(super) fn person(thing: &Value, name: &str) -> Option<Actor> {
    let id = linked_id(thing, name, "users");
    let called = linked(thing, name);
    if id.is_none() && called.is_none() {
        return None;
    }
    let called = title(called.unwrap_or("somebody"));
    let id = id.map_or_else(|| called.clone(), |id| id.to_string());
    Some(Actor { id, name: called, is_bot: false })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn links_and_what_is_embedded_are_read_alike() {
        let linked_thing =
            json!({"_links": {"user": {"href": "/sub/api/v3/users/7", "title": "Anna"}}});
        let embedded = json!({"_embedded": {"user": {"id": 7, "name": "Anna"}}});
        for thing in [linked_thing, embedded] {
            let actor = person(&thing, "user").unwrap();
            assert_eq!((actor.id.as_str(), actor.name.as_str()), ("7", "Anna"));
        }
        let nobody = json!({"_links": {"user": {"href": null}}});
        assert_eq!(person(&nobody, "user"), None);
        let other = json!({"_links": {"container": {"href": "/api/v3/wiki_pages/3"}}});
        assert_eq!(linked_id(&other, "container", "work_packages"), None);
    }
}
