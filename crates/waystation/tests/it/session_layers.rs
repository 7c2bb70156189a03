//! Session layers in a Redis that speaks TLS and wants a password, as an operator configures it.

use std::time::Duration;

use serde_json::json;
use testkit::postgres::ServerTls;
use testkit::redis::{Answer, ThrowawayRedis};

use crate::authority::{Authority, dns};
use crate::program::{Home, Up};

/// Runs a hub that trusts this authority, and one long thread on it; answers the thread.
fn talk(home: &Home, redis: &ThrowawayRedis, trusted: &Authority) -> (Up, String) {
    let file = home.path().join("trusted.pem");
    std::fs::write(&file, &trusted.pem).unwrap();
    let mut command = home.command(&["up", "--listen", "127.0.0.1:0"]);
    command.env("WAYSTATION_RELAY__REDIS_URL", redis.url()).env("SSL_CERT_FILE", file);
    let up = home.up_of(command);
    let operator = up.client(&home.token("boss", "operator"));
    let thread = operator.open(&["boss"]);
    for number in 0..30 {
        let body = format!("Turn {number}: {}", "the cart is wrong again. ".repeat(6));
        let target = format!("/v1/threads/{thread}/messages");
        operator.ok("POST", &target, &json!({ "body": body }));
    }
    let context = operator.get(&format!("/v1/threads/{thread}/context"));
    assert_eq!(context["budget"]["session"], "quoted");
    (up, thread)
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..3_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it never came to this: {what}");
}

#[test]
fn a_redis_over_tls_is_spoken_to_only_if_it_is_the_one_its_certificate_says() {
    let authority = Authority::new("ours");
    let issued = authority.issue(None, vec![dns("localhost")]);
    let tls = ServerTls { certificate: issued.certificate, key: issued.key };
    let redis = ThrowawayRedis::start_with_tls("hunter2", &tls);
    let home = Home::generous();
    let (up, thread) = talk(&home, &redis, &authority);
    let key = format!("session:{thread}");
    until("the layer is there", || matches!(redis.ask(&["GET", &key]), Answer::Text(_)));
    assert_eq!(up.stop(), 0);
    assert!(!home.log().contains("hunter2"), "{}", home.log());

    let home = Home::generous();
    let (up, thread) = talk(&home, &redis, &Authority::new("other"));
    until("its loss is logged", || home.log().contains("session layers are made anew"));
    assert_eq!(redis.ask(&["GET", &format!("session:{thread}")]), Answer::Nothing);
    assert_eq!(up.stop(), 0);
    let log = home.log();
    assert_eq!(log.matches("session layers are made anew").count(), 1, "{log}");
    assert!(log.contains("rediss://localhost:") && !log.contains("hunter2"), "{log}");
}
