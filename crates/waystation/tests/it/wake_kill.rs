//! Hub and keepers are killed at any moment, again and again: every agent is told of every thread, and
//! nobody is told twice. Only where a keeper dies while its program takes Enter can nobody know; then the
//! wake says so.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::kill::Dice;
use crate::program::{Client, Home, Up};

const KILLS: usize = 200;
/// A kill comes at most so long after a post: longer than a notice takes.
const MOMENT_MS_MAX: u64 = 600;
/// Agents that are woken at the same time.
const AGENTS: usize = 6;
/// How long the last wakes may take when nobody is killed any more.
const PATIENCE: Duration = Duration::from_mins(3);

/// Wakes of which nobody can know whether they arrived: a program takes Enter in a moment.
const UNKNOWN_MAX: usize = KILLS / 20;

/// How often something is looked at again.
const A_MOMENT: Duration = Duration::from_millis(2);

/// Agents in terminals that write down what they are told.
struct Scene {
    home: Home,
    operator: String,
    tokens: BTreeMap<String, String>,
    /// The agent of each thread.
    threads: BTreeMap<String, String>,
    acked: BTreeSet<String>,
}

#[test]
fn two_hundred_kills_lose_no_wake_and_double_none() {
    let mut dice = Dice::new();
    let mut scene = Scene::new();
    let mut up = scene.home.up();
    let names: Vec<String> = scene.tokens.keys().cloned().collect();
    for name in &names {
        scene.run(name);
    }
    let (mut hubs, mut keepers, mut round) = (0, 0, 0);
    while hubs + keepers < KILLS {
        let agent = &names[round % AGENTS];
        round += 1;
        scene.post(&up, agent);
        spin(Duration::from_millis(dice.below(MOMENT_MS_MAX)));
        let victims = dice.below(4);
        // With both gone, only what the keeper wrote down tells whether the notice arrived.
        let is_keeper = victims < 2;
        if victims > 0 {
            up.signal(Signal::KILL);
            assert_eq!(up.wait().code(), None, "it was killed");
            if is_keeper {
                scene.kill_keeper(agent);
            }
            up = scene.home.up();
            hubs += 1;
        } else {
            scene.kill_keeper(agent);
        }
        if is_keeper {
            scene.run(agent);
            keepers += 1;
        }
        scene.act(&up);
    }
    assert!(hubs > 0 && keepers > 0, "both were killed");
    scene.until_all_is_known(&up);
    let client = up.client(&scene.operator);
    scene.check(&client);
    let interrupted = scene.interrupted(&client);
    assert!(interrupted > KILLS / 20, "only {interrupted} wakes were interrupted");
    assert_eq!(up.stop(), 0);
}

impl Scene {
    fn new() -> Self {
        let home = Home::generous()
            .with("WAKE__PER_HOUR_MAX", "3600")
            .with("WAKE__HOPS_MAX", "0")
            .with("WAKE__QUIET_SECONDS", "1")
            .with("WAKE__RECHECK_SECONDS", "1");
        let names = (0..AGENTS).map(|number| format!("agent_{number}"));
        let tokens = names.map(|name| (name.clone(), home.token(&name, "worker"))).collect();
        let operator = home.token("human", "operator");
        Self { home, operator, tokens, threads: BTreeMap::new(), acked: BTreeSet::new() }
    }

    /// Starts an agent's program without anybody in front of it.
    fn run(&self, name: &str) {
        let program = testkit::scripted::program();
        let transcript = format!("--transcript={}", self.transcript(name).display());
        let program = program.to_str().unwrap();
        self.home.ok(&["run", name, "--headless", "--", program, "--paste", &transcript]);
    }

    fn transcript(&self, name: &str) -> PathBuf {
        self.home.path().join(format!("{name}.jsonl"))
    }

    /// Says something in a thread of its own to an agent.
    fn post(&mut self, up: &Up, agent: &str) {
        let client = up.client(&self.operator);
        let thread = client.open(&[agent]);
        let target = format!("/v1/threads/{thread}/messages");
        client.ok("POST", &target, &json!({ "body": "look at this" }));
        self.threads.insert(thread, agent.to_owned());
    }

    fn kill_keeper(&self, name: &str) {
        let run = self.home.data().join("run");
        let records = std::fs::read_dir(run).unwrap().flatten();
        let records = records.filter_map(|folder| {
            let text = std::fs::read(folder.path().join("keeper.json")).ok()?;
            serde_json::from_slice::<Value>(&text).ok()
        });
        let newest = records
            .filter(|record| record["agent"] == name)
            .max_by_key(|record| record["started_at"].as_str().map(str::to_owned));
        let pid = newest.unwrap()["pid"].as_i64().unwrap();
        let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        until("the keeper is gone", || is_gone(pid));
    }

    /// What each agent was told, with every time it was told it: the wake and its thread.
    fn told(&self) -> Vec<(String, String)> {
        let mut told = Vec::new();
        for name in self.tokens.keys() {
            let text = std::fs::read_to_string(self.transcript(name)).unwrap_or_default();
            // The last line of a program that was killed may be a part.
            for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                let line = line.to_string();
                let notices = line.split("[waystation wake ").skip(1);
                told.extend(notices.map(|notice| {
                    let wake = notice.split(']').next().unwrap().to_owned();
                    let rest = notice.split("Thread ").nth(1).unwrap();
                    (wake, rest.split(' ').next().unwrap().to_owned())
                }));
            }
        }
        told
    }

    /// Does what the agents would do: acknowledges what they were told of.
    fn act(&mut self, up: &Up) {
        for (_, thread) in self.told() {
            if self.acked.contains(&thread) {
                continue;
            }
            let client = up.client(&self.tokens[&self.threads[&thread]]);
            let cursor = format!("/v1/threads/{thread}/cursor");
            client.ok("PUT", &cursor, &json!({ "last_read_seq": 1 }));
            self.acked.insert(thread);
        }
    }

    fn until_all_is_known(&mut self, up: &Up) {
        let deadline = now() + PATIENCE;
        let client = up.client(&self.operator);
        while !self.missing(&client).iter().all(is_unknown) {
            self.act(up);
            thread::park_timeout(A_MOMENT);
            assert!(now() < deadline, "lost: {:?}", self.missing(&client));
        }
    }

    /// The wakes of each thread that nobody was told of.
    fn missing(&self, client: &Client) -> Vec<Value> {
        let lost = self.threads.keys().filter(|thread| !self.acked.contains(*thread));
        lost.map(|thread| client.get(&format!("/v1/wakes?thread_id={thread}"))).collect()
    }

    /// How many wakes had to be given out more than once.
    fn interrupted(&self, client: &Client) -> usize {
        let wakes = self.threads.keys().map(|thread| {
            let found = client.get(&format!("/v1/wakes?thread_id={thread}"));
            found["wakes"].as_array().unwrap().clone()
        });
        wakes.flatten().filter(|wake| wake["attempt"].as_i64().unwrap() > 1).count()
    }

    fn check(&self, client: &Client) {
        let told = self.told();
        let wakes: BTreeSet<&String> = told.iter().map(|(wake, _)| wake).collect();
        let threads: BTreeSet<&String> = told.iter().map(|(_, thread)| thread).collect();
        assert_eq!(wakes.len(), told.len(), "no notice came twice");
        assert_eq!(threads.len(), told.len(), "nobody was told of a thread twice");
        let unknown = self.missing(client).len();
        assert_eq!(threads.len() + unknown, self.threads.len(), "and of every other one once");
        assert!(unknown <= UNKNOWN_MAX, "nobody knows of {unknown} wakes whether they arrived");
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        testkit::strays::end(self.home.path());
    }
}

/// Whether the newest wake of a thread says that nobody knows whether its notice arrived.
fn is_unknown(found: &Value) -> bool {
    let newest = &found["wakes"][0];
    newest["state"] == "failed" && newest["why"] == "arrival_unknown"
}

/// Lets time pass while others work.
fn spin(duration: Duration) {
    let until = now() + duration;
    while now() < until {
        thread::park_timeout(A_MOMENT);
    }
}

/// Whether a process that is somebody else's child has ended, whoever may be told of it later.
fn is_gone(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.map_or(true, |stat| stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']))
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = now() + PATIENCE;
    while !is_so() {
        assert!(now() < deadline, "{what}");
        thread::park_timeout(A_MOMENT);
    }
}

#[expect(clippy::disallowed_methods, reason = "processes die in real time")]
fn now() -> Instant {
    Instant::now()
}
