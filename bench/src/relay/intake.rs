//! A service calls: how soon a signed webhook of 8 KB is acknowledged, durably, and how many a second.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, bail};
use ring::hmac;
use serde_json::{Value, json};

use crate::append;
use crate::drive::{Poster, drive, drive_at};
use crate::http::Connection;
use crate::place::Place;
use crate::rig::{Rig, WORKSPACE};
use crate::server::Server;
use crate::stats::{self, Load, median};
use crate::table::{self, Bar, Row};

/// What the service and the link share.
const SECRET: &str = "It's a Secret to Everybody, and to the bench";
/// Connections of the service.
const CONNECTIONS: usize = 64;
/// Webhooks a second, where the wait is measured.
const RATE: f64 = 500.0;
/// How long a webhook is.
const BYTES: usize = 8 * 1024;
/// Issues that are talked about.
const ISSUES: usize = 1_000;

/// Rows 22a and 22b. What is taken in stands beside the store's own append of as many bytes.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let (mut paced, mut full, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..place.rounds {
        let short = append::store_alone(place).await?;
        say("the store's own append, 400 B", &short);
        let store = append::store_alone_with(place, BYTES).await?;
        say("the same, 8 KB", &store);
        let at_rate = hooks(place, Some(RATE)).await?;
        say("webhooks at 500/s", &at_rate);
        let flat_out = hooks(place, None).await?;
        say("webhooks, 64 connections", &flat_out);
        ratios.push(flat_out.rate() / store.rate());
        paced.push(at_rate.p99());
        full.push((flat_out.rate(), store.rate()));
    }
    let rates = |of: fn(&(f64, f64)) -> f64| median(&full.iter().map(of).collect::<Vec<_>>());
    Ok(vec![
        Row {
            number: "22a",
            what: "acknowledgement of a signed 8 KB webhook at 500/s, durable".to_owned(),
            ours: format!("p99 {:.2} ms", median(&paced)),
            reference: "—".to_owned(),
            value: Some(median(&paced)),
            unit: "ms",
            bar: Bar::AtMost(50.0),
        },
        Row {
            number: "22b",
            what: "webhooks taken in, 64 connections".to_owned(),
            ours: format!("{:.0}/s", rates(|(ours, _)| *ours)),
            reference: format!("store, 8 KB {:.0}/s", rates(|(_, store)| *store)),
            value: Some(median(&ratios)),
            unit: "×",
            bar: Bar::AtLeast(0.4),
        },
    ])
}

fn say(name: &str, load: &Load) {
    table::say(&format!(
        "  {name:<28} {:>8.0}/s  p50 {:>7.3} ms  p99 {:>7.3} ms",
        load.rate(),
        load.p50(),
        load.p99()
    ));
}

/// The service calls a hub that is new, at a rate or as fast as it is answered.
async fn hooks(place: &Place, rate: Option<f64>) -> Result<Load> {
    let folder = place.throw_away()?;
    let rig = Rig::open(folder.path())?;
    let token = rig.issue_operator_token().await?;
    rig.stop().await?;
    let server = Server::start(place, folder.path())?;
    // Nothing listens there: a link whose service cannot be reached is called all the same.
    let link = json!({
        "service": "github", "unchecked": true,
        "settings": { "webhook_secret": SECRET, "token": "unused", "base_url": "https://127.0.0.1:9" },
    });
    let mut client = Connection::open(server.address, &token).await?;
    client.post("/v1/links", &link.to_string()).await?;
    until_up(&mut client).await?;
    let turn = Arc::<AtomicUsize>::default();
    let comment = Arc::new(Comment::new());
    let mut posters = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        posters.push(Caller::open(server.address, &turn, &comment).await?);
    }
    let time = stats::seconds(place.seconds);
    let load = match rate {
        Some(rate) => drive_at(posters, rate, time).await?,
        None => drive(posters, time).await?,
    };
    server.stop()?;
    Ok(load)
}

/// Waits until the link was started: that happens beside the answer that it was added.
async fn until_up(client: &mut Connection) -> Result<()> {
    for _ in 0..1_000 {
        if !client.get_text("/v1/links").await?.contains("\"connecting\"") {
            return Ok(());
        }
        tokio::time::sleep(stats::seconds(0.01)).await;
    }
    bail!("the link was not started")
}

/// One connection of the service.
struct Caller {
    connection: Connection,
    turn: Arc<AtomicUsize>,
    comment: Arc<Comment>,
    path: String,
}

impl Caller {
    async fn open(
        address: SocketAddr,
        turn: &Arc<AtomicUsize>,
        comment: &Arc<Comment>,
    ) -> Result<Self> {
        Ok(Self {
            connection: Connection::open(address, "").await?,
            turn: Arc::clone(turn),
            comment: Arc::clone(comment),
            path: format!("/hooks/{WORKSPACE}/github"),
        })
    }
}

impl Poster for Caller {
    async fn post(&mut self) -> Result<()> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let body = self.comment.at(turn);
        let signature = self.comment.signature(turn, &body);
        let headers = format!(
            "user-agent: GitHub-Hookshot/bench\r\nx-github-event: issue_comment\r\n\
             x-github-delivery: 72d3162e-cc78-11e3-81ab-{turn:012x}\r\n\
             x-hub-signature-256: sha256={signature}\r\n"
        );
        self.connection.post_with(&self.path, &headers, &body).await
    }
}

/// A comment on an issue, as GitHub says it. It is written once, and signed before the clock runs: what
/// the service spends on saying it, on a machine of its own, is not what is measured.
struct Comment {
    /// The text around the numbers.
    pieces: Vec<String>,
    key: hmac::Key,
    /// The signatures of the first turns.
    signatures: Vec<String>,
}

/// Turns that are signed before: more than a round has.
const TURNS_SIGNED: usize = 60_000;

/// Stands where the number of a comment goes: as long as any that is sent.
const COMMENT: usize = 57_575_757;
/// And where the number of an issue goes.
const ISSUE: usize = 8_383;
/// The first of each.
const COMMENT_FIRST: usize = 50_000_000;
const ISSUE_FIRST: usize = 1_000;

impl Comment {
    fn new() -> Self {
        let text = comment();
        let (comment, issue) = (COMMENT.to_string(), ISSUE.to_string());
        let parts = text.split(&comment).map(|part| part.replace(&issue, "\0"));
        let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
        let mut comment = Self { pieces: parts.collect(), key, signatures: Vec::new() };
        comment.signatures =
            (0..TURNS_SIGNED).map(|turn| comment.sign(&comment.at(turn))).collect();
        comment
    }

    /// The signature of a turn.
    fn signature(&self, turn: usize, body: &str) -> Cow<'_, str> {
        match self.signatures.get(turn) {
            Some(signature) => Cow::Borrowed(signature),
            None => Cow::Owned(self.sign(body)),
        }
    }

    fn sign(&self, body: &str) -> String {
        let tag = hmac::sign(&self.key, body.as_bytes());
        tag.as_ref().iter().fold(String::with_capacity(64), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a String cannot fail");
            text
        })
    }

    /// What is said at a turn: no two are the same.
    fn at(&self, turn: usize) -> String {
        let comment = (COMMENT_FIRST + turn).to_string();
        let issue = (ISSUE_FIRST + turn % ISSUES).to_string();
        let mut text = String::with_capacity(BYTES + 16);
        for (at, piece) in self.pieces.iter().enumerate() {
            if at > 0 {
                text.push_str(&comment);
            }
            for (at, part) in piece.split('\0').enumerate() {
                if at > 0 {
                    text.push_str(&issue);
                }
                text.push_str(part);
            }
        }
        text
    }
}

/// What GitHub says of a repository beside its name: the addresses below its own.
const OF_A_REPOSITORY: [&str; 38] = [
    "forks",
    "keys{/key_id}",
    "collaborators{/collaborator}",
    "teams",
    "hooks",
    "issues/events{/number}",
    "events",
    "assignees{/user}",
    "branches{/branch}",
    "tags",
    "git/blobs{/sha}",
    "git/tags{/sha}",
    "git/refs{/sha}",
    "git/trees{/sha}",
    "statuses/{sha}",
    "languages",
    "stargazers",
    "contributors",
    "subscribers",
    "subscription",
    "commits{/sha}",
    "git/commits{/sha}",
    "comments{/number}",
    "issues/comments{/number}",
    "contents/{+path}",
    "compare/{base}...{head}",
    "merges",
    "{archive_format}{/ref}",
    "downloads",
    "issues{/number}",
    "pulls{/number}",
    "milestones{/number}",
    "notifications{?since,all,participating}",
    "labels{/name}",
    "releases{/id}",
    "deployments",
    "rulesets",
    "environments",
];
/// And of somebody.
const OF_A_USER: [&str; 9] = [
    "followers",
    "following{/other_user}",
    "gists{/gist_id}",
    "starred{/owner}{/repo}",
    "subscriptions",
    "orgs",
    "repos",
    "events{/privacy}",
    "received_events",
];

/// Addresses, each under the name of what it leads to.
fn with_addresses(mut value: Value, base: &str, of: &[&str]) -> Value {
    for path in of {
        let name = path.split('{').next().unwrap_or_default().trim_matches('/').replace('/', "_");
        if let Some(fields) = value.as_object_mut() {
            fields.insert(format!("{name}_url"), format!("{base}/{path}").into());
        }
    }
    value
}

fn comment() -> String {
    let url = format!("https://github.com/acme/shop/issues/{ISSUE}");
    let user = with_addresses(
        json!({ "login": "octocat", "id": 583_231, "type": "User", "site_admin": false }),
        "https://api.github.com/users/octocat",
        &OF_A_USER,
    );
    let repository = with_addresses(
        json!({
            "id": 1_296_269, "full_name": "acme/shop", "name": "shop",
            "owner": { "login": "acme", "id": 1 }, "html_url": "https://github.com/acme/shop",
        }),
        "https://api.github.com/repos/acme/shop",
        &OF_A_REPOSITORY,
    );
    let mut comment = json!({
        "action": "created",
        "issue": {
            "number": ISSUE, "id": 1_000_000 + ISSUE, "title": format!("Issue {ISSUE}"),
            "html_url": url, "user": user, "state": "open", "labels": [],
        },
        "comment": {
            "id": COMMENT, "html_url": format!("{url}#issuecomment-{COMMENT}"),
            "user": user, "created_at": "2026-02-17T12:00:00Z", "updated_at": "2026-02-17T12:00:00Z",
            "body": format!("@waystation please look at this, it is number {COMMENT}."),
            "author_association": "MEMBER",
        },
        "repository": repository,
        "sender": user,
    });
    // The rest is what the issue says: words, none of which follow from the ones before.
    let rest = BYTES.saturating_sub(comment.to_string().len() + 10);
    let mut words = String::with_capacity(rest + 16);
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    while words.len() < rest {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        for at in 0..4 + state % 7 {
            let letter = u8::try_from((state >> (8 + 5 * at)) % 26).unwrap_or(0);
            words.push(char::from(b'a' + letter));
        }
        words.push(' ');
    }
    words.truncate(rest);
    if let Some(issue) = comment.get_mut("issue").and_then(Value::as_object_mut) {
        issue.insert("body".to_owned(), words.into());
    }
    comment.to_string()
}
