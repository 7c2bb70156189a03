//! Projects, time entries and attachments.

use connector_api::Inbound;

use super::hal;
use super::map::Said;
use super::mention;
use crate::foreign::Foreign;
use crate::words::{key, moment, shown, title, under};

/// `project:created` and `project:updated`.
pub(super) fn project(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let project = said.thing("project");
    let name = title(project.text("name").unwrap_or_default());
    let verb = said.action.rsplit(':').next().unwrap_or_default();
    inbound.title.clone_from(&name);
    let head = format!("{} {} the project {name}", inbound.actor.name, title(verb));
    inbound.text = under(&head, &shown(hal::raw(project, "description")));
    inbound.at = moment(project.text("updatedAt"));
    if let Some(id) = project.number("id") {
        inbound.thread_key = format!("op:{}:project:{id}", said.base.host);
        inbound.remote_id = Some(format!("project:{id}"));
        let at = project.text("updatedAt").unwrap_or_default();
        inbound.semantic_key = Some(key([said.action, &id.to_string(), at]));
    }
    if let Some(identifier) = project.text("identifier") {
        inbound.url = Some(format!("{}/projects/{}", said.base.url, title(identifier)));
        inbound.facts.insert("identifier".to_owned(), title(identifier).into());
    }
    inbound
}

/// `time_entry:created`; beside it what was written.
pub(super) fn time_entry<'a>(said: &Said<'a>) -> (Inbound, &'a str) {
    let mut inbound = said.begin();
    let entry = said.thing("time_entry");
    let raw = hal::raw(entry, "comment");
    inbound.actor = hal::person(entry, "user").unwrap_or(inbound.actor);
    let hours = entry.text("hours").unwrap_or("some time");
    let head = format!("{} booked {}", inbound.actor.name, title(hours));
    inbound.text = under(&head, &mention::read(&shown(raw)).0);
    inbound.at = moment(entry.text("createdAt"));
    join(said, &mut inbound, entry, &["workPackage", "entity"]);
    if let Some(id) = entry.number("id") {
        inbound.remote_id = Some(format!("timeentry:{id}"));
        let at = entry.text("updatedAt").unwrap_or_default();
        inbound.semantic_key = Some(key([said.action, &id.to_string(), at]));
    }
    for (fact, value) in [("hours", Some(hours)), ("spent_on", entry.text("spentOn"))] {
        if let Some(value) = value {
            inbound.facts.insert(fact.to_owned(), title(value).into());
        }
    }
    (inbound, raw)
}

/// `attachment:created`; beside it what was written.
pub(super) fn attachment<'a>(said: &Said<'a>) -> (Inbound, &'a str) {
    let mut inbound = said.begin();
    let attachment = said.thing("attachment");
    let raw = hal::raw(attachment, "description");
    inbound.actor = hal::person(attachment, "author").unwrap_or(inbound.actor);
    let name = title(attachment.text("fileName").unwrap_or("a file"));
    inbound.text = under(&format!("{} attached {name}", inbound.actor.name), &shown(raw));
    inbound.at = moment(attachment.text("createdAt"));
    join(said, &mut inbound, attachment, &["container"]);
    if let Some(id) = attachment.number("id") {
        inbound.remote_id = Some(format!("attachment:{id}"));
        inbound.semantic_key = Some(key([said.action, &id.to_string()]));
    }
    inbound.facts.insert("file".to_owned(), name.into());
    if let Some(bytes) = attachment.number("fileSize") {
        inbound.facts.insert("bytes".to_owned(), bytes.into());
    }
    if let Some(media) = attachment.text("contentType") {
        inbound.facts.insert("content_type".to_owned(), title(media).into());
    }
    (inbound, raw)
}

/// Puts something in the thread of the work package that one of these links leads to.
fn join(said: &Said<'_>, inbound: &mut Inbound, thing: &serde_json::Value, links: &[&str]) {
    for link in links {
        if let Some(id) = hal::linked_id(thing, link, "work_packages") {
            let subject = hal::linked(thing, link).unwrap_or_default();
            said.of_work_package(inbound, id, &title(subject));
            return;
        }
    }
    if let Some(project) = hal::linked_id(thing, "project", "projects") {
        inbound.thread_key = format!("op:{}:project:{project}", said.base.host);
        inbound.title = title(hal::linked(thing, "project").unwrap_or_default());
    }
}
