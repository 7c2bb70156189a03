//! Two hubs on one PostgreSQL: what one takes the other leaves alone.

use std::collections::{HashMap, HashSet};

use serde_json::json;
use testkit::On;

use crate::service::{Reaction, Service};
use crate::world::{
    agent, completion, eventually, is, linked, pass, pull, queue, say, thread, until_up,
};

#[tokio::test]
async fn two_hubs_send_everything_once_and_in_order() {
    let service = Service::new();
    let here = linked(On::Postgres, &service).await;
    let there = here.beside();
    until_up(&there).await;
    service.reacts([Reaction::TakeAndLose, Reaction::Take, Reaction::TakeAndLose]);
    let mut all = Vec::new();
    for n in 0..40 {
        let hub = if n % 2 == 0 { &here } else { &there };
        all.push(queue(hub, &format!("issue {}", n % 8), &format!("{n}")).await);
    }
    pass(&here, "all are sent", async || {
        there.hub.live.announce_outbox();
        service.texts().len() >= all.len()
    })
    .await;
    for id in &all {
        pass(&here, "that is known", async || {
            there.hub.live.announce_outbox();
            is(&here, *id, "sent").await
        })
        .await;
    }
    let comments = service.comments.lock().clone();
    let marks: HashSet<&String> = comments.iter().map(|comment| &comment.mark).collect();
    assert_eq!((comments.len(), marks.len()), (40, 40), "each once");
    let mut order: HashMap<&String, Vec<u32>> = HashMap::new();
    for comment in &comments {
        order.entry(&comment.place).or_default().push(comment.text.parse().unwrap());
    }
    assert!(order.values().all(|place| place.is_sorted()), "{order:?}");
    there.stop().await;
    here.stop().await;
}

#[tokio::test]
async fn a_hub_that_died_while_sending_is_followed_by_the_other() {
    let service = Service::new();
    let here = linked(On::Postgres, &service).await;
    service.reacts([Reaction::TakeAndDie]);
    let id = queue(&here, "issue 1", "once").await;
    eventually("it was taken", async || service.texts().len() == 1).await;
    let there = here.beside();
    until_up(&there).await;
    here.stop().await;
    let seconds = pass(&there, "it is sent", async || is(&there, id, "sent").await).await;
    assert!(seconds >= 60, "the other waits until the lease ends: {seconds}");
    assert_eq!((service.posts(), service.looks()), (1, 1));
    assert_eq!(service.texts(), ["once"]);
    there.stop().await;
}

#[tokio::test]
async fn work_of_one_hub_is_given_out_by_both_and_once() {
    let service = Service::new();
    let here = linked(On::Postgres, &service).await;
    let there = here.beside();
    let mut threads = Vec::new();
    for _ in 0..6 {
        threads.push(thread(&here).await.0);
    }
    for n in 0..24 {
        say(&here, threads[n % 6], "default", &format!("{n}")).await;
    }
    let done = parking_lot::Mutex::new(Vec::new());
    let work = async |hub: &testkit::TestHub, name: &str| {
        while done.lock().len() < 24 {
            for item in pull(hub, &agent(name), 3).await {
                done.lock().push(item["envelope"]["content"].as_str().unwrap().to_owned());
                hub.ok(&agent(name), "complete_work", completion(&item, "done")).await;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(work(&here, "a"), work(&there, "b"), work(&here, "c"), work(&there, "d"));
    let done = done.into_inner();
    let unique: HashSet<&String> = done.iter().collect();
    assert_eq!((done.len(), unique.len()), (24, 24), "each once");
    for place in 0..6 {
        let numbers = done.iter().map(|text| text.parse::<usize>().unwrap());
        let of_thread: Vec<usize> = numbers.filter(|n| n % 6 == place).collect();
        assert!(of_thread.is_sorted(), "{of_thread:?}");
    }
    let left = there.ok(&agent("a"), "list_work", json!({ "state": "ready" })).await;
    assert_eq!(left["work"], json!([]));
    there.stop().await;
    here.stop().await;
}
