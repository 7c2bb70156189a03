//! Recalling what was remembered.

use std::time::Instant;

use protocol::limits::{memory as limits, relay};
use protocol::relay::MemoryKind;
use protocol::{Caller, Scope, ThreadId, Timestamp, limits as all_limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Area, AreaKind, Candidate, MemoryItem, MemoryRow, RecallQuery, RecallWords, Tx};

use super::means::embed_query;
use super::score::{Age, ScoreSettings};
use super::shown::MemoryView;
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::threads::rules;

/// Recall what was remembered: the best answers to a question first, weighed by when they were last of
/// use. Without a question, the newest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recall {
    /// What to look for, in any words.
    #[schemars(length(max = limits::QUERY_CHARS_MAX))]
    query: Option<String>,
    /// Only what is remembered there; both unless you say otherwise.
    kind: Option<MemoryKind>,
    /// Only what was remembered in this thread, beside what is long-term.
    thread_id: Option<String>,
    /// How many, default 10, at most 50.
    #[schemars(range(min = 1, max = relay::RECALL_MAX))]
    limit: Option<u32>,
}

/// What was recalled.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecallOutput {
    /// The memories, the best first.
    memories: Vec<MemoryView>,
    /// Whether the newest memories could not be looked through yet.
    index_behind: bool,
}

/// What a caller may look through.
struct Sight {
    newest_change: i64,
    /// Threads; `None` for all of the workspace.
    threads: Option<Vec<i64>>,
}

impl Operation for Recall {
    const NAME: &'static str = "recall";
    const ROUTE: Route = Route::post("/v1/memories/search");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = super::TOOLSET;
    type Output = RecallOutput;

    fn object(&self) -> Object<'_> {
        Object::maybe(self.thread_id.as_deref())
    }

    async fn run(self, call: &Call) -> Result<RecallOutput> {
        #[expect(clippy::disallowed_methods, reason = "measures how long a recall takes")]
        let began = Instant::now();
        let query = self.query.as_deref().map(str::trim).unwrap_or_default().to_owned();
        check_query(&query)?;
        let limit = limit("limit", self.limit, limits::RECALL_DEFAULT, relay::RECALL_MAX)?;
        let thread = self.thread_id.as_deref().map(rules::thread_id).transpose()?;
        let caller = call.shared_caller();
        let sight = call.read(move |tx| sight(tx, &caller, thread)).await?;
        let index_behind = !call.hub.memory.catch_up(sight.newest_change).await;
        let kinds =
            self.kind.map_or(vec![MemoryKind::LongTerm, MemoryKind::Episodic], |kind| vec![kind]);
        let memories = if query.is_empty() {
            newest(call, kinds, sight.threads, limit).await?
        } else {
            found(call, &query, &kinds, sight.threads, limit).await?
        };
        call.hub.metrics.time(
            "waystation_recall_seconds",
            "Time to recall memories.",
            &[("by", if query.is_empty() { "time" } else { "question" })],
            began.elapsed(),
        );
        Ok(RecallOutput { memories, index_behind })
    }

    fn brief(output: &RecallOutput) -> String {
        let line = |memory: &MemoryView| {
            let data = serde_json::to_string(&memory.data).unwrap_or_default();
            format!("{} ({:.2}) {data}", memory.memory_id, memory.score)
        };
        if output.memories.is_empty() {
            return "nothing is remembered about this".to_owned();
        }
        output.memories.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// A question is a text of a certain length.
pub(super) fn check_query(query: &str) -> Result<()> {
    validate::without_nul(query).field("query")?;
    if query.chars().count() > limits::QUERY_CHARS_MAX {
        let reason = format!("must be at most {} characters", limits::QUERY_CHARS_MAX);
        return Err(Error::invalid("query", reason));
    }
    Ok(())
}

/// A number of answers, asked for in a field of this name.
pub(super) fn limit(field: &str, asked: Option<u32>, default: u32, most: u32) -> Result<usize> {
    let limit = asked.unwrap_or(default);
    if !(1..=most).contains(&limit) {
        return Err(Error::invalid(field, format!("must be from 1 to {most}")));
    }
    Ok(usize::try_from(limit).unwrap_or(1))
}

fn sight(tx: &mut Tx<'_>, caller: &Caller, thread: Option<ThreadId>) -> Result<Sight> {
    let newest_change = tx.newest_memory_change()?;
    let threads = match thread {
        Some(id) => Some(vec![rules::enter(tx, id, caller, "read")?.row]),
        None if caller.role.has_authority() => None,
        None => {
            let most = all_limits::SEARCH_THREADS_MAX;
            let mut rows = tx.thread_rows_of(&caller.workspace_id, &caller.agent_id, most)?;
            rows.sort_unstable();
            Some(rows)
        }
    };
    Ok(Sight { newest_change, threads })
}

/// Whether a caller may see a memory: its workspace is theirs, and they may see its thread.
pub(super) fn may_see(tx: &mut Tx<'_>, caller: &Caller, memory: &MemoryRow) -> Result<bool> {
    if memory.workspace != caller.workspace_id {
        return Ok(false);
    }
    let Some(thread_row) = memory.thread_row else { return Ok(true) };
    let access = tx.thread_by_row(thread_row, &caller.agent_id)?;
    Ok(access.is_some_and(|access| {
        access.thread.workspace == caller.workspace_id
            && (access.is_member || caller.role.has_authority())
    }))
}

async fn found(
    call: &Call,
    query: &str,
    kinds: &[MemoryKind],
    threads: Option<Vec<i64>>,
    limit: usize,
) -> Result<Vec<MemoryView>> {
    let area = |kind: &MemoryKind| Area {
        workspace: call.caller().workspace_id.clone(),
        kind: match kind {
            MemoryKind::Episodic => AreaKind::Episodic,
            MemoryKind::LongTerm => AreaKind::LongTerm,
        },
    };
    let asked = RecallQuery {
        areas: kinds.iter().map(area).collect(),
        threads,
        words: RecallWords::of(query),
        vector: embed_query(&call.hub, query).await,
        pool: (limit * limits::POOL_FACTOR).max(limits::POOL_MIN),
    };
    let candidates = call.hub.memory.index.recall(asked).await?;
    let (caller, now) = (call.shared_caller(), call.now());
    let settings = call.hub.settings.relay.memory.score;
    let scored = call.read(move |tx| load(tx, &caller, &candidates, &settings, now, limit)).await?;
    call.hub.memory.touch(scored.iter().map(|(row, _)| *row), now);
    Ok(scored.into_iter().map(|(_, view)| view).collect())
}

/// The memories behind the candidates. The view may lag behind: what it says is checked once more.
fn load(
    tx: &mut Tx<'_>,
    caller: &Caller,
    candidates: &[Candidate],
    settings: &ScoreSettings,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<(i64, MemoryView)>> {
    let mut scored: Vec<(f64, MemoryRow)> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let MemoryItem::Memory(row) = candidate.item else { continue };
        let Some(memory) = tx.memory_by_row(row)? else { continue };
        if is_over(&memory, now) {
            continue;
        }
        let score = settings.score(settings.relevance(candidate), age(&memory, now));
        scored.push((score, memory));
    }
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(y.row.cmp(&x.row)));
    shown(tx, caller, scored, limit)
}

/// The best that the caller may see.
fn shown(
    tx: &mut Tx<'_>,
    caller: &Caller,
    scored: Vec<(f64, MemoryRow)>,
    limit: usize,
) -> Result<Vec<(i64, MemoryView)>> {
    let mut views = Vec::with_capacity(limit);
    for (score, memory) in scored {
        if views.len() == limit {
            break;
        }
        if !may_see(tx, caller, &memory)? {
            continue;
        }
        let thread = match memory.thread_row {
            Some(row) => tx.thread_by_row(row, &caller.agent_id)?.map(|access| access.thread.id),
            None => None,
        };
        views.push((memory.row, MemoryView::of(memory, thread, score)));
    }
    Ok(views)
}

/// The newest, where nothing is asked.
async fn newest(
    call: &Call,
    kinds: Vec<MemoryKind>,
    threads: Option<Vec<i64>>,
    limit: usize,
) -> Result<Vec<MemoryView>> {
    let (caller, now) = (call.shared_caller(), call.now());
    let settings = call.hub.settings.relay.memory.score;
    let only =
        threads.as_deref().filter(|threads| threads.len() == 1).and_then(<[i64]>::first).copied();
    let views = call
        .read(move |tx| {
            let mut scored = Vec::new();
            for kind in &kinds {
                let thread = only.filter(|_| *kind == MemoryKind::Episodic);
                // Others' threads are passed over below.
                let most = limits::POOL_MIN.max(limit * limits::POOL_FACTOR);
                for memory in tx.newest_memories(&caller.workspace_id, *kind, thread, most)? {
                    if !is_over(&memory, now) {
                        scored.push((settings.recency(age(&memory, now)), memory));
                    }
                }
            }
            scored.sort_by_key(|(_, memory)| std::cmp::Reverse((memory.created, memory.row)));
            shown(tx, &caller, scored, limit)
        })
        .await?;
    Ok(views.into_iter().map(|(_, view)| view).collect())
}

/// Whether its time is up, even where nobody has deleted it yet.
fn is_over(memory: &MemoryRow, now: Timestamp) -> bool {
    memory.expires.is_some_and(|expires| expires <= now)
}

fn age(memory: &MemoryRow, now: Timestamp) -> Age {
    Age { unused_ms: now.ms_since(memory.used), is_pinned: memory.is_pinned, kind: memory.kind }
}
