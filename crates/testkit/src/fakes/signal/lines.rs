//! The daemon's JSON lines, over TCP and a Unix socket.

use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::{JoinHandle, JoinSet};

use super::answers;
use super::state::{Hearing, Piece, State};

pub(super) fn serve_tcp(listener: TcpListener, state: Arc<State>) -> JoinHandle<()> {
    #[expect(clippy::disallowed_methods, reason = "a fake is awaited by nobody")]
    tokio::spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(serve(stream, Arc::clone(&state)));
        }
    })
}

pub(super) fn serve_unix(listener: UnixListener, state: Arc<State>) -> JoinHandle<()> {
    #[expect(clippy::disallowed_methods, reason = "a fake is awaited by nobody")]
    tokio::spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(serve(stream, Arc::clone(&state)));
        }
    })
}

/// One connection, until either side hangs up.
async fn serve<S: AsyncRead + AsyncWrite>(stream: S, state: Arc<State>) {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut requests = BufReader::new(reader).lines();
    let (number, mut pieces) = state.lock().listen(Hearing::Lines { subscription: None }, None);
    loop {
        tokio::select! {
            request = requests.next_line() => {
                let Ok(Some(request)) = request else { return };
                let Some(answer) = answer(&state, number, &request) else { continue };
                if writer.write_all(format!("{answer}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
            piece = pieces.recv() => {
                let Some(Piece::Bytes(bytes)) = piece else { return };
                if writer.write_all(&bytes).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn answer(shared: &State, number: u64, request: &str) -> Option<Value> {
    let mut state = shared.lock();
    if state.is_silent {
        return None;
    }
    let request: Value = serde_json::from_str(request).ok()?;
    let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
    state.calls.push(method.to_owned());
    shared.called.notify_waiters();
    let mut answer = answers::answer(&mut state, &request);
    let is_subscribing = method == "subscribeReceive";
    if let Some(result) = answer.get_mut("result").filter(|_| is_subscribing) {
        *result = Value::from(number);
        state.subscribe(number);
    }
    Some(answer)
}
