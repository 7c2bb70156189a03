//! Pulling, keeping and giving back work.

use protocol::limits::relay as limits;
use serde_json::json;
use testkit::{On, TestHub, generous};
use waystation_hub::relay::settings::{RelayRoute, RouteTarget};

use crate::world::{agent, completion, pull, say, thread};

#[tokio::test]
async fn an_agent_gets_what_was_said_and_may_enter_the_thread() {
    let hub = TestHub::start();
    let (row, id) = thread(&hub).await;
    let (worker, other) = (agent("triager"), agent("other"));
    say(&hub, row, "default", "please look at #12").await;
    assert_eq!(hub.code(&worker, "get_thread", json!({ "thread_id": id })).await, "FORBIDDEN");
    let items = pull(&hub, &worker, 16).await;
    assert_eq!(items.len(), 1);
    let item = &items[0];
    assert_eq!((&item["fence"], &item["attempt"]), (&1.into(), &1.into()));
    assert_eq!(item["thread_id"], json!(id));
    assert_eq!(item["envelope"]["content"], "please look at #12");
    assert_eq!(item["envelope"]["channel"], "scripted");
    assert_eq!(item["envelope"]["meta"]["trust"], "external");
    assert_eq!(item["envelope"]["meta"]["task_id"], item["task_id"]);
    let seen = hub.ok(&worker, "get_thread", json!({ "thread_id": id })).await;
    assert_eq!(seen["participants"], json!([]), "it takes part without being named");
    assert_eq!(hub.code(&other, "get_thread", json!({ "thread_id": id })).await, "FORBIDDEN");
    assert!(pull(&hub, &other, 16).await.is_empty());
    hub.stop().await;
}

#[tokio::test]
async fn a_call_that_waits_is_answered_when_work_comes() {
    let hub = TestHub::start();
    let (row, _) = thread(&hub).await;
    let worker = agent("triager");
    let wait = json!({ "wait_ms": 50_000 });
    let (got, _) =
        tokio::join!(hub.ok(&worker, "pull_work", wait), say(&hub, row, "default", "now"));
    assert_eq!(got["items"][0]["envelope"]["content"], "now");
    // The end of one piece is the beginning of the next.
    say(&hub, row, "default", "next").await;
    let wait = json!({ "wait_ms": 50_000 });
    let other = agent("other");
    let (got, _) = tokio::join!(
        hub.ok(&other, "pull_work", wait),
        hub.ok(&worker, "complete_work", completion(&got["items"][0], "done")),
    );
    assert_eq!(got["items"][0]["envelope"]["content"], "next");
    hub.stop().await;
}

#[tokio::test]
async fn work_that_nobody_finished_is_given_out_again_and_the_first_agent_is_fenced_off() {
    let hub = TestHub::start();
    let (row, _) = thread(&hub).await;
    say(&hub, row, "default", "do it").await;
    let (slow, quick) = (agent("slow"), agent("quick"));
    let first = pull(&hub, &slow, 1).await;
    assert!(pull(&hub, &quick, 1).await.is_empty());
    hub.clock.advance_ms(limits::WORK_LEASE_MS_DEFAULT);
    let second = pull(&hub, &quick, 1).await;
    assert_eq!((&second[0]["attempt"], &second[0]["fence"]), (&2.into(), &2.into()));
    for (name, more) in [
        ("complete_work", json!({ "replies": [{ "content": "too late" }] })),
        ("extend_work", json!({})),
        ("release_work", json!({ "reason": "gave up" })),
    ] {
        let mut input = more;
        input["work_id"] = first[0]["work_id"].clone();
        input["fence"] = first[0]["fence"].clone();
        let Err(error) = hub.call(&slow, name, input).await else { panic!("{name} was taken") };
        assert_eq!(error.code().name(), "CONFLICT", "{name}");
        assert!(error.to_string().starts_with("lease lost"), "{error}");
    }
    // Another agent's fence is no use either.
    assert_eq!(hub.code(&slow, "complete_work", completion(&second[0], "mine")).await, "CONFLICT");
    hub.ok(&quick, "complete_work", completion(&second[0], "done")).await;
    hub.stop().await;
}

#[tokio::test]
async fn a_lease_can_be_made_longer() {
    let hub = TestHub::start();
    let (row, _) = thread(&hub).await;
    say(&hub, row, "default", "long").await;
    let (worker, other) = (agent("a"), agent("b"));
    let item = pull(&hub, &worker, 1).await.remove(0);
    for _ in 0..5 {
        hub.clock.advance_ms(limits::WORK_LEASE_MS_DEFAULT - 1);
        let input = json!({ "work_id": item["work_id"], "fence": item["fence"] });
        hub.ok(&worker, "extend_work", input).await;
        assert!(pull(&hub, &other, 1).await.is_empty());
    }
    hub.ok(&worker, "complete_work", completion(&item, "done")).await;
    hub.stop().await;
}

#[tokio::test]
async fn work_that_was_given_out_too_often_is_given_up_and_shown() {
    let hub = TestHub::start();
    let (row, _) = thread(&hub).await;
    let poison = say(&hub, row, "default", "poison").await;
    say(&hub, row, "default", "next").await;
    let worker = agent("a");
    for attempt in 1..=limits::WORK_ATTEMPTS_MAX {
        let items = pull(&hub, &worker, 16).await;
        assert_eq!(items.len(), 1, "its thread waits for it");
        assert_eq!(items[0]["attempt"], attempt);
        assert_eq!(items[0]["envelope"]["content"], "poison");
        hub.clock.advance_ms(limits::WORK_LEASE_MS_DEFAULT);
    }
    let items = pull(&hub, &worker, 16).await;
    assert_eq!(items[0]["envelope"]["content"], "next", "its thread goes on");
    let dead = hub.ok(&worker, "list_work", json!({ "state": "dead" })).await;
    assert_eq!(dead["work"][0]["work_id"], json!(poison));
    let reason = dead["work"][0]["reason"].as_str().unwrap();
    assert_eq!(reason, "given out 5 times; last: the lease of a ended before the work was done");
    hub.stop().await;
}

#[tokio::test]
async fn released_work_is_given_out_again_after_its_delay_and_before_later_work() {
    let hub = TestHub::start();
    let (row, _) = thread(&hub).await;
    say(&hub, row, "default", "first").await;
    say(&hub, row, "default", "second").await;
    let worker = agent("a");
    let item = pull(&hub, &worker, 1).await.remove(0);
    let input = json!({
        "work_id": item["work_id"], "fence": item["fence"], "reason": "GitHub is down",
        "delay_ms": 5_000,
    });
    assert_eq!(hub.ok(&worker, "release_work", input).await["state"], "ready");
    assert!(pull(&hub, &worker, 16).await.is_empty(), "nothing of the thread overtakes it");
    let listed = hub.ok(&worker, "list_work", json!({ "state": "ready" })).await;
    assert_eq!(listed["work"][0]["reason"], "GitHub is down");
    hub.clock.advance_ms(5_000);
    let again = pull(&hub, &worker, 16).await;
    assert_eq!(again[0]["envelope"]["content"], "first");
    assert_eq!((&again[0]["attempt"], &again[0]["fence"]), (&2.into(), &2.into()));
    hub.stop().await;
}

#[tokio::test]
async fn a_queue_whose_route_names_an_agent_is_for_that_agent() {
    let mut settings = generous();
    let target =
        RouteTarget::Work { queue: "triage".to_owned(), agent: Some("triager".to_owned()) };
    settings.relay.intake.routes.push(RelayRoute { target, ..RelayRoute::default() });
    let hub = TestHub::with(On::Sqlite, settings);
    let (row, _) = thread(&hub).await;
    say(&hub, row, "triage", "for you").await;
    let input = json!({ "queue": "triage", "wait_ms": 0 });
    let code = hub.code(&agent("other"), "pull_work", input.clone()).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    assert!(pull(&hub, &agent("other"), 16).await.is_empty(), "it stands in no other queue");
    let got = hub.ok(&agent("triager"), "pull_work", input).await;
    assert_eq!(got["items"][0]["envelope"]["content"], "for you");
    hub.stop().await;
}

#[tokio::test]
async fn what_stands_in_queues_is_counted() {
    let hub = TestHub::start();
    let (row, _) = thread(&hub).await;
    say(&hub, row, "default", "one").await;
    say(&hub, row, "default", "two").await;
    pull(&hub, &agent("a"), 1).await;
    crate::world::eventually("they are counted", async || {
        let text = hub.hub.metrics_text();
        let line = |state: &str| {
            format!(
                "waystation_work_items{{workspace=\"wk_mobile_core\",queue=\"default\",state=\"{state}\"}} 1\n"
            )
        };
        text.contains(&line("leased")) && text.contains(&line("behind"))
    })
    .await;
    hub.stop().await;
}
