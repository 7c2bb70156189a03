//! The program: `codex exec` and `codex queue` get exactly these arguments, the text where nobody
//! else reads it, and live on without us.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use waystation_supervisor::lanes::codex::{Known, private};
use waystation_supervisor::{AgentCli, Lane, LaneError, Life, Process, Session, life};

use crate::fake::{Fake, Habit, ID, begin_rollout};
use crate::{codex_with, gone, notice, session};

const PATIENCE: Duration = Duration::from_secs(20);

/// Writes a program that notes its arguments, environment and input, and then does `body`.
fn program(home: &Path, body: &str) -> PathBuf {
    let file = home.join("codex");
    let text = format!(
        r#"#!/bin/sh
case "$*" in
  --version) echo "codex-cli 0.166.0"; exit 0 ;;
  *--help) echo "usage: --thread SESSION_ID --listen"; exit 0 ;;
esac
pwd -P > "$CODEX_HOME/folder"
cd "$CODEX_HOME" || exit 9
printf '%s\n' "$@" > argv
env > environment
[ "$1" = exec ] && cat > input
started() {{ echo '{{"type":"thread.started","thread_id":"{ID}"}}'; }}
began() {{ echo '{{"type":"turn.started"}}'; }}
{body}
"#
    );
    install(&file, &text);
    file
}

/// Makes a program. Another process writes it: a handle of ours could be open in a child that another
/// test starts at this moment, and then the kernel would not run it.
fn install(file: &Path, text: &str) {
    let mut writer = Command::new("sh");
    writer.args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh"]).arg(file);
    let mut writer = writer.stdin(Stdio::piped()).spawn().unwrap();
    writer.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
}

fn noted(home: &Path, name: &str) -> String {
    std::fs::read_to_string(home.join(name)).unwrap_or_default()
}

fn dead(home: &Path) -> Session {
    begin_rollout(home, "0.166.0");
    Session { process: Some(gone()), ..session(home) }
}

#[tokio::test]
async fn a_dead_session_is_resumed_in_its_folder_with_the_text_on_its_input() {
    let home = tempfile::tempdir().unwrap();
    let codex = codex_with(home.path(), program(home.path(), "started; began"));
    let folder = tempfile::tempdir().unwrap();
    let session = Session { cwd: Some(folder.path().to_owned()), ..dead(home.path()) };
    let notice = notice("wk_1");
    assert_eq!(codex.has_arrived(&session, "wk_1").await, Some(false));
    let handed = codex.hand(Lane::CodexResume, &session, &notice).await.unwrap();
    let lane = Lane::CodexResume;
    assert!(codex.turn_began(lane, &session, &notice, &handed, PATIENCE).await);
    assert_eq!(handed.vendor_id.as_deref(), Some(ID));
    let expected = format!(
        "exec\n-c\nsandbox_mode=\"workspace-write\"\n--json\n--skip-git-repo-check\nresume\n{ID}\n-\n"
    );
    assert_eq!(noted(home.path(), "argv"), expected);
    assert_eq!(noted(home.path(), "input"), notice.text);
    assert_eq!(noted(home.path(), "folder").trim(), folder.path().to_str().unwrap());
    let environment = noted(home.path(), "environment");
    assert!(environment.contains("WAYSTATION_SESSION=sess_1"));
    assert_eq!(codex.has_arrived(&session, "wk_1").await, Some(true));
    let log = handed.log.unwrap();
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!log.with_extension("prompt").exists());
}

#[tokio::test]
async fn a_new_session_starts_in_the_folder_it_is_given() {
    let home = tempfile::tempdir().unwrap();
    let codex = codex_with(home.path(), program(home.path(), "started; began"));
    let session = Session { vendor_id: None, ..session(home.path()) };
    assert_eq!(codex.has_arrived(&session, "wk_1").await, Some(false));
    let handed = codex.hand(Lane::CodexNew, &session, &notice("wk_1")).await.unwrap();
    assert_eq!(handed.vendor_id.as_deref(), Some(ID));
    let argv = noted(home.path(), "argv");
    assert!(argv.ends_with(&format!("-C\n{}\n-\n", home.path().display())), "{argv}");
    assert!(!argv.contains("waystation wake"));

    let nowhere = Session { cwd: Some(home.path().join("nowhere")), ..session };
    let result = codex.hand(Lane::CodexNew, &nowhere, &notice("wk_2")).await;
    assert!(matches!(result, Err(LaneError::Closed { lane: Lane::CodexNew, .. })));
}

#[tokio::test]
async fn why_codex_refused_is_said_without_its_own_words() {
    for (words, expected) in [
        ("thread/resume failed: thread x already has an active writer SECRET", "open elsewhere"),
        ("no rollout found for thread id x SECRET", "no record"),
        ("error: unexpected argument '-s' found SECRET", "update it"),
        ("anything else SECRET", "says why"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let body = format!("echo \"{words}\" >&2; exit 1");
        let codex = codex_with(home.path(), program(home.path(), &body));
        let session = dead(home.path());
        let result = codex.hand(Lane::CodexResume, &session, &notice("wk_1")).await;
        let Err(LaneError::Closed { why, .. }) = result else { panic!("{result:?}") };
        assert!(why.contains(expected) && !why.contains("SECRET"), "{why}");
        assert_eq!(codex.has_arrived(&session, "wk_1").await, Some(false));
    }
}

#[tokio::test]
async fn a_process_that_outlives_us_is_waited_for_before_anybody_tries_again() {
    let home = tempfile::tempdir().unwrap();
    let file = program(home.path(), "started; read line < first; began; read line < second");
    // One gate each: a reader that comes early would else see the end of the one before.
    make_pipe(&home.path().join("first"));
    make_pipe(&home.path().join("second"));
    let session = dead(home.path());
    let first = codex_with(home.path(), &file);
    let handed = first.hand(Lane::CodexResume, &session, &notice("wk_1")).await.unwrap();
    drop(first);

    // Somebody else takes over; the process has not begun its turn.
    let second = codex_with(home.path(), &file);
    let again = second.hand(Lane::CodexResume, &session, &notice("wk_1")).await;
    assert!(matches!(again, Err(LaneError::Unsure { .. })), "{again:?}");
    let opened = open_gate(home.path().join("first"));
    let (arrived, ()) = tokio::join!(second.has_arrived(&session, "wk_1"), opened);
    assert_eq!(arrived, Some(true));
    let lane = Lane::CodexResume;
    assert!(second.turn_began(lane, &session, &notice("wk_1"), &handed, PATIENCE).await);
    open_gate(home.path().join("second")).await;
}

#[tokio::test]
async fn a_process_that_ends_without_a_turn_began_none() {
    let home = tempfile::tempdir().unwrap();
    let codex = codex_with(home.path(), program(home.path(), "started; exit 1"));
    let (session, notice) = (dead(home.path()), notice("wk_1"));
    let handed = codex.hand(Lane::CodexResume, &session, &notice).await.unwrap();
    assert!(!codex.turn_began(Lane::CodexResume, &session, &notice, &handed, PATIENCE).await);
    assert_eq!(codex.has_arrived(&session, "wk_1").await, Some(false));
}

#[tokio::test]
async fn a_queue_gets_only_the_bare_template() {
    let home = tempfile::tempdir().unwrap();
    let _fake = Fake::shared(home.path(), Habit::Good);
    let codex = codex_with(home.path(), program(home.path(), ":"));
    let session = session(home.path());
    codex.hand(Lane::CodexQueue, &session, &notice("wk_1")).await.unwrap();
    let expected = format!("queue\n--thread\n{ID}\n--message\n{}\n", notice("wk_1").typed);
    assert_eq!(noted(home.path(), "argv"), expected);

    let mut hostile = notice("wk_2");
    hostile.typed = hostile.text.clone();
    let result = codex.hand(Lane::CodexQueue, &session, &hostile).await;
    assert!(matches!(result, Err(LaneError::Closed { lane: Lane::CodexQueue, .. })));
    assert_eq!(noted(home.path(), "argv"), expected, "nothing was started");
}

#[tokio::test]
async fn hostile_ids_reach_no_program_and_no_file() {
    let home = tempfile::tempdir().unwrap();
    let codex = codex_with(home.path(), program(home.path(), "started; began"));
    for id in ["--last", "$(id)", "../../x", "01a1dfac-c6ae-7861-9fab-bcfdd1d9c997\n--all", ""] {
        let session = Session { vendor_id: Some(id.to_owned()), ..dead(home.path()) };
        for lane in [Lane::CodexResume, Lane::CodexQueue, Lane::CodexSocket, Lane::Pty] {
            let result = codex.hand(lane, &session, &notice("wk_1")).await;
            assert!(matches!(result, Err(LaneError::Closed { .. })), "{id:?}");
        }
        assert_eq!(codex.has_arrived(&session, "../../wk").await, None);
    }
    let result = codex.hand(Lane::CodexNew, &dead(home.path()), &notice("../wk_1")).await;
    assert!(matches!(result, Err(LaneError::Closed { .. })));
    assert_eq!(noted(home.path(), "argv"), "");
}

#[tokio::test]
async fn a_program_that_is_missing_or_old_closes_its_lanes() {
    let home = tempfile::tempdir().unwrap();
    let session = dead(home.path());
    let missing = codex_with(home.path(), home.path().join("no-such-codex"));
    let result = missing.hand(Lane::CodexResume, &session, &notice("wk_1")).await;
    let Err(LaneError::Closed { why, .. }) = result else { panic!("{result:?}") };
    assert!(why.contains("no-such-codex"), "{why}");

    let file = home.path().join("old-codex");
    let text = "#!/bin/sh\n[ \"$*\" = --version ] && echo 'codex-cli 0.20.0' && exit 0\nexit 2\n";
    install(&file, text);
    let old = codex_with(home.path(), file);
    let result = old.hand(Lane::CodexResume, &session, &notice("wk_1")).await;
    let Err(LaneError::Closed { why, .. }) = result else { panic!("{result:?}") };
    assert!(why.contains("0.20.0") && why.contains("update"), "{why}");
}

#[tokio::test]
async fn a_program_is_asked_once_what_it_can_do_and_again_when_it_has_changed() {
    let home = tempfile::tempdir().unwrap();
    let asked = home.path().join("asked");
    let text = |version: &str| {
        let asked = asked.display();
        format!(
            "#!/bin/sh\ncase \"$*\" in\n  --version) echo x >> {asked}; echo codex-cli {version} ;;\n  \
             *) echo --thread SESSION_ID --listen ;;\nesac\n"
        )
    };
    let file = home.path().join("codex");
    install(&file, &text("0.166.0"));
    let known = Arc::new(Known::default());
    let codex = || codex_with(home.path(), &file).with_known(Arc::clone(&known));
    let times = || std::fs::read_to_string(&asked).unwrap().lines().count();
    for _ in 0..3 {
        assert_eq!(codex().abilities().await.unwrap().version, "codex-cli 0.166.0");
    }
    assert_eq!(times(), 1);
    std::fs::remove_file(&file).unwrap();
    assert!(codex().abilities().await.is_err());
    install(&file, &text("0.167.1"));
    for _ in 0..3 {
        assert_eq!(codex().abilities().await.unwrap().version, "codex-cli 0.167.1");
    }
    assert_eq!(times(), 2);
}

#[tokio::test]
async fn a_private_server_ends_with_all_that_it_started() {
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("run/codex.sock");
    // The fake answers in its place; what answers there and is no app server of ours is left alone.
    let _fake = Fake::at(home.path(), &socket, Habit::Good);
    let file = program(home.path(), "sleep 1000 & echo $! > below; read line < ready; wait");
    make_pipe(&home.path().join("ready"));
    let mut command = tokio::process::Command::new(file);
    command.env("CODEX_HOME", home.path());
    let log = home.path().join("server.log");
    let server = private::start(command, &socket, &log).await.unwrap();
    open_gate(home.path().join("ready")).await;
    let argv = noted(home.path(), "argv");
    let listen = format!("--listen\nunix://{}\n", socket.display());
    assert!(argv.starts_with("app-server\n-c\nthread_unload_delay_secs=1\n"), "{argv}");
    assert!(argv.ends_with(&listen), "{argv}");
    let below = noted(home.path(), "below").trim().parse().unwrap();
    let below = Process::current_of(below).unwrap();
    server.end().await;
    // It ended as one of a group, and whoever inherits it notices when it likes.
    while life(&below) == Life::Live {
        tokio::task::yield_now().await;
    }
}

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// Lets the program go on once; it waits until the program reads.
async fn open_gate(gate: PathBuf) {
    tokio::task::spawn_blocking(move || std::fs::write(gate, "go\n").unwrap()).await.unwrap();
}
