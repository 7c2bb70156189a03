//! The life of a wake between the hub and a host: asked for once, given to one, told, read or buried.

use serde_json::{Value, json};
use testkit::{On, TestHub, generous};
use waystation_hub::Settings;
use waystation_hub::wakes::WakeSettings;

use crate::world::{coordinator, open, open_with, operator, post, refusal, worker};

crate::on_both! {
    a_wake_lives_from_the_request_to_the_acknowledgement
    asking_again_while_it_waits_is_the_same_wake
    what_comes_during_the_turn_waits_for_its_end
    what_comes_during_the_turn_waits_for_the_acknowledgement
    a_lease_that_ends_gives_the_wake_to_somebody_else
    a_host_that_was_started_anew_gets_at_once_what_it_had
    who_asks_for_what_a_post_asked_for_before_is_not_forgotten
    a_wake_is_given_to_one_of_many_who_ask
    a_crash_while_handing_over_is_told_to_the_next
    the_session_that_was_being_told_is_always_named
    a_wake_that_failed_is_tried_at_once_when_its_agent_comes_back
    an_agent_that_comes_back_is_told_of_what_nobody_could_tell_it
    a_failed_attempt_is_tried_again_later_and_in_the_end_buried
    a_wake_of_a_post_waits_for_an_agent_that_is_not_there
    a_wake_that_waits_for_a_turn_is_due_when_it_ends
    a_deferred_wake_comes_back_when_its_host_let_go
    a_cancelled_wake_stops_its_host
    a_wake_ends_with_its_thread_and_with_the_part_its_agent_takes
    wakes_are_listed_by_what_is_asked_and_who_asks
    agents_are_shown_with_no_wake_of_a_thread_that_is_not_the_readers
    a_host_takes_only_what_is_for_it
    a_report_is_refused_when_a_field_is_wrong
}

pub(crate) const HOST: &str = "host_1";

/// A hub on which posts wake nobody by themselves.
pub(crate) fn asked_only() -> Settings {
    let generous = generous();
    let wake = WakeSettings { enabled: false, ..generous.wake };
    Settings { wake, ..generous }
}

/// Starts an agent on a host; answers its session.
pub(crate) async fn start(hub: &TestHub, agent: &str, host: &str) -> String {
    let input = json!({
        "agent_id": agent, "runtime": "codex_cli", "host": host, "cwd": "/src",
        "command": ["codex"], "pid": 4_711, "pid_started": 9, "boot_id": "boot",
    });
    let session = hub.ok(&operator(), "open_session", input).await;
    session["session_id"].as_str().unwrap().to_owned()
}

/// Asks for a wake, waiting for nobody.
pub(crate) async fn trigger(hub: &TestHub, thread: &str, agent: &str) -> Value {
    let input = json!({
        "thread_id": thread, "target_agent_id": agent, "reason": "new_unread_messages",
        "wait_ms": 0,
    });
    hub.ok(&worker("author"), "trigger_participant", input).await
}

/// What a host is given right now.
pub(crate) async fn claim(hub: &TestHub, host: &str) -> Vec<Value> {
    let claimed = hub.ok(&operator(), "claim_wakes", json!({ "host": host, "wait_ms": 0 })).await;
    claimed["wakes"].as_array().unwrap().clone()
}

/// Reports on a wake that was claimed.
pub(crate) async fn report(hub: &TestHub, job: &Value, state: &str, more: Value) -> Value {
    let mut input = json!({ "wake_id": job["wake_id"], "attempt": job["attempt"], "state": state });
    for (name, value) in more.as_object().unwrap() {
        input[name] = value.clone();
    }
    hub.ok(&operator(), "report_wake", input).await
}

/// Every wake there is, the newest first.
pub(crate) async fn wakes(hub: &TestHub) -> Vec<Value> {
    let listed = hub.ok(&operator(), "list_wakes", json!({})).await;
    listed["wakes"].as_array().unwrap().clone()
}

/// A session says what it does.
pub(crate) async fn beat(hub: &TestHub, agent: &str, session: &str, status: &str) {
    let input = json!({
        "runtime": "codex_cli", "agent_id": agent, "session_id": session, "host": HOST,
        "status": status,
    });
    hub.ok(&operator(), "heartbeat_session", input).await;
}

async fn ack(hub: &TestHub, agent: &str, thread: &str, seq: i64) {
    let input = json!({ "thread_id": thread, "last_read_seq": seq });
    hub.ok(&worker(agent), "ack_read", input).await;
}

/// A thread with something unread for a reviewer that runs on the host.
async fn sleeping(on: On) -> (TestHub, String, String) {
    let hub = TestHub::with(on, asked_only());
    let session = start(&hub, "reviewer", HOST).await;
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "a very private body").await;
    (hub, thread, session)
}

async fn a_wake_lives_from_the_request_to_the_acknowledgement(on: On) {
    let (hub, thread, session) = sleeping(on).await;
    let asked = trigger(&hub, &thread, "reviewer").await;
    assert_eq!(
        (&asked["result"], &asked["action"]),
        (&json!("requested"), &json!("trigger_runtime"))
    );
    hub.clock.advance_ms(40);
    let jobs = claim(&hub, HOST).await;
    let [job] = jobs.as_slice() else { panic!("one job: {jobs:?}") };
    assert_eq!(job["wake_id"], asked["wake_id"]);
    assert_eq!((&job["attempt"], &job["agent_id"]), (&json!(1), &json!("reviewer")));
    assert_eq!((&job["may_resume"], &job["may_start"]), (&json!(true), &json!(true)));
    assert_eq!(
        job["profile"],
        json!({ "runtime": "codex_cli", "cwd": "/src", "command": ["codex"] })
    );
    let known = &job["sessions"][0];
    assert_eq!((&known["session_id"], &known["pid"]), (&json!(session), &json!(4_711)));
    assert_eq!(job["lease_until"], "2026-02-17T12:00:30.040Z");
    let notice = job["notice"]["native"].as_str().unwrap();
    assert!(notice.contains(asked["wake_id"].as_str().unwrap()), "{notice}");
    assert!(!job.to_string().contains("very private"), "no text of a message");
    assert!(claim(&hub, HOST).await.is_empty(), "it is somebody's");
    let handing = report(&hub, job, "handing", json!({ "lane": "codex_socket" })).await;
    assert_eq!((&handing["ok"], &handing["stop"]), (&json!(true), &json!(false)));
    assert_eq!(wakes(&hub).await[0]["state"], "requested", "a mark is no state");
    hub.clock.advance_ms(10);
    report(&hub, job, "handed_to_host", json!({ "session_id": session })).await;
    let handed = &wakes(&hub).await[0];
    assert_eq!(
        (&handed["state"], &handed["lane"]),
        (&json!("handed_to_host"), &json!("codex_socket"))
    );
    hub.clock.advance_ms(50);
    report(&hub, job, "turn_started", json!({})).await;
    assert_eq!(wakes(&hub).await[0]["state"], "turn_started");
    let agents = hub.ok(&operator(), "list_agents", json!({})).await;
    let reviewer = &agents["agents"][0];
    assert_eq!((&reviewer["agent_id"], &reviewer["unread"]), (&json!("reviewer"), &json!(1)));
    assert_eq!(reviewer["last_wake"]["latency_ms"], 100);
    assert_eq!((&reviewer["lane"], &reviewer["managed"]), (&json!("codex_socket"), &json!(true)));
    ack(&hub, "reviewer", &thread, 1).await;
    let read = &wakes(&hub).await[0];
    assert_eq!(
        (&read["state"], &read["ended_at"]),
        (&json!("read"), &json!("2026-02-17T12:00:00.100Z"))
    );
    let late = report(&hub, job, "turn_started", json!({})).await;
    assert_eq!((&late["ok"], &late["stop"]), (&json!(false), &json!(true)));
    let again = trigger(&hub, &thread, "reviewer").await;
    assert_eq!((&again["action"], &again["result"]), (&json!("none"), &json!("read")));
    assert_eq!(wakes(&hub).await.len(), 1);
    hub.stop().await;
}

async fn asking_again_while_it_waits_is_the_same_wake(on: On) {
    let (hub, thread, _) = sleeping(on).await;
    let first = trigger(&hub, &thread, "reviewer").await;
    post(&hub, &worker("author"), &thread, "more").await;
    let second = trigger(&hub, &thread, "reviewer").await;
    assert_eq!(first["wake_id"], second["wake_id"]);
    let found = wakes(&hub).await;
    assert_eq!((found.len(), &found[0]["through_seq"]), (1, &json!(2)));
    // It is the same while a host has it, too.
    let job = claim(&hub, HOST).await.remove(0);
    post(&hub, &worker("author"), &thread, "even more").await;
    assert_eq!(trigger(&hub, &thread, "reviewer").await["wake_id"], first["wake_id"]);
    ack(&hub, "reviewer", &thread, 2).await;
    assert_eq!(wakes(&hub).await[0]["state"], "requested", "not all of it is read");
    ack(&hub, "reviewer", &thread, 3).await;
    assert_eq!(wakes(&hub).await[0]["state"], "read", "nobody had to tell it");
    assert_eq!(report(&hub, &job, "handing", json!({ "lane": "pty" })).await["stop"], true);
    // Many ask at once for one that is new.
    post(&hub, &worker("author"), &thread, "again").await;
    let asked = futures_util::future::join_all((0..8).map(|_| trigger(&hub, &thread, "reviewer")));
    let mut ids: Vec<String> = asked.await.iter().map(|a| a["wake_id"].to_string()).collect();
    ids.dedup();
    assert_eq!((ids.len(), wakes(&hub).await.len()), (1, 2));
    hub.stop().await;
}

/// Brings the reviewer into a turn.
async fn in_turn(hub: &TestHub, thread: &str, session: &str) -> Value {
    trigger(hub, thread, "reviewer").await;
    let job = claim(hub, HOST).await.remove(0);
    report(hub, &job, "handed_to_host", json!({ "lane": "codex_socket", "session_id": session }))
        .await;
    report(hub, &job, "turn_started", json!({})).await;
    beat(hub, "reviewer", session, "active").await;
    job
}

async fn what_comes_during_the_turn_waits_for_its_end(on: On) {
    let (hub, thread, session) = sleeping(on).await;
    let job = in_turn(&hub, &thread, &session).await;
    hub.clock.advance_ms(1_000);
    post(&hub, &worker("author"), &thread, "one thing more").await;
    let told = trigger(&hub, &thread, "reviewer").await;
    assert_eq!((&told["wake_id"], &told["result"]), (&job["wake_id"], &json!("turn_started")));
    assert!(claim(&hub, HOST).await.is_empty(), "one notice at a time");
    hub.clock.advance_ms(1_000);
    beat(&hub, "reviewer", &session, "idle").await;
    let found = wakes(&hub).await;
    assert_eq!((found.len(), &found[0]["state"]), (2, &json!("requested")));
    assert_eq!(found[0]["through_seq"], 2);
    assert_eq!(found[1]["state"], "cancelled", "the turn ended and nothing was acknowledged");
    assert_eq!(claim(&hub, HOST).await[0]["wake_id"], found[0]["wake_id"]);
    hub.stop().await;
}

async fn what_comes_during_the_turn_waits_for_the_acknowledgement(on: On) {
    let (hub, thread, session) = sleeping(on).await;
    in_turn(&hub, &thread, &session).await;
    for text in ["second", "third"] {
        post(&hub, &worker("author"), &thread, text).await;
        trigger(&hub, &thread, "reviewer").await;
    }
    assert_eq!(wakes(&hub).await.len(), 1);
    ack(&hub, "reviewer", &thread, 2).await;
    let found = wakes(&hub).await;
    assert_eq!((found.len(), &found[1]["state"]), (2, &json!("read")));
    assert_eq!((&found[0]["state"], &found[0]["through_seq"]), (&json!("requested"), &json!(3)));
    ack(&hub, "reviewer", &thread, 3).await;
    assert_eq!(wakes(&hub).await[0]["state"], "read");
    assert!(claim(&hub, HOST).await.is_empty());
    hub.stop().await;
}

async fn a_lease_that_ends_gives_the_wake_to_somebody_else(on: On) {
    let (hub, thread, _) = sleeping(on).await;
    trigger(&hub, &thread, "reviewer").await;
    let first = claim(&hub, HOST).await.remove(0);
    hub.clock.advance_ms(29_999);
    assert!(claim(&hub, HOST).await.is_empty());
    // Every report makes the lease longer.
    let longer = report(&hub, &first, "deferred", json!({ "reason": "turn_running" })).await;
    assert_eq!(longer["lease_until"], "2026-02-17T12:00:59.999Z");
    hub.clock.advance_ms(29_999);
    assert!(claim(&hub, HOST).await.is_empty());
    hub.clock.advance_ms(1);
    let second = claim(&hub, HOST).await.remove(0);
    assert_eq!((&second["wake_id"], &second["attempt"]), (&first["wake_id"], &json!(2)));
    let lane = json!({ "lane": "codex_socket" });
    for state in ["handing", "deferred", "handed_to_host", "turn_started", "failed"] {
        let late = report(&hub, &first, state, lane.clone()).await;
        assert_eq!((&late["ok"], &late["stop"]), (&json!(false), &json!(true)), "{state}");
    }
    let untouched = &wakes(&hub).await[0];
    assert_eq!((&untouched["state"], &untouched["failures"]), (&json!("deferred"), &json!(0)));
    let mine = report(&hub, &second, "handed_to_host", lane).await;
    assert_eq!(mine["ok"], true);
    hub.stop().await;
}

async fn a_host_that_was_started_anew_gets_at_once_what_it_had(on: On) {
    let (hub, thread, _) = sleeping(on).await;
    trigger(&hub, &thread, "reviewer").await;
    let first = claim(&hub, HOST).await.remove(0);
    report(&hub, &first, "handing", json!({ "lane": "codex_socket" })).await;
    let anew = |host: &'static str| {
        let hub = &hub;
        async move {
            let input = json!({ "host": host, "wait_ms": 0, "restarted": true });
            let claimed = hub.ok(&operator(), "claim_wakes", input).await;
            claimed["wakes"].as_array().unwrap().clone()
        }
    };
    assert!(anew("another").await.is_empty(), "it is not that one's");
    assert!(claim(&hub, HOST).await.is_empty(), "who goes on working keeps its lease");
    let second = anew(HOST).await.remove(0);
    assert_eq!((&second["attempt"], &second["handing"]), (&json!(2), &json!("codex_socket")));
    hub.stop().await;
}

async fn who_asks_for_what_a_post_asked_for_before_is_not_forgotten(on: On) {
    let hub = TestHub::with(on, generous());
    start(&hub, "reviewer", HOST).await;
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "look").await;
    let first = claim_soon(&hub).await;
    assert_eq!(first["may_start"], false, "a post alone starts nobody");
    trigger(&hub, &thread, "reviewer").await;
    // The host gives up by what it knew; that counts no longer.
    let late = report(&hub, &first, "failed", json!({ "reason": "no", "final": true })).await;
    assert_eq!(late["stop"], true);
    let second = claim(&hub, HOST).await.remove(0);
    assert_eq!((&second["wake_id"], &second["may_start"]), (&first["wake_id"], &json!(true)));
    hub.stop().await;
}

/// What the hub makes of a post, as soon as it has.
async fn claim_soon(hub: &TestHub) -> Value {
    let input = json!({ "host": HOST, "wait_ms": 30_000 });
    hub.ok(&operator(), "claim_wakes", input).await["wakes"][0].clone()
}

async fn a_wake_is_given_to_one_of_many_who_ask(on: On) {
    let (hub, thread, _) = sleeping(on).await;
    let mut threads = vec![thread];
    for _ in 0..9 {
        let thread = open(&hub).await;
        post(&hub, &worker("author"), &thread, "look").await;
        threads.push(thread);
    }
    for thread in &threads {
        trigger(&hub, thread, "reviewer").await;
    }
    let one = || async {
        let input = json!({ "host": HOST, "wait_ms": 0, "limit": 3 });
        hub.ok(&operator(), "claim_wakes", input).await["wakes"].as_array().unwrap().clone()
    };
    let given = futures_util::future::join_all((0..8).map(|_| one())).await;
    let mut ids: Vec<String> = given.iter().flatten().map(|j| j["wake_id"].to_string()).collect();
    while ids.len() < threads.len() {
        let more = one().await;
        assert!(!more.is_empty(), "{} of {} were given", ids.len(), threads.len());
        ids.extend(more.iter().map(|job| job["wake_id"].to_string()));
    }
    assert!(given.iter().all(|jobs| jobs.len() <= 3));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), threads.len(), "each is given to one");
    hub.stop().await;
}

async fn an_agent_that_comes_back_is_told_of_what_nobody_could_tell_it(on: On) {
    let hub = TestHub::with(on, generous());
    start(&hub, "reviewer", HOST).await;
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "look").await;
    let input = json!({ "host": HOST, "wait_ms": 10_000 });
    let claimed = hub.ok(&operator(), "claim_wakes", input).await;
    let lost = &claimed["wakes"][0];
    report(&hub, lost, "failed", json!({ "reason": "nothing_to_resume", "final": true })).await;
    assert_eq!(wakes(&hub).await[0]["state"], "deferred");
    // Another session is another chance.
    let session = start(&hub, "reviewer", HOST).await;
    let again = claim(&hub, HOST).await.remove(0);
    assert_eq!((&again["thread_id"], &again["attempt"]), (&json!(thread), &json!(2)));
    assert_eq!(again["wake_id"], lost["wake_id"]);
    beat(&hub, "reviewer", &session, "idle").await;
    report(&hub, &again, "turn_started", json!({ "lane": "codex_socket" })).await;
    // Who was told is not told again by coming once more.
    start(&hub, "reviewer", HOST).await;
    assert_eq!(wakes(&hub).await.len(), 1);
    hub.stop().await;
}

async fn a_wake_that_failed_is_tried_at_once_when_its_agent_comes_back(on: On) {
    let (hub, thread, session) = sleeping(on).await;
    trigger(&hub, &thread, "reviewer").await;
    let first = claim(&hub, HOST).await.remove(0);
    report(&hub, &first, "failed", json!({ "reason": "lanes_failed" })).await;
    beat(&hub, "reviewer", &session, "idle").await;
    assert!(claim(&hub, HOST).await.is_empty(), "it waits before it is tried again");
    start(&hub, "reviewer", HOST).await;
    let second = claim(&hub, HOST).await.remove(0);
    assert_eq!((&second["wake_id"], &second["attempt"]), (&first["wake_id"], &json!(2)));
    hub.stop().await;
}

async fn the_session_that_was_being_told_is_always_named(on: On) {
    let (hub, thread, session) = sleeping(on).await;
    trigger(&hub, &thread, "reviewer").await;
    let first = claim(&hub, HOST).await.remove(0);
    report(&hub, &first, "handing", json!({ "lane": "pty", "session_id": session })).await;
    hub.clock.advance_ms(30_000);
    for _ in 0..6 {
        start(&hub, "reviewer", HOST).await;
    }
    let second = claim(&hub, HOST).await.remove(0);
    let named = second["sessions"].as_array().unwrap();
    assert_eq!(named.len(), 5);
    assert!(named.iter().any(|one| one["session_id"] == session.as_str()), "{named:?}");
    hub.stop().await;
}

async fn a_crash_while_handing_over_is_told_to_the_next(on: On) {
    let (hub, thread, _) = sleeping(on).await;
    trigger(&hub, &thread, "reviewer").await;
    let first = claim(&hub, HOST).await.remove(0);
    assert_eq!(first["handing"], Value::Null);
    report(&hub, &first, "handing", json!({ "lane": "codex_queue" })).await;
    // Its agent moved on meanwhile; only the old host can look whether the notice arrived there.
    hub.clock.advance_ms(30_000);
    start(&hub, "reviewer", "host_2").await;
    let hub = hub.restart().await;
    assert!(claim(&hub, "host_2").await.is_empty());
    let second = claim(&hub, HOST).await.remove(0);
    assert_eq!((&second["handing"], &second["attempt"]), (&json!("codex_queue"), &json!(2)));
    report(&hub, &second, "turn_started", json!({ "lane": "codex_queue" })).await;
    let found = wakes(&hub).await;
    assert_eq!((found.len(), &found[0]["state"]), (1, &json!("turn_started")));
    // A host that never comes back does not keep a wake for ever.
    let other = open(&hub).await;
    post(&hub, &worker("author"), &other, "look").await;
    trigger(&hub, &other, "reviewer").await;
    let lost = claim(&hub, "host_2").await.remove(0);
    report(&hub, &lost, "handing", json!({ "lane": "codex_queue" })).await;
    hub.clock.advance_ms(30_000);
    start(&hub, "reviewer", HOST).await;
    assert!(claim(&hub, HOST).await.is_empty());
    hub.clock.advance_ms(300_000);
    assert_eq!(claim(&hub, HOST).await[0]["wake_id"], lost["wake_id"]);
    hub.stop().await;
}

async fn a_failed_attempt_is_tried_again_later_and_in_the_end_buried(on: On) {
    let (hub, thread, _) = sleeping(on).await;
    trigger(&hub, &thread, "reviewer").await;
    for (failures, pause_ms) in [(1, 30_000), (2, 60_000), (3, 120_000), (4, 240_000)] {
        let job = claim(&hub, HOST).await.remove(0);
        let gone = json!({ "reason": "the socket is gone" });
        assert_eq!(report(&hub, &job, "failed", gone).await["ok"], true);
        let found = &wakes(&hub).await[0];
        assert_eq!((&found["state"], &found["failures"]), (&json!("deferred"), &json!(failures)));
        assert_eq!(found["why"], "the socket is gone");
        // The end of a turn does not make it come sooner.
        let session = job["sessions"][0]["session_id"].as_str().unwrap().to_owned();
        beat(&hub, "reviewer", &session, "idle").await;
        hub.clock.advance_ms(pause_ms - 1);
        assert!(claim(&hub, HOST).await.is_empty(), "{failures}");
        hub.clock.advance_ms(1);
    }
    let job = claim(&hub, HOST).await.remove(0);
    assert_eq!(job["attempt"], 5);
    report(&hub, &job, "failed", json!({ "reason": "still gone" })).await;
    let buried = &wakes(&hub).await[0];
    assert_eq!((&buried["state"], &buried["why"]), (&json!("failed"), &json!("still gone")));
    hub.clock.advance_ms(3_600_000);
    assert!(claim(&hub, HOST).await.is_empty());
    // Asking again is a new wake; and some failures are final at once.
    trigger(&hub, &thread, "reviewer").await;
    let job = claim(&hub, HOST).await.remove(0);
    report(&hub, &job, "failed", json!({ "final": true })).await;
    let states: Vec<Value> = wakes(&hub).await.iter().map(|w| w["state"].clone()).collect();
    assert_eq!(states, ["failed", "failed"]);
    hub.stop().await;
}

async fn a_wake_of_a_post_waits_for_an_agent_that_is_not_there(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let session = start(&hub, "reviewer", HOST).await;
    beat(&hub, "reviewer", &session, "offline").await;
    post(&hub, &worker("author"), &thread, "look").await;
    let job = claim_soon(&hub).await;
    report(&hub, &job, "failed", json!({ "reason": "nothing_to_resume", "final": true })).await;
    let wake = wakes(&hub).await.remove(0);
    assert_eq!((&wake["state"], &wake["why"]), (&json!("deferred"), &json!("nothing_to_resume")));
    hub.clock.advance_ms(10_000);
    assert!(claim(&hub, HOST).await.is_empty());
    let session = start(&hub, "reviewer", HOST).await;
    beat(&hub, "reviewer", &session, "idle").await;
    let again = claim(&hub, HOST).await.remove(0);
    assert_eq!(again["wake_id"], job["wake_id"]);
    // A return that nobody heard of is found too.
    report(&hub, &again, "failed", json!({ "reason": "nothing_to_resume", "final": true })).await;
    hub.clock.advance_ms(30_000);
    assert_eq!(claim(&hub, HOST).await.len(), 1);
    hub.stop().await;
}

async fn a_wake_that_waits_for_a_turn_is_due_when_it_ends(on: On) {
    let (hub, thread, session) = sleeping(on).await;
    beat(&hub, "reviewer", &session, "active").await;
    trigger(&hub, &thread, "reviewer").await;
    let job = claim(&hub, HOST).await.remove(0);
    let until = "2026-02-17T13:00:00Z";
    report(&hub, &job, "deferred", json!({ "reason": "turn_running", "until": until })).await;
    hub.clock.advance_ms(60_000);
    assert!(claim(&hub, HOST).await.is_empty());
    beat(&hub, "reviewer", &session, "idle").await;
    let again = claim(&hub, HOST).await.remove(0);
    assert_eq!((&again["wake_id"], &again["attempt"]), (&job["wake_id"], &json!(2)));
    hub.stop().await;
}

async fn a_deferred_wake_comes_back_when_its_host_let_go(on: On) {
    let (hub, thread, _) = sleeping(on).await;
    trigger(&hub, &thread, "reviewer").await;
    let job = claim(&hub, HOST).await.remove(0);
    assert_eq!(job["defer"], json!({ "recheck_ms": 5_000, "quiet_ms": 20_000, "max_ms": 60_000 }));
    let until = "2026-02-17T12:00:05Z";
    let busy = json!({ "reason": "human_input_busy", "until": until });
    assert_eq!(report(&hub, &job, "deferred", busy).await["lease_until"], Value::Null);
    let found = &wakes(&hub).await[0];
    assert_eq!((&found["state"], &found["due_at"]), (&json!("deferred"), &json!(until)));
    hub.clock.advance_ms(4_999);
    assert!(claim(&hub, HOST).await.is_empty());
    hub.clock.advance_ms(1);
    let again = claim(&hub, HOST).await.remove(0);
    assert_eq!(
        again["defer"]["since"], "2026-02-17T12:00:00Z",
        "the longest wait counts from there"
    );
    // Who does not let go keeps it, and looks again by itself.
    let keeps = report(&hub, &again, "deferred", json!({ "reason": "human_input_busy" })).await;
    assert_eq!(keeps["lease_until"], "2026-02-17T12:00:35Z");
    hub.clock.advance_ms(5_000);
    assert!(claim(&hub, HOST).await.is_empty());
    hub.stop().await;
}

async fn a_cancelled_wake_stops_its_host(on: On) {
    let (hub, thread, _) = sleeping(on).await;
    let asked = trigger(&hub, &thread, "reviewer").await;
    let job = claim(&hub, HOST).await.remove(0);
    let it = json!({ "wake_id": asked["wake_id"] });
    let code = hub.code(&worker("reviewer"), "cancel_wake", it.clone()).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY", "somebody else asked for it");
    assert_eq!(hub.code(&worker("outsider"), "cancel_wake", it.clone()).await, "FORBIDDEN");
    let gone = hub.ok(&worker("author"), "cancel_wake", it.clone()).await;
    assert_eq!(gone["state"], "cancelled");
    hub.clock.advance_ms(1_000);
    assert_eq!(hub.ok(&worker("author"), "cancel_wake", it).await, gone, "again is the same");
    assert_eq!(report(&hub, &job, "handing", json!({ "lane": "pty" })).await["stop"], true);
    assert_eq!(wakes(&hub).await[0]["why"], "cancelled by author");
    // Whoever has authority may, whoever asked; what has ended otherwise stays as it is.
    let asked = trigger(&hub, &thread, "reviewer").await;
    let it = json!({ "wake_id": asked["wake_id"] });
    hub.ok(&coordinator(), "cancel_wake", it).await;
    let asked = trigger(&hub, &thread, "reviewer").await;
    ack(&hub, "reviewer", &thread, 1).await;
    let it = json!({ "wake_id": asked["wake_id"] });
    assert_eq!(hub.code(&operator(), "cancel_wake", it).await, "CONFLICT");
    for wrong in ["wk_01JXYZ", "", "a\u{0}b"] {
        let it = json!({ "wake_id": wrong });
        assert_eq!(hub.code(&operator(), "cancel_wake", it).await, "NOT_FOUND", "{wrong:?}");
    }
    hub.stop().await;
}

async fn a_wake_ends_with_its_thread_and_with_the_part_its_agent_takes(on: On) {
    let (hub, thread, _) = sleeping(on).await;
    trigger(&hub, &thread, "reviewer").await;
    let job = claim(&hub, HOST).await.remove(0);
    let out = json!({ "thread_id": thread, "participants": ["reviewer"] });
    hub.ok(&coordinator(), "remove_participants", out.clone()).await;
    let found = &wakes(&hub).await[0];
    assert_eq!(found["state"], "cancelled");
    assert_eq!(found["why"], "the agent was removed from the thread");
    assert_eq!(report(&hub, &job, "handing", json!({ "lane": "pty" })).await["stop"], true);
    let input = json!({
        "thread_id": thread, "target_agent_id": "reviewer", "reason": "unread", "wait_ms": 0,
    });
    let code = hub.code(&worker("author"), "trigger_participant", input.clone()).await;
    assert_eq!(code, "NOT_FOUND", "it does not take part");
    hub.ok(&coordinator(), "add_participants", out).await;
    trigger(&hub, &thread, "reviewer").await;
    let close = json!({ "thread_id": thread, "status": "closed", "reason": "done" });
    hub.ok(&coordinator(), "update_thread_status", close).await;
    assert_eq!(wakes(&hub).await[0]["why"], "the thread was closed");
    let code = hub.code(&worker("author"), "trigger_participant", input).await;
    assert_eq!(code, "CONFLICT", "a closed thread wakes nobody");
    assert!(claim(&hub, HOST).await.is_empty());
    hub.stop().await;
}

async fn wakes_are_listed_by_what_is_asked_and_who_asks(on: On) {
    let (hub, thread, _) = sleeping(on).await;
    start(&hub, "author", HOST).await;
    start(&hub, "third", HOST).await;
    let other = open_with(&hub, &["author", "third"]).await;
    post(&hub, &coordinator(), &other, "for both").await;
    for (thread, agent) in [(&thread, "reviewer"), (&other, "author"), (&other, "third")] {
        trigger(&hub, thread, agent).await;
    }
    ack(&hub, "reviewer", &thread, 1).await;
    let seen = |by: &'static str, input: Value| {
        let hub = &hub;
        async move {
            let listed = hub.ok(&worker(by), "list_wakes", input).await;
            let wakes = listed["wakes"].as_array().unwrap().clone();
            wakes.iter().map(|w| w["agent_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        }
    };
    assert_eq!(seen("author", json!({})).await, ["third", "author", "reviewer"]);
    assert_eq!(seen("third", json!({})).await, ["third", "author"], "those of its threads");
    assert!(seen("outsider", json!({})).await.is_empty());
    assert_eq!(seen("author", json!({ "open_only": true })).await, ["third", "author"]);
    assert_eq!(seen("author", json!({ "state": "read" })).await, ["reviewer"]);
    assert_eq!(seen("author", json!({ "agent_id": "third" })).await, ["third"]);
    assert_eq!(seen("author", json!({ "thread_id": thread })).await, ["reviewer"]);
    let here = json!({ "thread_id": thread });
    assert_eq!(hub.code(&worker("third"), "list_wakes", here).await, "FORBIDDEN");
    let page = hub.ok(&worker("author"), "list_wakes", json!({ "limit": 2 })).await;
    let rest = json!({ "limit": 2, "cursor": page["next_cursor"] });
    let rest = hub.ok(&worker("author"), "list_wakes", rest).await;
    assert_eq!((rest["wakes"].as_array().unwrap().len(), &rest["next_cursor"]), (1, &Value::Null));
    let foreigner = testkit::caller_in("wk_other", "human", protocol::Role::Operator);
    assert_eq!(hub.ok(&foreigner, "list_wakes", json!({})).await["wakes"], json!([]));
    hub.stop().await;
}

async fn agents_are_shown_with_no_wake_of_a_thread_that_is_not_the_readers(on: On) {
    let (hub, thread, _) = sleeping(on).await;
    trigger(&hub, &thread, "reviewer").await;
    for (by, is_shown) in
        [(worker("outsider"), false), (worker("author"), true), (operator(), true)]
    {
        let listed = hub.ok(&by, "list_agents", json!({})).await;
        let agents = listed["agents"].as_array().unwrap();
        let reviewer = agents.iter().find(|agent| agent["agent_id"] == "reviewer").unwrap();
        assert_eq!(reviewer.get("last_wake").is_some(), is_shown, "{}: {reviewer}", by.agent_id);
    }
    hub.stop().await;
}

async fn a_host_takes_only_what_is_for_it(on: On) {
    let (hub, thread, session) = sleeping(on).await;
    trigger(&hub, &thread, "reviewer").await;
    assert!(claim(&hub, "host_2").await.is_empty());
    // A newer session elsewhere is where the agent is now.
    hub.clock.advance_ms(1_000);
    start(&hub, "reviewer", "host_2").await;
    assert!(claim(&hub, HOST).await.is_empty());
    // One that said goodbye counts for less than an older one that did not.
    let newest = hub.ok(&operator(), "list_sessions", json!({})).await["sessions"][0].clone();
    let bye = json!({
        "runtime": "codex_cli", "agent_id": "reviewer", "session_id": newest["session_id"],
        "host": "host_2", "status": "offline",
    });
    hub.ok(&operator(), "heartbeat_session", bye).await;
    assert!(claim(&hub, "host_2").await.is_empty());
    let job = claim(&hub, HOST).await.remove(0);
    assert_eq!(job["sessions"].as_array().unwrap().len(), 1, "this host's alone");
    assert_eq!(job["sessions"][0]["session_id"], json!(session));
    let foreigner = testkit::caller_in("wk_other", "human", protocol::Role::Operator);
    let foreign = hub.ok(&foreigner, "claim_wakes", json!({ "host": HOST, "wait_ms": 0 })).await;
    assert_eq!(foreign["wakes"], json!([]));
    let handing = json!({
        "wake_id": job["wake_id"], "attempt": 1, "state": "handing", "lane": "codex_socket",
    });
    assert_eq!(hub.code(&foreigner, "report_wake", handing).await, "NOT_FOUND");
    hub.stop().await;
}

async fn a_report_is_refused_when_a_field_is_wrong(on: On) {
    let (hub, thread, _) = sleeping(on).await;
    trigger(&hub, &thread, "reviewer").await;
    let job = claim(&hub, HOST).await.remove(0);
    let told = |more: Value| {
        let mut input = json!({ "wake_id": job["wake_id"], "state": "turn_started" });
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        input
    };
    let missing = refusal(&hub, &operator(), "report_wake", told(json!({}))).await;
    assert_eq!(missing.field.as_deref(), Some("attempt"), "a host says which attempt");
    let no_lane = told(json!({ "attempt": 1, "state": "handing" }));
    let no_lane = refusal(&hub, &operator(), "report_wake", no_lane).await;
    assert_eq!(no_lane.field.as_deref(), Some("lane"));
    // The woken agent says that it was told, and nothing else; others say nothing.
    for state in ["handing", "deferred", "failed"] {
        let input = told(json!({ "state": state, "lane": "pty" }));
        assert_eq!(hub.code(&worker("reviewer"), "report_wake", input).await, "FORBIDDEN");
    }
    assert_eq!(hub.code(&worker("author"), "report_wake", told(json!({}))).await, "FORBIDDEN");
    let taken = hub.ok(&worker("reviewer"), "report_wake", told(json!({}))).await;
    assert_eq!(taken["ok"], true);
    assert_eq!(wakes(&hub).await[0]["state"], "turn_started");
    hub.stop().await;
}
