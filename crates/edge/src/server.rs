//! The accept loop: connections with limits and timeouts, TLS or plain, drained before the end.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use protocol::limits;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::accept::Accepting;
use crate::error::EdgeError;
use crate::front::{Client, Front};
use crate::guests::{Guest, Guests};
use crate::tls::{self, Tls};
use crate::{certificate, connection};

/// A bound address, with encryption if there is any.
pub struct Listening {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
}

impl Listening {
    /// Binds an address; TLS makes it https.
    pub async fn bind(address: &str, tls: Option<&Tls>) -> Result<Self, EdgeError> {
        let tls = tls.map(tls::acceptor).transpose()?;
        Ok(Self { listener: bind(address).await?, tls })
    }

    /// The address it was given.
    pub fn address(&self) -> Result<SocketAddr, EdgeError> {
        self.listener
            .local_addr()
            .map_err(|source| EdgeError::Bind { address: "the listener".to_owned(), source })
    }

    /// Serves until told to stop.
    pub async fn serve(self, front: Front, stop: CancellationToken) {
        serve(self.listener, front, self.tls, stop).await;
    }
}

/// Binds a TCP address.
pub async fn bind(address: &str) -> Result<TcpListener, EdgeError> {
    TcpListener::bind(address)
        .await
        .map_err(|source| EdgeError::Bind { address: address.to_owned(), source })
}

/// Serves on a listener until it is told to stop, then drains.
pub async fn serve(
    listener: TcpListener,
    front: Front,
    tls: Option<TlsAcceptor>,
    stop: CancellationToken,
) {
    let mut connections = Connections::new(stop.clone());
    let guests = Guests::default();
    let mut accepting = Accepting::new(listener);
    loop {
        let Some(permit) = connections.place().await else { break };
        let (stream, peer) = tokio::select! {
            accepted = accepting.next() => accepted,
            () = stop.cancelled() => break,
        };
        // Without it, small answers wait some forty milliseconds for the client's acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection was gone before it began");
            continue;
        }
        // On a listener for both, addresses of IPv4 come as addresses of IPv6.
        let address = peer.ip().to_canonical();
        let Some(guest) = guests.admit(address) else {
            tracing::debug!(%address, "an address has too many connections open");
            continue;
        };
        let held = (permit, guest);
        connections.start_tcp(stream, Peer(address), front.clone(), tls.clone(), held);
    }
    connections.drain().await;
}

/// The process at the other end of the private socket, as the kernel knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalProcess(pub(crate) i32);

/// The address at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The connections of one listener.
pub(crate) struct Connections {
    stopping: watch::Sender<()>,
    places: Arc<Semaphore>,
    tasks: JoinSet<()>,
    stop: CancellationToken,
}

pub(crate) type Place = tokio::sync::OwnedSemaphorePermit;

impl Connections {
    pub(crate) fn new(stop: CancellationToken) -> Self {
        Self {
            stopping: watch::Sender::new(()),
            places: Arc::new(Semaphore::new(limits::CONNECTIONS_MAX)),
            tasks: JoinSet::new(),
            stop,
        }
    }

    /// Waits for room for one connection more; `None` when it is time to stop.
    pub(crate) async fn place(&mut self) -> Option<Place> {
        while self.tasks.try_join_next().is_some() {}
        let places = Arc::clone(&self.places);
        tokio::select! {
            place = places.acquire_owned() => place.ok(),
            () = self.stop.cancelled() => None,
        }
    }

    fn start_tcp(
        &mut self,
        stream: TcpStream,
        peer: Peer,
        front: Front,
        tls: Option<TlsAcceptor>,
        held: (Place, Guest),
    ) {
        let stopping = self.stopping.subscribe();
        self.tasks.spawn(async move {
            let _held = held;
            let Some(tls) = tls else {
                return connection::serve(stream, front, Client::at(peer), stopping).await;
            };
            let shaken = tokio::time::timeout(limits::HEADER_READ_TIMEOUT, tls.accept(stream));
            match shaken.await {
                Ok(Ok(stream)) => {
                    let certificates = stream.get_ref().1.peer_certificates();
                    let first = certificates.and_then(<[_]>::first);
                    let names = first.map(certificate::names);
                    let client = Client { names, ..Client::at(peer) };
                    connection::serve(stream, front, client, stopping).await;
                }
                Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                Err(_) => tracing::debug!("a TLS handshake took too long"),
            }
        });
    }

    /// Serves one connection of any kind; what is held is let go when it ends.
    pub(crate) fn start<S>(
        &mut self,
        stream: S,
        process: Option<LocalProcess>,
        front: Front,
        held: impl Send + 'static,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stopping = self.stopping.subscribe();
        self.tasks.spawn(async move {
            let _held = held;
            let client = Client { process, ..Client::default() };
            connection::serve(stream, front, client, stopping).await;
        });
    }

    /// Lets requests in flight finish, for so long as the limit allows.
    pub(crate) async fn drain(mut self) {
        self.stopping.send_replace(());
        let drained = tokio::time::timeout(limits::DRAIN_TIMEOUT, self.stopping.closed()).await;
        if drained.is_err() {
            tracing::warn!("some requests did not finish in time and were cut off");
        }
        self.tasks.shutdown().await;
    }
}
