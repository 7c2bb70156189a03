//! The examples of the thread specification over REST, word for word where they are JSON.

use serde_json::{Value, json};

use crate::program::Home;

#[test]
fn the_example_of_each_operation_works_over_rest() {
    let home = Home::new().with("WORKSPACE", "wk_mobile_core");
    let up = home.up();
    let coordinator = up.client(&home.token("coordinator_agent", "orchestrator"));
    let author = up.client(&home.token("executioner_agent", "worker"));
    let reviewer =
        home.ok(&["token", "issue", "--agent", "reviewer_agent", "--session", "sess_rv_12"]);
    let reviewer = up.client(reviewer.trim());

    let thread = coordinator.ok(
        "POST",
        "/v1/threads",
        &json!({
            "workspace_id": "wk_mobile_core",
            "title": "Profile mapper review loop",
            "type": "workflow",
            "participants": ["executioner_agent", "reviewer_agent"],
            "created_by": "coordinator_agent"
        }),
    );
    assert_eq!(thread["status"], "active");
    let id = thread["thread_id"].as_str().unwrap();
    let at = |rest: &str| format!("/v1/threads/{id}{rest}");

    let got = author.get(&at(""));
    assert_eq!(got["workspace_id"], "wk_mobile_core");
    assert_eq!(got["participants"], json!(["executioner_agent", "reviewer_agent"]));

    let finding = finding(id);
    let posted = reviewer.ok("POST", &at("/messages"), &finding);
    assert_eq!((&posted["seq"], &posted["thread_status"]), (&json!(1), &json!("active")));
    assert_eq!(reviewer.ok("POST", &at("/messages"), &finding), posted, "a retry");
    let mut other = finding.clone();
    other["body"] = json!("Something else");
    let conflict = reviewer.json("POST", &at("/messages"), &other);
    assert_eq!((conflict.status, conflict.code().as_str()), (409, "IDEMPOTENCY_CONFLICT"));

    let page = author.get(&at("/messages?agent_id=executioner_agent&since_seq=0&limit=50"));
    assert_eq!((&page["next_seq"], &page["has_more"]), (&json!(1), &json!(false)));
    assert_eq!(page["messages"][0]["message_id"], posted["message_id"]);
    assert_eq!(page["messages"][0]["metadata"]["line"], 42);
    let ack = json!({ "thread_id": id, "agent_id": "executioner_agent", "last_read_seq": 1 });
    assert_eq!(author.ok("PUT", &at("/cursor"), &ack)["ok"], true);
    let waited = author.get(&format!("/v1/messages/wait?thread_id={id}&timeout_ms=0"));
    assert_eq!(waited["timed_out"], true);
    let message = posted["message_id"].as_str().unwrap();
    let life = author.get(&at(&format!("/messages/{message}")));
    assert_eq!(life["read_by"][0]["agent_id"], "executioner_agent");

    let resolve = json!({ "status": "resolved", "reason": "all_findings_verified" });
    let disputed = reviewer.json("PUT", &at("/status"), &resolve);
    assert_eq!((disputed.status, disputed.code().as_str()), (403, "INSUFFICIENT_AUTHORITY"));
    assert_eq!(coordinator.ok("PUT", &at("/status"), &resolve)["status"], "resolved");
    let summary = author.get(&at("/summary?max_messages=200"));
    assert_eq!(summary["last_status"], "resolved");
    let beat = json!({
        "agent_id": "reviewer_agent", "workspace_id": "wk_mobile_core", "session_id": "sess_rv_12",
        "runtime": "codex_cli", "resumable": true, "status": "idle"
    });
    assert_eq!(reviewer.ok("POST", "/v1/sessions/heartbeat", &beat)["ok"], true);
    let sessions = author.get("/v1/sessions?online_only=true&agent_id=reviewer_agent");
    assert_eq!(sessions["sessions"][0]["status"], "idle");
    let added = coordinator.ok("POST", &at("/participants"), &json!({ "participants": ["third"] }));
    assert_eq!(added["participants"].as_array().unwrap().len(), 3);
    let removed = coordinator.ok("DELETE", &at("/participants?participants=third"), &Value::Null);
    assert_eq!(removed["participants"].as_array().unwrap().len(), 2);
    let listed = author.get("/v1/threads?status=resolved&type=workflow&unread_only=true");
    assert_eq!(listed["threads"][0]["thread_id"], id);
}

/// The specification's finding, by `reviewer_agent` in the session `sess_rv_12`.
fn finding(id: &str) -> Value {
    json!({
        "thread_id": id,
        "schema_version": 1,
        "sender_agent_id": "reviewer_agent",
        "sender_session_id": "sess_rv_12",
        "kind": "event",
        "body": "Blocking issue found in null fallback",
        "metadata": {
            "event_type": "finding_reported",
            "severity": "high",
            "file": "lib/features/profile/data/mappers/user_mapper.dart",
            "line": 42,
            "task_id": "TASK-219"
        },
        "idempotency_key": "rv-find-219-1"
    })
}

#[test]
fn tokens_and_the_trail_work_over_rest() {
    let home = Home::new();
    let up = home.up();
    let operator = up.client(&home.token("human", "operator"));
    let issued = operator.ok("POST", "/v1/tokens", &json!({ "agent_id": "new" }));
    let new = up.client(issued["token"].as_str().unwrap());
    new.open(&[]);
    let jti = issued["jti"].as_str().unwrap();
    operator.ok("DELETE", &format!("/v1/tokens/{jti}"), &Value::Null);
    assert_eq!(new.json("GET", "/v1/threads", &Value::Null).status, 401);
    let trail = operator.get("/v1/audit?limit=200");
    let entries = trail["entries"].as_array().unwrap();
    assert!(entries.iter().any(|e| e["operation"] == "revoke_token" && e["object"] == jti));
}

#[test]
fn errors_over_rest_carry_the_codes_of_the_specification() {
    let home = Home::new().with("LIMITS__POSTS_BURST", "2").with("LIMITS__POSTS_PER_SECOND", "1");
    let up = home.up();
    let (one, two) = (home.token("one", "worker"), home.token("two", "worker"));
    let (one, two) = (up.client(&one), up.client(&two));
    let thread = one.open(&[]);
    let at = format!("/v1/threads/{thread}/messages");
    let post = |body: Value| one.json("POST", &at, &body);
    let claim = post(json!({ "body": "x", "sender_agent_id": "two" }));
    assert_eq!((claim.status, claim.code().as_str()), (403, "CLAIM_MISMATCH"));
    assert_eq!(claim.error()["field"], "sender_agent_id");
    let outside = two.json("POST", &at, &json!({ "body": "x" }));
    assert_eq!((outside.status, outside.code().as_str()), (403, "FORBIDDEN"));
    assert_eq!(outside.error()["message"], "agent not allowed to post to this thread");
    let other = one.json("POST", "/v1/threads", &json!({ "title": "x", "workspace_id": "wk" }));
    assert_eq!((other.status, other.code().as_str()), (403, "OUT_OF_SCOPE_WORKSPACE"));
    let missing = one.json("GET", "/v1/threads/th_01JXYZ", &Value::Null);
    assert_eq!((missing.status, missing.code().as_str()), (404, "NOT_FOUND"));
    let replies: Vec<_> = (0..4).map(|_| post(json!({ "body": "x" }))).collect();
    let limited = replies.iter().find(|reply| reply.status == 429).expect("four at once");
    let error = limited.error();
    assert_eq!((&error["code"], &error["retryable"]), (&json!("RATE_LIMITED"), &json!(true)));
    assert!(error["retry_after_ms"].as_u64().unwrap() > 0);
    assert!(limited.header("retry-after").unwrap().parse::<u64>().unwrap() > 0);
    let closed = json!({ "status": "closed" });
    one.ok("PUT", &format!("/v1/threads/{thread}/status"), &closed);
    let impossible = json!({ "status": "blocked" });
    let conflict = one.json("PUT", &format!("/v1/threads/{thread}/status"), &impossible);
    assert_eq!((conflict.status, conflict.code().as_str()), (409, "CONFLICT"));
}
