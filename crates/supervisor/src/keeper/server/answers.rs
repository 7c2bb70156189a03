//! Answering questions.

use std::time::{Duration, Instant};

use super::super::facts::Standing;
use super::super::frame::{self, Mark};
use super::super::peer::Role;
use super::super::protocol::{
    Answer, Refusal, Request, SeenFacts, TypeNotice, activity_name, is_typeable,
};
use super::super::records::Typed;
use super::super::typing::Typing;
use super::{Awaited, Body, Keeper};
use crate::limits::REMEMBERED_WAKES_MAX;
use crate::pty::Manner;
use crate::screen::Size;
use crate::session::Activity;

/// The longest wait for a turn.
const AWAIT_MAX: Duration = Duration::from_mins(10);

impl Keeper {
    pub(super) fn answer_line(&mut self, id: u64, line: &[u8], now: Instant) {
        let answer = match serde_json::from_slice(line) {
            Ok(request) => self.answer_request(id, request, now),
            Err(error) => Some(Answer::Wrong(error.to_string())),
        };
        if let Some(answer) = answer {
            self.answer(id, &answer);
        }
    }

    /// The answer, unless it comes later.
    fn answer_request(&mut self, id: u64, request: Request, now: Instant) -> Option<Answer> {
        Some(match request {
            Request::Attach { size, manner } => {
                self.attach(id, size, manner, now);
                return None;
            }
            Request::Look {} => Answer::Seen(self.look(now)),
            Request::Type(notice) => return self.type_notice(id, notice, now),
            Request::Say { wake_id, text } => self.say(wake_id, &text),
            Request::HasArrived { wake_id } => match self.records.get(&wake_id) {
                Some(Typed::Done) => Answer::Is(true),
                Some(Typed::Begun | Typed::Entering) => Answer::Unsure("it was begun".to_owned()),
                None => Answer::Is(false),
            },
            Request::Turn(wake_id) => {
                self.turn_began(wake_id);
                Answer::Done
            }
            Request::AwaitTurn { wake_id, .. } if self.turns.contains(&wake_id) => Answer::Is(true),
            Request::AwaitTurn { wake_id, patience_ms } => {
                let until = now + Duration::from_millis(patience_ms).min(AWAIT_MAX);
                self.awaited.push(Awaited { peer: id, wake_id, until });
                return None;
            }
            Request::Restart {} => {
                self.end_program(true, now);
                Answer::Done
            }
            Request::Stop {} => {
                self.end_program(false, now);
                Answer::Done
            }
        })
    }

    pub(super) fn answer(&mut self, id: u64, answer: &Answer) {
        let Ok(mut line) = serde_json::to_vec(answer) else { return };
        line.push(b'\n');
        if let Some(peer) = self.peer(id) {
            peer.send(&line);
        }
    }

    /// Lets somebody watch; the newest window rules.
    fn attach(&mut self, id: u64, size: Size, manner: Manner, now: Instant) {
        if let Body::Stream(_) = self.body {
            let why = "this program draws on no terminal; its words are in child.log";
            return self.answer(id, &Answer::Wrong(why.to_owned()));
        }
        self.answer(id, &Answer::Done);
        if let Some(peer) = self.peer(id) {
            peer.role = Role::Watching;
        }
        if let Standing::Ended(code) = self.standing {
            if let Some(peer) = self.peer(id) {
                peer.send(&frame::frame(Mark::Ended, &code.to_be_bytes()));
            }
            return;
        }
        if manner == Manner::Terminal {
            self.resize(size);
        }
        if self.standing == Standing::Waiting {
            self.manner = manner;
            self.start(now);
        } else {
            self.go_on();
            self.show(id, now);
        }
    }

    fn look(&mut self, now: Instant) -> SeenFacts {
        let (activity, draft, pid) = match &mut self.body {
            Body::Terminal(terminal) => (
                terminal.activity(now),
                terminal.draft(&mut self.tracker, now),
                terminal.process().map(|process| process.pid),
            ),
            Body::Stream(stream) => {
                (stream.activity(), false, stream.process().map(|process| process.pid))
            }
            Body::Waiting(_) => (Activity::Unknown, false, None),
        };
        let quiet = self.tracker.quiet_for(now);
        SeenFacts {
            running: self.standing == Standing::Running,
            activity: activity_name(activity).to_owned(),
            draft,
            quiet_ms: quiet.map(|quiet| u64::try_from(quiet.as_millis()).unwrap_or(u64::MAX)),
            watchers: self.watchers(),
            streams: matches!(self.body, Body::Stream(_)),
            pid,
        }
    }

    /// Types a notice if nobody is disturbed by it; once, however often it is asked for.
    fn type_notice(&mut self, id: u64, notice: TypeNotice, now: Instant) -> Option<Answer> {
        if !is_typeable(&notice.typed) || !notice.typed.contains(&notice.wake_id) {
            return Some(Answer::Wrong("this is no notice".to_owned()));
        }
        let under_way = match (&mut self.typing, &mut self.entered) {
            (Some(typing), _) => Some((&typing.wake_id, &mut typing.peers)),
            (None, Some(entered)) => Some((&entered.wake_id, &mut entered.peers)),
            (None, None) => None,
        };
        if let Some((wake_id, peers)) = under_way {
            if *wake_id == notice.wake_id {
                peers.push(id);
                return None;
            }
            return Some(Answer::Refused(Refusal::TurnRunning));
        }
        match self.records.get(&notice.wake_id) {
            Some(Typed::Done) => return Some(Answer::Done),
            Some(Typed::Begun | Typed::Entering) => {
                return Some(Answer::Unsure("it was begun before".to_owned()));
            }
            None => {}
        }
        if self.standing != Standing::Running || self.ending.is_some() {
            return Some(Answer::Refused(Refusal::NotRunning));
        }
        let Body::Terminal(terminal) = &mut self.body else {
            return Some(Answer::Wrong("this program has no keyboard".to_owned()));
        };
        let quiet = Duration::from_millis(notice.quiet_ms);
        if self.tracker.quiet_for(now).is_some_and(|passed| passed < quiet) {
            return Some(Answer::Refused(Refusal::HumanInputBusy));
        }
        if let Err(refusal) = terminal.gate(&mut self.tracker, now) {
            return Some(Answer::Refused(refusal));
        }
        if let Err(error) = self.records.write(&notice.wake_id, Typed::Begun) {
            return Some(Answer::Wrong(format!("it could not be written down: {error}")));
        }
        let typing = Typing::begin(terminal, notice.wake_id, &notice.typed, id, now);
        self.typing = Some(typing);
        None
    }

    fn say(&mut self, wake_id: String, text: &str) -> Answer {
        if self.standing != Standing::Running {
            return Answer::Refused(Refusal::NotRunning);
        }
        let Body::Stream(stream) = &mut self.body else {
            return Answer::Wrong("this program is spoken with on its keyboard".to_owned());
        };
        if self.records.get(&wake_id).is_some() {
            return Answer::Done;
        }
        if let Err(error) = self.records.write(&wake_id, Typed::Done) {
            return Answer::Wrong(format!("it could not be written down: {error}"));
        }
        stream.say(text);
        self.said.push(wake_id);
        self.facts_are_old = true;
        Answer::Done
    }

    /// Remembers that a turn began, and tells those who wait for it.
    pub(super) fn turn_began(&mut self, wake_id: String) {
        if self.turns.len() >= REMEMBERED_WAKES_MAX {
            self.turns.clear();
        }
        let (told, waiting): (Vec<Awaited>, Vec<Awaited>) = std::mem::take(&mut self.awaited)
            .into_iter()
            .partition(|awaited| awaited.wake_id == wake_id);
        self.awaited = waiting;
        self.turns.push(wake_id);
        for awaited in told {
            self.answer(awaited.peer, &Answer::Is(true));
        }
    }

    /// Tells those who have waited long enough.
    pub(super) fn answer_awaited(&mut self, now: Instant) {
        let (late, waiting): (Vec<Awaited>, Vec<Awaited>) =
            std::mem::take(&mut self.awaited).into_iter().partition(|awaited| awaited.until <= now);
        self.awaited = waiting;
        for awaited in late {
            self.answer(awaited.peer, &Answer::Is(false));
        }
    }
}
