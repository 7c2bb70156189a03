//! One wake, from the claim to the end: look, ask the ladder, act, report.

use std::time::Duration;

use supervisor::{
    AgentCli, Candidate, Handed, Ladder, Lane, LaneError, Notice, Outcome, Runtime, Seen, Session,
    Step, process,
};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::children::Child;
use super::claims::Host;
use super::identity::{self, Opened, Who};
use super::job::{Job, is_folder};
use super::lanes::Clis;
use super::limits::{
    BUSY_LOOK_EVERY, HAND_PATIENCE, LEASE_RENEW_EVERY, LOOK_PATIENCE, QUEUE_LOOK_MS, TURN_PATIENCE,
};
use super::reports::{Heard, Report, Work};

/// Why a wake waits for a turn to end, as the hub knows it.
const TURN_RUNNING: &str = "turn_running";

/// One wake in work.
pub(super) struct Run<'a, C> {
    host: &'a Host<C>,
    work: &'a Work,
    stop: &'a CancellationToken,
    /// When the hub was last told that the wake waits for a turn to end.
    waits_since_ms: parking_lot::Mutex<Option<i64>>,
}

/// A session that could be woken, with what was seen of it.
struct Known {
    session: Session,
    candidate: Candidate,
    is_managed: bool,
}

/// Whether the wake is still ours.
enum Next {
    GoOn,
    Done,
}

impl<'a, C: Clis> Run<'a, C> {
    /// Work on a wake that was claimed.
    pub(super) fn new(host: &'a Host<C>, work: &'a Work, stop: &'a CancellationToken) -> Self {
        Self { host, work, stop, waits_since_ms: parking_lot::Mutex::default() }
    }

    /// Works on the wake as soon as nobody else works on one of the same agent.
    pub(super) async fn to_the_end(&self, turn: &Mutex<()>) {
        let waiting = Report::deferred(TURN_RUNNING, None);
        let _turn = tokio::select! {
            turn = self.keeping(&waiting, turn.lock()) => turn,
            () = self.stop.cancelled() => return,
        };
        let job = self.work.job();
        let mut ladder = Ladder::new(job.terms(), job.handing(), job.deferred_since_ms());
        while !self.stop.is_cancelled() {
            if matches!(self.step(&mut ladder).await, Next::Done) {
                return;
            }
        }
    }

    async fn step(&self, ladder: &mut Ladder) -> Next {
        let job = &*self.work.job();
        let known = self.look(job).await;
        let now_ms = self.now_ms();
        let named: Vec<(&str, &Candidate)> =
            known.iter().map(|known| (known.session.id.as_str(), &known.candidate)).collect();
        let step = ladder.next(&named, now_ms);
        tracing::debug!(wake = %self.work.wake_id, ?step, "the next step of a wake");
        match step {
            Step::Hand { lane, session } => match known.get(session) {
                Some(known) => self.reach(ladder, job, lane, known).await,
                None => Next::Done,
            },
            Step::StartNew => self.start_new(ladder, job).await,
            Step::VerifyArrival { lane } => self.verify(ladder, job, lane, &known).await,
            Step::WaitForTurnEnd { .. } => self.wait_for_turn_end().await,
            Step::AskAgain { lane, until_ms } => {
                let pause = until_ms.saturating_sub(now_ms).max(0).unsigned_abs();
                let handing = Report::handing(lane, "");
                self.pause(&handing, Duration::from_millis(pause)).await
            }
            // The hub hands it out again then, to whoever can reach the agent by that time.
            Step::Defer { until_ms, reason } => {
                self.tell(&Report::deferred(reason, Some(until_ms))).await;
                Next::Done
            }
            Step::Queue { reason } => {
                let until_ms = now_ms.saturating_add(QUEUE_LOOK_MS);
                self.tell(&Report::deferred(reason, Some(until_ms))).await;
                Next::Done
            }
            Step::Fail { reason, is_final } => {
                self.tell(&Report::failed(reason, is_final)).await;
                Next::Done
            }
        }
    }

    /// Looks at every session.
    async fn look(&self, job: &Job) -> Vec<Known> {
        let mut known = Vec::new();
        for of_job in &job.sessions {
            let Some(session) = of_job.session(&self.host.place.run_folders()) else { continue };
            let cli = self.cli(&session.runtime, Vec::new());
            let seen = timeout(LOOK_PATIENCE, cli.look(&session)).await.unwrap_or(NOTHING_SEEN);
            let candidate = Candidate { seen, is_fresh: of_job.is_fresh() };
            known.push(Known { session, candidate, is_managed: of_job.managed });
        }
        known
    }

    /// Hands the notice to a session that is there.
    async fn reach(&self, ladder: &mut Ladder, job: &Job, lane: Lane, known: &Known) -> Next {
        if lane.is_native() || lane == Lane::Pty {
            let cli = self.cli(&known.session.runtime, Vec::new());
            return self.hand(ladder, &cli, lane, &known.session, job.notice(), None).await;
        }
        let renewed = known.is_managed.then_some(known.session.id.as_str());
        let runtime = known.session.runtime.clone();
        let Some(opened) = self.open(job, &known.session, renewed).await else {
            let session = known.session.id.clone();
            ladder.learn(Outcome::Closed { session, lane }, self.now_ms());
            return Next::GoOn;
        };
        let cli = self.cli(&runtime, self.environment(&opened));
        self.hand(ladder, &cli, lane, &known.session, job.notice(), Some(opened)).await
    }

    /// Starts a new session with the notice.
    async fn start_new(&self, ladder: &mut Ladder, job: &Job) -> Next {
        let not_started = |ladder: &mut Ladder| {
            ladder.learn(Outcome::NotStarted, self.now_ms());
            Next::GoOn
        };
        let Some((lane, mut session)) = self.new_session(job) else { return not_started(ladder) };
        let runtime = session.runtime.clone();
        let Some(opened) = self.open(job, &session, None).await else {
            return not_started(ladder);
        };
        session.id.clone_from(&opened.session_id);
        let cli = self.cli(&runtime, self.environment(&opened));
        self.hand(ladder, &cli, lane, &session, job.first_notice(), Some(opened)).await
    }

    /// Where a new session would be, and the lane that starts it.
    fn new_session(&self, job: &Job) -> Option<(Lane, Session)> {
        let profile = job.profile.as_ref()?;
        let runtime = Runtime::named(&profile.runtime);
        let lane = self.host.clis.lane_of_new(&runtime)?;
        let session = Session {
            id: String::new(),
            runtime,
            vendor_id: None,
            cwd: Some(profile.cwd.clone().filter(|cwd| is_folder(cwd))?),
            process: None,
            transcript: None,
            keeper: None,
            reported: supervisor::Activity::Unknown,
            is_resumable: true,
        };
        Some((lane, session))
    }

    async fn hand(
        &self,
        ladder: &mut Ladder,
        cli: &C::Cli,
        lane: Lane,
        session: &Session,
        notice: Notice,
        opened: Option<Opened>,
    ) -> Next {
        // What the ladder knows the session by; what the hub knows it by from now on.
        let known_as = session.id.as_str();
        let name = opened.as_ref().map_or(known_as, |opened| &opened.session_id);
        let handing = Report::handing(lane, name);
        // Only when the hub has this on its disk may the lane be touched.
        if self.tell(&handing).await != Heard::GoOn {
            return Next::Done;
        }
        let hand = timeout(HAND_PATIENCE, cli.hand(lane, session, &notice));
        let handed = self.keeping(&handing, hand).await;
        let session_id = known_as.to_owned();
        let unsure = |why: &str| LaneError::Unsure { lane, why: why.to_owned() };
        let outcome = match handed.unwrap_or_else(|_| Err(unsure("it took too long"))) {
            Ok(handed) => {
                self.handed(cli, lane, session, &notice, (&handed, opened.as_ref())).await;
                return Next::Done;
            }
            Err(LaneError::Closed { lane, why }) => {
                tracing::info!(wake = %self.work.wake_id, lane = lane.name(), why, "a lane is closed");
                if known_as == name || !starts_anew(lane) {
                    Outcome::Closed { session: session_id, lane }
                } else {
                    Outcome::NotStarted
                }
            }
            Err(LaneError::NotNow { why }) => Outcome::NotNow { session: session_id, lane, why },
            Err(LaneError::Unsure { lane, why }) => {
                tracing::warn!(wake = %self.work.wake_id, lane = lane.name(), why, "a lane broke off");
                Outcome::Unsure { session: session_id, lane }
            }
        };
        ladder.learn(outcome, self.now_ms());
        Next::GoOn
    }

    /// The agent's program has the notice: says so, watches what was started, waits for the turn.
    async fn handed(
        &self,
        cli: &C::Cli,
        lane: Lane,
        session: &Session,
        notice: &Notice,
        (handed, opened): (&Handed, Option<&Opened>),
    ) {
        let name = opened.map_or(session.id.as_str(), |opened| &opened.session_id);
        if let (Some(opened), Some(_)) = (opened, &handed.process) {
            self.watch(opened, session, handed);
        }
        // Whether or not the wake is still wanted, it was handed over; and even a host that is to
        // stop says so, for it may not be there to be asked later.
        self.tell_at_last(&Report::handed(lane, name)).await;
        let began = cli.turn_began(lane, session, notice, handed, TURN_PATIENCE);
        let began = tokio::select! {
            began = began => began,
            () = self.stop.cancelled() => false,
        };
        let has_begun =
            began || cli.has_arrived(&after(session, handed), &notice.wake_id).await == Some(true);
        if has_begun {
            self.tell_at_last(&Report::turn_started(lane, name)).await;
        } else {
            tracing::warn!(wake = %self.work.wake_id, lane = lane.name(), "no turn was seen to begin");
        }
    }

    fn watch(&self, opened: &Opened, session: &Session, handed: &Handed) {
        let Some(process) = handed.process.clone() else { return };
        let job = self.work.job();
        let child = Child {
            session_id: opened.session_id.clone(),
            workspace_id: job.workspace_id.clone(),
            agent_id: job.agent_id.clone(),
            runtime: session.runtime.name().to_owned(),
            vendor_session_id: handed.vendor_id.clone().or_else(|| session.vendor_id.clone()),
            cwd: session.cwd.clone(),
            pid: process.pid,
            pid_started: process.started_ticks,
            boot_id: process.boot_id,
        };
        if let Err(error) = child.record(&self.host.place) {
            tracing::warn!(%error, "a started process could not be written down");
        }
        self.host.watch(child, self.stop);
    }

    /// Asks the records of every session that could have the notice.
    async fn verify(&self, ladder: &mut Ladder, job: &Job, lane: Lane, known: &[Known]) -> Next {
        let anew = self.new_session(job).map(|(_, session)| session);
        let sessions = known.iter().map(|known| &known.session).chain(anew.as_ref());
        let mut arrival = Some(false);
        for session in sessions {
            let cli = self.cli(&session.runtime, Vec::new());
            let asked = timeout(LOOK_PATIENCE, cli.has_arrived(session, &self.work.wake_id));
            match asked.await.ok().flatten() {
                Some(true) => {
                    self.tell_at_last(&Report::handed(lane, &session.id)).await;
                    self.tell_at_last(&Report::turn_started(lane, &session.id)).await;
                    return Next::Done;
                }
                Some(false) => {}
                None => arrival = None,
            }
        }
        // A process that was started for this wake may not have come so far as to write it down.
        let mark = format!("WAYSTATION_WAKE_ID={}", self.work.wake_id);
        let marked = tokio::task::spawn_blocking(move || process::is_any_marked(&mark)).await;
        if marked.unwrap_or(true) {
            arrival = None;
        }
        ladder.learn(Outcome::Arrival(arrival), self.now_ms());
        Next::GoOn
    }

    /// Opens the session that a started program runs as.
    async fn open(&self, job: &Job, session: &Session, session_id: Option<&str>) -> Option<Opened> {
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
        match opened.keep_token(&self.host.place) {
            Ok(()) => Some(opened),
            Err(error) => {
                tracing::warn!(wake = %self.work.wake_id, %error, "no token could be kept");
                None
            }
        }
    }

    fn environment(&self, opened: &Opened) -> Vec<(String, String)> {
        opened.environment(&self.host.place, &self.work.job().agent_id, &self.work.wake_id)
    }

    fn cli(&self, runtime: &Runtime, env: Vec<(String, String)>) -> C::Cli {
        self.host.clis.of(runtime, env, self.host.place.run_folders().join("logs"))
    }

    fn now_ms(&self) -> i64 {
        self.host.clock.now().as_ms()
    }

    async fn tell(&self, report: &Report) -> Heard {
        self.work.tell(&self.host.door, report, self.stop).await
    }

    /// Says what has happened, even at the end.
    async fn tell_at_last(&self, report: &Report) {
        let never = CancellationToken::new();
        let told = self.work.tell(&self.host.door, report, &never);
        if self.stop.is_cancelled() {
            timeout(super::limits::ANSWER_PATIENCE, told).await.ok();
        } else {
            told.await;
        }
    }

    /// Waits for a turn to end, with the hub knowing it.
    async fn wait_for_turn_end(&self) -> Next {
        let waiting = Report::deferred(TURN_RUNNING, None);
        let now_ms = self.now_ms();
        let said_ms = *self.waits_since_ms.lock();
        if said_ms.is_some_and(|said_ms| now_ms - said_ms < ms(LEASE_RENEW_EVERY)) {
            return self.pause_for(BUSY_LOOK_EVERY).await;
        }
        let next = self.pause(&waiting, BUSY_LOOK_EVERY).await;
        *self.waits_since_ms.lock() = Some(now_ms);
        next
    }

    /// Tells the hub something, and goes on when it is time or something happens.
    async fn pause(&self, said: &Report, pause: Duration) -> Next {
        match self.tell(said).await {
            Heard::GoOn => self.keeping(said, self.pause_for(pause)).await,
            Heard::LetGo | Heard::Stopping => Next::Done,
        }
    }

    async fn pause_for(&self, pause: Duration) -> Next {
        tokio::select! {
            () = sleep(pause) => {}
            () = self.work.news.notified() => {}
            () = self.stop.cancelled() => {}
        }
        Next::GoOn
    }

    /// Does something to its end, and has the hub know meanwhile that this wake is taken.
    async fn keeping<T>(&self, said: &Report, work: impl Future<Output = T>) -> T {
        let renewing = async {
            loop {
                sleep(LEASE_RENEW_EVERY).await;
                self.tell(said).await;
            }
        };
        tokio::select! {
            done = work => done,
            never = renewing => match never {},
        }
    }
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// A session as it is after a notice was handed to it.
fn after(session: &Session, handed: &Handed) -> Session {
    let vendor_id = handed.vendor_id.clone().or_else(|| session.vendor_id.clone());
    let process = handed.process.clone().or_else(|| session.process.clone());
    Session { vendor_id, process, ..session.clone() }
}

const fn starts_anew(lane: Lane) -> bool {
    matches!(lane, Lane::CodexNew | Lane::ClaudeNew)
}

/// What is known of a session that could not be looked at: it counts as live.
const NOTHING_SEEN: Seen = Seen {
    life: supervisor::Life::Unknown,
    activity: supervisor::Activity::Unknown,
    human: supervisor::Human::Unseen,
    lanes: Vec::new(),
};
