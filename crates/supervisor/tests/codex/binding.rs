//! Which thread a terminal shows: certain, or unknown.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use waystation_supervisor::lanes::codex::bind;
use waystation_supervisor::{AgentCli, Lane, Process};

use crate::fake::{Fake, Habit, ID};
use crate::{codex_with, notice, session};

/// A process with these arguments, which does nothing until its input ends.
fn terminal(folder: &Path, args: &[&str]) -> (Child, Process) {
    let mut command = Command::new("sh");
    command.args(["-c", "read line; :", "codex"]).args(args);
    let child = command.current_dir(folder).stdin(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    // The child is a copy of us until it has become its program.
    while !std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap().contains("read line") {
        std::thread::yield_now();
    }
    (child, Process::current_of(pid).unwrap())
}

fn end(mut child: Child) {
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[tokio::test]
async fn a_terminal_with_its_own_server_shows_the_one_thread_of_a_human_there() {
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("run/codex.sock");
    let fake = Fake::at(home.path(), &socket, Habit::Good);
    let address = format!("unix://{}", socket.display());
    let (child, process) = terminal(home.path(), &["--remote", &address]);
    let bound = bind(home.path(), &process, home.path(), None).await;
    assert_eq!(bound.unwrap().as_str(), ID, "helpers and drafts do not count");

    // A session that never reported its thread is reached through its process.
    let codex = codex_with(home.path(), "codex");
    let mut session = session(home.path());
    session.vendor_id = None;
    session.keeper = Some(socket.with_file_name("keeper.sock"));
    session.process = Some(process.clone());
    assert_eq!(codex.look(&session).await.lanes, [Lane::CodexSocket, Lane::CodexQueue]);
    let handed = codex.hand(Lane::CodexSocket, &session, &notice("wk_1")).await.unwrap();
    assert_eq!(handed.vendor_id.as_deref(), Some(ID));

    fake.set(|state| state.is_loaded = false);
    assert_eq!(bind(home.path(), &process, home.path(), None).await, None);
    assert!(codex.look(&session).await.lanes.is_empty());
    assert_eq!(codex.has_arrived(&session, "wk_2").await, None, "nobody can tell");
    end(child);
    assert_eq!(bind(home.path(), &process, home.path(), None).await, None);
}

#[tokio::test]
async fn on_the_shared_server_folder_and_time_must_fit() {
    let home = tempfile::tempdir().unwrap();
    let _fake = Fake::shared(home.path(), Habit::Good);
    let (child, process) = terminal(home.path(), &[]);
    // The fake's thread works in /tmp and was made at this moment.
    let made = UNIX_EPOCH + Duration::from_millis(1_794_754_004_654);
    let before = made - Duration::from_secs(1);
    let at = async |cwd: &str, after| bind(home.path(), &process, Path::new(cwd), after).await;
    assert_eq!(at("/tmp", Some(before)).await.unwrap().as_str(), ID);
    assert_eq!(at("/", Some(before)).await, None);
    assert_eq!(at("/tmp", Some(made + Duration::from_secs(1))).await, None);
    assert_eq!(at("/tmp", Some(made - Duration::from_hours(1))).await, None);
    assert_eq!(at("/tmp", None).await, None);
    end(child);
}
