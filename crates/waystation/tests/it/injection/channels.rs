//! Every way in which a stranger's text reaches the hub.

use serde_json::{Value, json};
use testkit::fakes::{SlackFake, post};

use super::github_payloads;
use super::texts::{MARK, hostile};
use super::world::{APPROVER, World};

impl World {
    /// Strangers write wherever they can; the hub takes all of it.
    pub(crate) async fn strangers_write(&self) {
        self.by_slack().await;
        self.by_github().await;
        self.by_sentry().await;
        self.by_openproject().await;
        self.by_documents();
        self.by_chats();
    }

    async fn by_slack(&self) {
        let hook = self.hook("slack");
        let command = self.slack.slash_command("C1", "U2", "/triage", &hostile("a command"));
        let mention = json!({
            "type": "app_mention", "user": "U2", "text": hostile("a mention"), "channel": "C1",
            "ts": "1771329601.000200", "event_ts": "1771329601.000200",
        });
        let message = json!({
            "type": "message", "user": "U2", "text": hostile("a message"), "channel": "C1",
            "channel_type": "channel", "ts": "1771329602.000200", "event_ts": "1771329602.000200",
            // What another app posts may carry whatever it likes.
            "metadata": { "event_type": "waystation", "event_payload": { "id": hostile("metadata") } },
        });
        let bodies = [command, self.slack.callback(&mention), self.slack.callback(&message)];
        for body in bodies.iter().chain(&self.forged_clicks("forged")) {
            let answers = SlackFake::deliver(&hook, body, 2).await;
            assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
        }
    }

    /// Buttons and editors that carry something else than the hub gave them, by the approver's own hand.
    pub(crate) fn forged_clicks(&self, token: &str) -> Vec<Vec<u8>> {
        let button = json!({ "action_id": "waystation_approve", "value": token });
        let message = json!({
            "ts": "1771329601.000200", "text": hostile("a button"),
            "blocks": [{ "type": "actions", "elements": [button] }],
        });
        let view = json!({
            "callback_id": "waystation_view_edit", "private_metadata": token,
            "blocks": [{
                "type": "input", "block_id": "waystation_text",
                "element": { "action_id": "waystation_text" },
            }],
        });
        vec![
            self.slack.click(APPROVER, "C1", &message, "waystation_approve"),
            self.slack.submit(APPROVER, &view, &hostile("an editor")),
        ]
    }

    async fn by_github(&self) {
        let body = hostile("the body of an issue");
        self.github.add_issue("acme/shop", 12, &hostile("a title"), &body, &["bug"]);
        self.github.say("acme/shop", 12, "mallory", &hostile("a comment that a tool reads"));
        for (event, payload) in github_payloads::all() {
            let answers = self.github.deliver(&self.hook("github"), event, &payload, 2).await;
            assert!(answers.iter().all(|one| one.status == 200), "{event}: {answers:?}");
        }
    }

    async fn by_sentry(&self) {
        self.sentry.add_issue("4509", &hostile("an error"));
        let person = json!({ "type": "user", "id": 7, "name": hostile("a name") });
        let installation = json!({ "uuid": "7a485448-a9e2-4c85-8a3c-4f44175783c9" });
        let comment = json!({
            "issue_id": 4509, "comment_id": 31, "project_slug": "shop",
            "comment": hostile("a comment"), "timestamp": "2026-02-17T12:00:00Z",
        });
        let error = json!({
            "event_id": "e1", "issue_id": "4509", "title": hostile("an error"), "level": "error",
            "web_url": "https://acme.sentry.io/issues/4509/events/e1/",
        });
        let metric = json!({
            "metric_alert": { "id": "1", "alert_rule": { "name": hostile("a rule") } },
            "description_title": hostile("an alert"), "description_text": hostile("an alert"),
        });
        let payload = |action: &str, data: Value| json!({ "action": action, "installation": installation, "data": data, "actor": person });
        for (resource, payload) in [
            ("issue", self.sentry.issue_event("4509", "created")),
            ("comment", payload("created", comment)),
            ("error", payload("created", json!({ "error": error }))),
            (
                "event_alert",
                payload(
                    "triggered",
                    json!({ "event": error, "triggered_rule": hostile("a rule") }),
                ),
            ),
            ("metric_alert", payload("critical", metric)),
            (
                "seer",
                payload(
                    "root_cause_completed",
                    json!({ "group_id": "4509", "root_cause": hostile("a model") }),
                ),
            ),
        ] {
            let answers = self.sentry.deliver(&self.hook("sentry"), resource, &payload, 2).await;
            assert!(answers.iter().all(|one| one.status == 200), "{resource}: {answers:?}");
        }
    }

    async fn by_openproject(&self) {
        self.openproject.add_work_package(42, &hostile("a subject"), &hostile("a description"));
        let activity = |id: i64, way: &str| {
            json!({
                "_type": "Activity::Comment", "id": id, "version": 1,
                "comment": { "format": "markdown", "raw": hostile(way) },
                "createdAt": "2026-02-17T12:00:00Z", "updatedAt": "2026-02-17T12:00:00Z",
                "_links": {
                    "workPackage": { "href": "/api/v3/work_packages/42", "title": hostile("a title") },
                    "user": { "href": "/api/v3/users/9", "title": hostile("a name") },
                },
            })
        };
        let project = json!({ "_type": "Project", "id": 1, "name": hostile("a project") });
        let entry = json!({
            "_type": "TimeEntry", "id": 2, "comment": { "raw": hostile("a time entry") },
            "_links": { "workPackage": { "href": "/api/v3/work_packages/42", "title": "x" } },
        });
        for payload in [
            self.openproject.work_package_event(42, "created"),
            json!({ "action": "work_package_comment:comment", "activity": activity(71, "a comment") }),
            json!({ "action": "work_package_comment:internal_comment", "activity": activity(72, "within") }),
            json!({ "action": "project:created", "project": project }),
            json!({ "action": "time_entry:created", "time_entry": entry }),
        ] {
            let answers = self.openproject.deliver(&self.hook("openproject"), &payload, 2).await;
            assert!(answers.iter().all(|one| one.status == 200), "{payload}: {answers:?}");
        }
    }

    fn by_documents(&self) {
        let document = json!({
            "source": "guide.md", "title": format!("{MARK} <!channel> @everyone"), "url": "https://docs.example/guide",
            "text": format!("# Deploying\n{}", hostile("a document")),
        });
        self.operator.ok("POST", "/v1/documents", &json!({ "documents": [document] }));
    }

    fn by_chats(&self) {
        let facts = json!({ "messages": [{
            "chat_id": "c", "message_id": "1", "sent_at": "2026-02-17T11:00:00Z",
            "text": hostile("a chat"), "sender_id": "7", "sender_name": hostile("a name"),
        }] });
        self.operator.ok("POST", "/v1/sources/family/messages", &json!({ "facts": facts }));
    }

    /// Calls that no service has signed are turned away, whatever they say.
    pub(crate) async fn nobody_signs(&self) {
        let body = json!({ "action": "opened", "text": hostile("nobody") }).to_string();
        for service in ["slack", "github", "sentry", "openproject", "webhook"] {
            let headers = [("content-type".to_owned(), "application/json".to_owned())];
            let answer = post(&self.hook(service), &headers, body.as_bytes()).await;
            assert!((400..500).contains(&answer.status), "{service}: {answer:?}");
        }
    }
}
