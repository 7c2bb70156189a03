//! A token that is taken back, or is over, opens nothing from then on: no call, no wait, no stream.

use std::sync::Arc;
use std::time::Duration;

use protocol::{Caller, Role, Timestamp, limits};
use serde_json::{Value, json};
use store::{StoreError, Tx};
use testkit::{On, TestHub, caller_in, generous};
use tokio_util::sync::CancellationToken;
use waystation_hub::identity::{IdentityConfig, IdentityError, Verifier};
use waystation_hub::threads::follow;

use crate::world::{coordinator, open, operator, post, refusal, worker};

crate::on_both! {
    whoever_was_let_in_before_is_refused_when_their_token_is_revoked
    whoever_was_let_in_before_is_refused_when_their_token_is_over
    a_wait_ends_when_its_token_is_revoked
    a_followed_thread_is_let_go_when_the_token_is_revoked
    a_revoked_token_does_not_revive_with_a_restart_at_its_end
    a_session_that_gets_a_new_token_keeps_its_revoked_one_in_mind
    a_token_of_another_issuer_is_revoked_by_its_id_for_good
    however_many_are_revoked_all_are_known_after_a_restart
    a_token_is_revoked_although_whoever_revokes_it_hangs_up
}

/// A token of the author, and the caller that a verified connection goes on with.
async fn token(hub: &TestHub) -> (Value, Arc<Caller>) {
    let issued = hub.ok(&operator(), "issue_token", json!({ "agent_id": "author" })).await;
    let jti = issued["jti"].as_str().unwrap().to_owned();
    (json!({ "jti": jti }), Arc::new(Caller { jti, ..(*worker("author")).clone() }))
}

/// What must not keep a test waiting for ever.
async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work).await.expect("it happens soon")
}

async fn whoever_was_let_in_before_is_refused_when_their_token_is_revoked(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let (jti, author) = token(&hub).await;
    post(&hub, &author, &thread, "good").await;
    hub.ok(&operator(), "revoke_token", jti).await;
    let again = json!({ "thread_id": thread, "body": "no good" });
    let error = refusal(&hub, &author, "post_message", again).await;
    assert_eq!((error.code.name(), error.retryable), ("UNAUTHORIZED", false));
    assert!(error.message.contains("revoked") && error.hint.is_some(), "{error:?}");
    for operation in ["list_threads", "issue_token", "wait_for_messages"] {
        assert_eq!(hub.code(&author, operation, json!({})).await, "UNAUTHORIZED", "{operation}");
    }
    post(&hub, &worker("author"), &thread, "by another token").await;
    hub.stop().await;
}

async fn whoever_was_let_in_before_is_refused_when_their_token_is_over(on: On) {
    let hub = TestHub::with(on, generous());
    let exp = hub.hub.now().plus_ms(60_000);
    let author = Arc::new(Caller { exp, ..(*worker("author")).clone() });
    hub.clock.advance_ms(60_000 + 29_999);
    hub.ok(&author, "list_threads", json!({})).await;
    hub.clock.advance_ms(1);
    let error = refusal(&hub, &author, "list_threads", json!({})).await;
    assert_eq!(error.code.name(), "UNAUTHORIZED");
    assert!(error.message.contains("expired"), "{}", error.message);
    let forever = Arc::new(Caller { exp: Timestamp::from_ms(i64::MAX), ..(*author).clone() });
    hub.ok(&forever, "list_threads", json!({})).await;
    hub.stop().await;
}

async fn a_wait_ends_when_its_token_is_revoked(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let (jti, author) = token(&hub).await;
    let others = worker("reviewer");
    let wait = json!({ "thread_id": thread, "timeout_ms": 50_000 });
    let revoke = async {
        while hub.hub.live.watchers() < 2 {
            tokio::task::yield_now().await;
        }
        hub.ok(&operator(), "revoke_token", jti).await;
    };
    let other = async {
        let told = hub.ok(&others, "wait_for_messages", wait.clone()).await;
        assert_eq!(told["messages"][0]["body"], "go on");
    };
    let ended = async {
        let code = hub.code(&author, "wait_for_messages", wait.clone()).await;
        assert_eq!(code, "UNAUTHORIZED");
        // Whoever has another token waits on.
        post(&hub, &coordinator(), &thread, "go on").await;
    };
    soon(Box::pin(async { tokio::join!(ended, other, revoke) })).await;
    hub.stop().await;
}

async fn a_followed_thread_is_let_go_when_the_token_is_revoked(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let (jti, author) = token(&hub).await;
    let call = hub.hub.call(Arc::clone(&author), None, CancellationToken::new());
    let followed = follow(&call, &thread).await.unwrap();
    post(&hub, &coordinator(), &thread, "news").await;
    assert!(soon(followed.changed()).await);
    // The hub may look around meanwhile, and say so.
    let (by, let_go) = (operator(), async { while followed.changed().await {} });
    soon(async { tokio::join!(let_go, hub.ok(&by, "revoke_token", jti)) }).await;
    // Nor is anything told that happens later.
    post(&hub, &coordinator(), &thread, "more").await;
    assert!(!soon(followed.changed()).await);
    hub.stop().await;
}

/// Whether the hub takes a token, as an edge asks it.
async fn verified(hub: &TestHub, token: &Value) -> Result<Arc<Caller>, IdentityError> {
    let (keys, revocations) = (Arc::clone(&hub.hub.keys), Arc::clone(&hub.hub.revocations));
    let verifier = Verifier::new(&IdentityConfig::default(), keys, revocations).unwrap();
    verifier.verify(token.as_str().unwrap(), hub.hub.now()).await
}

/// The hub after a restart, as the program starts it.
async fn started_again(hub: TestHub) -> TestHub {
    let hub = hub.restart().await;
    hub.hub.load_revocations().await.unwrap();
    hub
}

async fn a_revoked_token_does_not_revive_with_a_restart_at_its_end(on: On) {
    let mut hub = TestHub::with(on, generous());
    let short = json!({ "agent_id": "author", "ttl_seconds": 60 });
    let issued = hub.ok(&operator(), "issue_token", short).await;
    assert!(verified(&hub, &issued["token"]).await.is_ok());
    hub.ok(&operator(), "revoke_token", json!({ "jti": issued["jti"] })).await;
    for passed_ms in [0, 60_000, 29_999] {
        hub.clock.advance_ms(passed_ms);
        hub = started_again(hub).await;
        let taken = verified(&hub, &issued["token"]).await;
        assert!(matches!(taken, Err(IdentityError::Revoked)), "{passed_ms} {taken:?}");
    }
    hub.clock.advance_ms(1);
    let taken = verified(&hub, &issued["token"]).await;
    assert!(matches!(taken, Err(IdentityError::Expired)), "{taken:?}");
    hub.stop().await;
}

async fn a_session_that_gets_a_new_token_keeps_its_revoked_one_in_mind(on: On) {
    let hub = TestHub::with(on, generous());
    let mut session = json!({ "agent_id": "author", "runtime": "codex_cli", "host": "host" });
    let opened = hub.ok(&operator(), "open_session", session.clone()).await;
    let listed = hub.ok(&operator(), "list_tokens", json!({})).await;
    hub.ok(&operator(), "revoke_token", json!({ "jti": listed["tokens"][0]["jti"] })).await;
    hub.clock.advance_ms(hub.hub.settings.wake.session_token_ms + 1_000);
    session["session_id"] = opened["session_id"].clone();
    hub.ok(&operator(), "open_session", session).await;
    let hub = started_again(hub).await;
    let taken = verified(&hub, &opened["token"]).await;
    assert!(matches!(taken, Err(IdentityError::Revoked)), "{taken:?}");
    hub.stop().await;
}

/// A caller whose token the hub did not issue.
fn with_id(workspace: &str, jti: &str) -> Arc<Caller> {
    Arc::new(Caller {
        jti: jti.to_owned(),
        ..(*caller_in(workspace, "author", Role::Worker)).clone()
    })
}

async fn a_token_of_another_issuer_is_revoked_by_its_id_for_good(on: On) {
    let hub = TestHub::with(on, generous());
    let here = operator().workspace_id.clone();
    let ids = ["f47ac10b-58cc", "static-AAAA", "sha256-BBBB", "' OR '1'='1", "ei/+=ä"];
    for jti in ids {
        hub.ok(&with_id(&here, jti), "list_threads", json!({})).await;
        let revoked = hub.ok(&operator(), "revoke_token", json!({ "jti": jti })).await;
        assert_eq!((&revoked["jti"], &revoked["issued_here"]), (&json!(jti), &json!(false)));
        hub.clock.advance_ms(1_000);
        let again = hub.ok(&operator(), "revoke_token", json!({ "jti": jti })).await;
        assert_eq!(again, revoked, "again is the same");
    }
    hub.clock.advance_ms(10 * 366 * 24 * 3_600_000);
    let hub = started_again(hub).await;
    for jti in ids {
        let refused = hub.code(&with_id(&here, jti), "list_threads", json!({})).await;
        assert_eq!(refused, "UNAUTHORIZED", "{jti}");
        // Whoever is in charge of one workspace has no say in another.
        hub.ok(&with_id("wk_other", jti), "list_threads", json!({})).await;
    }
    let trail = hub.ok(&operator(), "read_audit", json!({ "limit": 200 })).await;
    let entries = trail["entries"].as_array().unwrap();
    for jti in ids {
        assert!(entries.iter().any(|e| e["operation"] == "revoke_token" && e["object"] == jti));
        assert!(entries.iter().any(|e| e["jti"] == jti), "the trail shows what can be revoked");
    }
    hub.stop().await;
}

async fn however_many_are_revoked_all_are_known_after_a_restart(on: On) {
    let hub = TestHub::with(on, generous());
    let count = limits::REVOKED_PAGE_MAX + 7;
    let now = hub.hub.now();
    let revoke = move |tx: &mut Tx<'_>| -> Result<(), StoreError> {
        (0..count).try_for_each(|n| tx.revoke_by_id("w", &format!("id-{n}"), now).map(drop))
    };
    hub.hub.store.write(revoke).await.unwrap();
    let (_, author) = token(&hub).await;
    hub.ok(&operator(), "revoke_token", json!({ "jti": author.jti })).await;
    let hub = started_again(hub).await;
    let good = (0..count).filter(|n| !hub.hub.revocations.has(&with_id("w", &format!("id-{n}"))));
    assert_eq!(good.count(), 0);
    assert_eq!(hub.code(&author, "list_threads", json!({})).await, "UNAUTHORIZED");
    hub.stop().await;
}

#[tokio::test]
async fn a_workspace_may_revoke_only_so_many_one_by_one() {
    let hub = TestHub::start();
    let (here, now) = (operator().workspace_id.clone(), hub.hub.now());
    let fill = move |tx: &mut Tx<'_>| -> Result<(), StoreError> {
        let mut ids = 1..limits::REVOKED_BY_ID_MAX;
        ids.try_for_each(|n| tx.revoke_by_id(&here, &format!("id-{n}"), now).map(drop))
    };
    hub.hub.store.write(fill).await.unwrap();
    hub.ok(&operator(), "revoke_token", json!({ "jti": "the last" })).await;
    let error = refusal(&hub, &operator(), "revoke_token", json!({ "jti": "one more" })).await;
    assert_eq!(error.code.name(), "CONFLICT");
    assert!(error.message.contains("identity.issuers"), "{}", error.message);
    hub.ok(&operator(), "revoke_token", json!({ "jti": "the last" })).await;
    let (jti, _) = token(&hub).await;
    hub.ok(&operator(), "revoke_token", jti).await;
    hub.stop().await;
}

async fn a_token_is_revoked_although_whoever_revokes_it_hangs_up(on: On) {
    let hub = TestHub::with(on, generous());
    let (jti, author) = token(&hub).await;
    hub.ok(&author, "list_threads", json!({})).await;
    let revoker = operator();
    let mut revoking = Box::pin(hub.call(&revoker, "revoke_token", jti));
    // Looking at it once hands the change to the store.
    let mut glance = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(revoking.as_mut().poll(&mut glance).is_pending());
    drop(revoking);
    let let_in = async {
        while hub.call(&author, "list_threads", json!({})).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    soon(let_in).await;
    hub.stop().await;
}
