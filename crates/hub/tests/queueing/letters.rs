//! Looking at the outbox, trying again, taking back, and refusing what nobody approved.

use protocol::OutboxId;
use protocol::relay::Action;
use serde_json::json;
use store::NewOutboxRow;
use testkit::On;
use waystation_hub::relay::outbox::Replaces;

use crate::service::{Reaction, Service};
use crate::world::{
    WORKSPACE, action, agent, eventually, is, linked, operator, pass, queue, queue_with,
};

#[tokio::test]
async fn a_dead_letter_is_tried_again_by_hand_and_what_waits_can_be_taken_back() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::Refuse, Reaction::Limit(600)]);
    let dead = queue(&hub, "issue 1", "again").await;
    eventually("it is given up", async || is(&hub, dead, "dead").await).await;
    let waits = queue(&hub, "issue 2", "never").await;
    eventually("it waits", async || service.posts() == 2 && is(&hub, waits, "waiting").await).await;
    let listed = hub.ok(&operator(), "list_outbox", json!({ "state": "dead" })).await;
    assert_eq!(listed["actions"][0]["outbox_id"], json!(dead));
    assert_eq!(listed["actions"].as_array().unwrap().len(), 1);
    let one = json!({ "outbox_id": dead });
    assert_eq!(hub.ok(&operator(), "redrive_outbox", one.clone()).await["state"], "waiting");
    eventually("it is sent", async || is(&hub, dead, "sent").await).await;
    assert_eq!(hub.code(&operator(), "redrive_outbox", one.clone()).await, "CONFLICT");
    assert_eq!(hub.code(&operator(), "cancel_outbox", one.clone()).await, "CONFLICT");
    let other = json!({ "outbox_id": waits });
    let cancelled = hub.ok(&operator(), "cancel_outbox", other.clone()).await;
    assert_eq!(
        (&cancelled["state"], &cancelled["reason"]),
        (&"cancelled".into(), &"boss took it back".into())
    );
    assert_eq!(hub.ok(&operator(), "cancel_outbox", other.clone()).await, cancelled);
    assert_eq!(hub.code(&operator(), "redrive_outbox", other).await, "CONFLICT");
    hub.clock.advance_ms(3_600_000);
    let last = queue(&hub, "issue 2", "last").await;
    eventually("what comes after it goes on", async || is(&hub, last, "sent").await).await;
    assert_eq!(service.texts(), ["again", "last"]);
    for name in ["list_outbox", "redrive_outbox", "cancel_outbox"] {
        assert_eq!(hub.code(&agent("worker"), name, one.clone()).await, "FORBIDDEN", "{name}");
    }
    let missing = json!({ "outbox_id": OutboxId::new(hub.hub.now(), [7; 10]) });
    assert_eq!(hub.code(&operator(), "redrive_outbox", missing).await, "NOT_FOUND");
    hub.stop().await;
}

#[tokio::test]
async fn what_no_decision_allows_is_not_queued_and_what_was_changed_is_not_sent() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    // There is no such proposal, so nothing allows it.
    let refused = queue_with(&hub, "issue 1", "never", Some(99), None).await.unwrap_err();
    assert_eq!(refused.code().name(), "CONFLICT");
    // A row whose text is not what its digest says, and one that names a proposal nobody made.
    let now = hub.hub.now();
    let ids = [OutboxId(hub.hub.new_uid(now)), OutboxId(hub.hub.new_uid(now))];
    let put = hub.hub.store.write(move |tx| {
        let link = tx.link(WORKSPACE, "scripted")?.unwrap();
        let approved = Action { text: "approved".to_owned(), ..Action::default() };
        let other = Action { text: "something else".to_owned(), ..Action::default() };
        for (id, hashed, proposal) in [(ids[0], &approved, None), (ids[1], &other, Some(99))] {
            let destination = id.to_string();
            tx.insert_outbox(&NewOutboxRow {
                id,
                workspace: WORKSPACE,
                link_row: link.row,
                destination: &destination,
                action: &serde_json::to_string(&other).unwrap(),
                action_hash: hashed.hash(),
                buttons: None,
                replaces: None,
                thread_row: None,
                task: None,
                agent: "a",
                proposal,
                at: now,
            })?;
        }
        Ok::<_, store::StoreError>(())
    });
    put.await.unwrap();
    hub.hub.live.announce_outbox();
    for id in ids {
        eventually("it is refused", async || is(&hub, id, "dead").await).await;
        let reason = action(&hub, id).await["reason"].clone();
        assert_eq!(reason, "it is not what was approved: nothing was sent");
    }
    assert_eq!(service.posts(), 0);
    hub.stop().await;
}

#[tokio::test]
async fn a_posting_takes_the_place_of_one_that_is_still_on_its_way() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::TakeAndLose]);
    let question = queue(&hub, "channel", "may I?").await;
    let replaces = Some(Replaces::Posting(question));
    let answer = queue_with(&hub, "elsewhere", "yes, says Antti", None, replaces).await.unwrap();
    pass(&hub, "both are sent", async || is(&hub, answer, "sent").await).await;
    let comments = service.comments.lock().clone();
    assert_eq!(comments.len(), 2);
    assert_eq!(comments[1].replaces.as_deref(), Some(r#"{"comment":1}"#));
    assert_eq!(service.footers.lock().last().unwrap().as_deref(), None);
    // What was never there needs no replacement.
    service.reacts([Reaction::Refuse]);
    let refused = queue(&hub, "channel", "may I too?").await;
    eventually("it is given up", async || is(&hub, refused, "dead").await).await;
    let replaces = Some(Replaces::Posting(refused));
    let needless = queue_with(&hub, "channel", "no", None, replaces).await.unwrap();
    eventually("it is not needed", async || is(&hub, needless, "cancelled").await).await;
    assert_eq!(service.texts().len(), 2);
    hub.stop().await;
}

#[tokio::test]
async fn an_action_waits_for_its_link_and_dies_with_it() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    service.reacts([Reaction::Limit(60)]);
    let id = queue(&hub, "issue 1", "orphan").await;
    eventually("it waits", async || service.posts() == 1 && is(&hub, id, "waiting").await).await;
    hub.ok(&operator(), "remove_link", json!({ "name": "scripted" })).await;
    pass(&hub, "it is given up", async || is(&hub, id, "dead").await).await;
    assert_eq!(action(&hub, id).await["reason"], "its link was removed");
    assert_eq!(service.posts(), 1);
    hub.stop().await;
}
