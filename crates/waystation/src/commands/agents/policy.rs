//! When an agent is woken: seeing it, and changing one thing without forgetting the others.

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::cli::{Global, PolicyArgs};
use crate::commands::{call, compact};
use crate::paths::Place;

/// `waystation agents policy`.
pub(super) async fn run(place: &Place, global: &Global, args: &PolicyArgs) -> Result<()> {
    let target = json!({ "agent_id": args.agent, "thread_id": args.thread });
    let target = compact(target);
    if args.reset {
        return call::print(place, global, "set_wake_policy", &target).await;
    }
    let changes = changes(args)?;
    if changes.is_empty() {
        return call::print(place, global, "get_wake_policy", &target).await;
    }
    let standing = call::ask(place, "get_wake_policy", &target).await?.answer;
    let mut input = target;
    if let Value::Object(map) = &mut input {
        let before = own(&standing, args.thread.is_some());
        map.insert("policy".to_owned(), merged(before, changes).into());
    }
    call::print(place, global, "set_wake_policy", &input).await
}

/// What was set for exactly this agent, or this agent in this thread, before.
fn own(standing: &Value, is_thread: bool) -> Map<String, Value> {
    let origin = standing.get("origin").and_then(Value::as_str);
    let wanted = if is_thread { "thread" } else { "agent" };
    let policy = standing.get("policy").and_then(Value::as_object);
    policy.filter(|_| origin == Some(wanted)).cloned().unwrap_or_default()
}

fn merged(mut before: Map<String, Value>, changes: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in changes {
        if value.is_null() {
            before.remove(&key);
        } else {
            before.insert(key, value);
        }
    }
    before
}

/// What the command line says.
fn changes(args: &PolicyArgs) -> Result<Map<String, Value>> {
    let mut changes = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            changes.insert(key.to_owned(), value);
        }
    };
    set("enabled", args.enabled.map(Value::from));
    let on: Vec<String> = args.on.iter().filter_map(named).collect();
    set("on", (!on.is_empty()).then(|| on.into()));
    set("per_hour_max", args.per_hour.map(Value::from));
    set("hops_max", args.hops.map(Value::from));
    set("resume", args.resume.as_ref().and_then(named).map(Value::from));
    set("new_session", args.new_session.as_ref().and_then(named).map(Value::from));
    let quiet = args.quiet.as_deref().map(|hours| quiet(hours, args.zone.as_deref()));
    set("quiet_hours", quiet.transpose()?);
    Ok(changes)
}

fn named(value: &impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_owned())
}

/// `22:00-07:00`, or `none`.
fn quiet(hours: &str, zone: Option<&str>) -> Result<Value> {
    if hours == "none" {
        return Ok(Value::Null);
    }
    let Some((from, to)) = hours.split_once('-') else {
        bail!("--quiet takes two times, such as 22:00-07:00, or none");
    };
    let zone = match zone {
        Some(zone) => zone.to_owned(),
        None => jiff::tz::TimeZone::system()
            .iana_name()
            .context("this machine does not say which zone it is in; name one with --zone")?
            .to_owned(),
    };
    Ok(json!({ "from": from.trim(), "to": to.trim(), "zone": zone }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_change_keeps_what_was_set_before() {
        let standing =
            json!({ "origin": "agent", "policy": { "per_hour_max": 5, "enabled": true } });
        let changes = Map::from_iter([("enabled".to_owned(), json!(false))]);
        let after = merged(own(&standing, false), changes.clone());
        assert_eq!(Value::from(after), json!({ "per_hour_max": 5, "enabled": false }));
        let standing = json!({ "origin": "hub", "policy": { "per_hour_max": 5 } });
        assert_eq!(merged(own(&standing, false), changes.clone()), changes);
    }

    #[test]
    fn quiet_hours_are_two_times_and_a_zone() {
        let hours = quiet("22:00-07:00", Some("Europe/Berlin")).unwrap();
        assert_eq!(hours, json!({ "from": "22:00", "to": "07:00", "zone": "Europe/Berlin" }));
        assert_eq!(quiet("none", None).unwrap(), Value::Null);
        assert!(quiet("22:00", None).is_err());
    }
}
