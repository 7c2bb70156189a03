//! Comments. An internal one must not leave OpenProject, so nothing of it is taken over.

use connector_api::{Inbound, Intent};

use super::hal;
use super::map::Said;
use super::mention;
use crate::foreign::Foreign;
use crate::words::{key, moment, shown, title, under};

/// `work_package_comment:comment`; beside it what was written.
pub(super) fn comment<'a>(said: &Said<'a>) -> (Inbound, &'a str) {
    let mut inbound = said.begin();
    let activity = said.thing("activity");
    let raw = hal::raw(activity, "comment");
    let (text, mentions) = mention::read(&shown(raw));
    place(said, &mut inbound);
    inbound.actor = hal::person(activity, "user").unwrap_or(inbound.actor);
    inbound.text = under(&text, "");
    inbound.intent = Intent::Work;
    inbound.at = moment(activity.text("updatedAt").or(activity.text("createdAt")));
    if let Some(version) = activity.number("version") {
        inbound.facts.insert("version".to_owned(), version.into());
    }
    if !mentions.is_empty() {
        inbound.facts.insert("mentions".to_owned(), mentions.into());
    }
    (inbound, raw)
}

/// The thread of the work package, and which comment it is.
fn place(said: &Said<'_>, inbound: &mut Inbound) {
    let activity = said.thing("activity");
    let package = hal::linked_id(activity, "workPackage", "work_packages");
    if let Some(package) = package {
        let subject = hal::linked(activity, "workPackage").unwrap_or_default();
        said.of_work_package(inbound, package, &title(subject));
    }
    if let Some(id) = activity.number("id") {
        inbound.remote_id = Some(format!("activity:{id}"));
        let version = activity.number("version").unwrap_or_default().to_string();
        let at = activity.text("updatedAt").unwrap_or_default();
        inbound.semantic_key = Some(key([said.action, &id.to_string(), &version, at]));
        if let (Some(_), Some(url)) = (package, &inbound.url) {
            inbound.url = Some(format!("{url}/activity#comment-{id}"));
        }
    }
}

/// `work_package_comment:internal_comment`: that there is one, and no word of it.
pub(super) fn internal(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    place(said, &mut inbound);
    inbound.actor = hal::person(said.thing("activity"), "user").unwrap_or(inbound.actor);
    inbound.title = format!("{}: an internal comment", said.base.host);
    "An internal comment, which stays in OpenProject".clone_into(&mut inbound.text);
    inbound.intent = Intent::Private;
    inbound
}
