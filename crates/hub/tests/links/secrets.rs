//! What is secret stays so: in answers, in the trail, in errors and in the files.

use connector_api::ConnectorError;
use serde_json::json;

use crate::service::Service;
use crate::world::{TOKEN, hub_for, linked, operator, state, until};

#[tokio::test]
async fn no_answer_shows_a_secret() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    let mut shown = vec![state(&hub).await.to_string()];
    for (operation, input) in [
        ("list_links", json!({})),
        ("check_link", json!({ "name": "scripted" })),
        ("list_sources", json!({})),
        ("read_audit", json!({ "limit": 200 })),
        ("remove_link", json!({ "name": "scripted" })),
    ] {
        shown.push(hub.ok(&operator(), operation, input).await.to_string());
    }
    for text in shown {
        assert!(!text.contains("hunter2"), "{text}");
    }
    hub.stop().await;
}

#[tokio::test]
async fn no_refusal_shows_a_secret() {
    let service = Service::streaming();
    let hub = hub_for(&service);
    service.checks.lock().push_back(ConnectorError::BadSignature);
    for settings in [
        json!({ "token": "hunter2 hunter2" }),
        json!({ "token": TOKEN, "hunter": "hunter2" }),
        json!({ "token": 7_263_940_112_345_i64 }),
        json!({ "token": ["hunter2"] }),
        json!({ "token": TOKEN }),
    ] {
        let input = json!({ "service": "scripted", "settings": settings });
        let error = hub.call(&operator(), "add_link", input).await.unwrap_err();
        let body = serde_json::to_string(&error.body("r".to_owned())).unwrap();
        let shown = format!("{error:?} {body}");
        assert!(!shown.contains("hunter2") && !shown.contains("7263940112345"), "{shown}");
    }
    hub.stop().await;
}

#[tokio::test]
async fn no_file_of_the_hub_holds_a_secret_in_the_clear() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    hub.hub.prove_writable().await.unwrap();
    let folder = hub.database_folder().unwrap().to_owned();
    let mut bytes_read = 0;
    for file in std::fs::read_dir(&folder).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes_read += bytes.len();
        assert!(!bytes.windows(7).any(|part| part == b"hunter2"));
    }
    assert!(bytes_read > 10_000, "{bytes_read} bytes are no database");
    hub.stop().await;
}

#[tokio::test]
async fn a_link_whose_secrets_do_not_open_says_so() {
    let service = Service::streaming();
    let hub = linked(&service).await;
    // Somebody moves the sealed secrets of one link to another.
    hub.hub
        .store
        .write(|tx| {
            let link = tx.link("wk_mobile_core", "scripted")?.unwrap();
            tx.put_link(&store::NewLink {
                workspace: "wk_mobile_core",
                name: "another",
                service: "scripted",
                is_live: true,
                settings: &link.settings,
                secrets: link.secrets.as_deref(),
                account: "",
                created_by: "boss",
                at: link.created,
            })?;
            tx.retire_link(link.row)
        })
        .await
        .map_err(|error: store::StoreError| error)
        .unwrap();
    let hub = hub.restart().await;
    until(&hub, "needs_attention").await;
    assert!(state(&hub).await["reason"].as_str().unwrap().contains("add the link again"));
    assert_eq!(service.tokens.lock().iter().filter(|token| *token == TOKEN).count(), 2);
    hub.stop().await;
}
