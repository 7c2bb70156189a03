//! Serving one connection, from its first byte to its last.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use protocol::limits;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::head::HeadTimer;
use super::line::{Line, Traffic, Version};
use super::pieces::in_pieces;
use super::streams::Streams;
use crate::front::{Client, Front};

/// Changes when it is time to stop; whoever waits for connections to end waits until none holds it.
type Stopping = watch::Receiver<()>;

/// Serves one connection until it ends. When it is time to stop, what is in flight is finished.
pub(crate) async fn serve<S>(stream: S, front: Front, client: Client, mut stopping: Stopping)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let opened = tokio::select! {
        opened = Line::open(stream) => opened,
        _ = stopping.changed() => return,
    };
    let (version, line) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            tracing::debug!(%error, "a connection said nothing that could be answered");
            return;
        }
    };
    let client = Arc::new(client);
    let service = service_fn(move |request| {
        let answer = front.clone().answer(Arc::clone(&client), request);
        async { Ok::<_, Infallible>(answer.await) }
    });
    let ended = match version {
        Version::Http1 => over_http1(line, service, stopping).await,
        // Boxed: it is large, and most connections do without.
        Version::Http2 => Box::pin(over_http2(line, service, stopping)).await,
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn over_http1<S, A>(line: Line<S>, service: A, mut stopping: Stopping) -> hyper::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    A: Service<Request<Incoming>, Response = Response, Error = Infallible>,
{
    let served = http1(line.traffic()).serve_connection(TokioIo::new(line), service);
    tokio::pin!(served);
    tokio::select! {
        biased;
        ended = served.as_mut() => ended,
        _ = stopping.changed() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    }
}

async fn over_http2<S, A>(line: Line<S>, service: A, mut stopping: Stopping) -> hyper::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    A: Service<Request<Incoming>, Response = Response, Error = Infallible>,
    A::Future: Send + 'static,
{
    let (traffic, streams) = (line.traffic(), Streams::default());
    let service = service_fn(move |request| {
        let answer = service.call(request);
        async { answer.await.map(in_pieces) }
    });
    let served = http2(streams.clone()).serve_connection(TokioIo::new(line), service);
    tokio::pin!(served);
    let mut is_told = false;
    loop {
        tokio::select! {
            biased;
            ended = served.as_mut() => return ended,
            _ = stopping.changed(), if !is_told => {}
            () = streams.are_over(&traffic) => if is_told {
                // It was told to leave, and neither leaves nor asks for anything.
                return Ok(());
            },
        }
        // The client learns that it may ask for nothing more here; what it has asked for is finished.
        served.as_mut().graceful_shutdown();
        is_told = true;
    }
}

fn http1(traffic: Arc<Traffic>) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(HeadTimer::new(traffic))
        .header_read_timeout(limits::CONNECTION_TIMEOUT)
        .max_headers(limits::HEADERS_MAX)
        .max_header_size(limits::HEADER_BYTES_MAX)
        .max_buf_size(limits::CONNECTION_BUFFER_BYTES_MAX)
        // A small answer goes out in one piece. `pipeline_flush` would do so too, but it puts no bound
        // on what waits for a client that does not read.
        .writev(false);
    builder
}

fn http2(streams: Streams) -> http2::Builder<Streams> {
    let mut builder = http2::Builder::new(streams);
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits::HTTP2_STREAMS_MAX)
        .max_header_list_size(u32::try_from(limits::HEADER_BYTES_MAX).unwrap_or(u32::MAX))
        .max_send_buf_size(limits::CONNECTION_BUFFER_BYTES_MAX)
        .keep_alive_interval(limits::STREAM_KEEP_ALIVE)
        .keep_alive_timeout(limits::CONNECTION_TIMEOUT);
    builder
}
