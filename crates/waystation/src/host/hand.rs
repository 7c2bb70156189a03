//! Handing a notice over: the hub knows of it before and after, whatever happens in between.

use serde_json::json;
use supervisor::{AgentCli, Handed, Ladder, Lane, LaneError, Notice, Outcome, Session};
use tokio::time::{sleep, timeout};

use super::children::{Child, Running};
use super::identity::{self, Who};
use super::job::Job;
use super::lanes::Clis;
use super::limits::{ANSWER_PATIENCE, ENDED_LOOK_EVERY, HAND_PATIENCE, TURN_PATIENCE};
use super::reports::{Heard, Report};
use super::run::{Next, Run};

/// Whom a notice is handed to.
pub(super) struct Target<'a, A> {
    pub(super) cli: &'a A,
    pub(super) lane: Lane,
    pub(super) session: &'a Session,
    pub(super) notice: &'a Notice,
    /// What is started for it, where the lane starts something.
    pub(super) child: Option<Child>,
}

impl<A> Target<'_, A> {
    /// The session, as the hub knows it from now on.
    fn name(&self) -> &str {
        self.child.as_ref().map_or(&self.session.id, |child| &child.session_id)
    }
}

impl<C: Clis> Run<'_, C> {
    /// Hands a notice over, once the hub has it on its disk that this is about to happen.
    pub(super) async fn hand(&self, ladder: &mut Ladder, target: Target<'_, C::Cli>) -> Next {
        let Target { cli, lane, session, notice, .. } = target;
        let handing = Report::handing(lane, target.name());
        let heard = self.tell(&handing).await;
        if heard != Heard::GoOn {
            self.abandon(target.child).await;
            return if heard == Heard::Anew { Next::GoOn } else { Next::Done };
        }
        let hand = timeout(HAND_PATIENCE, cli.hand(lane, session, notice));
        let too_long = || LaneError::Unsure { lane, why: "it took too long".to_owned() };
        let handed = self.keeping(&handing, hand).await.unwrap_or_else(|_| Err(too_long()));
        let error = match handed {
            Ok(handed) => {
                self.handed(target, &handed).await;
                return Next::Done;
            }
            Err(error) => error,
        };
        tracing::info!(wake = %self.work.wake_id, lane = lane.name(), %error, "not handed over");
        self.abandon(target.child).await;
        let session = session.id.clone();
        let is_new = matches!(lane, Lane::CodexNew | Lane::ClaudeNew);
        let outcome = match error {
            LaneError::Closed { .. } if is_new => Outcome::NotStarted { why: None },
            LaneError::Closed { .. } => Outcome::Closed { session, lane },
            // Whoever is at work on a session that did not exist before works on this very notice.
            LaneError::NotNow { .. } if is_new => Outcome::Unsure { session, lane },
            LaneError::NotNow { why } => Outcome::NotNow { session, lane, why },
            LaneError::Unsure { .. } => Outcome::Unsure { session, lane },
        };
        ladder.learn(outcome, self.now_ms());
        Next::GoOn
    }

    /// The agent's program has the notice: says so, watches what was started, waits for the turn.
    async fn handed(&self, target: Target<'_, C::Cli>, handed: &Handed) {
        let name = target.name().to_owned();
        let Target { cli, lane, session, notice, child } = target;
        let is_live = child.is_none();
        if let Some(child) = child {
            self.watch(child, handed).await;
        }
        // Whether or not the wake is still wanted, it was handed over; and even a host that is to
        // stop says so, for it may not be there to be asked later.
        self.tell_at_last(&Report::handed(lane, &name)).await;
        let said = Report::handed(lane, &name);
        let began = cli.turn_began(lane, session, notice, handed, TURN_PATIENCE);
        let began = tokio::select! {
            began = began => began,
            () = self.until_ended(&said) => return,
            () = self.stop.cancelled() => false,
        };
        let after = after(session, handed);
        if began || cli.has_arrived(&after, &notice.wake_id).await == Some(true) {
            if is_live {
                self.tell_vendor_id(session, handed).await;
            }
            self.tell_at_last(&Report::turn_started(lane, &name)).await;
        } else {
            let (wake, lane) = (&self.work.wake_id, lane.name());
            tracing::warn!(%wake, lane, "no turn was seen to begin");
        }
    }

    /// The program of a session that lives has another name for it now, such as after `/new`: who
    /// resumes it later must know. Its turn has just begun.
    async fn tell_vendor_id(&self, session: &Session, handed: &Handed) {
        let Some(vendor_id) = handed.vendor_id.as_ref() else { return };
        if session.vendor_id.as_ref() == Some(vendor_id) {
            return;
        }
        let input = json!({
            "agent_id": self.work.job().agent_id, "session_id": session.id,
            "runtime": session.runtime.name(), "host": self.host.id, "status": "active",
            "resumable": session.is_resumable, "vendor_session_id": vendor_id,
        });
        let told = self.host.door.call("heartbeat_session", &input, ANSWER_PATIENCE).await;
        if let Err(error) = told {
            tracing::warn!(session = %session.id, %error, "its new name was not taken");
        }
    }

    /// Waits until the wake needs nobody any more: an agent that has read what it was woken for has
    /// begun its turn, whether that was seen or not, and may be woken for something else.
    async fn until_ended(&self, said: &Report) {
        loop {
            sleep(ENDED_LOOK_EVERY).await;
            if self.tell(said).await == Heard::LetGo {
                return;
            }
        }
    }

    /// Keeps the session of a started process alive from now on.
    async fn watch(&self, mut child: Child, handed: &Handed) {
        if handed.vendor_id.is_some() {
            child.vendor_session_id.clone_from(&handed.vendor_id);
        }
        child.process = handed.process.clone().map(Running::from);
        if child.process.is_none() {
            // It has ended already.
            return self.abandon(Some(child)).await;
        }
        if let Err(error) = child.record(&self.host.place) {
            tracing::warn!(%error, "a started process could not be written down");
        }
        self.host.watch(child, self.stop);
    }

    /// Nothing came of what was to be started.
    async fn abandon(&self, child: Option<Child>) {
        if let Some(child) = child {
            child.end(&self.host.door, &self.host.place, &self.host.id).await;
        }
    }

    /// Opens the session that a started program runs as, and answers its environment.
    pub(super) async fn open(
        &self,
        job: &Job,
        session: &Session,
        session_id: Option<&str>,
    ) -> Option<(Child, Vec<(String, String)>)> {
        let who = Who {
            agent: &job.agent_id,
            runtime: session.runtime.name(),
            cwd: session.cwd.as_deref(),
            host: &self.host.id,
            session_id,
        };
        let opened = match identity::open(&self.host.door, &who).await {
            Ok(opened) => opened,
            Err(error) => {
                tracing::warn!(wake = %self.work.wake_id, %error, "no session could be opened");
                return None;
            }
        };
        let child = Child {
            session_id: opened.session_id.clone(),
            workspace_id: job.workspace_id.clone(),
            agent_id: job.agent_id.clone(),
            runtime: session.runtime.name().to_owned(),
            vendor_session_id: session.vendor_id.clone(),
            cwd: session.cwd.clone(),
            process: None,
        };
        let place = &self.host.place;
        if let Err(error) = child.prepare(&opened, place) {
            tracing::warn!(wake = %self.work.wake_id, %error, "a session could not be prepared");
            self.abandon(Some(child)).await;
            return None;
        }
        let env = opened.environment(place, &job.agent_id, &self.work.wake_id);
        Some((child, env))
    }
}

/// A session as it is after a notice was handed to it.
fn after(session: &Session, handed: &Handed) -> Session {
    let vendor_id = handed.vendor_id.clone().or_else(|| session.vendor_id.clone());
    let process = handed.process.clone().or_else(|| session.process.clone());
    Session { vendor_id, process, ..session.clone() }
}
