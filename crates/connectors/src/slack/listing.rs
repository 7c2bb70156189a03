//! Everybody in the workspace, then every chat the link takes part in; one request a page.

use connector_api::{FactsPage, Result};
use parking_lot::RwLock;
use protocol::chat::Facts;
use protocol::limits::slack as limits;
use serde::{Deserialize, Serialize};

use super::api::{Api, Failure, fields};
use super::names::Names;
use super::people::{listed_chat, person};
use super::place;

/// All sorts of conversations.
pub(super) const TYPES: &str = "public_channel,private_channel,mpim,im";

/// Where a listing stands.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Place {
    /// Whether people are done.
    in_chats: bool,
    cursor: String,
    /// How often it was begun again.
    restarts: u32,
}

/// A page of people or chats. `names` are those of the run: direct chats are named after people.
pub(super) async fn page(
    api: &Api,
    names: &RwLock<Names>,
    own_id: &str,
    from: Option<String>,
) -> Result<FactsPage> {
    let mut place: Place = place::read(from)?;
    // Another run listed the people, and this one would not know their names.
    if place.in_chats && names.read().is_empty() {
        place = Place::default();
    }
    let asked = if place.in_chats {
        chats(api, names, &place.cursor).await
    } else {
        people(api, own_id, &place.cursor).await
    };
    match asked {
        Ok((facts, cursor)) => {
            names.write().learn(&facts);
            let next = next(&place, cursor).as_ref().map(place::write).transpose()?;
            Ok(FactsPage { facts, next })
        }
        Err(Failure::InvalidCursor) if place.restarts < limits::RESTARTS_MAX => {
            let again = Place { cursor: String::new(), restarts: place.restarts + 1, ..place };
            Ok(FactsPage { facts: Facts::default(), next: Some(place::write(&again)?) })
        }
        Err(failure) => Err(failure.plain()),
    }
}

async fn people(
    api: &Api,
    own_id: &str,
    cursor: &str,
) -> std::result::Result<(Facts, Option<String>), Failure> {
    let answer = api.call("users.list", asked_for(cursor)).await?;
    let people = answer.list("members")?.iter();
    let people = people.filter_map(|user| person(user, Some(own_id))).collect();
    Ok((Facts { people, ..Facts::default() }, answer.next_cursor()))
}

async fn chats(
    api: &Api,
    names: &RwLock<Names>,
    cursor: &str,
) -> std::result::Result<(Facts, Option<String>), Failure> {
    let mut asked = asked_for(cursor);
    asked.extend(fields(&[("types", TYPES)]));
    let answer = api.call("conversations.list", asked).await?;
    let names = names.read();
    let chats = answer.list("channels")?.iter();
    let chats = chats.filter_map(|chat| listed_chat(chat, &names)).collect();
    Ok((Facts { chats, ..Facts::default() }, answer.next_cursor()))
}

fn asked_for(cursor: &str) -> Vec<(String, String)> {
    let mut asked = fields(&[("limit", &limits::LIST_PAGE.to_string())]);
    if !cursor.is_empty() {
        asked.extend(fields(&[("cursor", cursor)]));
    }
    asked
}

fn next(place: &Place, cursor: Option<String>) -> Option<Place> {
    match (cursor, place.in_chats) {
        (Some(cursor), in_chats) => Some(Place { in_chats, cursor, restarts: place.restarts }),
        (None, false) => Some(Place { in_chats: true, ..Place::default() }),
        (None, true) => None,
    }
}
