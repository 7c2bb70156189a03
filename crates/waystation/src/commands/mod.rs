//! The commands: each turns its words into calls of operations and prints the answers.
mod agents;
mod approvals;
mod ask;
mod audit;
mod backup;
mod call;
mod connect;
mod deliveries;
mod diff;
mod doctor;
mod documents;
mod each;
mod followed;
pub(crate) mod hook;
mod import;
mod link;
mod mcp;
mod outbox;
mod page;
mod programs;
mod progress;
mod redact;
mod reference;
mod review;
mod run;
mod send;
mod settings;
mod shell;
mod tail;
mod target;
mod token;
mod tty;
mod up;
mod wait;
mod work;

use std::process::ExitCode;

use anyhow::{Context, Result};
use protocol::Metadata;
use serde_json::{Value, json};

use crate::cli::{Cli, Command, Global, ThreadCommand, ThreadsArgs};
use crate::paths::Place;

/// Runs the command that was asked for.
pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    let command = match cli.command {
        Some(command) => command,
        None if stdin_is_a_pipe() => Command::Mcp(crate::cli::McpArgs::default()),
        None => Command::Up(crate::cli::UpArgs::default()),
    };
    match command {
        Command::Completions { shell } => shell::completions(shell),
        Command::Man { command } => shell::manual(&command),
        Command::Reference(args) => reference::run(&args.out, args.check),
        Command::Redact(args) => redact::run(&cli.global, &args),
        Command::Config => {
            settings::print(&cli.global)?;
            Ok(ExitCode::SUCCESS)
        }
        command => {
            let place = Place::find(&cli.global)?;
            let threads = match &command {
                Command::Up(_) | Command::Owner | Command::Agentd(_) => 0,
                _ => 1,
            };
            let bridges_stdin = matches!(command, Command::Mcp(_));
            let runtime = runtime(threads)?;
            let ended = runtime.block_on(run_async(command, cli.global, place));
            if bridges_stdin {
                // A read of standard input cannot be called off, and this one waits for a client that
                // may say nothing for ever. Whatever else ran beside it has been awaited by now.
                runtime.shutdown_background();
            }
            ended
        }
    }
}

fn runtime(threads: usize) -> Result<tokio::runtime::Runtime> {
    let mut builder = match threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.enable_all().build().context("cannot start the runtime")
}

async fn run_async(command: Command, global: Global, place: Place) -> Result<ExitCode> {
    match command {
        Command::Up(args) => return up::run(&place, &global, &args).await,
        Command::Owner => return up::owner(&place).await,
        Command::Agentd(args) => return crate::agentd::run(&place, &global, &args).await,
        Command::Mcp(args) => mcp::run(&place, &args).await?,
        Command::Call { operation, input } => call::run(&place, &global, operation, &input).await?,
        Command::Tail { thread, since } => tail::run(&place, &global, &thread, since).await?,
        Command::Link(command) => link::run(&place, &global, command).await?,
        Command::Import(args) => import::run(&place, &global, args).await?,
        Command::Token(command) => token::run(&place, &global, command).await?,
        Command::Audit(command) => return audit::run(&place, &global, command).await,
        Command::Backup { file } => backup::backup(&place, &global, &file).await?,
        Command::Restore(args) => backup::restore(&place, &global, &args).await?,
        Command::Wait(args) => return Ok(wait::run(&place, &args).await),
        Command::Hook(command) => return Ok(hook::run(&place, command).await),
        Command::Doctor(args) => return doctor::run(&place, &global, &args).await,
        Command::Agents(args) => agents::run(&place, &global, args).await?,
        Command::Approvals(args) => approvals::run(&place, &global, args).await?,
        Command::Send(args) => send::run(&place, &global, args).await?,
        Command::Outbox(args) => return outbox::run(&place, &global, args).await,
        Command::Work(args) => return work::run(&place, &global, args).await,
        Command::Docs(command) => documents::run(&place, &global, command).await?,
        Command::Review(command) => review::run(&place, &global, command).await?,
        Command::Connect(args) => return connect::run(&place, &global, &args).await,
        Command::Run(args) => return run::run(&place, &global, args).await,
        Command::Attach(args) => return run::attach(&place, &args),
        Command::Keeper => return run::keeper(&place).await,
        Command::Down => up::down(&place, &global).await?,
        other => {
            let (operation, input) = friendly(other)?;
            page::print(&place, &global, operation, &input).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The operation behind a friendly command.
fn friendly(command: Command) -> Result<(&'static str, Value)> {
    Ok(match command {
        Command::Threads(args) => threads(args),
        Command::Thread(command) => thread(command),
        Command::Post { thread, body, reply_to, event, metadata, key } => {
            let body = if body == "-" { read_stdin()? } else { body };
            let metadata: Option<Metadata> = metadata
                .map(|text| serde_json::from_str(&text).context("--metadata must be a JSON object"))
                .transpose()?;
            let mut metadata = metadata.map(Metadata::into_map);
            let kind = event.as_ref().map(|_| "event");
            if let Some(event) = event {
                metadata.get_or_insert_default().insert("event_type".to_owned(), event.into());
            }
            let input = json!({
                "thread_id": thread, "body": body, "kind": kind, "metadata": metadata,
                "in_reply_to": reply_to, "idempotency_key": key,
            });
            ("post_message", compact(input))
        }
        Command::Read { thread, since, limit } => (
            "read_messages",
            compact(json!({ "thread_id": thread, "since_seq": since, "limit": limit })),
        ),
        Command::Search { query, thread, sender, limit, cursor } => (
            "search_messages",
            compact(json!({
                "query": query, "thread_id": thread, "sender": sender, "limit": limit, "cursor": cursor,
            })),
        ),
        Command::Chats { source: None, .. } => ("list_sources", json!({})),
        Command::Chats { source: Some(source), name, limit, offset } => {
            let filter = name.map(|name| json!({ "name_pattern": name }));
            let input = json!({
                "source": source, "filter": filter, "limit": limit, "offset": offset,
            });
            ("list_chats", compact(input))
        }
        Command::Chat(asked) => (
            "get_messages",
            compact(json!({
                "source": asked.source, "chat": asked.chat, "search": asked.search,
                "sender": asked.sender, "since": asked.since, "before": asked.before,
                "limit": asked.limit, "cursor": asked.cursor, "offline": asked.offline,
            })),
        ),
        Command::Sessions { online, limit, cursor } => (
            "list_sessions",
            compact(json!({ "online_only": online, "limit": limit, "cursor": cursor })),
        ),
        _ => anyhow::bail!("this command has no operation behind it"),
    })
}

fn threads(args: ThreadsArgs) -> (&'static str, Value) {
    let ThreadsArgs { status, unread, limit, cursor } = args;
    let input =
        json!({ "status": status, "unread_only": unread, "limit": limit, "cursor": cursor });
    ("list_threads", compact(input))
}

fn thread(command: ThreadCommand) -> (&'static str, Value) {
    match command {
        ThreadCommand::New { title, participants, thread_type, key } => (
            "create_thread",
            compact(json!({
                "title": title, "participants": participants, "type": thread_type,
                "idempotency_key": key,
            })),
        ),
        ThreadCommand::List(args) => threads(args),
        ThreadCommand::Show { thread } => ("get_thread", json!({ "thread_id": thread })),
        ThreadCommand::Status { thread, status, reason } => (
            "update_thread_status",
            compact(json!({ "thread_id": thread, "status": status, "reason": reason })),
        ),
        ThreadCommand::Summary { thread } => ("summarize_thread", json!({ "thread_id": thread })),
        ThreadCommand::Add { thread, agents } => {
            ("add_participants", json!({ "thread_id": thread, "participants": agents }))
        }
        ThreadCommand::Remove { thread, agents } => {
            ("remove_participants", json!({ "thread_id": thread, "participants": agents }))
        }
    }
}

/// Leaves out what was not said.
fn compact(mut value: Value) -> Value {
    if let Value::Object(map) = &mut value {
        map.retain(|_, value| !value.is_null());
    }
    value
}

fn read_stdin() -> Result<String> {
    std::io::read_to_string(std::io::stdin()).context("stdin is not UTF-8 text")
}

fn stdin_is_a_pipe() -> bool {
    use rustix::fs::{FileType, fstat};
    fstat(std::io::stdin()).is_ok_and(|found| {
        matches!(FileType::from_raw_mode(found.st_mode), FileType::Fifo | FileType::Socket)
    })
}
