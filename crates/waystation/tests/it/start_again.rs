//! Programs that nobody knows are started again when their agent is to be woken, as they were started
//! here last, and told through their keyboard.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::program::{Client, Home, Up};
use crate::stand_in::{self, until};

/// A home whose agent runs the scripted program, which writes down what it is told.
struct Scene {
    home: Home,
    up: Up,
    operator: Client,
    thread: String,
}

impl Scene {
    fn new(command: &[&str]) -> Self {
        let home = Home::generous();
        let up = home.up();
        let operator = up.client(&home.token("person", "operator"));
        let mut args = vec!["run", "alice", "--headless", "--"];
        args.extend(command);
        home.ok(&args);
        let thread = operator.open(&["alice"]);
        Self { home, up, operator, thread }
    }

    /// The keepers of the agent, and whether each still listens.
    fn keepers(&self) -> Vec<PathBuf> {
        let folders = std::fs::read_dir(self.home.data().join("run")).unwrap().flatten();
        folders.map(|f| f.path().join("keeper.sock")).filter(|socket| socket.exists()).collect()
    }

    /// Ends the program of the one keeper there is.
    fn stop(&self) {
        for socket in self.keepers() {
            crate::run::keeper::ask(&socket, &json!({ "stop": {} }));
        }
        until("it has ended", || self.keepers().is_empty().then_some(()));
        until("the hub knows it", || (self.agent()["status"] == "offline").then_some(()));
    }

    fn agent(&self) -> Value {
        self.operator.get("/v1/agents")["agents"][0].clone()
    }

    fn post(&self) {
        let target = format!("/v1/threads/{}/messages", self.thread);
        self.operator.ok("POST", &target, &json!({ "body": "please $(touch canary) look" }));
    }
}

#[test]
fn a_program_that_ended_is_started_again_under_a_keeper_and_told_through_its_keyboard() {
    let program = testkit::scripted::program();
    let told = tempfile::NamedTempFile::new().unwrap();
    let transcript = format!("--transcript={}", told.path().display());
    let scene = Scene::new(&[program.to_str().unwrap(), "--paste", &transcript]);
    scene.stop();
    scene.post();
    let waiting = stand_in::until_state(&scene.operator, &scene.thread, "deferred");
    assert_eq!(waiting["why"], "nothing_to_resume", "a post alone starts nobody: {waiting}");
    stand_in::trigger(&scene.operator, &scene.thread, "alice");
    let wake = stand_in::until_state(&scene.operator, &scene.thread, "handed_to_host");
    assert_eq!(wake["lane"], "pty", "{wake}");
    assert_eq!(scene.keepers().len(), 1, "one was started");
    let lines = until("it is told", || {
        let text = std::fs::read_to_string(told.path()).unwrap();
        (!text.is_empty()).then(|| text.lines().map(str::to_owned).collect::<Vec<_>>())
    });
    assert_eq!(lines.len(), 1, "{lines:?}");
    let notice = format!("[waystation wake {}]", wake["wake_id"].as_str().unwrap());
    assert!(lines[0].contains(&notice), "{lines:?}");
    assert!(lines[0].contains("You start fresh on this thread."), "{lines:?}");
    assert!(!lines[0].contains("canary"), "{lines:?}");
    scene.stop();
    assert_eq!(scene.up.stop(), 0);
}

#[test]
fn a_program_that_ends_at_once_is_started_once_and_that_is_said() {
    let scene = Scene::new(&["/bin/sh", "-c", "echo >> starts"]);
    until("it has ended", || scene.keepers().is_empty().then_some(()));
    until("the hub knows it", || (scene.agent()["status"] == "offline").then_some(()));
    scene.post();
    stand_in::trigger(&scene.operator, &scene.thread, "alice");
    let wake = stand_in::until_state(&scene.operator, &scene.thread, "failed");
    assert_eq!(wake["why"], "program_ended", "{wake}");
    let starts = std::fs::read_to_string(scene.home.path().join("starts")).unwrap();
    assert_eq!(starts.lines().count(), 2, "once by hand, and once for the wake");
    assert_eq!(scene.up.stop(), 0);
}

#[test]
fn what_was_never_started_here_is_not_started_by_the_word_of_the_hub() {
    let home = Home::generous();
    let up = home.up();
    let operator = up.client(&home.token("person", "operator"));
    let canary = home.path().join("canary");
    std::fs::create_dir_all(home.path().join("work")).unwrap();
    let who = (stand_in::host_id(&home), "alice");
    let command = json!(["/usr/bin/touch", canary]);
    stand_in::register_as(&operator, &home, (&who.0, who.1), "another-cli", &command);
    let thread = operator.open(&["alice"]);
    operator.ok("POST", &format!("/v1/threads/{thread}/messages"), &json!({ "body": "look" }));
    stand_in::trigger(&operator, &thread, "alice");
    let wake = stand_in::until_state(&operator, &thread, "failed");
    assert_eq!(wake["why"], "no_start_command", "{wake}");
    assert!(!canary.exists());
    let asked = home.run(&["agents", "wake", "alice", "--thread", &thread]);
    assert!(asked.stderr.contains("WAKE_FAILED"), "{}", asked.stderr);
    assert!(asked.stderr.contains("waystation run"), "{}", asked.stderr);
    assert_eq!(up.stop(), 0);
}
