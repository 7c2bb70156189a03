//! Clients of every kind, at the other end of a pipe. The clock stands still while anybody works, so
//! hours pass in no time.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use bytes::Bytes;
use futures_util::StreamExt;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use protocol::limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::serve;
use crate::front::Client;

const PIPE_BYTES: usize = 64 * 1024;
const GET: &str = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
const PREFACE: &str = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The first frame of a client of HTTP/2, without a setting.
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

/// A connection, and whoever serves it.
struct Served {
    client: DuplexStream,
    stopping: watch::Sender<()>,
    server: JoinSet<()>,
}

fn connect(routes: Router) -> Served {
    let (client, stream) = tokio::io::duplex(PIPE_BYTES);
    let (stopping, mut server) = (watch::Sender::new(()), JoinSet::new());
    server.spawn(serve(stream, routes.into(), Client::default(), stopping.subscribe()));
    Served { client, stopping, server }
}

/// One route that answers at once, and one that takes a hundred seconds.
fn routes() -> Router {
    let slow = async || {
        sleep(secs(100)).await;
        "at last"
    };
    Router::new().route("/", get(async || "hello")).route("/slow", get(slow))
}

fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// What must happen in the end.
async fn at_last<T>(work: impl Future<Output = T>) -> T {
    timeout(secs(1_000), work).await.expect("it happens in the end")
}

/// How much time has passed, to the nearest second: timers are a millisecond late.
fn since(before: Instant) -> u64 {
    (before.elapsed() + Duration::from_millis(500)).as_secs()
}

impl Served {
    async fn say(&mut self, text: &str) {
        self.client.write_all(text.as_bytes()).await.unwrap();
    }

    /// What the server says next, in one piece.
    async fn hear(&mut self) -> String {
        let mut heard = vec![0; 4_096];
        let count = at_last(self.client.read(&mut heard)).await.unwrap();
        String::from_utf8_lossy(&heard[..count]).into_owned()
    }

    /// After how many seconds the server hangs up.
    async fn hangs_up_after(&mut self) -> u64 {
        let before = Instant::now();
        at_last(self.client.read_to_end(&mut Vec::new())).await.unwrap();
        since(before)
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_says_nothing_is_ended() {
    assert_eq!(connect(routes()).hangs_up_after().await, 30);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_was_begun_must_come() {
    for first in ["P", "PRI", &PREFACE[..23], "G", "POST", "GET / HTTP/1.1\r\nhost: x\r\n"] {
        let mut served = connect(routes());
        served.say(first).await;
        assert_eq!(served.hangs_up_after().await, 10, "{first:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_that_comes_in_drops_is_not_waited_for() {
    let mut served = connect(routes());
    served.say("GET / HTTP/1.1\r\nhost: x\r\nx: ").await;
    let before = Instant::now();
    while served.client.write_all(b"x").await.is_ok() {
        sleep(secs(1)).await;
    }
    assert!(matches!(since(before), 10..=11), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_connection_may_be_idle_for_a_while_before_it_asks_again() {
    let mut served = connect(routes());
    for _ in 0..3 {
        sleep(secs(29)).await;
        // It has time to ask, although it began late.
        served.say("G").await;
        sleep(secs(9)).await;
        served.say(&GET[1..]).await;
        assert!(served.hear().await.ends_with("hello"));
    }
    assert_eq!(served.hangs_up_after().await, 30);
}

#[tokio::test(start_paused = true)]
async fn a_request_may_take_longer_than_a_connection_may_be_idle() {
    let mut served = connect(routes());
    let before = Instant::now();
    served.say("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(served.hear().await.ends_with("at last"));
    assert_eq!(since(before), 100);
}

#[tokio::test(start_paused = true)]
async fn whoever_is_idle_is_let_go_at_once_when_the_hub_stops() {
    for said in ["", "P", GET] {
        let mut served = connect(routes());
        served.say(said).await;
        if said == GET {
            assert!(served.hear().await.ends_with("hello"));
        }
        served.stopping.send_replace(());
        assert_eq!(served.hangs_up_after().await, 0, "{said:?}");
    }
    let mut served = connect(routes());
    served.say("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await;
    sleep(secs(1)).await;
    served.stopping.send_replace(());
    assert!(served.hear().await.ends_with("at last"), "what was asked is answered");
    assert_eq!(served.hangs_up_after().await, 0);
}

/// The status of the answer to a head.
async fn status_of(head: &str) -> String {
    let mut served = connect(routes());
    served.say(head).await;
    let heard = served.hear().await;
    heard.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_head_has_at_most_so_many_bytes() {
    let head = |bytes: usize| {
        let around = "GET / HTTP/1.1\r\nhost: x\r\nx: \r\n\r\n".len();
        format!("GET / HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "x".repeat(bytes - around))
    };
    assert_eq!(status_of(&head(limits::HEADER_BYTES_MAX)).await, "200");
    for bytes in [limits::HEADER_BYTES_MAX + 1, 48 * 1_024] {
        assert_eq!(status_of(&head(bytes)).await, "431", "{bytes}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_has_at_most_so_many_headers() {
    let head = |count: usize| {
        let others = "x: y\r\n".repeat(count - 1);
        format!("GET / HTTP/1.1\r\nhost: x\r\n{others}\r\n")
    };
    assert_eq!(status_of(&head(limits::HEADERS_MAX)).await, "200");
    assert_eq!(status_of(&head(limits::HEADERS_MAX + 1)).await, "431");
}

const PIECE: [u8; 1_024] = [b'x'; 1_024];

/// A route with a long answer, and how many pieces of it were asked for.
fn long_answer() -> (Router, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let answer = async move || {
        let pieces = futures_util::stream::iter(0..64 * 1_024).map(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok::<_, Infallible>(Bytes::from_static(&PIECE))
        });
        Body::from_stream(pieces)
    };
    (Router::new().route("/", get(answer)), asked)
}

#[tokio::test(start_paused = true)]
async fn little_is_kept_for_a_client_that_does_not_read_and_then_it_is_given_up() {
    let (routes, asked) = long_answer();
    let mut served = connect(routes);
    served.say(GET).await;
    sleep(secs(29)).await;
    let kept = asked.load(Ordering::SeqCst) * PIECE.len();
    assert!(kept <= PIPE_BYTES + limits::CONNECTION_BUFFER_BYTES_MAX + PIECE.len(), "{kept}");
    assert!(served.server.try_join_next().is_none(), "it may still read");
    sleep(secs(2)).await;
    assert!(served.server.try_join_next().is_some(), "it has had its time");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_gets_everything_in_the_end() {
    let (routes, asked) = long_answer();
    let mut served = connect(routes);
    served.say(GET).await;
    for _ in 0..10 {
        sleep(secs(29)).await;
        served.client.read_exact(&mut vec![0; PIPE_BYTES]).await.unwrap();
    }
    assert!(asked.load(Ordering::SeqCst) * PIECE.len() > 10 * PIPE_BYTES);
    assert!(served.server.try_join_next().is_none());
}

/// A client of HTTP/2.
struct Http2 {
    sender: http2::SendRequest<Empty<Bytes>>,
    connection: JoinSet<()>,
    stopping: watch::Sender<()>,
    _server: JoinSet<()>,
}

impl Http2 {
    async fn connect() -> Self {
        Self::with_window(routes(), None).await
    }

    /// A client that takes so many bytes of an answer before it is read.
    async fn with_window(routes: Router, bytes: Option<u32>) -> Self {
        let Served { client, stopping, server } = connect(routes);
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(bytes);
        let (sender, driver) = builder.handshake(TokioIo::new(client)).await.unwrap();
        let mut connection = JoinSet::new();
        connection.spawn(async move { driver.await.unwrap() });
        Self { sender, connection, stopping, _server: server }
    }

    /// The answer, of which only the head was read.
    async fn begin(&mut self, path: &str) -> Incoming {
        let request = http::Request::get(format!("http://localhost{path}"));
        let request = request.body(Empty::new()).unwrap();
        at_last(self.sender.send_request(request)).await.unwrap().into_body()
    }

    async fn ask(&mut self, path: &str) -> String {
        let body = self.begin(path).await.collect().await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    }

    /// After how many seconds the connection is over, in all order.
    async fn is_over_after(&mut self) -> u64 {
        let before = Instant::now();
        at_last(self.connection.join_next()).await.unwrap().unwrap();
        since(before)
    }
}

#[tokio::test(start_paused = true)]
async fn an_http2_connection_without_streams_is_ended_in_all_order() {
    let mut client = Http2::connect().await;
    for _ in 0..3 {
        assert_eq!(client.ask("/").await, "hello");
        sleep(secs(29)).await;
    }
    assert_eq!(client.is_over_after().await, 1);
}

#[tokio::test(start_paused = true)]
async fn an_http2_connection_with_a_stream_stays() {
    let mut client = Http2::connect().await;
    let before = Instant::now();
    assert_eq!(client.ask("/slow").await, "at last");
    assert_eq!(since(before), 100);
    assert_eq!(client.is_over_after().await, 30);
}

#[tokio::test(start_paused = true)]
async fn an_http2_connection_is_let_go_when_the_hub_stops() {
    let mut client = Http2::connect().await;
    assert_eq!(client.ask("/").await, "hello");
    client.stopping.send_replace(());
    assert_eq!(client.is_over_after().await, 0);
}

/// An answer of a mebibyte, in one frame.
fn large_answer() -> Router {
    Router::new().route("/", get(async || "x".repeat(1024 * 1024)))
}

#[tokio::test(start_paused = true)]
async fn an_http2_client_that_takes_nothing_of_an_answer_gets_no_more_of_it() {
    for window in [0, 1, 20_000] {
        let mut client = Http2::with_window(large_answer(), Some(window)).await;
        let answer = client.begin("/").await;
        // Reading would make room for more.
        sleep(secs(if window == 0 { 29 } else { 31 })).await;
        let before = Instant::now();
        let whole = at_last(answer.collect()).await;
        assert!(whole.is_err(), "the stream is reset at a window of {window}");
        assert!(since(before) <= 1, "{window}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_http2_client_that_reads_slowly_gets_everything_in_the_end() {
    let mut client = Http2::with_window(large_answer(), Some(64 * 1024)).await;
    let mut answer = client.begin("/").await;
    let mut bytes = 0;
    while bytes < 1024 * 1024 {
        sleep(secs(29)).await;
        for _ in 0..2 {
            let frame = at_last(answer.frame()).await.unwrap().unwrap();
            bytes += frame.into_data().unwrap().len();
        }
    }
    assert_eq!(bytes, 1024 * 1024);
}

#[tokio::test(start_paused = true)]
async fn a_preface_may_come_in_pieces() {
    let mut served = connect(routes());
    for piece in PREFACE.as_bytes().chunks(5) {
        served.client.write_all(piece).await.unwrap();
        sleep(secs(1)).await;
    }
    served.client.write_all(&SETTINGS).await.unwrap();
    let mut frame = [0; 9];
    served.client.read_exact(&mut frame).await.unwrap();
    assert_eq!(frame[3], SETTINGS[3], "the server's settings");
}

#[tokio::test(start_paused = true)]
async fn an_http2_client_that_answers_pings_and_does_not_leave_is_cut_off() {
    const PING: u8 = 6;
    let mut served = connect(routes());
    served.say(PREFACE).await;
    served.client.write_all(&SETTINGS).await.unwrap();
    let before = Instant::now();
    // The pings that ask whether it lives are all alike; the one before the end is another.
    let mut alive: Option<Vec<u8>> = None;
    let mut frame = [0; 9];
    while since(before) < 1_000 && at_last(served.client.read_exact(&mut frame)).await.is_ok() {
        let mut body = vec![0; usize::from(frame[1]) * 256 + usize::from(frame[2])];
        served.client.read_exact(&mut body).await.unwrap();
        let is_ping = frame[3] == PING && frame[4] == 0;
        if is_ping && *alive.get_or_insert_with(|| body.clone()) == body {
            let answer = [&[0, 0, 8, PING, 1, 0, 0, 0, 0], body.as_slice()].concat();
            served.client.write_all(&answer).await.unwrap();
        }
    }
    assert!(alive.is_some());
    assert_eq!(since(before), 60);
}
