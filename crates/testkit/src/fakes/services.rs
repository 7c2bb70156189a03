//! All four services at once, with a control port, for programs that cannot hold a fake in their hands:
//! black-box tests, and somebody who tries the relay out.

mod control;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::{FakeReceiver, FakeServer, GithubFake, OpenProjectFake, SentryFake, SlackFake};
use super::{github, openproject, sentry, slack};

/// The running fakes.
#[derive(Debug)]
pub struct FakeServices {
    control: FakeServer,
    all: Arc<All>,
}

#[derive(Debug)]
struct All {
    github: GithubFake,
    sentry: SentryFake,
    openproject: OpenProjectFake,
    slack: SlackFake,
    receiver: FakeReceiver,
}

impl FakeServices {
    /// Starts them, with something to talk about at each: issue 12 of acme/shop, issue 4509, work package
    /// 42, and the channel C1.
    pub async fn start() -> Self {
        let all = All {
            github: GithubFake::start().await,
            sentry: SentryFake::start().await,
            openproject: OpenProjectFake::start().await,
            slack: SlackFake::start().await,
            receiver: FakeReceiver::start().await,
        };
        let body = "Adding an item without a price throws `ValueError`.\n\n1. Open the shop\n2. Add an item";
        all.github.add_issue("acme/shop", 12, "The cart breaks without a price", body, &["bug"]);
        all.sentry.add_issue("4509", "ValueError: no price");
        all.openproject.add_work_package(42, "The cart breaks without a price", body);
        all.slack.add_channel("C1", "general", true);
        let all = Arc::new(all);
        let routes = Router::new()
            .route("/", get(control::about))
            .route("/{service}/{what}", post(control::control))
            .with_state(Arc::clone(&all));
        Self { control: FakeServer::start(routes).await, all }
    }

    /// Where they are reached, what the links to them are given, and where they are told what to do.
    pub fn about(&self) -> Value {
        let mut about = self.all.about();
        if let Some(fields) = about.as_object_mut() {
            fields.insert("control".to_owned(), json!(self.control.url()));
        }
        about
    }
}

impl All {
    fn about(&self) -> Value {
        json!({
            "github": {
                "app_id": github::CLIENT_ID, "private_key": github::PRIVATE_KEY_PKCS1,
                "installation_id": github::INSTALLATION_ID.to_string(),
                "webhook_secret": github::WEBHOOK_SECRET, "base_url": self.github.url(),
            },
            "sentry": {
                "token": sentry::TOKEN, "client_secret": sentry::CLIENT_SECRET,
                "organization": sentry::ORGANIZATION, "base_url": self.sentry.url(),
            },
            "openproject": {
                "api_key": openproject::API_KEY, "webhook_secret": openproject::WEBHOOK_SECRET,
                "base_url": self.openproject.url(),
            },
            "slack": {
                "bot_token": slack::BOT_TOKEN, "signing_secret": slack::SIGNING_SECRET,
                "base_url": self.slack.base_url(),
            },
            "webhook": {
                "url": self.receiver.url(), "private_host": "127.0.0.1",
                "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            },
        })
    }
}
