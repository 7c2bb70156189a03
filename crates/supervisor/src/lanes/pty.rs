//! The last live resort, for programs that nobody knows: the keyboard of a terminal that a keeper owns.

use std::path::Path;
use std::time::Duration;

use crate::keeper::{Answer, Control, ControlError, Records, TypeNotice, Typed};
use crate::process;
use crate::session::{AgentCli, Handed, Human, Lane, LaneError, Life, Notice, Seen, Session};

/// Reaches sessions through their keepers.
#[derive(Clone, Debug)]
pub struct PtyCli {
    /// How long a human must have been quiet before anything is typed.
    pub quiet: Duration,
}

impl AgentCli for PtyCli {
    async fn look(&self, session: &Session) -> Seen {
        let life = session.process.as_ref().map_or(Life::Unknown, process::life);
        let nobody = |life| Seen {
            life,
            activity: session.reported,
            human: Human::Unseen,
            lanes: Vec::new(),
        };
        let Some(keeper) = &session.keeper else { return nobody(life) };
        let Ok(seen) = Control::of(keeper).look().await else { return nobody(life) };
        if !seen.running {
            return nobody(life);
        }
        let lane = if seen.streams { Lane::ClaudeStream } else { Lane::Pty };
        Seen { life: Life::Live, activity: seen.activity(), human: seen.human(), lanes: vec![lane] }
    }

    async fn hand(
        &self,
        lane: Lane,
        session: &Session,
        notice: &Notice,
    ) -> Result<Handed, LaneError> {
        let closed = |why: &str| LaneError::Closed { lane, why: why.to_owned() };
        let keeper = session.keeper.as_ref().ok_or_else(|| closed("there is no keeper"))?;
        let control = Control::of(keeper);
        let answer = match lane {
            Lane::Pty => {
                let typed = TypeNotice {
                    wake_id: notice.wake_id.clone(),
                    typed: notice.typed.clone(),
                    quiet_ms: u64::try_from(self.quiet.as_millis()).unwrap_or(u64::MAX),
                };
                control.type_notice(typed).await
            }
            Lane::ClaudeStream => control.say(&notice.wake_id, &notice.text).await,
            _ => return Err(closed("a keeper has no such lane")),
        };
        match answer {
            Ok(Answer::Done) => Ok(Handed { vendor_id: None, process: None, log: None }),
            Ok(Answer::Refused(refusal)) => Err(LaneError::NotNow { why: refusal.name() }),
            Ok(Answer::Unsure(why)) => Err(LaneError::Unsure { lane, why }),
            Ok(other) => Err(closed(&format!("the keeper answered {other:?}"))),
            Err(error @ ControlError::Silent(_)) => {
                Err(LaneError::Unsure { lane, why: error.to_string() })
            }
            Err(error) => Err(closed(&error.to_string())),
        }
    }

    /// Only the word of somebody who saw it counts: the agent's own call, or a hook.
    async fn turn_began(
        &self,
        _lane: Lane,
        session: &Session,
        notice: &Notice,
        _handed: &Handed,
        patience: Duration,
    ) -> bool {
        let Some(keeper) = &session.keeper else { return false };
        Control::of(keeper).await_turn(&notice.wake_id, patience).await.unwrap_or(false)
    }

    async fn has_arrived(&self, session: &Session, wake_id: &str) -> Option<bool> {
        let keeper = session.keeper.as_ref()?;
        match Control::of(keeper).has_arrived(wake_id).await {
            Ok(arrived) => arrived,
            Err(error) => recorded(keeper.parent()?, wake_id, error.is_gone()),
        }
    }
}

/// What a keeper that does not answer has left in writing.
fn recorded(folder: &Path, wake_id: &str, is_gone: bool) -> Option<bool> {
    match Records::of(folder).get(wake_id) {
        Some(Typed::Done) => Some(true),
        Some(Typed::Entering) => None,
        // One that is only slow may go on with it.
        Some(Typed::Begun) => is_gone.then_some(false),
        None => folder.is_dir().then_some(false),
    }
}
