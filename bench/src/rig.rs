//! A hub in this process, with agents, tokens and threads to post to.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use hub::audit::SealKey;
use hub::duties::Duties;
use hub::identity::{IdentityConfig, KeyRing};
use hub::links::LinkParts;
use hub::{Catalogue, Clock, Hub, Input, Parts, Rate, Settings, SystemClock, SystemEntropy};
use protocol::{Caller, Role, Timestamp};
use ring::rand::SystemRandom;
use serde_json::{Value, json};
use store::{ContainmentIndex, MemoryIndex, SearchIndex, Store};
use tokio_util::sync::CancellationToken;

/// Agents that post, each with a token and a connection of its own.
pub(crate) const AGENTS: usize = 64;
/// Threads they post to.
pub(crate) const THREADS: usize = 1_000;
/// Agents that take part in each thread.
pub(crate) const MEMBERS: usize = 8;
pub(crate) const WORKSPACE: &str = "default";

/// A hub in this process.
pub(crate) struct Rig {
    pub(crate) hub: Arc<Hub>,
    pub(crate) catalogue: Arc<Catalogue>,
    duties: Duties,
}

impl Rig {
    /// Opens the hub of a data folder, with quotas that do not get in the way.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let settings = store::Settings::Sqlite { folder: folder.to_owned(), readers: 4 };
        let store = Store::open(&settings)?;
        let database = store.database_id().to_owned();
        let authority = IdentityConfig::default().authority()?;
        let keys = KeyRing::open(&folder.join("keys"), authority, SystemClock.now())?;
        let rate = Rate { per_second: 1_000_000, burst: 1_000_000 };
        let settings =
            Settings { posts: rate, calls: rate, agent_turns_max: 0, ..Settings::default() };
        let (hub, duties) = Hub::start(Parts {
            store,
            settings,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            keys: Arc::new(keys),
            revocations: Arc::default(),
            search: SearchIndex::open(folder, &database)?,
            containment: ContainmentIndex::open(folder, &database, 2)?,
            memory: MemoryIndex::open(folder, &database)?,
            seal_key: SealKey::open(&folder.join("keys"), &SystemRandom::new())?,
            model: None,
            keeper: None,
            links: LinkParts::without_services(&folder.join("keys"), &SystemRandom::new())?,
        });
        Ok(Self { hub, catalogue: Arc::new(hub::catalogue()), duties })
    }

    /// Calls an operation through the door and answers the JSON that an edge would send.
    pub(crate) async fn call(
        &self,
        caller: &Arc<Caller>,
        name: &str,
        input: &Value,
    ) -> Result<Vec<u8>> {
        let call = self.hub.call(Arc::clone(caller), None, CancellationToken::new());
        let input = Input::Bytes(input.to_string().into_bytes());
        let answer = self.catalogue.call(call, name, input).await;
        Ok(answer.with_context(|| format!("{name} failed"))?.json().into())
    }

    /// Opens threads; thread `t` is entered by the agents `t`, `t + 1`, … `t + 7`.
    pub(crate) async fn open_threads(&self, count: usize) -> Result<Vec<String>> {
        let operator = operator();
        let mut threads = Vec::with_capacity(count);
        for thread in 0..count {
            let members: Vec<String> = (0..MEMBERS).map(|m| agent(thread + m)).collect();
            let title = format!("thread {thread} of the bench");
            let input = json!({ "title": title, "participants": members });
            let answer = self.call(&operator, "create_thread", &input).await?;
            threads.push(text(&answer, "thread_id")?);
        }
        Ok(threads)
    }

    /// A token for every agent.
    pub(crate) async fn issue_tokens(&self) -> Result<Vec<String>> {
        let operator = operator();
        let mut tokens = Vec::with_capacity(AGENTS);
        for number in 0..AGENTS {
            let input = json!({ "agent_id": agent(number), "role": "worker" });
            let answer = self.call(&operator, "issue_token", &input).await?;
            tokens.push(text(&answer, "token")?);
        }
        Ok(tokens)
    }

    /// A token for somebody who may do everything.
    pub(crate) async fn issue_operator_token(&self) -> Result<String> {
        let input = json!({ "agent_id": "the-operator", "role": "operator" });
        let answer = self.call(&operator(), "issue_token", &input).await?;
        text(&answer, "token")
    }

    pub(crate) async fn stop(self) -> Result<()> {
        self.duties.stop().await;
        let store = self.hub.store.clone();
        Ok(tokio::task::spawn_blocking(move || store.close()).await?)
    }
}

fn text(answer: &[u8], field: &str) -> Result<String> {
    let answer: Value = serde_json::from_slice(answer)?;
    let found = answer.get(field).and_then(Value::as_str);
    Ok(found.with_context(|| format!("the answer has no {field}: {answer}"))?.to_owned())
}

/// The name of an agent; there are only so many.
pub(crate) fn agent(number: usize) -> String {
    format!("agent-{:02}", number % AGENTS)
}

/// The thread that an agent's n-th post goes to: any of those it takes part in.
pub(crate) fn thread_of(agent: usize, turn: usize, threads: usize) -> usize {
    // A step that is a prime visits them in no particular order.
    let place = (turn.wrapping_mul(619)) % (MEMBERS * (threads / AGENTS).max(1));
    let (round, member) = (place / MEMBERS, place % MEMBERS);
    round * AGENTS + (agent + AGENTS - member) % AGENTS
}

pub(crate) fn caller(name: &str, role: Role) -> Arc<Caller> {
    Arc::new(Caller {
        agent_id: name.to_owned(),
        workspace_id: WORKSPACE.to_owned(),
        role,
        session_id: format!("session-of-{name}"),
        scopes: role.default_scopes(),
        chats: protocol::chat::ChatGrant::All,
        toolsets: None,
        jti: "jti_01JXYZ0000000000000000000A".to_owned(),
        iat: Timestamp::from_ms(0),
        exp: Timestamp::from_ms(i64::MAX),
    })
}

pub(crate) fn operator() -> Arc<Caller> {
    caller("the-operator", Role::Operator)
}
