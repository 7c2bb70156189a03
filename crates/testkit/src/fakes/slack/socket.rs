//! Socket Mode of the fake: sockets that say hello, deliver, and break in every way.

use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

use super::state::{Socket, text as text_of};
use super::{Shared, asking};

/// What a test tells a socket to do.
#[derive(Debug)]
pub(super) enum Command {
    Text(String),
    Close,
    BreakMidFrame,
    HalfClose,
    FallSilent,
}

/// Serves sockets for as long as the fake lives.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut serving = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        serving.spawn(serve(stream, Arc::clone(&shared)));
        while serving.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let tickets = Arc::clone(&shared);
    #[expect(clippy::result_large_err, reason = "the signature is the library's")]
    let take_ticket = move |request: &Request, response: Response| {
        let asked = request.uri().query().unwrap_or_default().to_owned();
        let is_known = tickets.change(|state| {
            let before = state.tickets.len();
            state.tickets.retain(|ticket| format!("ticket={ticket}") != asked);
            state.tickets.len() < before
        });
        if is_known {
            return Ok(response);
        }
        let mut refusal = ErrorResponse::new(None);
        *refusal.status_mut() = axum::http::StatusCode::FORBIDDEN;
        Err(refusal)
    };
    let Ok(mut socket) = accept_hdr_async(stream, take_ticket).await else { return };
    let hello = json!({
        "type": "hello", "num_connections": 1, "connection_info": {"app_id": "A1"},
        "debug_info": {"host": "applink-1", "approximate_connection_time": 18_060},
    });
    if socket.send(Message::text(hello.to_string())).await.is_err() {
        return;
    }
    let (commands, mut taking) = mpsc::channel(1_024);
    let number = shared.change(|state| {
        state.sockets_opened += 1;
        let number = state.sockets_opened;
        state.sockets.push(Socket { number, commands });
        state.send_waiting();
        number
    });
    talk(&mut socket, &mut taking, &shared).await;
    shared.change(|state| state.end_socket(number));
}

async fn talk(
    socket: &mut WebSocketStream<TcpStream>,
    commands: &mut mpsc::Receiver<Command>,
    shared: &Shared,
) {
    loop {
        let command = tokio::select! {
            command = commands.recv() => command,
            frame = socket.next() => match frame {
                Some(Ok(Message::Text(text))) => {
                    let frame: Value = serde_json::from_str(&text).unwrap_or_default();
                    shared.change(|state| {
                        state.acknowledge(text_of(&frame, "envelope_id"));
                        if asking::is_asked(text_of(&frame, "envelope_id")) {
                            state.answers.push(frame);
                        }
                    });
                    continue;
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
        };
        match command {
            Some(Command::Text(text)) => {
                if socket.send(Message::text(text)).await.is_err() {
                    return;
                }
            }
            Some(Command::BreakMidFrame) => {
                // A text of 126 bytes is announced, five come.
                socket.get_mut().write_all(b"\x81\x7e\x00\x7e{\"typ").await.ok();
                socket.get_mut().shutdown().await.ok();
                return;
            }
            Some(Command::HalfClose) => {
                socket.get_mut().shutdown().await.ok();
            }
            Some(Command::FallSilent) => std::future::pending().await,
            Some(Command::Close) | None => {
                socket.close(None).await.ok();
                return;
            }
        }
    }
}
