//! The host's loop: claims wakes, gives each a task of its own, and ends in order.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use hub::{Clock, SystemClock};
use parking_lot::Mutex;
use serde_json::{Value, json};
use supervisor::{Life, Process, life};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::children::{self, Child};
use super::door::{CallError, Door};
use super::job::Job;
use super::lanes::Clis;
use super::leftovers;
use super::limits::{
    ANSWER_PATIENCE, CLAIM_MAX, CLAIM_WAIT_MS, HUB_PAUSE, HUB_PAUSE_MAX, JOBS_MAX, STOP_PATIENCE,
};
use super::reports::Work;
use super::run::Run;
use crate::paths::Place;

/// What reaches the agents of this machine.
pub(crate) struct Host<C> {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) door: Door,
    pub(super) clis: C,
    pub(super) clock: Arc<dyn Clock>,
    /// The wakes in work, by their ids.
    works: Mutex<HashMap<String, Arc<Work>>>,
    /// One wake of an agent at a time.
    agents: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    children: Mutex<JoinSet<()>>,
    busy: Arc<AtomicUsize>,
}

impl<C: Clis> Host<C> {
    /// The host of a data folder.
    pub(crate) fn new(place: &Place, door: Door, clis: C) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            id: place.host_id()?,
            place: place.clone(),
            door,
            clis,
            clock: Arc::new(SystemClock),
            works: Mutex::default(),
            agents: Mutex::default(),
            children: Mutex::default(),
            busy: Arc::new(AtomicUsize::new(0)),
        }))
    }

    /// How many connections to the hub it holds.
    pub(crate) fn connections(&self) -> usize {
        self.door.open().load(Ordering::SeqCst)
    }

    /// Whether it works on a wake or watches a process, or the hub has wakes that wait for a host.
    pub(crate) async fn is_needed(&self) -> bool {
        if !self.works.lock().is_empty() || self.busy.load(Ordering::SeqCst) > 0 {
            return true;
        }
        for state in ["requested", "deferred"] {
            let input = json!({ "state": state, "limit": 1 });
            let answer = self.door.call("list_wakes", &input, ANSWER_PATIENCE).await;
            let wakes = answer.ok().and_then(|answer| Some(answer.get("wakes")?.as_array()?.len()));
            if wakes.is_some_and(|count| count > 0) {
                return true;
            }
        }
        false
    }

    /// Works until it is told to stop; then lets go of everything that waits, finishes what is being
    /// handed over, and ends.
    pub(crate) async fn run(self: Arc<Self>, stop: CancellationToken) {
        for child in Child::recorded(&self.place) {
            self.watch(child, &stop);
        }
        self.children.lock().spawn(leftovers::keep_swept(self.place.clone(), stop.clone()));
        let mut jobs = JoinSet::new();
        let mut pause = HUB_PAUSE;
        let mut is_new = true;
        let mut refusal = String::new();
        while !stop.is_cancelled() {
            while jobs.try_join_next().is_some() {}
            let free = JOBS_MAX.saturating_sub(jobs.len());
            if free == 0 {
                tokio::select! {
                    _ = jobs.join_next() => {}
                    () = stop.cancelled() => {}
                }
                continue;
            }
            let claimed = tokio::select! {
                claimed = self.claim(free, is_new) => claimed,
                () = stop.cancelled() => break,
            };
            match claimed {
                Ok(claimed) => {
                    (pause, is_new) = (HUB_PAUSE, false);
                    for job in claimed {
                        self.start(job, &mut jobs, &stop);
                    }
                }
                Err(error) => {
                    // Said once, however often it is tried again.
                    let text = error.to_string();
                    if matches!(error, CallError::Refused(_)) && text != refusal {
                        tracing::warn!(%error, "no wakes can be claimed");
                        refusal = text;
                    }
                    tokio::select! {
                        () = tokio::time::sleep(pause) => pause = (pause * 2).min(HUB_PAUSE_MAX),
                        () = stop.cancelled() => {}
                    }
                }
            }
        }
        let ended = async { while jobs.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_PATIENCE, ended).await.is_err() {
            tracing::warn!("a wake was still being handed over at the end");
        }
        let mut children = std::mem::take(&mut *self.children.lock());
        while children.join_next().await.is_some() {}
    }

    /// Claims wakes, and waits for some; a host that is new at it waits only after the next look.
    async fn claim(&self, free: usize, is_new: bool) -> Result<Vec<Job>, CallError> {
        let wait_ms = if is_new { 0 } else { CLAIM_WAIT_MS };
        let limit = free.min(CLAIM_MAX);
        let mut input = json!({ "host": self.id, "wait_ms": wait_ms, "limit": limit });
        if let Some(fields) = input.as_object_mut().filter(|_| is_new) {
            fields.insert("restarted".to_owned(), true.into());
        }
        let patience = Duration::from_millis(wait_ms) + ANSWER_PATIENCE;
        let mut answer = self.door.call("claim_wakes", &input, patience).await?;
        let wakes = answer.get_mut("wakes").map(Value::take);
        let wakes = wakes.and_then(|wakes| serde_json::from_value::<Vec<Value>>(wakes).ok());
        let read = |wake: Value| match serde_json::from_value::<Job>(wake) {
            Ok(job) => Some(job),
            Err(error) => {
                tracing::error!(%error, "the hub handed out a wake that cannot be read");
                None
            }
        };
        Ok(wakes.unwrap_or_default().into_iter().filter_map(read).collect())
    }

    fn start(self: &Arc<Self>, job: Job, jobs: &mut JoinSet<()>, stop: &CancellationToken) {
        let mut works = self.works.lock();
        if let Some(work) = works.get(&job.wake_id) {
            work.go_on_with(job);
            return;
        }
        let turn = self.turn_of(&format!("{}/{}", job.workspace_id, job.agent_id));
        let work = Arc::new(Work::new(job));
        works.insert(work.wake_id.clone(), Arc::clone(&work));
        drop(works);
        let (host, stop) = (Arc::clone(self), stop.clone());
        jobs.spawn(async move {
            loop {
                let attempt = Run::new(&host, &work, &stop).to_the_end(&turn).await;
                let mut works = host.works.lock();
                // It may have been handed out anew at the last moment.
                if stop.is_cancelled() || work.job().attempt <= attempt {
                    works.remove(&work.wake_id);
                    break;
                }
            }
            drop(turn);
            host.agents.lock().retain(|_, turn| Arc::strong_count(turn) > 1);
        });
    }

    /// The right to wake an agent.
    fn turn_of(&self, agent: &str) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(self.agents.lock().entry(agent.to_owned()).or_default())
    }

    /// Keeps the session of a started process alive.
    pub(super) fn watch(&self, child: Child, stop: &CancellationToken) {
        let (door, place) = (self.door.clone(), self.place.clone());
        let watched = children::watch(child, door, place, self.id.clone(), stop.clone());
        let busy = Arc::clone(&self.busy);
        busy.fetch_add(1, Ordering::SeqCst);
        let mut children = self.children.lock();
        while children.try_join_next().is_some() {}
        children.spawn(async move {
            watched.await;
            busy.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

/// Whether any terminal of this data folder is kept by a process that lives.
pub(crate) fn has_keepers(place: &Place) -> bool {
    let folders = std::fs::read_dir(place.run_folders()).into_iter().flatten().flatten();
    folders.map(|folder| folder.path().join("keeper.json")).any(|path| {
        let keeper = std::fs::read(path).ok();
        let keeper = keeper.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        keeper.and_then(|keeper| process_of(&keeper)).is_some_and(|process| {
            // One of which nothing is known counts as alive here too.
            life(&process) != Life::Dead
        })
    })
}

/// The process that a record names.
pub(super) fn process_of(record: &Value) -> Option<Process> {
    Some(Process {
        pid: u32::try_from(record.get("pid")?.as_u64()?).ok()?,
        started_ticks: record.get("pid_started")?.as_u64()?,
        boot_id: record.get("boot_id")?.as_str()?.to_owned(),
    })
}
