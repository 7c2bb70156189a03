//! A person looks at what agents have to do, and gives out again what was given up.

use serde_json::{Value, json};

use crate::program::{Client, Home};

/// An agent asks for a tool that cannot help, so that other agents get work of it.
fn make_work(client: &Client) {
    let envelope = json!({
        "id": "e1", "timestamp": "2026-02-17T12:00:00Z", "channel": "internal",
        "role": "assistant", "content": "let me see",
        "tool_call": {
            "name": "SummarizeIssue", "args": { "issue_url": "https://ghes.invalid/issues/12" },
            "result": null,
        },
    });
    client.ok("POST", "/v1/envelopes", &json!({ "envelope": envelope }));
}

/// Makes work, and lets it be given up.
fn given_up(client: &Client) -> String {
    make_work(client);
    let mut id = Value::Null;
    for _ in 0..5 {
        let mut item = pull(client);
        id = item["work_id"].take();
        let back = json!({ "fence": item["fence"], "reason": "too hard for us" });
        client.ok("POST", &format!("/v1/work/{}/release", id.as_str().unwrap()), &back);
    }
    id.as_str().unwrap().to_owned()
}

fn pull(client: &Client) -> Value {
    let wanted = json!({ "queue": "experts", "wait_ms": 30_000 });
    client.ok("POST", "/v1/work/pull", &wanted)["items"][0].clone()
}

#[test]
fn what_was_given_up_is_seen_shown_and_given_out_again() {
    let home = Home::generous();
    home.configure("[relay.tools.default]\nfallback = [\"agent:experts\"]\n");
    assert_eq!(home.ok(&["work"]).trim(), "there is no such work");
    let up = home.up();
    let client = up.client(&home.token("experts", "worker"));
    let id = given_up(&client);
    let listed = home.ok(&["work", "--state", "dead"]);
    assert!(listed.contains(&id) && listed.contains("too hard for us"), "{listed}");
    assert!(listed.contains("waystation work show"), "{listed}");
    let scripted = home.run(&["work", "list", "--state", "dead", "--json"]).json();
    assert_eq!(scripted["work"][0]["work_id"], json!(id));
    let shown = home.ok(&["work", "show", &id]);
    for part in ["is dead", "experts", "given out 5 times", &format!("work retry {id}")] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    assert!(!shown.contains('\u{1b}') && !listed.contains('\u{1b}'), "no colours into a pipe");
    assert_eq!(home.run(&["work", "show", &id, "--json"]).json()["attempts"], 5);
    let retried = home.ok(&["work", "retry", &id]);
    assert!(retried.contains("is ready in experts"), "{retried}");
    let item = pull(&client);
    assert_eq!((&item["work_id"], &item["attempt"]), (&json!(id), &json!(1)));
    let done = json!({ "fence": item["fence"], "replies": [{ "content": "now it went well" }] });
    client.ok("POST", &format!("/v1/work/{id}/completion"), &done);
    let late = home.run(&["work", "retry", &id]);
    assert!(late.code != 0 && late.stderr.contains("this work is done"), "{}", late.stderr);
    let unknown = home.run(&["work", "show", "work_nobody"]);
    assert!(unknown.code != 0 && unknown.stderr.contains("work"), "{}", unknown.stderr);
    assert_eq!(up.stop(), 0);
}

#[test]
fn one_that_is_refused_keeps_the_others_from_nothing_and_is_named() {
    let home = Home::generous();
    home.configure("[relay.tools.default]\nfallback = [\"agent:experts\"]\n");
    let up = home.up();
    let id = given_up(&up.client(&home.token("experts", "worker")));
    let ran = home.run(&["work", "retry", "work_first", &id, "work_last"]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    assert!(ran.stdout.contains(&format!("{id} is ready in experts")), "{}", ran.stdout);
    for missing in ["work_first", "work_last"] {
        let said = format!("waystation: {missing}: work not found (NOT_FOUND)");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
    }
    let ran = home.run(&["work", "retry", &id, "work_last", "--json"]);
    let all = ran.json();
    assert_eq!((ran.code, all.as_array().unwrap().len()), (6, 2), "{all}");
    assert_eq!((&all[0]["id"], &all[0]["answer"]["state"]), (&json!(id), &json!("ready")));
    assert_eq!(
        (&all[1]["id"], &all[1]["error"]["code"]),
        (&json!("work_last"), &json!("NOT_FOUND"))
    );
    let one = home.run(&["work", "retry", &id, "--json"]).json();
    assert_eq!(one["work_id"], json!(id), "one alone is answered as by any command");
    for what in ["redrive", "cancel"] {
        let ran = home.run(&["outbox", what, "out_first", "out_last", "--json"]);
        let all = ran.json();
        assert_eq!((ran.code, &all[1]["id"]), (6, &json!("out_last")), "{all}");
        assert!(ran.stderr.contains("out_first: action not found"), "{}", ran.stderr);
    }
    assert_eq!(up.stop(), 0);
}
