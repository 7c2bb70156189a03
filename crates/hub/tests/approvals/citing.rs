//! What leans on documents cites them, by whichever way it leaves, and those who decide see where they are.

use serde_json::{Value, json};
use testkit::On;

use crate::world::{APPROVER, ISSUE, World, agent, operator};

crate::on_both! {
    a_proposal_cites_what_it_names_or_goes_back
    a_proposal_cites_what_its_task_retrieved_unless_it_says_otherwise
    another_draft_keeps_citing
    finished_work_is_held_to_the_same
}

/// Adds a document; answers what its piece is cited by.
async fn document(world: &World) -> String {
    let document = json!({
        "source": "guide.md", "title": "The guide", "url": "https://docs.example/guide",
        "text": "# Rolling back\nUse the rollback button.",
    });
    world.hub.ok(&operator(), "add_documents", json!({ "documents": [document] })).await;
    let found = world.hub.ok(&agent(), "retrieve_docs", json!({ "query": "rollback" })).await;
    found["retrieval_refs"][0].as_str().unwrap().to_owned()
}

/// The agent has documents retrieved by a tool, for the task at hand.
async fn retrieves(world: &World) {
    let envelope = json!({
        "id": "e1", "timestamp": "2026-02-17T12:00:00Z", "channel": "internal", "role": "assistant",
        "content": "", "meta": { "thread_id": world.thread },
        "tool_call": { "name": "retrieve_docs", "args": { "query": "rollback" }, "result": null },
    });
    let posted = world.hub.ok(&agent(), "post_envelope", json!({ "envelope": envelope })).await;
    let call = json!({ "call_id": posted["call_id"] });
    world
        .eventually("the tool has answered", async || {
            let seen = world.hub.ok(&agent(), "get_tool_call", call.clone()).await;
            seen["result"].is_object()
        })
        .await;
}

async fn propose(world: &World, action: Value) -> Result<Value, (String, String)> {
    let input = json!({ "thread_id": world.thread, "action": action });
    told(world.hub.call(&agent(), "propose_action", input).await)
}

/// An answer, or the field and the hint of a refusal.
fn told(answer: Result<Value, waystation_hub::Error>) -> Result<Value, (String, String)> {
    answer.map_err(|error| {
        let body = error.body("r".to_owned());
        assert_eq!(body.code.name(), "VALIDATION_ERROR", "{}", body.message);
        (body.field.unwrap(), body.hint.unwrap())
    })
}

async fn a_proposal_cites_what_it_names_or_goes_back(on: On) {
    let world = World::on(on).await;
    let id = document(&world).await;
    let action = |text: &str| json!({ "to": ISSUE, "text": text, "retrieval_refs": [id] });
    let (field, hint) = propose(&world, action("Use the button.")).await.unwrap_err();
    assert_eq!(field, "action.text");
    assert!(hint.contains(&format!("[[ref:{id}]]")), "{hint}");
    let text = format!("Use the button [[ref:{id}]], not [[ref:ref_forged]].");
    let asked = world.services.at("slack").len();
    let proposal = propose(&world, action(&text)).await.unwrap()["proposal_id"].clone();
    let proposal = proposal.as_str().unwrap();
    let seen = world.proposal(proposal).await;
    let cited = json!([{ "id": id, "title": "The guide", "url": "https://docs.example/guide" }]);
    assert_eq!(seen["citations"], cited, "what nobody knows is no source");
    // Whoever is asked sees the source as a link, outside of the draft.
    world.eventually("somebody is asked", async || world.services.at("slack").len() > asked).await;
    let question = world.services.at("slack").pop().unwrap().action;
    assert!(question.text.contains(&format!("It cites [[ref:{id}]]")), "{}", question.text);
    assert_eq!(json!(question.citations), cited);
    world.press(APPROVER, "approve", "").await;
    world.until_posted("github", 1).await;
    let sent = world.services.at("github").remove(0).action;
    assert_eq!((json!(sent.citations), sent.text), (cited, text));
    world.hub.stop().await;
}

async fn a_proposal_cites_what_its_task_retrieved_unless_it_says_otherwise(on: On) {
    let world = World::on(on).await;
    let id = document(&world).await;
    retrieves(&world).await;
    let (field, hint) = propose(&world, json!({ "to": ISSUE, "text": "x" })).await.unwrap_err();
    assert_eq!(field, "action.text");
    assert!(hint.contains(&format!("[[ref:{id}]]")) && hint.contains("[] for none"), "{hint}");
    for action in [
        json!({ "to": ISSUE, "text": format!("x [[ref:{id}]]") }),
        json!({ "to": ISSUE, "text": "thank you", "retrieval_refs": [] }),
    ] {
        assert!(propose(&world, action).await.unwrap()["proposal_id"].is_string());
    }
    world.hub.stop().await;
}

async fn another_draft_keeps_citing(on: On) {
    let world = World::on(on).await;
    let id = document(&world).await;
    let action = json!({ "to": ISSUE, "text": format!("x [[ref:{id}]]"), "retrieval_refs": [id] });
    let proposal = propose(&world, action).await.unwrap()["proposal_id"].clone();
    let revise = async |text: &str, refs: Option<Value>| {
        let mut input = json!({ "proposal_id": proposal, "text": text });
        if let Some(refs) = refs {
            input["retrieval_refs"] = refs;
        }
        told(world.hub.call(&agent(), "revise_proposal", input).await)
    };
    let (field, hint) = revise("y", None).await.unwrap_err();
    assert_eq!(field, "text");
    assert!(hint.contains(&format!("[[ref:{id}]]")), "{hint}");
    assert_eq!(revise(&format!("y [[ref:{id}]]"), None).await.unwrap()["version"], 2);
    assert_eq!(revise("y", Some(json!([]))).await.unwrap()["version"], 3);
    let seen = world.proposal(proposal.as_str().unwrap()).await;
    assert_eq!(seen.get("citations"), None);
    world.hub.stop().await;
}

async fn finished_work_is_held_to_the_same(on: On) {
    let world = World::on(on).await;
    let id = document(&world).await;
    let pulled = world.hub.ok(&agent(), "pull_work", json!({ "wait_ms": 0 })).await;
    let item = pulled["items"][0].clone();
    retrieves(&world).await;
    let complete = async |text: &str| {
        let input = json!({
            "work_id": item["work_id"], "fence": item["fence"],
            "actions": [{ "to": ISSUE, "text": text }],
        });
        told(world.hub.call(&agent(), "complete_work", input).await)
    };
    let (field, hint) = complete("x").await.unwrap_err();
    assert_eq!(field, "actions[0].text");
    assert!(hint.contains(&format!("[[ref:{id}]]")), "{hint}");
    let done = complete(&format!("x [[ref:{id}]]")).await.unwrap();
    assert!(done["actions"][0]["proposal_id"].is_string(), "{done}");
    world.hub.stop().await;
}
