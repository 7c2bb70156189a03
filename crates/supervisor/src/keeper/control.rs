//! Asking a keeper, from wherever the host runs.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::protocol::{Answer, Request, SeenFacts, TypeNotice};
use super::socket;
use crate::limits::{ANSWER_PATIENCE, ECHO_PATIENCE};

/// Why a keeper gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// There is none.
    #[error("the keeper cannot be reached")]
    Unreachable(#[source] io::Error),
    /// It broke off after it was asked.
    #[error("the keeper did not answer")]
    Silent(#[source] io::Error),
    /// It does not take such a request.
    #[error("the keeper refused: {0}")]
    Wrong(String),
}

impl ControlError {
    /// Whether nobody is behind the socket any more.
    pub fn is_gone(&self) -> bool {
        use io::ErrorKind::{ConnectionRefused, NotFound};
        matches!(self, Self::Unreachable(error) if matches!(error.kind(), ConnectionRefused | NotFound))
    }
}

/// The way to a keeper.
#[derive(Clone, Debug)]
pub struct Control {
    path: PathBuf,
}

impl Control {
    /// The keeper behind this socket.
    pub fn of(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// What it sees.
    pub async fn look(&self) -> Result<SeenFacts, ControlError> {
        match self.ask(&Request::Look {}, ANSWER_PATIENCE).await? {
            Answer::Seen(seen) => Ok(seen),
            other => Err(unexpected(&other)),
        }
    }

    /// Types a notice: done, refused or unsure.
    pub async fn type_notice(&self, notice: TypeNotice) -> Result<Answer, ControlError> {
        self.ask(&Request::Type(notice), ECHO_PATIENCE + ANSWER_PATIENCE).await
    }

    /// Says a notice to a program that speaks JSON.
    pub async fn say(&self, wake_id: &str, text: &str) -> Result<Answer, ControlError> {
        let request = Request::Say { wake_id: wake_id.to_owned(), text: text.to_owned() };
        self.ask(&request, ANSWER_PATIENCE).await
    }

    /// Whether a notice was handed to the program; `None` when it was only begun.
    pub async fn has_arrived(&self, wake_id: &str) -> Result<Option<bool>, ControlError> {
        let request = Request::HasArrived { wake_id: wake_id.to_owned() };
        match self.ask(&request, ANSWER_PATIENCE).await? {
            Answer::Is(has) => Ok(Some(has)),
            Answer::Unsure(_) => Ok(None),
            other => Err(unexpected(&other)),
        }
    }

    /// Says that a turn began because of a wake.
    pub async fn turn_began(&self, wake_id: &str) -> Result<(), ControlError> {
        self.done(&Request::Turn(wake_id.to_owned())).await
    }

    /// Waits until somebody says so.
    pub async fn await_turn(
        &self,
        wake_id: &str,
        patience: Duration,
    ) -> Result<bool, ControlError> {
        let patience_ms = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        let request = Request::AwaitTurn { wake_id: wake_id.to_owned(), patience_ms };
        match self.ask(&request, patience + ANSWER_PATIENCE).await? {
            Answer::Is(has) => Ok(has),
            other => Err(unexpected(&other)),
        }
    }

    /// Ends the program and starts it anew.
    pub async fn restart(&self) -> Result<(), ControlError> {
        self.done(&Request::Restart {}).await
    }

    /// Ends the program, and with it the keeper.
    pub async fn stop(&self) -> Result<(), ControlError> {
        self.done(&Request::Stop {}).await
    }

    async fn done(&self, request: &Request) -> Result<(), ControlError> {
        match self.ask(request, ANSWER_PATIENCE).await? {
            Answer::Done => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    async fn ask(&self, request: &Request, patience: Duration) -> Result<Answer, ControlError> {
        let stream = socket::connect(&self.path)
            .and_then(|stream| stream.set_nonblocking(true).map(|()| stream))
            .and_then(tokio::net::UnixStream::from_std)
            .map_err(ControlError::Unreachable)?;
        let mut line = serde_json::to_vec(request).expect("a request is made of text and numbers");
        line.push(b'\n');
        let (read, mut write) = stream.into_split();
        write.write_all(&line).await.map_err(ControlError::Unreachable)?;
        let mut answer = String::new();
        let mut read = BufReader::new(read);
        let reading = tokio::time::timeout(patience, read.read_line(&mut answer)).await;
        let read = reading.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        read.map_err(ControlError::Silent)?;
        serde_json::from_str(&answer).map_err(|error| ControlError::Silent(io::Error::other(error)))
    }
}

fn unexpected(answer: &Answer) -> ControlError {
    match answer {
        Answer::Wrong(why) => ControlError::Wrong(why.clone()),
        other => ControlError::Wrong(format!("it answered {other:?}")),
    }
}
