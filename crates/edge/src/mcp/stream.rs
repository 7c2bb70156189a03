//! MCP over a pair of streams: standard input and output, or the private socket.

use std::io;
use std::sync::Arc;

use protocol::{Caller, limits as common};
use rmcp::RoleServer;
use rmcp::service::{QuitReason, ServerInitializeError, Service, serve_server_with_ct};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::App;
use super::lines::{Answers, Lines, lines};
use super::server::{Server, Who};
use super::streamed::{End, Streamed};
use protocol::limits::mcp as limits;

/// Serves one client until its stream ends or `stop` does. A client that leaves is no error, whenever
/// it does.
pub async fn serve_stream(
    app: App,
    caller: Arc<Caller>,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin,
    stop: CancellationToken,
) -> io::Result<()> {
    serve_until(End::ForGood, app, caller, reader, writer, stop).await
}

/// The same for a bridge, whose client goes on with the next connection: when this one ends before its
/// client does, what that listens to was called off.
pub(crate) async fn serve_bridge(
    app: App,
    caller: Arc<Caller>,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin,
    stop: CancellationToken,
) -> io::Result<()> {
    serve_until(End::UntilTheNext(stop.clone()), app, caller, reader, writer, stop).await
}

async fn serve_until(
    end: End,
    app: App,
    caller: Arc<Caller>,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin,
    stop: CancellationToken,
) -> io::Result<()> {
    let input_ended = CancellationToken::new();
    let server = Server::new(app, Who::Fixed(caller));
    let served = Streamed { server, input_ended: input_ended.clone(), end };
    serve_lines(served, lines(reader, writer, common::BODY_BYTES_MAX, input_ended), stop).await
}

/// The same for a handler of one's own.
pub async fn serve_stream_for(
    handler: impl Service<RoleServer>,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin,
    stop: CancellationToken,
) -> io::Result<()> {
    let lines = lines(reader, writer, common::BODY_BYTES_MAX, CancellationToken::new());
    serve_lines(handler, lines, stop).await
}

async fn serve_lines(
    handler: impl Service<RoleServer>,
    (lines, answers): (
        Lines<impl AsyncRead + Send + Unpin + 'static>,
        Answers<impl AsyncWrite + Send + Unpin>,
    ),
    stop: CancellationToken,
) -> io::Result<()> {
    // A token of its own: rmcp ends the one it is given when its client leaves.
    let service = serve(handler, lines, stop.child_token());
    let write = answers.write();
    tokio::pin!(service, write);
    tokio::select! {
        served = &mut service => {
            served?;
            // A client that no longer reads must not hold us.
            match tokio::time::timeout(limits::LAST_ANSWERS_TIMEOUT, write).await {
                Ok(Err(error)) if !has_left(&error) => Err(error),
                _ => Ok(()),
            }
        }
        // Nobody reads any more, so nobody needs an answer: dropping the service ends it.
        written = &mut write => match written {
            Err(error) if !has_left(&error) => Err(error),
            _ => Ok(()),
        },
    }
}

async fn serve(
    handler: impl Service<RoleServer>,
    lines: Lines<impl AsyncRead + Send + Unpin + 'static>,
    stop: CancellationToken,
) -> io::Result<()> {
    let running = match serve_server_with_ct(handler, lines, stop).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(error) => return Err(io::Error::other(error)),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(io::Error::other(error)),
        Ok(_) => Ok(()),
    }
}

fn has_left(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}
