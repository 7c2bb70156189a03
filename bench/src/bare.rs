//! The least that a server can do: one thread reads requests, appends a post to the store for each, and
//! says that it did. It looks at no token, reads no JSON and keeps no rule.
//!
//! What it reaches is what the network and the load generator leave of this machine, so no hub that
//! answers over HTTP and appends to the same store can be much faster. It runs in a process of its own.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::pin::Pin;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as Waking, Poll, Wake, Waker};

use anyhow::{Context, Result, bail};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Token};
use protocol::{Caller, Role};
use store::{Store, StoreError};

use crate::place;
use crate::post;
use crate::rig::{self, Rig};
use crate::server::Server;

const DOOR: Token = Token(usize::MAX - 1);
const BELL: Token = Token(usize::MAX - 2);
const EVENTS_MAX: usize = 64;
const REQUEST_BYTES_MAX: usize = 16 * 1024;
/// As long as what the hub answers to a post.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
    x-request-id: req_01JXYZ0000000000000000000A\r\ncontent-length: 127\r\n\
    date: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n\
    {\"message_id\":\"msg_01JXYZ0000000000000000000B\",\"seq\":1,\"thread_status\":\"active\",\
    \"created_at\":\"2026-01-01T00:00:00.000Z\",\"none\":0}";

type Append = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

/// Starts such a server on a data folder.
pub(crate) fn start(folder: &Path) -> Result<Server> {
    let port = place::free_port()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bare", "--port", &port.to_string(), "--folder"]).arg(folder);
    Server::run(command, &folder.join("bare.log"), port, "/")
}

/// Serves the threads of a data folder until the process is ended.
pub(crate) async fn serve(folder: &Path, port: u16) -> Result<()> {
    let rig = Rig::open(folder)?;
    let store = rig.hub.store.clone();
    tokio::task::spawn_blocking(move || Bare::open(store, port)?.run()).await?
}

struct Bare {
    poll: mio::Poll,
    door: TcpListener,
    bell: Arc<Bell>,
    clients: Vec<Client>,
    posts: Posts,
}

/// Where posts go, and who posts.
struct Posts {
    store: Store,
    callers: HashMap<usize, Arc<Caller>>,
    body: Arc<str>,
}

/// One connection.
struct Client {
    stream: TcpStream,
    waker: Waker,
    heard: Vec<u8>,
    append: Option<Append>,
}

/// Rung when an append is durable.
struct Bell {
    durable: Mutex<Vec<usize>>,
    waker: mio::Waker,
}

/// Rings for one connection.
struct Ringer {
    client: usize,
    bell: Arc<Bell>,
}

impl Wake for Ringer {
    fn wake(self: Arc<Self>) {
        let is_first = {
            let mut durable = self.bell.durable.lock().unwrap_or_else(PoisonError::into_inner);
            durable.push(self.client);
            durable.len() == 1
        };
        // Whoever takes one of the list takes all of it.
        if is_first && self.bell.waker.wake().is_err() {
            // The load generator says that nothing is answered any more.
        }
    }
}

impl Bare {
    fn open(store: Store, port: u16) -> Result<Self> {
        let poll = mio::Poll::new()?;
        let mut door = TcpListener::bind(([127, 0, 0, 1], port).into())?;
        poll.registry().register(&mut door, DOOR, Interest::READABLE)?;
        let waker = mio::Waker::new(poll.registry(), BELL)?;
        let bell = Arc::new(Bell { durable: Mutex::default(), waker });
        let caller = |agent| (agent, rig::caller(&rig::agent(agent), Role::Worker));
        let callers = (0..rig::AGENTS).map(caller).collect();
        let posts = Posts { store, callers, body: post::BODY.into() };
        Ok(Self { poll, door, bell, clients: Vec::new(), posts })
    }

    fn run(mut self) -> Result<()> {
        let mut events = Events::with_capacity(EVENTS_MAX);
        loop {
            self.poll.poll(&mut events, None)?;
            for event in &events {
                match event.token() {
                    DOOR => self.let_in()?,
                    BELL => {}
                    Token(client) => {
                        let client = self.clients.get_mut(client).context("nobody's event")?;
                        client.hear(&self.posts)?;
                    }
                }
            }
            let mut durable = self.bell.durable.lock().unwrap_or_else(PoisonError::into_inner);
            let durable = std::mem::take(&mut *durable);
            for client in durable {
                self.clients.get_mut(client).context("nobody's append")?.go_on()?;
            }
        }
    }

    fn let_in(&mut self) -> Result<()> {
        loop {
            let mut stream = match self.door.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            stream.set_nodelay(true)?;
            let client = self.clients.len();
            self.poll.registry().register(&mut stream, Token(client), Interest::READABLE)?;
            let waker = Waker::from(Arc::new(Ringer { client, bell: Arc::clone(&self.bell) }));
            self.clients.push(Client { stream, waker, heard: Vec::new(), append: None });
        }
    }
}

impl Client {
    /// Reads what has come, and begins to append when it is a whole request.
    fn hear(&mut self, posts: &Posts) -> Result<()> {
        let mut piece = [0; REQUEST_BYTES_MAX];
        match self.stream.read(&mut piece) {
            Ok(count) => self.heard.extend_from_slice(piece.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            // Clients of the bench leave without a word.
            Err(_) => return Ok(()),
        }
        if self.heard.starts_with(b"GET ") {
            return self.answer();
        }
        if !self.heard.ends_with(post::AFTER_KEY.as_bytes()) {
            return Ok(());
        }
        self.append = Some(posts.append(&self.heard)?);
        self.go_on()
    }

    /// Answers once the append is durable.
    fn go_on(&mut self) -> Result<()> {
        let Some(append) = self.append.as_mut() else { return Ok(()) };
        match append.as_mut().poll(&mut Waking::from_waker(&self.waker)) {
            Poll::Pending => Ok(()),
            Poll::Ready(done) => {
                done?;
                self.append = None;
                self.answer()
            }
        }
    }

    fn answer(&mut self) -> Result<()> {
        self.heard.clear();
        match self.stream.write(ANSWER) {
            Ok(count) if count < ANSWER.len() => bail!("an answer does not go out in one piece"),
            // Whoever has left needs no answer.
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

impl Posts {
    /// The append that a request asks for: its thread stands in the path and its key at the end.
    fn append(&self, request: &[u8]) -> Result<Append> {
        let request = std::str::from_utf8(request)?;
        let thread = request.split('/').nth(3).context("a path without a thread")?.parse()?;
        let end = request.len() - post::AFTER_KEY.len();
        let begin = end.checked_sub(post::KEY_CHARS).context("no key")?;
        let key = request.get(begin..end).context("no key")?.to_owned();
        let caller = self.callers.get(&post::client_of(&key)?).context("nobody's key")?;
        let (store, caller, body) =
            (self.store.clone(), Arc::clone(caller), Arc::clone(&self.body));
        Ok(Box::pin(async move { post::append(&store, thread, caller, body, key).await }))
    }
}
