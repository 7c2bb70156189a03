//! Work packages.

use connector_api::{Inbound, Intent};

use super::hal;
use super::map::Said;
use super::mention;
use crate::foreign::Foreign;
use crate::words::{key, moment, shown, title, under};

/// `work_package:created` and `work_package:updated`; beside it what was written.
pub(super) fn work_package<'a>(said: &Said<'a>) -> (Inbound, &'a str) {
    let mut inbound = said.begin();
    let package = said.thing("work_package");
    let subject = title(package.text("subject").unwrap_or_default());
    let raw = hal::raw(package, "description");
    let (description, mentions) = mention::read(&shown(raw));
    let is_new = said.action == "work_package:created";
    if is_new && inbound.actor.id.is_empty() {
        inbound.actor = hal::person(package, "author").unwrap_or(inbound.actor);
    }
    if let Some(id) = package.number("id") {
        said.of_work_package(&mut inbound, id, &subject);
        inbound.remote_id = Some(format!("workpackage:{id}"));
        let version = package.number("lockVersion").map(|version| version.to_string());
        let at = package.text("updatedAt").unwrap_or_default();
        // A delivery tells how the work package stands now, so its state is what tells two apart.
        let state = if is_new { "" } else { version.as_deref().unwrap_or(at) };
        inbound.semantic_key = Some(key([said.action, &id.to_string(), state]));
    }
    inbound.text = if is_new {
        under(&subject, &description)
    } else {
        let name = &inbound.actor.name;
        let sort = hal::linked(package, "type").unwrap_or("work package");
        let status =
            hal::linked(package, "status").map(|status| format!(", now {}", title(status)));
        let status = status.unwrap_or_default();
        format!("{name} changed the {}{status}: {subject}", title(sort))
    };
    if is_new {
        inbound.intent = Intent::Work;
    } else {
        inbound.changes.clone_from(&inbound.remote_id);
    }
    inbound.at = moment(package.text(if is_new { "createdAt" } else { "updatedAt" }));
    for name in
        ["type", "status", "priority", "project", "author", "assignee", "responsible", "version"]
    {
        if let Some(value) = hal::linked(package, name) {
            inbound.facts.insert(name.to_owned(), title(value).into());
        }
    }
    for name in ["dueDate", "startDate", "lockVersion", "percentageDone"] {
        if let Some(value) =
            package.get(name).filter(|value| value.is_string() || value.is_number())
        {
            inbound.facts.insert(name.to_owned(), value.clone());
        }
    }
    if !mentions.is_empty() {
        inbound.facts.insert("mentions".to_owned(), mentions.into());
    }
    (inbound, raw)
}
