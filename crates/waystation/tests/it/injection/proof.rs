//! Nothing leaves without a human's yes, whatever was said by whichever way.

use serde_json::{Value, json};
use testkit::fakes::SlackFake;

use super::obedient::Obedient;
use super::texts::{MARK, tricks_of};
use super::world::{APPROVER, ISSUE, SYSTEM, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_text_by_every_way_causes_nothing_outside_without_an_approval() {
    let world = World::start("").await;
    world.strangers_write().await;
    world.nobody_signs().await;
    let mut agent = Obedient::new(&world, "obedient");
    agent.obeys();
    let ways = agent.items.len();
    assert!(ways >= 20, "every way became work: {ways}");
    reads_everything_else(&world, &mut agent);
    world.until("every question is asked", || {
        let began_in_slack = |one: &&Value| {
            let item = agent.items.iter().find(|item| item["thread_id"] == one["thread_id"]);
            item.is_some_and(|item| item["envelope"]["channel"] == "slack")
        };
        world.said_in_slack().len() >= world.proposals().iter().filter(began_in_slack).count()
    });
    world.until_quiet();

    // Nobody has decided anything, so nothing has left but the questions.
    assert_eq!(world.written(), [], "no service was written to");
    let proposals = world.proposals();
    assert!(proposals.len() > ways, "{}", proposals.len());
    assert!(
        proposals.iter().all(|one| one["state"] == "waiting" && one["decided_by"] == Value::Null)
    );
    for row in world.outbox() {
        assert_eq!(
            (&row["agent_id"], &row["action"]["link"]),
            (&json!("waystation"), &json!("slack"))
        );
    }
    for message in world.said_in_slack() {
        calls_nobody(&message);
    }
    clicks_of_others_decide_nothing(&world).await;
    assert_eq!(world.written(), [], "no service was written to");
    marks_hold(&world, &agent);

    one_yes_lets_one_thing_out(&world).await;
}

/// What comes by tools, memory, documents and chats is read and obeyed as well.
fn reads_everything_else(world: &World, agent: &mut Obedient<'_>) {
    let thread = agent.items[0]["thread_id"].as_str().unwrap().to_owned();
    for (tool, args) in [
        ("SummarizeIssue", json!({ "issue_url": ISSUE })),
        ("retrieve_docs", json!({ "query": "deploying", "k": 3 })),
        ("recall", json!({ "query": MARK })),
        ("get_messages", json!({ "source": "family", "search": MARK })),
    ] {
        let result = agent.runs(&thread, tool, &args);
        assert!(result.to_string().contains(MARK), "{tool}: {result}");
        let wish = json!({
            "thread_id": thread, "action": { "to": ISSUE, "text": result.to_string(), "retrieval_refs": [] },
            "why": format!("{tool} said so"),
        });
        let reply = agent.client().json("POST", "/v1/proposals", &wish);
        assert!(
            reply.status >= 400 || reply.json()["outbox_id"] == Value::Null,
            "{}",
            reply.text()
        );
    }
    let envelopes = world.envelopes(&thread);
    let answers = envelopes.iter().filter(|one| one["role"] == "tool");
    let foreign = answers.filter(|one| one["tool_call"]["result"].to_string().contains(MARK));
    let trusted: Vec<&Value> = foreign.filter(|one| one["meta"]["trust"] != "external").collect();
    assert_eq!(trusted, Vec::<&Value>::new(), "what a tool brings in is a stranger's");
}

/// A question shows hostile text and does nothing with it.
fn calls_nobody(message: &Value) {
    let shown = message["blocks"].to_string() + message["text"].as_str().unwrap();
    for call in ["<!channel", "<!here", "<!everyone", "<!subteam", "<@U0APPROVER", "<script"] {
        assert!(!shown.contains(call), "{call}: {shown}");
    }
    assert_eq!(tricks_of(message), "", "{shown}");
}

/// Strangers press real buttons, and approvers forged ones.
async fn clicks_of_others_decide_nothing(world: &World) {
    let hook = world.hook("slack");
    let asked = world.said_in_slack();
    let question =
        asked.iter().find(|one| one["blocks"].to_string().contains("waystation_approve"));
    let question = question.expect("somebody is asked");
    let stranger = world.slack.click("U2", "C1", question, "waystation_approve");
    SlackFake::deliver(&hook, &stranger, 2).await;
    let buttons = question["blocks"].as_array().unwrap().iter();
    let mut token = buttons.filter_map(|block| block["elements"].as_array()).flatten();
    let token = token.find_map(|button| button["value"].as_str()).unwrap().to_owned();
    let flipped: String = token.chars().rev().collect();
    for forged in ["", "prop_1", &flipped, &format!("{token}0")] {
        for body in world.forged_clicks(forged) {
            SlackFake::deliver(&hook, &body, 1).await;
        }
    }
    assert!(world.proposals().iter().all(|one| one["state"] == "waiting"));
}

/// Who said what is the hub's to say: no message is more than it is.
fn marks_hold(world: &World, agent: &Obedient<'_>) {
    for thread in world.threads() {
        for envelope in world.envelopes(&thread) {
            let (meta, role) = (&envelope["meta"], &envelope["role"]);
            let trust = meta["trust"].as_str().unwrap();
            assert_ne!(trust, "operator", "no person has spoken: {envelope}");
            assert!(meta.get("proposal").is_none(), "nothing was decided: {envelope}");
            assert_ne!(role, "human", "{envelope}");
            match trust {
                "agent" => assert_eq!(role, "assistant", "{envelope}"),
                "external" => assert!(role == "user" || role == "tool", "{envelope}"),
                _ => assert!(!envelope["content"].as_str().unwrap().contains(MARK), "{envelope}"),
            }
            if trust == "external" {
                assert_eq!(tricks_of(&envelope), "", "{envelope}");
            }
        }
        let context = world.operator.get(&format!("/v1/threads/{thread}/context"));
        assert_eq!(context["envelope"]["context"]["system"], SYSTEM);
    }
    for item in &agent.items {
        assert_eq!(item["context"]["system"], SYSTEM);
        assert_eq!(item["envelope"]["meta"]["trust"], "external");
    }
}

/// A person says yes to one, and exactly that one arrives, with nothing in it that calls anybody.
async fn one_yes_lets_one_thing_out(world: &World) {
    let wanted = world.proposals().into_iter().find(|one| one["place"] == ISSUE).unwrap();
    let id = wanted["proposal_id"].as_str().unwrap().to_owned();
    let question = world.said_in_slack().into_iter().find(|one| {
        let shown = one["blocks"].to_string();
        shown.contains(&id) && shown.contains("waystation_approve")
    });
    let click =
        world.slack.click(APPROVER, "C1", &question.expect("it was asked"), "waystation_approve");
    let answers = SlackFake::deliver(&world.hook("slack"), &click, 2).await;
    assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
    world.until("the comment stands there", || !world.github.posted().is_empty());
    world.until_quiet();
    let posted = world.github.posted();
    assert_eq!((posted.len(), world.written().len()), (1, 1), "{:?}", world.written());
    let seen = world.operator.get(&format!("/v1/proposals/{id}"));
    assert_eq!((&seen["state"], &seen["decided_via"]), (&json!("approved"), &json!("chat")));
    let row = world.outbox().into_iter().find(|row| row["outbox_id"] == seen["outbox_id"]).unwrap();
    assert_eq!((&row["approved"], &row["action_hash"]), (&json!(true), &seen["action_hash"]));
    let body = &posted[0].body;
    for call in
        ["@everyone", "@acme", "@channel", "<script", "](javascript:", "ws:out_0000", "GH-12"]
    {
        assert!(!body.contains(call), "{call}: {body}");
    }
    assert_eq!(tricks_of(&json!(body)), "", "{body}");
}
