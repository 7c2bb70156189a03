//! Agents of this machine are woken by the hub's own host.

use rustix::process::Signal;
use serde_json::json;

use crate::program::{Client, Home, Up};
use crate::stand_in;

fn post(operator: &Client, thread: &str, body: &str) {
    operator.ok("POST", &format!("/v1/threads/{thread}/messages"), &json!({ "body": body }));
}

/// A hub with an agent that ran here once, and a thread with something to read for it.
fn with_reader(home: &Home, up: &Up) -> (Client, String) {
    let operator = up.client(&home.token("person", "operator"));
    stand_in::register(&operator, home, &stand_in::host_id(home), "reader");
    let thread = operator.open(&["reader"]);
    (operator, thread)
}

#[test]
fn an_agent_without_a_session_is_started_anew_reads_and_acknowledges() {
    let home = stand_in::home();
    let up = home.up();
    let (operator, thread) = with_reader(&home, &up);
    post(&operator, &thread, "please look");
    stand_in::trigger(&operator, &thread, "reader");
    let wake = stand_in::until_state(&operator, &thread, "read");
    assert_eq!(wake["lane"], "claude_new", "{wake}");
    let id = wake["wake_id"].as_str().unwrap();
    let starts = stand_in::lines(&home, "starts");
    assert_eq!(starts.len(), 1, "{starts:?}");
    assert!(starts[0].starts_with(&format!("start {id} --session-id reader sess_")), "{starts:?}");
    assert_eq!(stand_in::so_many_lines(&home, "reads", 1), [format!("read {id} 1")]);
    assert_eq!(up.stop(), 0);
}

#[test]
fn an_ended_session_is_resumed_and_a_running_one_is_waited_for() {
    let home = stand_in::home();
    let up = home.up();
    let (operator, thread) = with_reader(&home, &up);
    post(&operator, &thread, "one");
    stand_in::trigger(&operator, &thread, "reader");
    stand_in::until_state(&operator, &thread, "read");
    // The session that was started has ended by itself; it is known by its program's name for it.
    stand_in::hold(&home, "hold-turn");
    let second = operator.open(&["reader"]);
    post(&operator, &second, "two");
    let wake = stand_in::until_state(&operator, &second, "turn_started");
    assert_eq!(wake["lane"], "claude_resume", "a post alone resumes: {wake}");
    // While it works, another thread has to wait, and nobody is started beside it.
    let third = operator.open(&["reader"]);
    post(&operator, &third, "three");
    let waiting = stand_in::until_state(&operator, &third, "deferred");
    assert_eq!(stand_in::lines(&home, "starts").len(), 2, "{waiting}");
    stand_in::let_go(&home, "hold-turn");
    stand_in::until_state(&operator, &second, "read");
    stand_in::until_state(&operator, &third, "read");
    assert_eq!(stand_in::so_many_lines(&home, "reads", 3).len(), 3);
    assert_eq!(up.stop(), 0);
}

#[test]
fn a_hub_that_is_killed_at_any_stage_of_a_wake_loses_and_doubles_nothing() {
    let home = stand_in::home();
    let up = home.up();
    let (operator, _) = with_reader(&home, &up);
    drop(operator);
    let mut up = Some(up);
    for stage in ["before the claim", "while it is started", "in its turn", "after all"] {
        let (hold, is_at) = match stage {
            "while it is started" => (Some("hold-start"), "starts"),
            "in its turn" => (Some("hold-turn"), "turns"),
            _ => (None, "reads"),
        };
        if let Some(hold) = hold {
            stand_in::hold(&home, hold);
        }
        let hub = up.take().unwrap();
        let operator = hub.client(&home.token("person", "operator"));
        let thread = operator.open(&["reader"]);
        let before = stand_in::lines(&home, is_at).len();
        post(&operator, &thread, stage);
        stand_in::trigger(&operator, &thread, "reader");
        if stage != "before the claim" {
            stand_in::until(stage, || (stand_in::lines(&home, is_at).len() > before).then_some(()));
        }
        hub.signal(Signal::KILL);
        hub.wait();
        if let Some(hold) = hold {
            stand_in::let_go(&home, hold);
        }
        let hub = home.up();
        let operator = hub.client(&home.token("person", "operator"));
        stand_in::until_state(&operator, &thread, "read");
        assert_eq!(stand_in::wakes(&operator, &thread).len(), 1, "{stage}");
        up = Some(hub);
    }
    // Each wake began one turn and no more.
    let mut turns = stand_in::lines(&home, "turns");
    turns.sort();
    let count = turns.len();
    turns.dedup();
    assert_eq!((turns.len(), count), (4, 4), "{turns:?}");
    assert_eq!(up.unwrap().stop(), 0);
}
