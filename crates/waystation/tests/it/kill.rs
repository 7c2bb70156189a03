//! Killed at any moment, again and again: what was answered is there, and nothing is there twice.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{Client, Home};

const KILLS: u32 = 30;
const CLIENTS: usize = 4;
/// A round ends after at most so many answered posts.
const POSTS_A_ROUND_MAX: u64 = 60;

/// A post that was sent, and its answer if one came.
struct Sent {
    key: String,
    body: String,
    answer: Option<Value>,
}

/// What one client knows it has done.
#[derive(Default)]
struct Journal {
    sent: Vec<Sent>,
    acked_seq: i64,
    /// A mark whose outcome is unknown.
    acking_seq: i64,
}

#[test]
fn thirty_kills_lose_and_double_nothing() {
    let mut dice = Dice::new();
    let home = Home::generous();
    let names: Vec<String> = (0..CLIENTS).map(|n| format!("client_{n}")).collect();
    let tokens: Vec<String> = names.iter().map(|name| home.token(name, "worker")).collect();
    let operator = home.token("human", "operator");
    let up = home.up();
    let members: Vec<&str> = names.iter().map(String::as_str).collect();
    let thread = up.client(&operator).open(&members);
    assert_eq!(up.stop(), 0);
    let mut journals: Vec<Journal> = names.iter().map(|_| Journal::default()).collect();
    for kill in 0..KILLS {
        let up = home.up();
        check(&up.client(&operator), &thread, &mut journals, kill);
        let target = dice.below(POSTS_A_ROUND_MAX);
        let answered = AtomicU64::new(0);
        thread::scope(|scope| {
            for ((journal, token), name) in journals.iter_mut().zip(&tokens).zip(&names) {
                let (client, answered, thread) = (up.client(token), &answered, &thread);
                scope.spawn(move || write(&client, thread, name, journal, answered));
            }
            while answered.load(Ordering::Relaxed) < target {
                std::hint::spin_loop();
                thread::yield_now();
            }
            up.signal(Signal::KILL);
        });
        assert_eq!(up.wait().code(), None, "it was killed");
    }
    let up = home.up();
    check(&up.client(&operator), &thread, &mut journals, KILLS);
    let answered: usize = journals.iter().map(|journal| journal.sent.len()).sum();
    assert!(answered > usize::try_from(KILLS).unwrap(), "there was something to lose");
    // Every retry, whatever came of it, gives the one message.
    for (journal, token) in journals.iter_mut().zip(&tokens) {
        let client = up.client(token);
        for sent in &mut journal.sent {
            let again = post(&client, &thread, sent).expect("a healthy hub answers");
            let first = sent.answer.get_or_insert_with(|| again.clone());
            assert_eq!(*first, again);
        }
        let input = json!({ "body": "other", "idempotency_key": journal.sent[0].key });
        let reply = client.json("POST", &format!("/v1/threads/{thread}/messages"), &input);
        assert_eq!(reply.code(), "IDEMPOTENCY_CONFLICT");
    }
    check(&up.client(&operator), &thread, &mut journals, KILLS);
    assert_eq!(up.client(&operator).log(&thread).len(), answered, "one message a key");
    assert_eq!(up.stop(), 0);
    audit_verifies(&home);
}

/// Posts and acknowledges until the hub is gone. An unknown outcome is tried again first.
fn write(client: &Client, thread: &str, name: &str, journal: &mut Journal, answered: &AtomicU64) {
    loop {
        let is_open = journal.sent.last().is_some_and(|sent| sent.answer.is_none());
        if !is_open {
            let key = format!("{name}-{}", journal.sent.len());
            let body = format!("{key} \u{1f4be} {}", "padding ".repeat(journal.sent.len() % 50));
            journal.sent.push(Sent { key, body, answer: None });
        }
        let sent = journal.sent.last_mut().unwrap();
        let Some(answer) = post(client, thread, sent) else { return };
        let seq = answer["seq"].as_i64().unwrap();
        sent.answer = Some(answer);
        answered.fetch_add(1, Ordering::Relaxed);
        if journal.sent.len().is_multiple_of(5) {
            journal.acking_seq = seq;
            let input = json!({ "last_read_seq": seq }).to_string();
            let target = format!("/v1/threads/{thread}/cursor");
            match client.try_ask("PUT", &target, input.as_bytes()) {
                Ok(reply) if reply.status == 200 => journal.acked_seq = seq,
                Ok(reply) => panic!("{}: {}", reply.status, reply.text()),
                Err(_) => return,
            }
        }
    }
}

fn post(client: &Client, thread: &str, sent: &Sent) -> Option<Value> {
    let input = json!({ "body": sent.body, "idempotency_key": sent.key }).to_string();
    let target = format!("/v1/threads/{thread}/messages");
    let reply = client.try_ask("POST", &target, input.as_bytes()).ok()?;
    assert_eq!(reply.status, 200, "{}", reply.text());
    Some(reply.json())
}

fn check(operator: &Client, thread: &str, journals: &mut [Journal], kills: u32) {
    let log = operator.log(thread);
    for (index, message) in log.iter().enumerate() {
        assert_eq!(message["seq"], index + 1, "numbers without gap or double after {kills} kills");
    }
    let seen = operator.get(&format!("/v1/threads/{thread}"));
    assert_eq!(seen["head_seq"], log.len());
    for (number, journal) in journals.iter_mut().enumerate() {
        for sent in &journal.sent {
            let Some(answer) = &sent.answer else { continue };
            let place = usize::try_from(answer["seq"].as_i64().unwrap() - 1).unwrap();
            let kept = log.get(place).unwrap_or_else(|| panic!("{} is lost", sent.key));
            assert_eq!(kept["message_id"], answer["message_id"]);
            assert_eq!(kept["body"], json!(sent.body));
            assert_eq!(kept["idempotency_key"], json!(sent.key));
            assert_eq!(kept["created_at"], answer["created_at"]);
        }
        let cursors = seen["cursors"].as_array().unwrap();
        let name = format!("client_{number}");
        let cursor = cursors.iter().find(|cursor| cursor["agent_id"] == name);
        let at = cursor.map_or(0, |cursor| cursor["last_read_seq"].as_i64().unwrap());
        assert!(
            at == journal.acked_seq || at == journal.acking_seq,
            "the mark of {name} stands at {at}, not at {}",
            journal.acked_seq
        );
        journal.acked_seq = at;
    }
}

/// The audit trail of a data folder is whole.
pub(crate) fn audit_verifies(home: &Home) {
    home.ok(&["audit", "verify"]);
}

/// Chance, so that every run kills at other moments.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new() -> Self {
        Self(RandomState::new().build_hasher().finish() | 1)
    }

    /// A number below this one.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
