//! The lanes with a stand-in for the program that says how it was called; the real one is in the test
//! lane with the agent CLIs.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::records::tests::{recorded, write};
use super::{Claude, identity, start};
use crate::session::{
    Activity, AgentCli, Lane, LaneError, Life, Notice, Process, Program, Runtime, Session,
};

const VENDOR_ID: &str = "5cb018d2-9eb4-442a-b43d-375c7118819e";
const PATIENCE: Duration = Duration::from_secs(20);

/// A home with a stand-in that writes down its call, says that it works, and ends once `leave` exists.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        let script = format!(
            "#!/bin/sh\ncd {home}\nprintf '%s\\n' \"$@\" > argv\nenv > env\nreadlink /proc/$$/cwd > cwd\n\
             cat > stdin.part\nmv stdin.part stdin\n\
             echo '{{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/\"}}'\n\
             while [ ! -e leave ]; do sleep 0.01; done\n",
            home = home.path("").display()
        );
        std::fs::write(home.path("claude"), script).unwrap();
        std::fs::set_permissions(home.path("claude"), PermissionsExt::from_mode(0o700)).unwrap();
        std::fs::create_dir(home.path("work")).unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn records(&self) -> PathBuf {
        self.path("dot-claude")
    }

    fn claude(&self) -> Claude {
        let program = Program {
            file: self.path("claude"),
            args: vec!["--allowedTools".to_owned(), "mcp__waystation".to_owned()],
            env: vec![("WAYSTATION_TOKEN_FILE".to_owned(), "/run/token".to_owned())],
            log_folder: self.path("logs"),
        };
        Claude::new(program, self.records())
    }

    /// What the stand-in wrote down, as soon as it has.
    fn told(&self, name: &str) -> String {
        let deadline = 2_000;
        for _ in 0..deadline {
            if let Ok(text) = std::fs::read_to_string(self.path(name)) {
                return text;
            }
            std::thread::park_timeout(Duration::from_millis(10));
        }
        panic!("{name} was never written")
    }

    /// Lets the stand-in end, and waits until nothing holds its log.
    fn leave(&self, claude: &Claude, vendor_id: &str) {
        std::fs::write(self.path("leave"), "").unwrap();
        while start::is_at_work(&claude.program, vendor_id) {
            std::thread::yield_now();
        }
        std::fs::remove_file(self.path("leave")).unwrap();
    }

    fn session(&self, process: Option<Process>) -> Session {
        Session {
            id: "sess_1".to_owned(),
            runtime: Runtime::Claude,
            vendor_id: Some(VENDOR_ID.to_owned()),
            cwd: Some(self.path("work")),
            process,
            transcript: None,
            keeper: None,
            reported: Activity::Unknown,
            is_resumable: true,
        }
    }

    fn write_transcript(&self, vendor_id: &str, text: &str) {
        let project = self.records().join("projects/-srv-project");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(project.join(format!("{vendor_id}.jsonl")), text).unwrap();
    }
}

/// A process that lives until it is dropped.
struct Sleeper(Child);

impl Sleeper {
    fn new() -> (Self, Process) {
        let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let process = Process::current_of(child.id()).unwrap();
        (Self(child), process)
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn dead_process() -> Process {
    let (sleeper, process) = Sleeper::new();
    drop(sleeper);
    process
}

fn notice(wake_id: &str) -> Notice {
    let text =
        format!("[waystation wake {wake_id}] Thread th_1 has 1 unread message(s)\n$(touch x)");
    Notice { wake_id: wake_id.to_owned(), typed: text.clone(), text }
}

#[tokio::test]
async fn a_dead_session_is_resumed_in_its_folder_with_the_notice_on_its_input() {
    let home = Home::new();
    let claude = home.claude();
    let session = home.session(Some(dead_process()));
    let seen = claude.look(&session).await;
    assert_eq!((seen.life, seen.lanes), (Life::Dead, vec![Lane::ClaudeResume]));

    let handed = claude.hand(Lane::ClaudeResume, &session, &notice("wk_5")).await.unwrap();
    assert!(
        claude.turn_began(Lane::ClaudeResume, &session, &notice("wk_5"), &handed, PATIENCE).await
    );
    assert_eq!(home.told("stdin"), notice("wk_5").text);
    let argv = home.told("argv");
    let argv: Vec<&str> = argv.lines().collect();
    assert_eq!(
        argv,
        [
            "-p",
            "--resume",
            VENDOR_ID,
            "--output-format",
            "stream-json",
            "--verbose",
            "--allowedTools",
            "mcp__waystation",
        ]
    );
    let env = home.told("env");
    assert!(env.contains("WAYSTATION_TOKEN_FILE=/run/token"), "{env}");
    assert!(env.contains(&format!("CLAUDE_CONFIG_DIR={}", home.records().display())), "{env}");
    assert!(env.contains(&format!("OLDPWD={}", home.path("work").display())), "{env}");
    let mode = std::fs::metadata(handed.log.unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "its log is for its owner's eyes only");
    home.leave(&claude, VENDOR_ID);
}

#[tokio::test]
async fn a_run_that_is_still_at_work_is_not_started_twice() {
    let home = Home::new();
    let claude = home.claude();
    let session = home.session(Some(dead_process()));
    claude.hand(Lane::ClaudeResume, &session, &notice("wk_1")).await.unwrap();

    let seen = claude.look(&session).await;
    assert_eq!((seen.life, seen.activity), (Life::Live, Activity::Busy));
    assert_eq!(seen.lanes, []);
    let again = claude.hand(Lane::ClaudeResume, &session, &notice("wk_2")).await;
    assert!(matches!(again, Err(LaneError::NotNow { why: "turn_running" })), "{again:?}");

    home.told("stdin");
    home.leave(&claude, VENDOR_ID);
    assert_eq!(claude.look(&session).await.life, Life::Dead);
    claude.hand(Lane::ClaudeResume, &session, &notice("wk_2")).await.unwrap();
    home.leave(&claude, VENDOR_ID);
}

#[tokio::test]
async fn a_live_session_is_never_resumed_whatever_the_registry_says() {
    let home = Home::new();
    let claude = home.claude();
    let (_sleeper, living) = Sleeper::new();
    write(&home.records(), living.pid, &recorded(&living, VENDOR_ID, "idle"));
    // The registry knows another process, which is gone, or none at all.
    for registered in [Some(dead_process()), None, Some(living.clone())] {
        let session = home.session(registered);
        let seen = claude.look(&session).await;
        assert_eq!((seen.life, seen.activity, seen.lanes), (Life::Live, Activity::Idle, vec![]));
        let refused = claude.hand(Lane::ClaudeResume, &session, &notice("wk_1")).await;
        assert!(matches!(refused, Err(LaneError::Closed { .. })), "{refused:?}");
    }
    assert!(!home.path("argv").exists(), "nothing was started");
}

#[tokio::test]
async fn a_session_of_which_nothing_is_proven_is_not_resumed() {
    let home = Home::new();
    let claude = home.claude();
    let session = home.session(None);
    let seen = claude.look(&session).await;
    assert_eq!((seen.life, seen.lanes), (Life::Unknown, vec![]));
    let refused = claude.hand(Lane::ClaudeResume, &session, &notice("wk_1")).await;
    assert!(matches!(refused, Err(LaneError::Closed { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_process_that_went_on_to_another_session_leaves_the_old_one_dead() {
    let home = Home::new();
    let (_sleeper, living) = Sleeper::new();
    let other = "e261be10-2099-45ef-8421-1feca2044f3f";
    write(&home.records(), living.pid, &recorded(&living, other, "idle"));
    let seen = home.claude().look(&home.session(Some(living))).await;
    assert_eq!((seen.life, seen.lanes), (Life::Dead, vec![Lane::ClaudeResume]));
}

#[tokio::test]
async fn what_the_program_says_of_itself_comes_before_what_was_reported() {
    let home = Home::new();
    let (_sleeper, living) = Sleeper::new();
    let session = Session { reported: Activity::Busy, ..home.session(Some(living.clone())) };
    assert_eq!(home.claude().look(&session).await.activity, Activity::Busy);
    write(&home.records(), living.pid, &recorded(&living, VENDOR_ID, "waiting"));
    assert_eq!(home.claude().look(&session).await.activity, Activity::Dialog);
}

#[tokio::test]
async fn hostile_names_and_missing_folders_start_nothing() {
    let home = Home::new();
    let claude = home.claude();
    let dead = home.session(Some(dead_process()));
    let hostile =
        Session { vendor_id: Some("--dangerously-skip-permissions".into()), ..dead.clone() };
    let homeless = Session { cwd: Some(home.path("gone")), ..dead.clone() };
    let nowhere = Session { cwd: None, ..dead };
    for session in [hostile, homeless, nowhere] {
        let refused = claude.hand(Lane::ClaudeResume, &session, &notice("wk_1")).await;
        assert!(matches!(refused, Err(LaneError::Closed { .. })), "{refused:?}");
    }
    assert!(!home.path("argv").exists(), "nothing was started");
}

#[tokio::test]
async fn a_new_session_is_named_after_its_wake_and_a_second_attempt_goes_on_with_it() {
    let home = Home::new();
    let claude = home.claude();
    let session = Session { vendor_id: None, ..home.session(None) };
    let handed = claude.hand(Lane::ClaudeNew, &session, &notice("wk_6")).await.unwrap();
    let name = handed.vendor_id.clone().unwrap();
    assert_eq!(name, identity::of_wake("wk_6"));
    home.told("stdin");
    assert!(home.told("argv").contains(&format!("--session-id\n{name}\n")));
    assert_eq!(claude.has_arrived(&session, "wk_6").await, Some(true), "it is at work");
    home.leave(&claude, &name);
    assert_eq!(claude.has_arrived(&session, "wk_6").await, Some(false), "it left no transcript");

    home.write_transcript(&name, "{\"type\":\"mode\"}\n");
    std::fs::remove_file(home.path("stdin")).unwrap();
    claude.hand(Lane::ClaudeNew, &session, &notice("wk_6")).await.unwrap();
    home.told("stdin");
    assert!(home.told("argv").contains(&format!("--resume\n{name}\n")));
    home.leave(&claude, &name);
}

#[tokio::test]
async fn a_run_that_ends_without_a_turn_is_noticed_at_once() {
    let home = Home::new();
    std::fs::write(home.path("claude"), "#!/bin/sh\necho 'No conversation found' >&2\nexit 1\n")
        .unwrap();
    let claude = home.claude();
    let session = home.session(Some(dead_process()));
    // It may end before it has read what it was given.
    let handed = match claude.hand(Lane::ClaudeResume, &session, &notice("wk_1")).await {
        Ok(handed) => handed,
        Err(error) => return assert!(matches!(error, LaneError::Unsure { .. }), "{error}"),
    };
    let forever = Duration::from_hours(1);
    let notice = notice("wk_1");
    let began = claude.turn_began(Lane::ClaudeResume, &session, &notice, &handed, forever).await;
    assert!(!began);
}

#[tokio::test]
async fn a_notice_has_arrived_when_the_transcript_has_it() {
    let home = Home::new();
    let claude = home.claude();
    let session = home.session(Some(dead_process()));
    assert_eq!(claude.has_arrived(&session, "wk_5").await, Some(false), "there is no transcript");
    home.write_transcript(VENDOR_ID, include_str!("fixtures/resumed.jsonl"));
    assert_eq!(claude.has_arrived(&session, "wk_5").await, Some(true));
    assert_eq!(claude.has_arrived(&session, "wk_6").await, Some(false));
}

#[tokio::test]
async fn a_queued_notice_has_arrived_only_while_its_process_lives() {
    let home = Home::new();
    let claude = home.claude();
    let queued = include_str!("fixtures/absorbed.jsonl")
        .lines()
        .take_while(|line| !line.contains("absorbed_mid_turn"))
        .collect::<Vec<_>>();
    home.write_transcript(VENDOR_ID, &queued.join("\n"));
    let (sleeper, living) = Sleeper::new();
    let session = home.session(Some(living));
    assert_eq!(claude.has_arrived(&session, "wk_4").await, Some(true));
    drop(sleeper);
    assert_eq!(claude.has_arrived(&session, "wk_4").await, Some(false), "the queue died with it");
}

#[tokio::test]
async fn the_hubs_own_lane_and_those_of_others_are_refused() {
    let home = Home::new();
    let session = home.session(Some(dead_process()));
    for lane in [Lane::ClaudeRewake, Lane::CodexQueue] {
        let refused = home.claude().hand(lane, &session, &notice("wk_1")).await;
        assert!(matches!(refused, Err(LaneError::Closed { .. })), "{refused:?}");
    }
}

#[tokio::test]
async fn a_keeper_that_is_gone_leaves_what_the_records_say() {
    let home = Home::new();
    let claude = home.claude();
    let keeper = Some(home.path("run/keeper.sock"));
    let dead = Session { keeper: keeper.clone(), ..home.session(Some(dead_process())) };
    let seen = claude.look(&dead).await;
    assert_eq!((seen.life, seen.lanes), (Life::Dead, vec![Lane::ClaudeResume]));

    let (_sleeper, living) = Sleeper::new();
    let session = Session { keeper, ..home.session(Some(living.clone())) };
    assert_eq!(claude.look(&session).await.lanes, []);
    for lane in [Lane::ClaudeStream, Lane::Pty] {
        let refused = claude.hand(lane, &session, &notice("wk_1")).await;
        assert!(matches!(refused, Err(LaneError::Closed { .. })), "{refused:?}");
    }
    assert_eq!(claude.has_arrived(&session, "wk_1").await, None, "nobody knows what it typed");
}

#[tokio::test]
async fn nothing_is_typed_while_the_program_itself_says_that_it_is_busy() {
    let home = Home::new();
    let claude = home.claude();
    let (_sleeper, living) = Sleeper::new();
    let keeper = Some(home.path("run/keeper.sock"));
    let session = Session { keeper, ..home.session(Some(living.clone())) };
    for (status, expected) in [("busy", "turn_running"), ("waiting", "dialog_open")] {
        write(&home.records(), living.pid, &recorded(&living, VENDOR_ID, status));
        let refused = claude.hand(Lane::Pty, &session, &notice("wk_1")).await;
        assert!(
            matches!(refused, Err(LaneError::NotNow { why }) if why == expected),
            "{refused:?}"
        );
    }
}
