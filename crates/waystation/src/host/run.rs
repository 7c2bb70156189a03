//! One wake, from the claim to the end: look, ask the ladder, act, report.

use std::time::Duration;

use supervisor::{
    AgentCli, Candidate, Ladder, Lane, Life, Outcome, Runtime, Seen, Session, Step, process,
};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::claims::Host;
use super::hand::Target;
use super::job::{Job, is_folder};
use super::lanes::{Clis, Manner};
use super::limits::{
    ANSWER_PATIENCE, ARRIVAL_PATIENCE, BUSY_LOOK_EVERY, LEASE_RENEW_EVERY, LOOK_PATIENCE,
    QUEUE_LOOK_MS,
};
use super::reports::{Heard, Report, Work};
use super::start_kept;

/// Why a wake waits for a turn to end, as the hub knows it.
const TURN_RUNNING: &str = "turn_running";

/// One wake in work.
pub(super) struct Run<'a, C> {
    pub(super) host: &'a Host<C>,
    pub(super) work: &'a Work,
    pub(super) stop: &'a CancellationToken,
    /// When the hub was last told that the wake waits for a turn to end.
    waits_since_ms: parking_lot::Mutex<Option<i64>>,
}

/// A session that could be woken, with what was seen of it.
pub(super) struct Known {
    pub(super) session: Session,
    pub(super) candidate: Candidate,
    is_managed: bool,
}

/// Whether the wake is still ours.
pub(super) enum Next {
    GoOn,
    Done,
}

impl<'a, C: Clis> Run<'a, C> {
    /// Work on a wake that was claimed.
    pub(super) fn new(host: &'a Host<C>, work: &'a Work, stop: &'a CancellationToken) -> Self {
        Self { host, work, stop, waits_since_ms: parking_lot::Mutex::default() }
    }

    /// Works on the wake as soon as nobody else works on one of the same agent; answers the attempt
    /// that it worked on last.
    pub(super) async fn to_the_end(&self, turn: &Mutex<()>) -> i64 {
        let waiting = Report::deferred(TURN_RUNNING, None);
        let _turn = tokio::select! {
            turn = self.keeping(&waiting, turn.lock()) => turn,
            () = self.stop.cancelled() => return self.work.job().attempt,
        };
        let mut job = self.work.job();
        let mut ladder = Ladder::new(job.terms(), job.handing(), job.deferred_since_ms());
        while !self.stop.is_cancelled() {
            job = self.work.job();
            ladder.renew(job.terms());
            if matches!(self.step(&mut ladder, &job).await, Next::Done) {
                break;
            }
        }
        job.attempt
    }

    async fn step(&self, ladder: &mut Ladder, job: &Job) -> Next {
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
            Step::StartNew if is_other(job) => self.start_kept(ladder, job, &known).await,
            Step::StartNew => self.start_new(ladder, job).await,
            Step::VerifyArrival { lane } => self.verify(ladder, job, lane, &known).await,
            Step::WaitForTurnEnd { .. } => self.wait_for_turn_end().await,
            Step::AskAgain { lane, until_ms } => {
                let pause = until_ms.saturating_sub(now_ms).max(0).unsigned_abs();
                self.pause(&Report::handing(lane, ""), Duration::from_millis(pause)).await
            }
            // The hub hands it out again then, to whoever can reach the agent by that time.
            Step::Defer { until_ms, reason } => {
                self.decide(&Report::deferred(reason, Some(until_ms))).await
            }
            Step::Queue { reason } => {
                let until_ms = now_ms.saturating_add(QUEUE_LOOK_MS);
                self.decide(&Report::deferred(reason, Some(until_ms))).await
            }
            Step::Fail { reason, is_final } => self.decide(&Report::failed(reason, is_final)).await,
        }
    }

    /// Lets go of the wake with this word, unless the hub has just handed it out anew.
    pub(super) async fn decide(&self, report: &Report) -> Next {
        match self.tell(report).await {
            Heard::Anew => Next::GoOn,
            Heard::GoOn | Heard::LetGo | Heard::Stopping => Next::Done,
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
        let session = &known.session;
        let is_first = start_kept::is_first(&self.host.place, &session.id, &self.work.wake_id);
        let notice = if is_first { job.first_notice() } else { job.notice() };
        if known.candidate.seen.life != Life::Dead {
            let cli = self.cli(&session.runtime, Vec::new());
            let target = Target { cli: &cli, lane, session, notice: &notice, child: None };
            return self.hand(ladder, target).await;
        }
        let renewed = known.is_managed.then_some(session.id.as_str());
        let Some((child, env)) = self.open(job, session, renewed).await else {
            let session = session.id.clone();
            ladder.learn(Outcome::Closed { session, lane }, self.now_ms());
            return Next::GoOn;
        };
        let cli = self.cli(&session.runtime, env);
        let child = Some(child);
        self.hand(ladder, Target { cli: &cli, lane, session, notice: &notice, child }).await
    }

    /// Starts a new session with the notice.
    async fn start_new(&self, ladder: &mut Ladder, job: &Job) -> Next {
        let not_started = |ladder: &mut Ladder| {
            ladder.learn(Outcome::NotStarted { why: None }, self.now_ms());
            Next::GoOn
        };
        let Some((lane, mut session)) = self.new_session(job) else { return not_started(ladder) };
        let Some((child, env)) = self.open(job, &session, None).await else {
            return not_started(ladder);
        };
        session.id.clone_from(&child.session_id);
        let cli = self.cli(&session.runtime, env);
        let (session, notice, child) = (&session, &job.first_notice(), Some(child));
        self.hand(ladder, Target { cli: &cli, lane, session, notice, child }).await
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

    /// Asks the records of every session that could have the notice.
    async fn verify(&self, ladder: &mut Ladder, job: &Job, lane: Lane, known: &[Known]) -> Next {
        let anew = self.new_session(job).map(|(_, session)| session);
        let sessions = known.iter().map(|known| &known.session).chain(anew.as_ref());
        let mut arrival = Some(false);
        for session in sessions {
            let cli = self.cli(&session.runtime, Vec::new());
            let asked = timeout(ARRIVAL_PATIENCE, cli.has_arrived(session, &self.work.wake_id));
            match self.keeping(&Report::handing(lane, ""), asked).await.ok().flatten() {
                Some(true) => {
                    tracing::info!(wake = %self.work.wake_id, "the notice had arrived");
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

    pub(super) fn cli(&self, runtime: &Runtime, env: Vec<(String, String)>) -> C::Cli {
        let log_folder = self.host.place.logs_folder();
        let quiet = self.work.job().quiet();
        self.host.clis.of(runtime, Manner { env, log_folder, quiet })
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.host.clock.now().as_ms()
    }

    pub(super) async fn tell(&self, report: &Report) -> Heard {
        self.work.tell(&self.host.door, report, self.stop).await
    }

    /// Says what has happened, even at the end.
    pub(super) async fn tell_at_last(&self, report: &Report) {
        let never = CancellationToken::new();
        let told = self.work.tell_fact(&self.host.door, report, &never);
        let at_the_end = async {
            self.stop.cancelled().await;
            sleep(ANSWER_PATIENCE).await;
        };
        tokio::select! {
            () = told => {}
            () = at_the_end => {}
        }
    }

    /// Waits for a turn to end, with the hub knowing it.
    async fn wait_for_turn_end(&self) -> Next {
        let now_ms = self.now_ms();
        let said_ms = *self.waits_since_ms.lock();
        if said_ms.is_some_and(|said_ms| now_ms.saturating_sub(said_ms) < ms(LEASE_RENEW_EVERY)) {
            return self.pause_for(BUSY_LOOK_EVERY).await;
        }
        *self.waits_since_ms.lock() = Some(now_ms);
        self.pause(&Report::deferred(TURN_RUNNING, None), BUSY_LOOK_EVERY).await
    }

    /// Tells the hub something, and goes on when it is time or something happens.
    async fn pause(&self, said: &Report, pause: Duration) -> Next {
        match self.tell(said).await {
            Heard::GoOn => self.keeping(said, self.pause_for(pause)).await,
            Heard::Anew => Next::GoOn,
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
    pub(super) async fn keeping<T>(&self, said: &Report, work: impl Future<Output = T>) -> T {
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

/// Whether a new session of the agent would be one of a program without a lane for it.
fn is_other(job: &Job) -> bool {
    let runtime = job.profile.as_ref().map(|profile| Runtime::named(&profile.runtime));
    matches!(runtime, Some(Runtime::Other(_)))
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// What is known of a session that could not be looked at: it counts as live.
const NOTHING_SEEN: Seen = Seen {
    life: Life::Unknown,
    activity: supervisor::Activity::Unknown,
    human: supervisor::Human::Unseen,
    lanes: Vec::new(),
};
