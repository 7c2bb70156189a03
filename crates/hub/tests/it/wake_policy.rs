//! Posting wakes whom the policy says, without anyone calling a tool.

use std::sync::Arc;
use std::time::Duration;

use protocol::{Caller, Role, WakeState};
use serde_json::{Value, json};
use store::{StoreError, Tx, WakeFilter, WakeRow};
use testkit::{On, TestHub, caller_in, generous};
use waystation_hub::Settings;
use waystation_hub::wakes::WakeSettings;

use crate::world::{
    assert_invalid, coordinator, event, open, open_with, operator, post, refusal, worker,
};

crate::on_both! {
    a_post_wakes_the_others_who_can_be_woken
    a_mention_wakes_who_listens_to_nothing_else
    a_change_of_status_wakes_all_but_who_made_it
    quiet_hours_put_a_wake_off_until_they_end
    a_budget_puts_further_wakes_off
    agents_that_talk_to_each_other_are_left_alone_until_a_human_speaks
    a_loop_is_said_of_an_agent_that_is_still_at_its_turn
    a_policy_of_a_thread_lies_over_that_of_the_agent
    a_flood_of_posts_is_one_wake
    what_was_read_or_told_wakes_nobody_again
    a_restart_neither_loses_nor_repeats_a_wake
    what_was_posted_before_the_first_start_or_long_ago_wakes_nobody
    a_policy_is_set_seen_and_forgotten
    an_agent_may_only_choose_to_be_woken_less
    an_agent_that_is_seen_for_the_first_time_is_woken_for_the_last_day
    a_closed_thread_wakes_nobody
    what_comes_during_a_turn_wakes_by_the_policy_when_it_ends
}

/// An agent that has been seen, and so can be woken.
async fn seen(hub: &TestHub, agent: &str) -> Arc<Caller> {
    let by = worker(agent);
    let idle = json!({ "runtime": "codex_cli", "status": "idle" });
    hub.ok(&by, "heartbeat_session", idle).await;
    by
}

async fn wakes_of(hub: &TestHub, agent: &str) -> Vec<WakeRow> {
    let filter = WakeFilter {
        workspace: "wk_mobile_core".to_owned(),
        agent: agent.to_owned(),
        limit: 100,
        ..WakeFilter::default()
    };
    let mut found: Vec<WakeRow> = hub.hub.store.read(move |tx| wakes(tx, &filter)).await.unwrap();
    found.reverse();
    found
}

fn wakes(tx: &mut Tx<'_>, filter: &WakeFilter) -> Result<Vec<WakeRow>, StoreError> {
    tx.wakes(filter)
}

/// Waits until an agent has so many wakes, and the last of them is about this message.
async fn woken(hub: &TestHub, agent: &str, count: usize, through_seq: i64) -> Vec<WakeRow> {
    for _ in 0..10_000 {
        let found = wakes_of(hub, agent).await;
        assert!(found.len() <= count, "{agent} was woken too often: {found:?}");
        if found.len() == count && found.last().is_some_and(|wake| wake.through_seq == through_seq)
        {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("{agent} was not woken: {:?}", wakes_of(hub, agent).await);
}

/// Waits until the hub has looked at everything posted so far: it looks in the order of posts, so
/// who is woken for a later post is woken after everybody else.
async fn looked(hub: &TestHub) {
    seen(hub, "witness").await;
    let thread = open_with(hub, &["witness"]).await;
    let before = wakes_of(hub, "witness").await.len();
    post(hub, &operator(), &thread, "are you there?").await;
    woken(hub, "witness", before + 1, 1).await;
}

async fn set(hub: &TestHub, agent: &str, policy: Value) {
    let input = json!({ "agent_id": agent, "policy": policy });
    hub.ok(&operator(), "set_wake_policy", input).await;
}

async fn ack(hub: &TestHub, by: &Arc<Caller>, thread: &str, seq: i64) {
    hub.ok(by, "ack_read", json!({ "thread_id": thread, "last_read_seq": seq })).await;
}

/// Moves the newest wake of an agent on, as a host would report it.
async fn move_on(hub: &TestHub, agent: &str, state: WakeState) {
    let mut wake = wakes_of(hub, agent).await.pop().unwrap();
    let now = hub.hub.now();
    wake.state = state;
    if state >= WakeState::HandedToHost {
        wake.handed = Some(now);
    }
    if state == WakeState::TurnStarted {
        wake.turn = Some(now);
    }
    if !state.is_open() {
        wake.ended = Some(now);
    }
    hub.hub.store.write(move |tx| tx.update_wake(&wake)).await.unwrap();
}

async fn a_post_wakes_the_others_who_can_be_woken(on: On) {
    let hub = TestHub::with(on, generous());
    let author = seen(&hub, "author").await;
    seen(&hub, "reviewer").await;
    seen(&hub, "outsider").await;
    // The same name elsewhere is somebody else.
    let foreign = caller_in("wk_other", "stranger", Role::Worker);
    hub.ok(&foreign, "heartbeat_session", json!({ "runtime": "codex_cli" })).await;
    let thread = open_with(&hub, &["author", "reviewer", "unseen", "stranger"]).await;
    post(&hub, &author, &thread, "please look").await;
    let woken = woken(&hub, "reviewer", 1, 1).await;
    let wake = &woken[0];
    assert_eq!((wake.state, wake.reason.as_str()), (WakeState::Requested, "unread"));
    assert_eq!((wake.thread_id.to_string(), wake.asked), (thread.clone(), false));
    assert_eq!((wake.due, wake.why.as_deref()), (hub.hub.now(), None));
    looked(&hub).await;
    for agent in ["author", "outsider", "unseen", "coordinator", "stranger"] {
        assert!(wakes_of(&hub, agent).await.is_empty(), "{agent}");
    }
    // A second session is the same agent: it neither wakes itself nor is woken twice.
    let second = Arc::new(Caller { session_id: "another".to_owned(), ..(*author).clone() });
    hub.ok(&second, "heartbeat_session", json!({ "runtime": "claude_code" })).await;
    post(&hub, &second, &thread, "and this").await;
    looked(&hub).await;
    assert!(wakes_of(&hub, "author").await.is_empty());
    assert_eq!(wakes_of(&hub, "reviewer").await.len(), 1);
    let entries = hub.ok(&operator(), "read_audit", json!({ "limit": 200 })).await.to_string();
    assert!(entries.contains(&wake.id.to_string()), "{entries}");
    hub.stop().await;
}

async fn a_mention_wakes_who_listens_to_nothing_else(on: On) {
    let hub = TestHub::with(on, generous());
    let author = seen(&hub, "author").await;
    seen(&hub, "reviewer").await;
    set(&hub, "reviewer", json!({ "on": ["mention"] })).await;
    let thread = open(&hub).await;
    post(&hub, &author, &thread, "reviewer, me@reviewer, @reviewer2").await;
    looked(&hub).await;
    assert!(wakes_of(&hub, "reviewer").await.is_empty());
    post(&hub, &author, &thread, "what do you say, @reviewer?").await;
    let woken = woken(&hub, "reviewer", 1, 2).await;
    assert_eq!(woken[0].reason, "mention");
    hub.stop().await;
}

async fn a_change_of_status_wakes_all_but_who_made_it(on: On) {
    let hub = TestHub::with(on, generous());
    let author = seen(&hub, "author").await;
    seen(&hub, "reviewer").await;
    for agent in ["author", "reviewer"] {
        set(&hub, agent, json!({ "on": ["status"] })).await;
    }
    let thread = open(&hub).await;
    post(&hub, &author, &thread, "@reviewer").await;
    let blocked = json!({ "thread_id": thread, "status": "blocked", "reason": "@author" });
    hub.ok(&author, "update_thread_status", blocked).await;
    let woken_once = woken(&hub, "reviewer", 1, 2).await;
    assert_eq!(woken_once[0].reason, "status");
    let active = json!({ "thread_id": thread, "status": "active" });
    hub.ok(&author, "update_thread_status", active).await;
    woken(&hub, "reviewer", 1, 3).await;
    // The event that moves a thread is followed by the hub's word about it.
    event(&hub, &worker("reviewer"), &thread, "thread_escalated").await;
    let told = woken(&hub, "author", 1, 5).await;
    assert_eq!(told[0].reason, "status");
    looked(&hub).await;
    assert_eq!(wakes_of(&hub, "reviewer").await.len(), 1);
    hub.stop().await;
}

async fn quiet_hours_put_a_wake_off_until_they_end(on: On) {
    let hub = TestHub::with(on, generous());
    let author = seen(&hub, "author").await;
    seen(&hub, "reviewer").await;
    // It is noon in UTC, and one o'clock in Berlin.
    let hours = json!({ "from": "12:30", "to": "14:00", "zone": "Europe/Berlin" });
    set(&hub, "reviewer", json!({ "quiet_hours": hours })).await;
    let thread = open(&hub).await;
    post(&hub, &author, &thread, "one").await;
    let held = woken(&hub, "reviewer", 1, 1).await;
    assert_eq!(held[0].due.to_string(), "2026-02-17T13:00:00Z");
    assert_eq!(held[0].why.as_deref(), Some("quiet_hours"));
    // More of the same waits as long.
    post(&hub, &author, &thread, "two").await;
    assert_eq!(woken(&hub, "reviewer", 1, 2).await[0].due, held[0].due);
    hub.clock.advance_ms(3_600_000);
    let other = open(&hub).await;
    post(&hub, &author, &other, "three").await;
    let free = woken(&hub, "reviewer", 2, 1).await;
    assert_eq!((free[1].due, free[1].why.as_deref()), (hub.hub.now(), None));
    hub.stop().await;
}

async fn a_budget_puts_further_wakes_off(on: On) {
    let hub = TestHub::with(on, generous());
    let author = seen(&hub, "author").await;
    seen(&hub, "reviewer").await;
    set(&hub, "reviewer", json!({ "per_hour_max": 2 })).await;
    let mut found = Vec::new();
    for n in 1..=4 {
        let thread = open(&hub).await;
        post(&hub, &author, &thread, "look").await;
        found = woken(&hub, "reviewer", n, 1).await;
        hub.clock.advance_ms(60_000);
    }
    let due: Vec<String> = found.iter().map(|wake| wake.due.to_string()).collect();
    assert_eq!(
        due,
        [
            "2026-02-17T12:00:00Z",
            "2026-02-17T12:01:00Z",
            "2026-02-17T13:00:00Z",
            "2026-02-17T13:01:00Z",
        ]
    );
    let why: Vec<Option<&str>> = found.iter().map(|wake| wake.why.as_deref()).collect();
    assert_eq!(why, [None, None, Some("budget"), Some("budget")]);
    hub.stop().await;
}

async fn agents_that_talk_to_each_other_are_left_alone_until_a_human_speaks(on: On) {
    let hub = TestHub::with(on, generous());
    let (author, reviewer) = (seen(&hub, "author").await, seen(&hub, "reviewer").await);
    for agent in ["author", "reviewer"] {
        set(&hub, agent, json!({ "hops_max": 2 })).await;
    }
    let thread = open(&hub).await;
    post(&hub, &author, &thread, "1").await;
    woken(&hub, "reviewer", 1, 1).await;
    ack(&hub, &reviewer, &thread, 1).await;
    post(&hub, &reviewer, &thread, "2").await;
    woken(&hub, "author", 1, 2).await;
    ack(&hub, &author, &thread, 2).await;
    move_on(&hub, "author", WakeState::Read).await;
    move_on(&hub, "reviewer", WakeState::Read).await;
    post(&hub, &author, &thread, "3").await;
    let held = woken(&hub, "reviewer", 2, 3).await;
    let standing = (held[1].state, held[1].why.as_deref(), held[1].attempt);
    assert_eq!(standing, (WakeState::Cancelled, Some("loop_breaker"), 0), "the third wakes nobody");
    post(&hub, &author, &thread, "4").await;
    looked(&hub).await;
    assert_eq!(wakes_of(&hub, "reviewer").await.len(), 2, "which is said once");
    let listed = hub.ok(&operator(), "list_agents", json!({})).await;
    let seen =
        listed["agents"].as_array().unwrap().iter().find(|one| one["agent_id"] == "reviewer");
    let last = &seen.unwrap()["last_wake"];
    assert_eq!((&last["state"], &last["why"]), (&json!("cancelled"), &json!("loop_breaker")));
    assert_eq!(last["thread_id"], thread.as_str());
    post(&hub, &operator(), &thread, "go on").await;
    woken(&hub, "reviewer", 3, 5).await;
    woken(&hub, "author", 2, 5).await;
    hub.stop().await;
}

async fn a_loop_is_said_of_an_agent_that_is_still_at_its_turn(on: On) {
    let hub = TestHub::with(on, generous());
    let (author, reviewer) = (seen(&hub, "author").await, seen(&hub, "reviewer").await);
    set(&hub, "reviewer", json!({ "hops_max": 1 })).await;
    let thread = open(&hub).await;
    post(&hub, &author, &thread, "1").await;
    woken(&hub, "reviewer", 1, 1).await;
    move_on(&hub, "reviewer", WakeState::TurnStarted).await;
    post(&hub, &reviewer, &thread, "2").await;
    woken(&hub, "author", 1, 2).await;
    post(&hub, &author, &thread, "3").await;
    looked(&hub).await;
    let told = wakes_of(&hub, "reviewer").await.remove(0);
    assert_eq!((told.state, told.again_seq), (WakeState::TurnStarted, None));
    assert_eq!(told.why.as_deref(), Some("loop_breaker"));
    ack(&hub, &reviewer, &thread, 1).await;
    post(&hub, &author, &thread, "4").await;
    let held = woken(&hub, "reviewer", 2, 4).await;
    assert_eq!((held[0].state, held[0].why.as_deref()), (WakeState::Read, None));
    assert_eq!(held[1].why.as_deref(), Some("loop_breaker"));
    hub.stop().await;
}

async fn a_policy_of_a_thread_lies_over_that_of_the_agent(on: On) {
    let hub = TestHub::with(on, generous());
    let author = seen(&hub, "author").await;
    seen(&hub, "reviewer").await;
    let (loud, quiet) = (open(&hub).await, open(&hub).await);
    set(&hub, "reviewer", json!({ "enabled": false })).await;
    let here = json!({ "agent_id": "reviewer", "thread_id": loud, "policy": { "enabled": true } });
    hub.ok(&operator(), "set_wake_policy", here).await;
    post(&hub, &author, &quiet, "nobody hears this").await;
    post(&hub, &author, &loud, "somebody hears this").await;
    let found = woken(&hub, "reviewer", 1, 1).await;
    assert_eq!(found[0].thread_id.to_string(), loud);
    hub.stop().await;
}

async fn a_flood_of_posts_is_one_wake(on: On) {
    let hub = TestHub::with(on, generous());
    let author = seen(&hub, "author").await;
    seen(&hub, "reviewer").await;
    let thread = open(&hub).await;
    for _ in 0..600 {
        post(&hub, &author, &thread, "more").await;
    }
    for _ in 0..10_000 {
        let found = wakes_of(&hub, "reviewer").await;
        assert!(found.len() <= 1, "{found:?}");
        if found.first().is_some_and(|wake| wake.through_seq == 600) {
            return hub.stop().await;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("the flood was never through: {:?}", wakes_of(&hub, "reviewer").await);
}

async fn what_was_read_or_told_wakes_nobody_again(on: On) {
    let hub = TestHub::with(on, generous());
    let author = seen(&hub, "author").await;
    let reviewer = seen(&hub, "reviewer").await;
    let (thread, read) = (open(&hub).await, open(&hub).await);
    post(&hub, &author, &thread, "1").await;
    woken(&hub, "reviewer", 1, 1).await;
    let mut hub = hub;
    for state in [WakeState::TurnStarted, WakeState::Failed, WakeState::Cancelled] {
        move_on(&hub, "reviewer", state).await;
        hub = looks_again(hub).await;
        looked(&hub).await;
        assert_eq!(wakes_of(&hub, "reviewer").await.len(), 1, "{state}");
    }
    post(&hub, &author, &thread, "2").await;
    woken(&hub, "reviewer", 2, 2).await;
    // What was read before anybody looked.
    let hub = hub.restart_with(asleep()).await;
    post(&hub, &author, &read, "1").await;
    ack(&hub, &reviewer, &read, 1).await;
    let hub = hub.restart_with(generous()).await;
    looked(&hub).await;
    assert_eq!(wakes_of(&hub, "reviewer").await.len(), 2);
    hub.stop().await;
}

/// A hub that wakes nobody by itself.
fn asleep() -> Settings {
    Settings { wake: WakeSettings { enabled: false, ..WakeSettings::default() }, ..generous() }
}

/// Starts the hub anew, with everything there is to be looked at again, as after a crash.
async fn looks_again(hub: TestHub) -> TestHub {
    let hub = hub.restart_with(asleep()).await;
    hub.hub.store.write(|tx| tx.set_fact("wakes_looked_upto", "0")).await.unwrap();
    hub.restart_with(generous()).await
}

async fn a_restart_neither_loses_nor_repeats_a_wake(on: On) {
    let hub = TestHub::with(on, generous());
    let author = seen(&hub, "author").await;
    seen(&hub, "reviewer").await;
    let thread = open(&hub).await;
    post(&hub, &author, &thread, "1").await;
    let first = woken(&hub, "reviewer", 1, 1).await;
    let hub = hub.restart().await;
    looked(&hub).await;
    assert_eq!(wakes_of(&hub, "reviewer").await[0].id, first[0].id);
    assert_eq!(wakes_of(&hub, "reviewer").await.len(), 1);
    // Posts that no duty of this hub looked at are looked at by the next.
    let asleep =
        Settings { wake: WakeSettings { enabled: false, ..WakeSettings::default() }, ..generous() };
    let hub = hub.restart_with(asleep).await;
    let other = open(&hub).await;
    post(&hub, &author, &other, "2").await;
    let hub = hub.restart_with(generous()).await;
    woken(&hub, "reviewer", 2, 1).await;
    let hub = looks_again(hub).await;
    looked(&hub).await;
    assert_eq!(wakes_of(&hub, "reviewer").await.len(), 2, "looking twice wakes nobody twice");
    hub.stop().await;
}

async fn what_was_posted_before_the_first_start_or_long_ago_wakes_nobody(on: On) {
    let asleep =
        Settings { wake: WakeSettings { enabled: false, ..WakeSettings::default() }, ..generous() };
    let hub = TestHub::with(on, asleep);
    let author = seen(&hub, "author").await;
    seen(&hub, "reviewer").await;
    let thread = open(&hub).await;
    post(&hub, &author, &thread, "1").await;
    hub.clock.advance_ms(1);
    let hub = hub.restart_with(generous()).await;
    looked(&hub).await;
    assert!(wakes_of(&hub, "reviewer").await.is_empty());
    hub.clock.advance_ms(24 * 3_600_000);
    let hub = looks_again(hub).await;
    looked(&hub).await;
    assert!(wakes_of(&hub, "reviewer").await.is_empty());
    hub.stop().await;
}

async fn a_policy_is_set_seen_and_forgotten(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let of = |thread: Option<&str>| json!({ "agent_id": "reviewer", "thread_id": thread });
    let see =
        async |thread: Option<&str>| hub.ok(&worker("author"), "get_wake_policy", of(thread)).await;
    let usual = see(None).await;
    assert_eq!((&usual["origin"], &usual["policy"]["per_hour_max"]), (&json!("hub"), &json!(60)));
    set(&hub, "reviewer", json!({ "per_hour_max": 5 })).await;
    let mut here = of(Some(&thread));
    here["policy"] = json!({ "on": ["mention"] });
    let answer = hub.ok(&operator(), "set_wake_policy", here).await;
    assert_eq!(answer, see(Some(&thread)).await);
    assert_eq!((&answer["origin"], &answer["thread_id"]), (&json!("thread"), &json!(thread)));
    assert_eq!(
        answer["policy"]["per_hour_max"], 5,
        "the agent's holds where the thread's is silent"
    );
    assert_eq!(see(None).await["policy"]["on"], json!(["unread", "mention", "status"]));
    hub.ok(&operator(), "set_wake_policy", of(Some(&thread))).await;
    assert_eq!(see(Some(&thread)).await["origin"], "agent");
    hub.ok(&operator(), "set_wake_policy", of(None)).await;
    assert_eq!(see(None).await, usual);
    let outsider = worker("outsider");
    assert_eq!(hub.code(&outsider, "get_wake_policy", of(Some(&thread))).await, "FORBIDDEN");
    let gone = "th_01JXYZ0000000000000000000";
    assert_eq!(hub.code(&operator(), "set_wake_policy", of(Some(gone))).await, "NOT_FOUND");
    let with = |policy: Value| json!({ "agent_id": "reviewer", "policy": policy });
    let cases = [
        ("agent_id", json!({ "agent_id": "a b" })),
        ("policy.per_hour_max", with(json!({ "per_hour_max": 0 }))),
        (
            "policy.quiet_hours.zone",
            with(json!({ "quiet_hours": {
            "from": "22:00", "to": "07:00", "zone": "Nowhere/Land" } })),
        ),
        ("policy.colour", with(json!({ "colour": "red" }))),
    ];
    assert_invalid(&hub, &operator(), "set_wake_policy", &cases).await;
    hub.stop().await;
}

async fn an_agent_may_only_choose_to_be_woken_less(on: On) {
    let hub = TestHub::with(on, generous());
    let reviewer = worker("reviewer");
    let own = |policy: Value| json!({ "agent_id": "reviewer", "policy": policy });
    hub.ok(&reviewer, "set_wake_policy", own(json!({ "on": ["mention"] }))).await;
    for more in [json!({ "on": ["unread", "mention"] }), json!({}), json!({ "per_hour_max": 61 })] {
        let error = refusal(&hub, &reviewer, "set_wake_policy", own(more)).await;
        assert_eq!(error.code.name(), "INSUFFICIENT_AUTHORITY");
    }
    let stands = hub.ok(&reviewer, "get_wake_policy", json!({ "agent_id": "reviewer" })).await;
    assert_eq!(stands["policy"]["on"], json!(["mention"]), "a refusal changes nothing");
    let other = json!({ "agent_id": "author", "policy": { "enabled": false } });
    for by in [&reviewer, &coordinator()] {
        assert_eq!(hub.code(by, "set_wake_policy", other.clone()).await, "FORBIDDEN");
    }
    hub.ok(&operator(), "set_wake_policy", own(json!({}))).await;
    hub.stop().await;
}

async fn an_agent_that_is_seen_for_the_first_time_is_woken_for_the_last_day(on: On) {
    let hub = TestHub::with(on, generous());
    let author = seen(&hub, "author").await;
    let (old, new, read) = (open(&hub).await, open(&hub).await, open(&hub).await);
    post(&hub, &author, &old, "1").await;
    hub.clock.advance_ms(24 * 3_600_000);
    post(&hub, &author, &new, "1").await;
    post(&hub, &author, &read, "1").await;
    ack(&hub, &worker("reviewer"), &read, 1).await;
    looked(&hub).await;
    assert!(wakes_of(&hub, "reviewer").await.is_empty());
    let reviewer = seen(&hub, "reviewer").await;
    let found = wakes_of(&hub, "reviewer").await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].thread_id.to_string(), new);
    // Seen again, it is told nothing new.
    ack(&hub, &reviewer, &new, 1).await;
    seen(&hub, "reviewer").await;
    assert_eq!(wakes_of(&hub, "reviewer").await.len(), 1);
    // In a hub in which posts wake nobody, coming does not wake either.
    let hub = hub.restart_with(asleep()).await;
    let thread = open_with(&hub, &["author", "latecomer"]).await;
    post(&hub, &author, &thread, "1").await;
    seen(&hub, "latecomer").await;
    assert!(wakes_of(&hub, "latecomer").await.is_empty());
    hub.stop().await;
}

async fn a_closed_thread_wakes_nobody(on: On) {
    let hub = TestHub::with(on, generous());
    let author = seen(&hub, "author").await;
    seen(&hub, "reviewer").await;
    let thread = open(&hub).await;
    let closed = json!({ "thread_id": thread, "status": "closed" });
    hub.ok(&author, "update_thread_status", closed).await;
    looked(&hub).await;
    assert!(wakes_of(&hub, "reviewer").await.is_empty());
    hub.stop().await;
}

async fn what_comes_during_a_turn_wakes_by_the_policy_when_it_ends(on: On) {
    let hub = TestHub::with(on, generous());
    let author = seen(&hub, "author").await;
    let reviewer = seen(&hub, "reviewer").await;
    set(&hub, "reviewer", json!({ "per_hour_max": 1 })).await;
    let thread = open(&hub).await;
    post(&hub, &author, &thread, "1").await;
    woken(&hub, "reviewer", 1, 1).await;
    let busy = json!({ "runtime": "codex_cli", "status": "active" });
    hub.ok(&reviewer, "heartbeat_session", busy).await;
    move_on(&hub, "reviewer", WakeState::TurnStarted).await;
    post(&hub, &author, &thread, "2").await;
    looked(&hub).await;
    assert_eq!(wakes_of(&hub, "reviewer").await.len(), 1, "its turn is not over");
    ack(&hub, &reviewer, &thread, 1).await;
    let found = woken(&hub, "reviewer", 2, 2).await;
    assert_eq!(found[0].state, WakeState::Read);
    assert_eq!(found[1].due.to_string(), "2026-02-17T13:00:00Z");
    assert_eq!(found[1].why.as_deref(), Some("budget"));
    hub.stop().await;
}

#[tokio::test]
async fn a_wake_and_the_cursor_behind_it_are_written_together_or_not_at_all() {
    for (table, when) in [("wake", "1"), ("hub_fact", "NEW.name = 'wakes_looked_upto'")] {
        let hub = TestHub::start();
        let author = seen(&hub, "author").await;
        seen(&hub, "reviewer").await;
        let thread = open(&hub).await;
        looked(&hub).await;
        let cursor = async || {
            let known = hub.hub.store.read(|tx| tx.fact("wakes_looked_upto")).await;
            known.unwrap().unwrap()
        };
        let before = cursor().await;
        let file = hub.hub.store.file().unwrap().to_owned();
        let database = rusqlite::Connection::open(file).unwrap();
        let fail = |event: &str| {
            format!(
                "CREATE TRIGGER fail_{event} BEFORE {event} ON {table} WHEN {when}
                 BEGIN SELECT RAISE(ABORT, 'no'); END;"
            )
        };
        database.execute_batch(&(fail("INSERT") + &fail("UPDATE"))).unwrap();
        post(&hub, &author, &thread, "1").await;
        // However often it is tried, half of it is never seen.
        for _ in 0..50 {
            seen(&hub, "reviewer").await;
            assert!(wakes_of(&hub, "reviewer").await.is_empty(), "{table}");
            assert_eq!(cursor().await, before, "{table}");
        }
        database.execute_batch("DROP TRIGGER fail_INSERT; DROP TRIGGER fail_UPDATE;").unwrap();
        woken(&hub, "reviewer", 1, 1).await;
        assert_ne!(cursor().await, before, "{table}");
        hub.stop().await;
    }
}

#[tokio::test]
async fn two_hubs_on_one_database_wake_an_agent_once() {
    let one = TestHub::with(On::Postgres, generous());
    let author = seen(&one, "author").await;
    seen(&one, "reviewer").await;
    let other = one.beside();
    for n in 1..=20 {
        let thread = open(&one).await;
        let by = if n % 2 == 0 { &one } else { &other };
        post(by, &author, &thread, "look").await;
        woken(&one, "reviewer", n, 1).await;
    }
    looked(&one).await;
    looked(&other).await;
    assert_eq!(wakes_of(&one, "reviewer").await.len(), 20);
    other.stop().await;
    one.stop().await;
}
