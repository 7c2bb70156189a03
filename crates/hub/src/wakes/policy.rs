//! Whether news wakes an agent, and when: pure rules over what a duty or an operation has looked up.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use protocol::limits::wake as limits;
use protocol::message::MessageKind;
use protocol::wake::{Consent, QuietHours, WakeOn, WakePolicy};
use protocol::{Timestamp, validate};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// An hour, in which wakes are counted.
pub(crate) const HOUR_MS: i64 = 3_600_000;

/// Why an agent is not woken while agents talk among themselves.
pub(crate) const LOOP_BREAKER: &str = "loop_breaker";

/// A message as far as waking goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct News<'a> {
    /// Who said it; of a change of status, who made it.
    pub(crate) by: &'a str,
    /// What it is.
    pub(crate) kind: MessageKind,
    /// Its text, to find names in.
    pub(crate) body: &'a str,
    /// Whether the thread moved with it.
    pub(crate) moves_thread: bool,
}

/// What woke somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// Something was said.
    Unread,
    /// The thread moved.
    Status,
    /// It was named.
    Mention,
}

impl Cause {
    /// The reason that a wake shows.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unread => "unread",
            Self::Status => "status",
            Self::Mention => "mention",
        }
    }
}

/// Why a wake that is due waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// The policy's hours of quiet.
    QuietHours,
    /// The agent was woken often enough in the last hour.
    Budget,
}

impl Held {
    /// The reason that a wake shows.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::QuietHours => "quiet_hours",
            Self::Budget => "budget",
        }
    }
}

/// When a wake is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// Not before then.
    pub(crate) at: Timestamp,
    /// Why not at once.
    pub(crate) held: Option<Held>,
}

/// How a thread stands, as far as waking goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hops {
    /// Changes of speaker between agents since a human last spoke.
    pub(crate) agent_turns: i64,
    /// Whether the loop guard holds the thread.
    pub(crate) is_paused: bool,
}

/// What of one message wakes this agent.
pub(crate) fn cause(policy: &WakePolicy, agent: &str, news: &News<'_>) -> Option<Cause> {
    if news.by == agent {
        return None;
    }
    let is_talk = news.kind != MessageKind::System;
    let wakes = |on: &WakeOn| match on {
        WakeOn::Unread if is_talk => Some(Cause::Unread),
        WakeOn::Status if news.moves_thread => Some(Cause::Status),
        WakeOn::Mention if is_talk && mentions(news.body, agent) => Some(Cause::Mention),
        _ => None,
    };
    policy.on.iter().filter_map(wakes).max()
}

/// Whether posts of a thread wake an agent at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ear {
    /// They do.
    Open,
    /// Agents have only talked to each other for too long: they are left alone until a human speaks.
    Looping,
    /// They do not.
    Shut,
}

/// Whether posts of a thread that stands like this wake an agent with this policy.
pub(crate) fn ear(policy: &WakePolicy, hops: Hops) -> Ear {
    if !policy.enabled || hops.is_paused {
        return Ear::Shut;
    }
    let is_loop = policy.hops_max > 0 && hops.agent_turns > policy.hops_max;
    if is_loop { Ear::Looping } else { Ear::Open }
}

/// When a wake of this agent is due. `newest_due` are the newest times its wakes were due, the last
/// first, at most as many as the policy allows an hour.
pub(crate) fn due(policy: &WakePolicy, now: Timestamp, newest_due: &[Timestamp]) -> Due {
    let mut due = Due { at: now, held: None };
    let allowed = usize::try_from(policy.per_hour_max).unwrap_or(0).max(1);
    if let Some(first) = newest_due.get(allowed - 1) {
        let at = first.plus_ms(HOUR_MS);
        if at > now {
            due = Due { at, held: Some(Held::Budget) };
        }
    }
    if let Some(until) = policy.quiet_hours.as_ref().and_then(|hours| quiet_until(hours, due.at)) {
        due = Due { at: until, held: Some(Held::QuietHours) };
    }
    due
}

/// Whether a step that costs something may be taken for a wake.
pub(crate) fn consents(consent: Consent, was_asked_for: bool) -> bool {
    match consent {
        Consent::Always => true,
        Consent::WhenAsked => was_asked_for,
        Consent::Never => false,
    }
}

/// Whether a text names an agent: `@agent`, as a whole word. What ends a sentence may follow.
pub(crate) fn mentions(body: &str, agent: &str) -> bool {
    if agent.is_empty() {
        return false;
    }
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    body.match_indices('@').any(|(at, _)| {
        let before = body.get(..at).and_then(|text| text.chars().next_back());
        let Some(rest) = body.get(at + 1..).and_then(|text| text.strip_prefix(agent)) else {
            return false;
        };
        let mut after = rest.chars();
        let (next, second) = (after.next(), after.next());
        // `a@b` is an address, `@a-b` another name; the dot of `@a.` ends a sentence.
        let begins = before.is_none_or(|c| !is_letter(c) && !"@/+.-".contains(c));
        let goes_on = next.is_some_and(|c| {
            is_letter(c) || ("-.:@/+".contains(c) && second.is_some_and(is_letter))
        });
        begins && !goes_on
    })
}

/// The end of the quiet hours that `now` lies in.
pub(crate) fn quiet_until(hours: &QuietHours, now: Timestamp) -> Option<Timestamp> {
    let (from, to, zone) = parsed(hours).ok()?;
    let here = jiff::Timestamp::from_millisecond(now.as_ms()).ok()?.to_zoned(zone.clone());
    let time = here.time();
    let date = match (from < to, time >= from, time < to) {
        (true, true, true) | (false, false, true) => here.date(),
        (false, true, _) => here.date().tomorrow().ok()?,
        _ => return None,
    };
    let end = date.to_datetime(to).to_zoned(zone).ok()?.timestamp();
    // In the hour that a clock is set back by, the end may have passed already.
    Some(Timestamp::from_ms(end.as_millisecond())).filter(|end| *end > now)
}

fn parsed(
    hours: &QuietHours,
) -> std::result::Result<(Time, Time, TimeZone), (&'static str, String)> {
    let from =
        clock_time(&hours.from).ok_or(("from", "must be a time such as 22:00".to_owned()))?;
    let to = clock_time(&hours.to).ok_or(("to", "must be a time such as 07:00".to_owned()))?;
    if from == to {
        return Err(("to", "must differ from the beginning".to_owned()));
    }
    let is_name = validate::name(&hours.zone).is_ok();
    // The bundled list: the same on every machine, and no file is looked for by a caller's name.
    let zone = Some(&hours.zone)
        .filter(|_| is_name)
        .and_then(|name| jiff::tz::TimeZoneDatabase::bundled().get(name).ok())
        .ok_or(("zone", "must be a time zone such as Europe/Berlin".to_owned()))?;
    Ok((from, to, zone))
}

/// `07:30`, and nothing else.
fn clock_time(text: &str) -> Option<Time> {
    let (hours, minutes) = text.split_once(':')?;
    let two = |digits: &str| {
        let is_two = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|_| is_two)
    };
    Time::new(two(hours)?, two(minutes)?, 0, 0).ok()
}

/// Lays what somebody set over what held before, field by field, and checks the whole.
pub(crate) fn overlaid(base: &WakePolicy, set: &Map<String, Value>) -> Result<WakePolicy> {
    let mut whole = serde_json::to_value(base).map_err(|error| Error::Internal(Box::new(error)))?;
    if let Value::Object(fields) = &mut whole {
        fields.extend(set.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    let policy: WakePolicy = serde_path_to_error::deserialize(whole).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { "policy".to_owned() } else { format!("policy.{path}") };
        Error::invalid(field, format_args!("is not right: {}", error.into_inner()))
    })?;
    check(&policy)?;
    Ok(policy)
}

/// What a policy may say.
fn check(policy: &WakePolicy) -> Result<()> {
    if policy.on.len() > 3 {
        return Err(Error::invalid("policy.on", "must name each of unread, mention, status once"));
    }
    if !(1..=limits::WAKE_PER_HOUR_CEILING).contains(&policy.per_hour_max) {
        let reason = format_args!(
            "must be from 1 to {}; enabled: false stops every wake by posts",
            limits::WAKE_PER_HOUR_CEILING
        );
        return Err(Error::invalid("policy.per_hour_max", reason));
    }
    if !(0..=limits::WAKE_HOPS_CEILING).contains(&policy.hops_max) {
        let reason = format_args!("must be from 0 to {}", limits::WAKE_HOPS_CEILING);
        return Err(Error::invalid("policy.hops_max", reason));
    }
    match policy.quiet_hours.as_ref().map(parsed) {
        Some(Err((field, reason))) => {
            Err(Error::invalid(format!("policy.quiet_hours.{field}"), reason))
        }
        _ => Ok(()),
    }
}

/// Whether one policy wakes no more than another, in nothing: what an agent may choose by itself.
pub(crate) fn is_narrower(policy: &WakePolicy, than: &WakePolicy) -> bool {
    let rank = |consent: Consent| match consent {
        Consent::Never => 0,
        Consent::WhenAsked => 1,
        Consent::Always => 2,
    };
    let hops = |policy: &WakePolicy| if policy.hops_max == 0 { i64::MAX } else { policy.hops_max };
    let keeps_quiet = than.quiet_hours.is_none() || policy.quiet_hours == than.quiet_hours;
    policy.enabled <= than.enabled
        && policy.on.iter().all(|on| than.on.contains(on))
        && keeps_quiet
        && policy.per_hour_max <= than.per_hour_max
        && hops(policy) <= hops(than)
        && rank(policy.resume) <= rank(than.resume)
        && rank(policy.new_session) <= rank(than.new_session)
}

#[cfg(test)]
mod tests;
