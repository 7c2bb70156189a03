//! The owner's end of the private sockets.
//!
//! `hub.sock` speaks HTTP, the same routes as the public listener, with the caller named in headers.
//! `mcp.sock` speaks MCP, one JSON-RPC message a line, after one line that names the caller.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use hub::identity::{IdentityError, LocalEnv, local_caller};
use protocol::toolsets::UnknownToolset;
use protocol::{Caller, Role, Toolsets, limits};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::accept::Accepting;
use crate::app::App;
use crate::error::EdgeError;
use crate::front::{Client, Front};
use crate::server::{Connections, LocalProcess};
use crate::{mcp, status};

/// Where the private sockets are.
#[derive(Clone, Debug)]
pub struct Sockets {
    /// HTTP.
    pub hub: PathBuf,
    /// MCP.
    pub mcp: PathBuf,
}

impl Sockets {
    /// The sockets of a data folder.
    pub fn of(folder: &Path) -> Self {
        Self { hub: folder.join("hub.sock"), mcp: folder.join("mcp.sock") }
    }
}

/// Who stands at the other end, by its own word; the socket's permissions vouch for it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Greeting {
    /// A token; when it is there, it alone decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The agent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What the agent may do: worker or observer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The sets of tools it is shown: `threads,relay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolsets: Option<String>,
    /// A person at the command line.
    #[serde(default)]
    pub operator: bool,
}

impl Greeting {
    /// Whether somebody calls themselves the operator, and nobody else.
    pub(super) fn is_person(&self) -> bool {
        self.operator && self.token.is_none() && self.agent.is_none()
    }
}

pub(super) const GREETING_BYTES_MAX: u64 = 64 * 1024;

/// The header that carries a greeting on `hub.sock`.
pub(crate) const GREETING: &str = "waystation-greeting";

/// Binds both sockets; the future serves them until told to stop and counts those who are connected.
pub fn serve(
    app: App,
    front: Front,
    sockets: &Sockets,
    connected: Arc<AtomicUsize>,
    stop: CancellationToken,
) -> Result<impl Future<Output = ()> + Send + use<>, EdgeError> {
    let http = bind(&sockets.hub)?;
    let stream = bind(&sockets.mcp)?;
    let paths = sockets.clone();
    Ok(async move {
        tokio::join!(
            serve_http(http, front, Arc::clone(&connected), stop.clone()),
            serve_mcp(stream, app, connected, stop),
        );
        for path in [paths.hub, paths.mcp] {
            if let Err(error) = std::fs::remove_file(&path) {
                tracing::debug!(%error, path = %path.display(), "a socket was gone already");
            }
        }
    })
}

pub(super) fn bind(path: &Path) -> Result<UnixListener, EdgeError> {
    let failed = |source| EdgeError::Bind { address: path.display().to_string(), source };
    // We own the folder's lock: whoever left this socket behind is gone.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}

/// Counts a client for as long as it lives.
struct Present(Arc<AtomicUsize>);

impl Present {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(super) async fn serve_http(
    listener: UnixListener,
    front: Front,
    connected: Arc<AtomicUsize>,
    stop: CancellationToken,
) {
    let mut connections = Connections::new(stop.clone());
    let mut accepting = Accepting::new(listener);
    loop {
        let Some(place) = connections.place().await else { break };
        let stream = tokio::select! {
            accepted = accepting.next() => accepted,
            () = stop.cancelled() => break,
        };
        if !is_same_user(&stream) {
            tracing::warn!("another user tried the private socket");
            continue;
        }
        let (process, held) = (process_of(&stream), (place, Present::new(&connected)));
        connections.start(stream, process, front.clone(), held);
    }
    connections.drain().await;
}

async fn serve_mcp(
    listener: UnixListener,
    app: App,
    connected: Arc<AtomicUsize>,
    stop: CancellationToken,
) {
    let mut clients = JoinSet::new();
    let mut accepting = Accepting::new(listener);
    loop {
        let stream = tokio::select! {
            accepted = accepting.next() => accepted,
            Some(_) = clients.join_next(), if !clients.is_empty() => continue,
            () = stop.cancelled() => break,
        };
        if !is_same_user(&stream) {
            tracing::warn!("another user tried the private socket");
            continue;
        }
        let present = Present::new(&connected);
        let (app, stop) = (app.clone(), stop.clone());
        clients.spawn(async move {
            let _present = present;
            if let Err(error) = serve_mcp_client(stream, app, stop).await {
                tracing::debug!(%error, "a local MCP client ended early");
            }
        });
    }
    while clients.join_next().await.is_some() {}
}

async fn serve_mcp_client(
    stream: UnixStream,
    app: App,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut line = String::new();
    let mut hello = (&mut read).take(GREETING_BYTES_MAX);
    tokio::time::timeout(limits::HEADER_READ_TIMEOUT, hello.read_line(&mut line)).await??;
    let greeting: Greeting = serde_json::from_str(&line).map_err(std::io::Error::other)?;
    match identify(&app, &greeting).await {
        Ok(caller) => {
            write.write_all(b"{\"ok\":true}\n").await?;
            let now = app.hub.now();
            // A token opens the door no longer than it lives; its owner comes again with a fresh one.
            // Whoever has none yet stays for as long as the old one is taken.
            let end = if caller.exp > now { caller.exp } else { caller.ends_at() };
            let left_ms = end.ms_since(now).max(0).unsigned_abs();
            let stop = stop.child_token();
            let expiry = async {
                if greeting.token.is_some() {
                    tokio::time::sleep(Duration::from_millis(left_ms)).await;
                    stop.cancel();
                }
                std::future::pending::<std::convert::Infallible>().await
            };
            tokio::select! {
                served = mcp::serve_bridge(app.mcp(), caller, read, write, stop.clone()) => served,
                never = expiry => match never {},
            }
        }
        Err(error) => {
            let refusal = serde_json::json!({
                "ok": false, "reason": error.to_string(), "retryable": error.is_retryable(),
            });
            write.write_all(format!("{refusal}\n").as_bytes()).await
        }
    }
}

pub(super) fn is_same_user(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
}

/// The process that connected. The kernel says so, not the process itself.
fn process_of(stream: &UnixStream) -> Option<LocalProcess> {
    stream.peer_cred().ok()?.pid().map(LocalProcess)
}

/// Why there is no caller behind a greeting.
#[derive(Debug, thiserror::Error)]
pub enum GreetingError {
    /// Nobody knows who it is.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// It asks for tools that there are none of.
    #[error(transparent)]
    Toolset(#[from] UnknownToolset),
}

impl GreetingError {
    /// Whether the same greeting may be good in a while: whoever issued its token may only be away.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Identity(error) => error.code().is_retryable(),
            Self::Toolset(_) => false,
        }
    }
}

/// The caller behind a greeting, or the reason why there is none.
pub async fn identify(app: &App, greeting: &Greeting) -> Result<Arc<Caller>, GreetingError> {
    let now = app.hub.now();
    let toolsets: Option<Toolsets> = greeting.toolsets.as_deref().map(str::parse).transpose()?;
    if let Some(token) = &greeting.token {
        let verified = app.verifier.verify(token, now).await?;
        return Ok(match toolsets {
            None => verified,
            shown => Arc::new(Caller { toolsets: shown, ..(*verified).clone() }),
        });
    }
    let session = format!("local-{}", app.hub.new_uid(now));
    let env = LocalEnv {
        agent: greeting.agent.clone(),
        workspace: greeting.workspace.clone(),
        session: greeting.session.clone(),
        role: greeting.role.clone(),
    };
    let mut caller = local_caller(&env, &session, now)?;
    caller.toolsets = toolsets;
    if greeting.operator {
        caller.role = Role::Operator;
        caller.scopes = Role::Operator.default_scopes();
        if greeting.agent.is_none() {
            "operator".clone_into(&mut caller.agent_id);
        }
    }
    Ok(Arc::new(caller))
}

/// Routes for those who say who they are in a header.
pub(crate) fn greeted(app: &App, routes: Router) -> Router {
    routes.layer(from_fn_with_state(app.clone(), greet))
}

/// Turns a greeting into a caller, before the routes' own question for a token.
async fn greet(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let greeting = request
        .headers()
        .get(GREETING)
        .and_then(|value| serde_json::from_slice::<Greeting>(value.as_bytes()).ok());
    let Some(greeting) = greeting else { return next.run(request).await };
    match identify(&app, &greeting).await {
        Ok(mut caller) => {
            let process = Client::of(&request).and_then(|client| client.process);
            // A person at an unlocked terminal may decide; a token or an agent's name says it all.
            if let Some(LocalProcess(pid)) = process.filter(|_| greeting.is_person()) {
                caller = app.hub.approvals.at_terminal(caller, pid, app.hub.now());
            }
            request.headers_mut().remove(GREETING);
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(GreetingError::Identity(error)) => status::unverified(&app, &error),
        Err(error) => status::unauthorized(&app, &error.to_string()),
    }
}
