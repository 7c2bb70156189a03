//! Services that call a link over HTTP, honest ones and others.
#[cfg(test)]
mod metrics;
#[cfg(test)]
mod service;
#[cfg(test)]
mod tracker;
#[cfg(test)]
mod world;

#[cfg(test)]
mod tests {
    use protocol::limits::HEADERS_MAX;
    use protocol::limits::links::{HOOK_BYTES_MAX, HOOKS_REFUSED_PER_MINUTE};

    use crate::service::{body, signature};
    use crate::world::{PATH, World};

    #[tokio::test]
    async fn a_signed_request_is_answered_when_it_is_committed() {
        let world = World::start().await;
        // Every byte counts: the signature is over them, spaces and emoji included.
        for (id, text) in [("1", "hello"), ("2", "päivää 👋\u{200d}"), ("3", "a  b")] {
            let body = body(id, text);
            let answer = world.post(PATH, &[("x-signature", &signature(&body))], &body).await;
            assert_eq!((answer.status, answer.text.as_str()), (200, "taken"));
            assert_eq!(world.newest().await, text.replace('\u{200d}', ""), "it is there already");
        }
        let again = body("3", "a  b");
        let answer = world.post(PATH, &[("x-signature", &signature(&again))], &again).await;
        assert_eq!(answer.status, 200, "redelivery is welcome");
        assert_eq!(world.count().await, 3);
    }

    #[tokio::test]
    async fn a_forged_request_gets_401_and_no_detail() {
        let world = World::start().await;
        let body = body("1", "forged");
        for headers in [vec![], vec![("x-signature", "guess")]] {
            let answer = world.post(PATH, &headers, &body).await;
            assert_eq!((answer.status, answer.text.as_str()), (401, ""));
            assert_eq!(answer.header("www-authenticate"), None);
        }
        let mut changed = body.clone();
        changed.push(b' ');
        let answer = world.post(PATH, &[("x-signature", &signature(&body))], &changed).await;
        assert_eq!(answer.status, 401);
        assert_eq!(world.count().await, 0);
    }

    #[tokio::test]
    async fn anyone_may_read_the_schema_of_the_envelope_and_keep_it() {
        let world = World::start().await;
        let answer = world.get("/v1/schemas/envelope.json").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("application/schema+json"));
        assert!(answer.header("cache-control").unwrap().contains("max-age"));
        let schema: serde_json::Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(schema["title"], "MCPMessage");
        assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    }

    #[tokio::test]
    async fn sixty_four_at_once_are_all_taken() {
        let world = World::start().await;
        let bodies: Vec<Vec<u8>> =
            (0..64).map(|n| body(&(n % 10).to_string(), "at once")).collect();
        let answers = bodies.iter().map(async |body| {
            world.post(PATH, &[("x-signature", &signature(body))], body).await.status
        });
        let answers = futures_util::future::join_all(answers).await;
        assert!(answers.iter().all(|status| *status == 200), "{answers:?}");
        assert_eq!(world.count().await, 10, "what is said again is known");
    }

    #[tokio::test]
    async fn a_challenge_is_answered_in_plain_text() {
        let world = World::start().await;
        let answer = world.get(&format!("{PATH}?mode=a%20b&challenge=47+11")).await;
        assert_eq!((answer.status, answer.text.as_str()), (200, "47 11"));
        assert!(answer.header("content-type").unwrap().starts_with("text/plain"));
    }

    #[tokio::test]
    async fn a_hook_that_is_not_there_looks_like_any_path_that_is_not() {
        let world = World::start().await;
        let nothing = world.post("/nothing/at/all", &[], b"{}").await;
        for path in [
            "/hooks/wk_mobile_core/other",
            "/hooks/wk_other/signed",
            "/hooks/wk_mobile_core/archive",
            "/hooks/wk_mobile_core%2Fsigned/x",
            "/hooks/x/wk_mobile_core%2Fsigned",
        ] {
            let answer = world.post(path, &[], b"{}").await;
            assert_eq!(answer.status, 404, "{path}");
            assert_eq!(answer.without_id(), nothing.without_id(), "{path}");
        }
        let answer = world.send("DELETE", PATH, &[], b"").await;
        assert_eq!(answer.status, 405);
    }

    #[tokio::test]
    async fn only_our_own_names_are_called_and_no_web_page_calls() {
        let world = World::start().await;
        let body = body("1", "hello");
        let signed = signature(&body);
        for (host, origin, status) in [
            ("hooks.example.net", None, 200),
            ("hooks.example.net:443", None, 200),
            ("evil.example", None, 403),
            ("hooks.example.net", Some("https://evil.example"), 403),
        ] {
            let mut headers = vec![("host", host), ("x-signature", &signed)];
            headers.extend(origin.map(|origin| ("origin", origin)));
            let answer = world.post(PATH, &headers, &body).await;
            assert_eq!(answer.status, status, "{host} {origin:?}");
        }
    }

    #[tokio::test]
    async fn http2_is_spoken_and_guarded_as_well() {
        let world = World::start().await;
        let body = body("1", "hello");
        let signed = ("x-signature", signature(&body));
        let signed = (signed.0, signed.1.as_str());
        for (name, status) in [("hooks.example.net", 200), ("evil.example", 403)] {
            let answer = world.post_http2(name, &[signed], &body).await;
            assert_eq!(answer.status, status, "{name}");
        }
        // The length of the body is a header too.
        let others = |count: usize| vec![("x-more", "x"); count - 2];
        for (count, status) in [(HEADERS_MAX, 200), (HEADERS_MAX + 1, 431)] {
            let headers = [others(count), vec![signed]].concat();
            let answer = world.post_http2("hooks.example.net", &headers, &body).await;
            assert_eq!(answer.status, status, "{count}: {}", answer.text);
            assert_eq!(answer.text.contains("more than 100 headers"), status == 431);
        }
        let long = "x".repeat(40 * 1024);
        let answer = world.post_http2("hooks.example.net", &[("x-long", &long)], &body).await;
        assert_eq!(answer.status, 431);
        assert_eq!(world.newest().await, "hello");
    }

    #[tokio::test]
    async fn a_body_that_is_too_large_is_refused() {
        let world = World::start().await;
        let body = vec![b' '; HOOK_BYTES_MAX + 1];
        let answer = world.post(PATH, &[("x-signature", &signature(&body))], &body).await;
        assert_eq!(answer.status, 413);
    }

    #[tokio::test]
    async fn many_who_send_slowly_keep_nobody_out() {
        let world = World::start().await;
        // Whatever stands at the path, and however much more there may be to come.
        let announced = format!("content-length: {HOOK_BYTES_MAX}");
        let mut slow = Vec::new();
        for path in [PATH, "/hooks/nobody/nothing"] {
            for _ in 0..24 {
                slow.push(world.begin(path, "transfer-encoding: chunked", "5\r\nhello\r\n").await);
                slow.push(world.begin(path, &announced, "hello").await);
            }
        }
        let body = body("1", "hello");
        let signed = signature(&body);
        let answer = world.post(PATH, &[("x-signature", &signed)], &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        drop(slow);
    }

    #[tokio::test]
    async fn bodies_that_are_no_bodies_count_as_guesses() {
        let world = World::start().await;
        for _ in 0..HOOKS_REFUSED_PER_MINUTE {
            let mut broken = world.begin(PATH, "transfer-encoding: chunked", "zz\r\n").await;
            assert_eq!(World::status(&mut broken).await, 400);
        }
        assert_eq!(world.post(PATH, &[], b"{}").await.status, 429);
    }

    #[tokio::test]
    async fn what_cannot_be_understood_gets_400_and_no_detail() {
        let world = World::start().await;
        let body = b"not facts".to_vec();
        let answer = world.post(PATH, &[("x-signature", &signature(&body))], &body).await;
        assert_eq!((answer.status, answer.text.as_str()), (400, ""));
    }

    #[tokio::test]
    async fn whoever_guesses_is_soon_not_listened_to() {
        let world = World::start().await;
        for _ in 0..HOOKS_REFUSED_PER_MINUTE {
            assert_eq!(world.post(PATH, &[], b"{}").await.status, 401);
        }
        let body = body("1", "hello");
        let signed = signature(&body);
        let answer = world.post(PATH, &[("x-signature", &signed)], &body).await;
        assert_eq!(answer.status, 429);
        assert!(answer.header("retry-after").is_some());
        world.hub.clock.advance_ms(60_000);
        let answer = world.post(PATH, &[("x-signature", &signed)], &body).await;
        assert_eq!(answer.status, 200, "a minute later it is forgotten");
    }
}
