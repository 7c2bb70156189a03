//! Looks at a Codex session, wakes it and says what happened: the lanes, from a command line.
//!
//! ```text
//! codex_wake look    CODEX_HOME THREAD CWD [PID]
//! codex_wake hand    CODEX_HOME THREAD CWD LANE WAKE_ID [PID]
//! codex_wake arrived CODEX_HOME THREAD CWD WAKE_ID
//! codex_wake bind    CODEX_HOME CWD PID [SECONDS_AGO]
//! codex_wake can     CODEX_HOME
//! codex_wake serve   CODEX_HOME CWD SOCKET
//! ```
//! `THREAD` may be `-` where the process tells it. A socket called `codex.sock` beside the file that
//! `CODEX_KEEPER` names is asked first.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use tokio::signal::unix::{SignalKind, signal};
use waystation_supervisor::lanes::codex::{Codex, bare, bind, private};
use waystation_supervisor::{Activity, AgentCli, Lane, Notice, Process, Program, Runtime, Session};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |place: usize| words.get(place).map(String::as_str);
    let home = PathBuf::from(word(1).ok_or("which CODEX_HOME?")?);
    let program = Program {
        file: std::env::var_os("CODEX_PROGRAM").map_or_else(|| "codex".into(), PathBuf::from),
        args: Vec::new(),
        env: Vec::new(),
        log_folder: std::env::temp_dir().join("codex_wake"),
    };
    let codex = Codex::new(program.clone(), home.clone());
    match word(0) {
        Some("serve") => {
            let socket = PathBuf::from(word(3).ok_or("which socket?")?);
            let mut command = bare(&program, &home);
            command.current_dir(word(2).ok_or("which folder?")?);
            let log = socket.with_extension("log");
            let mut server = private::start(command, &socket, &log).await?;
            say("it answers")?;
            let mut stop = signal(SignalKind::terminate())?;
            tokio::select! {
                () = server.ended() => {}
                _ = stop.recv() => server.end().await,
            }
            Ok(())
        }
        Some("can") => say(&format!("{:?}", codex.abilities().await)),
        Some("bind") => {
            let pid = word(3).ok_or("which PID?")?.parse()?;
            let process = Process::current_of(pid).ok_or("no such process")?;
            let ago = word(4).map(str::parse).transpose()?;
            let after = ago.and_then(|ago| now().checked_sub(Duration::from_secs(ago)));
            let cwd = PathBuf::from(word(2).ok_or("which folder?")?);
            say(&format!("{:?}", bind(&home, &process, &cwd, after).await))
        }
        Some("look") => {
            say(&format!("{:?}", codex.look(&session(word(2), word(3), word(4))?).await))
        }
        Some("arrived") => {
            let session = session(word(2), word(3), None)?;
            let wake_id = word(4).ok_or("which wake?")?;
            say(&format!("{:?}", codex.has_arrived(&session, wake_id).await))
        }
        Some("hand") => {
            let session = session(word(2), word(3), word(6))?;
            let lane = Lane::named(word(4).ok_or("which lane?")?).ok_or("no such lane")?;
            wake(&codex, lane, &session, word(5).ok_or("which wake?")?).await
        }
        _ => Err("look, hand, arrived, bind, can or serve?".into()),
    }
}

async fn wake(
    codex: &Codex,
    lane: Lane,
    session: &Session,
    wake_id: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let typed = format!("[waystation wake {wake_id}] This is a trial.");
    let text = format!("{typed}\noperator adds: “please answer”");
    let notice = Notice { wake_id: wake_id.to_owned(), text, typed };
    let start = instant();
    let handed = codex.hand(lane, session, &notice).await?;
    let handed_ms = start.elapsed().as_secs_f64() * 1e3;
    let began = codex.turn_began(lane, session, &notice, &handed, Duration::from_mins(1)).await;
    let began_ms = start.elapsed().as_secs_f64() * 1e3;
    say(&format!(
        "handed after {handed_ms:.1} ms, turn began {began} after {began_ms:.1} ms: {handed:?}"
    ))
}

fn session(
    thread: Option<&str>,
    cwd: Option<&str>,
    pid: Option<&str>,
) -> Result<Session, Box<dyn std::error::Error>> {
    let pid = pid.map(str::parse).transpose()?;
    // A number that nobody has is that of a process that is gone.
    let gone = |pid| Process { pid, started_ticks: 1, boot_id: "gone".to_owned() };
    Ok(Session {
        id: "sess_trial".to_owned(),
        runtime: Runtime::Codex,
        vendor_id: thread.filter(|thread| *thread != "-").map(str::to_owned),
        cwd: cwd.map(PathBuf::from),
        process: pid.map(|pid| Process::current_of(pid).unwrap_or_else(|| gone(pid))),
        transcript: None,
        keeper: std::env::var_os("CODEX_KEEPER").map(PathBuf::from),
        reported: Activity::Unknown,
        is_resumable: true,
    })
}

fn say(text: &str) -> Result<(), Box<dyn std::error::Error>> {
    Ok(writeln!(std::io::stdout(), "{text}")?)
}

#[expect(clippy::disallowed_methods, reason = "a tool for trials measures")]
fn instant() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a tool for trials reads the clock")]
fn now() -> SystemTime {
    SystemTime::now()
}
