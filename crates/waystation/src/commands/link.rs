//! Connecting accounts: what a service asks for is asked of the person, and tried before it is kept.

use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context, Result, bail};
use connector_api::{ConnectorKind, Field};
use protocol::Secret;
use serde_json::{Map, Value, json};

use super::approvals;
use super::ask::{self, say};
use super::tty::Tty;
use super::{call, deliveries};
use crate::cli::{Global, LinkAddArgs, LinkCommand};
use crate::config::Config;
use crate::paths::Place;
use crate::{address, failure, output, reach};

/// A line that somebody types.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// `waystation link`.
pub(crate) async fn run(place: &Place, global: &Global, command: LinkCommand) -> Result<()> {
    match command {
        LinkCommand::Add(args) => add(place, global, &args).await,
        LinkCommand::List => call::print(place, global, "list_links", &json!({})).await,
        LinkCommand::Check { name } => check(place, global, &name).await,
        LinkCommand::Deliveries(args) => deliveries::list(place, global, &args).await,
        LinkCommand::Replay { id, again } => deliveries::replay(place, global, &id, again).await,
        LinkCommand::Test { name } => deliveries::test(place, global, &name).await,
        LinkCommand::Remove { name, purge, yes } => remove(place, global, &name, purge, yes).await,
    }
}

async fn add(place: &Place, global: &Global, args: &LinkAddArgs) -> Result<()> {
    let kind = connectors::kind(&args.service).context("this service is not known")?;
    if args.guide {
        let guide = kind.guide().trim_end();
        let value = json!({ "service": args.service, "guide": guide });
        return output::answer(global.json, &value, guide);
    }
    let mut given = plain(kind, &args.settings)?;
    given.extend(from_stdin(kind, &args.secrets)?);
    let is_person = std::io::stdin().is_terminal() && args.secrets.is_empty();
    if is_person {
        let name = args.name.as_deref().unwrap_or(&args.service);
        let standing = if is_linked(place, name).await? { confirm(name)? } else { Standing::New };
        // Whoever says what to change of a link is not asked for the rest.
        if standing == Standing::New || given.is_empty() {
            ask_for_rest(kind, &mut given, standing)?;
        }
    }
    let settings: Map<String, Value> =
        given.iter().map(|(name, value)| (name.clone(), value.expose().clone().into())).collect();
    let input = super::compact(json!({
        "service": args.service, "name": args.name, "settings": settings, "unchecked": args.force,
    }));
    if is_person {
        say(&format!("Asking {} …", kind.title()))?;
    }
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut hub = reach::connect(place, &greeting).await?;
    let mut added = hub.call("add_link", &input).await;
    // Where people decide through a service, connecting it takes the passphrase.
    if greeting.operator && matches!(&added, Err(error) if approvals::is_asked_for(error)) {
        approvals::unlock(&mut hub).await?;
        added = hub.call("add_link", &input).await;
    }
    let added = match added {
        Ok(added) => added,
        Err(error) => {
            let error = failure::of_client(error);
            if !is_person {
                let how = format!("waystation link add {} --guide", args.service);
                say(&format!("How to get what {} asks for: {how}", kind.title()))?;
            }
            return Err(error);
        }
    };
    output::answer(global.json, &added.answer, &added.brief)?;
    if global.json { Ok(()) } else { tell_next(kind, &config, &added.answer) }
}

/// Tells a person what to do after a link was added.
fn tell_next(kind: &dyn ConnectorKind, config: &Config, added: &Value) -> Result<()> {
    let text = |key: &str| added.get(key).and_then(Value::as_str);
    if let Some(path) = text("hook_path") {
        let line = match address::public(config) {
            None => format!(
                "{} has to call the hub at {path}: make it reachable over https and set public_url",
                kind.title()
            ),
            Some(url) => format!("Tell {} to call {url}{path}", kind.title()),
        };
        output::line(&line)?;
    }
    let made = added.get("secrets_made").and_then(Value::as_object);
    for (name, secret) in made.into_iter().flatten() {
        let secret = secret.as_str().unwrap_or_default();
        output::line(&format!(
            "{name}: {secret}\nTell {} this secret; it is not shown again.",
            kind.title()
        ))?;
    }
    let name = text("name").unwrap_or_default();
    output::line(&steps(kind.service(), name))
}

/// Whether a link stood there before it was added.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    New,
    Linked,
}

/// Whether there is a link of this name, with an account behind it.
async fn is_linked(place: &Place, name: &str) -> Result<bool> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut hub = reach::connect(place, &greeting).await?;
    let links = hub.call("list_links", &json!({})).await.map_err(failure::of_client)?.answer;
    let links = links.get("links").and_then(Value::as_array).into_iter().flatten();
    Ok(links.into_iter().any(|link| {
        let is = |key: &str, text: &str| link.get(key).and_then(Value::as_str) == Some(text);
        is("name", name) && !is("status", "archive")
    }))
}

/// Asks whether a link is to be changed.
fn confirm(name: &str) -> Result<Standing> {
    say(&format!("{name} is linked already; what you leave out stays as it is."))?;
    if !ask::confirm("Change it?")? {
        bail!("nothing was changed");
    }
    Ok(Standing::Linked)
}

/// What a person does after a link is there: with chats to read, with what calls the hub, or with what
/// the hub calls.
fn steps(service: &str, link: &str) -> String {
    use protocol::relay::channel;
    let steps = match service {
        channel::WEBHOOK => return sent_steps(link),
        channel::GITHUB | channel::SENTRY | channel::OPENPROJECT => called_steps(link),
        _ => next_steps(link),
    };
    format!("It is followed for as long as the hub runs: waystation up keeps it running.\n{steps}")
}

/// What a person does after the hub was told whom to call.
fn sent_steps(link: &str) -> String {
    format!(
        "It is called when an action that an agent proposes to its address is approved.\n\nNext:\n  \
         waystation link check {link}   says how the receiver can check what comes\n  \
         waystation approvals   shows what agents propose\n  \
         waystation outbox      shows what was sent, and what was given up"
    )
}

/// What a person does after a service was told whom to call.
fn called_steps(link: &str) -> String {
    format!(
        "\nNext:\n  waystation link test {link}         sends a recorded delivery through the whole way in\n  \
         waystation link deliveries {link}   shows what came, and what became of it\n\
         What asks for something is work for agents: pull_work."
    )
}

/// What a person does after a source is there.
pub(super) fn next_steps(source: &str) -> String {
    format!(
        "\nNext:\n  waystation call list_chats '{{\"source\": \"{source}\"}}'\n  \
         waystation token issue --agent NAME --chats '{source}/*' --for claude\n\
         The agent then has list_chats, get_messages and the resources messages://{source}/…"
    )
}

/// Settings from the command line. A secret there would stand in the list of processes.
fn plain(
    kind: &dyn ConnectorKind,
    settings: &[String],
) -> Result<BTreeMap<String, Secret<String>>> {
    let mut given = BTreeMap::new();
    for setting in settings {
        let Some((name, value)) = setting.split_once('=') else {
            bail!("--set takes KEY=VALUE; for {} the keys are {}", kind.title(), keys(kind));
        };
        let field = find(kind, name)?;
        // Nothing is no secret: it takes away what was kept.
        if field.is_secret && !value.is_empty() {
            bail!(
                "{name} is a secret, and others on this machine can see what stands in a command: \
                 leave it out to be asked for it, or pipe it in with --secret-stdin {name}"
            );
        }
        given.insert(name.to_owned(), Secret::new(value.to_owned()));
    }
    Ok(given)
}

/// Secrets from stdin, one line each.
fn from_stdin(
    kind: &dyn ConnectorKind,
    names: &[String],
) -> Result<BTreeMap<String, Secret<String>>> {
    let mut given = BTreeMap::new();
    for name in names {
        find(kind, name)?;
        let line = read_line()?;
        if line.expose().is_empty() {
            bail!("--secret-stdin {name}: there is no line for it on stdin");
        }
        given.insert(name.clone(), line);
    }
    Ok(given)
}

fn find(kind: &dyn ConnectorKind, name: &str) -> Result<&'static Field> {
    let field = kind.fields().iter().find(|field| field.name == name);
    field.with_context(|| {
        format!("{} does not ask for {name:?}; its keys are {}", kind.title(), keys(kind))
    })
}

fn keys(kind: &dyn ConnectorKind) -> String {
    kind.fields().iter().map(|field| field.name).collect::<Vec<_>>().join(", ")
}

/// Asks a person for what was not given: all that must be given, and secrets that may be.
fn ask_for_rest(
    kind: &dyn ConnectorKind,
    given: &mut BTreeMap<String, Secret<String>>,
    standing: Standing,
) -> Result<()> {
    let wanted = |field: &&Field| {
        !given.contains_key(field.name)
            && (field.default.is_none() || (field.is_secret && field.default == Some("")))
    };
    let fields: Vec<&Field> = kind.fields().iter().filter(wanted).collect();
    let left: Vec<&str> = kind
        .fields()
        .iter()
        .filter(|field| !fields.contains(field) && !given.contains_key(field.name))
        .map(|field| field.name)
        .collect();
    if fields.is_empty() {
        return Ok(());
    }
    say(&format!("{}\n", kind.guide().trim_end()))?;
    for field in fields {
        let optional = match standing {
            Standing::Linked => ", or just Enter to keep it",
            Standing::New if field.default.is_some() => ", or just Enter",
            Standing::New => "",
        };
        say(&format!("{}\n  {}", field.prompt, field.help))?;
        let answer = answer(field, &format!("{}{optional}: ", field.name))?;
        if !answer.expose().is_empty() {
            given.insert(field.name.to_owned(), answer);
        }
    }
    if !left.is_empty() {
        say(&format!("(--set can change {} too)", left.join(", ")))?;
    }
    Ok(())
}

/// Asks for one thing; for a secret on the terminal itself, which shows nothing of it meanwhile.
fn answer(field: &Field, question: &str) -> Result<Secret<String>> {
    if field.is_secret {
        let typed = Tty::open()?.secret(question)?;
        return Ok(Secret::new(typed.expose().trim().to_owned()));
    }
    let mut out = std::io::stderr().lock();
    write!(out, "{question}")?;
    out.flush()?;
    read_line()
}

fn read_line() -> Result<Secret<String>> {
    use std::io::Read as _;
    let mut line = String::new();
    let mut stdin = std::io::stdin().lock();
    (&mut stdin).take(LINE_BYTES_MAX).read_line(&mut line).context("stdin is not UTF-8 text")?;
    Ok(Secret::new(line.trim().to_owned()))
}

async fn check(place: &Place, global: &Global, name: &str) -> Result<()> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut hub = reach::connect(place, &greeting).await?;
    let checked = hub.call("check_link", &json!({ "name": name })).await;
    let checked = checked.map_err(failure::of_client)?;
    output::answer(global.json, &checked.answer, &checked.brief)?;
    if checked.answer.get("works").and_then(Value::as_bool) != Some(true) {
        bail!("{name} does not work");
    }
    Ok(())
}

async fn remove(place: &Place, global: &Global, name: &str, purge: bool, yes: bool) -> Result<()> {
    if purge && !yes {
        if !std::io::stdin().is_terminal() {
            bail!("--purge deletes every message of {name}; say --yes if you are sure");
        }
        say(&format!("This deletes every chat and message of {name} for ever."))?;
        let mut out = std::io::stderr().lock();
        write!(out, "Type {name} to go on: ")?;
        out.flush()?;
        if read_line()?.expose() != name {
            bail!("nothing was deleted");
        }
    }
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut hub = reach::connect(place, &greeting).await?;
    let input = json!({ "name": name, "purge": purge });
    let mut totals = (0, 0);
    loop {
        let removed = hub.call("remove_link", &input).await.map_err(failure::of_client)?;
        let count = |key: &str| removed.answer.get(key).and_then(Value::as_u64).unwrap_or(0);
        totals = (totals.0 + count("messages_deleted"), totals.1 + count("chats_deleted"));
        let is_done = removed.answer.get("is_done").and_then(Value::as_bool) == Some(true);
        if is_done || (count("messages_deleted"), count("chats_deleted")) == (0, 0) {
            let answer = json!({
                "name": name, "messages_deleted": totals.0, "chats_deleted": totals.1,
                "is_done": is_done,
            });
            let brief = if purge {
                format!("{name} is gone, with {} chats and {} messages", totals.1, totals.0)
            } else {
                removed.brief
            };
            return output::answer(global.json, &answer, &brief);
        }
        say(&format!("{} messages deleted …", totals.0))?;
    }
}
