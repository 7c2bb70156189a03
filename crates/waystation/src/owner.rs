//! The one process that owns a data folder: opening everything, serving it, and ending in order.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use connector_api::toolkit::HttpClient;
use edge::local::{Owner, OwnerInfo, Sockets};
use edge::server::Listening;
use edge::tls::{Certificate, Tls};
use edge::{App, Fairness, WebSettings};
use hub::audit::SealKey;
use hub::duties::Duties;
use hub::identity::{KeyRing, Revocations, Verifier};
use hub::links::{LinkParts, LinkVault};
use hub::{Clock, Hub, Parts, SystemClock, SystemEntropy};
use protocol::{Caller, limits};
use ring::rand::SystemRandom;
use store::{ContainmentIndex, MemoryIndex, SearchIndex, Settings, Store};
use tokio_util::sync::CancellationToken;

use crate::address;
use crate::config::{Config, TlsMode};
use crate::host::{Door, Host, Installed, has_keepers};
use crate::paths::Place;

/// Threads that search in chats.
const SEARCHERS: usize = 2;

/// The right to a data folder, for as long as it lives.
pub(crate) struct Lock(#[expect(dead_code, reason = "holding the file open holds the lock")] File);

/// Takes the right to a data folder; `None` when another process has it.
pub(crate) fn try_lock(path: &Path) -> Result<Option<Lock>> {
    let failed = || format!("cannot lock {}", path.display());
    let file =
        File::options().create(true).truncate(false).write(true).open(path).with_context(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).with_context(failed),
    }
}

/// The same for an owner that nobody asked for: it stands back when one is about to come that somebody did.
pub(crate) fn try_lock_on_demand(place: &Place) -> Result<Option<Lock>> {
    match try_lock(&place.next_lock_file())? {
        Some(_next) => try_lock(&place.lock_file()),
        None => Ok(None),
    }
}

/// An open hub that does not listen yet.
pub(crate) struct Opened {
    pub(crate) app: App,
    pub(crate) url: Option<String>,
    duties: Duties,
    host: Option<Arc<Host<Installed>>>,
    place: Place,
    _lock: Lock,
}

/// How a hub is reached.
pub(crate) struct Reached {
    /// Where others find it, if it listens.
    pub(crate) url: Option<String>,
    /// Who comes in without a token, if anybody may.
    pub(crate) open: Option<Arc<Caller>>,
}

/// Opens the store, the keys and the hub of a data folder.
pub(crate) fn open(place: &Place, config: &Config, lock: Lock, reached: Reached) -> Result<Opened> {
    let settings = match config.store.postgres_url.as_str() {
        "" => Settings::Sqlite { folder: place.folder.clone(), readers: config.store.connections },
        url => Settings::Postgres { url: url.to_owned(), connections: config.store.connections },
    };
    let store = Store::open(&settings).context("cannot open the store")?;
    let clock = SystemClock;
    let keys = KeyRing::open(&place.keys(), config.identity.authority()?, clock.now())?;
    let keys = Arc::new(keys);
    let revocations = Arc::new(Revocations::of(&config.identity));
    let verifier = Verifier::new(&config.identity, Arc::clone(&keys), Arc::clone(&revocations))?;
    let http = HttpClient::new(&config.links.http_settings())
        .context("cannot make the client of links")?;
    let database = store.database_id().to_owned();
    let (hub, duties) = Hub::start(Parts {
        store,
        settings: config.hub_settings(),
        clock: Arc::new(clock),
        entropy: Arc::new(SystemEntropy),
        keys,
        revocations,
        search: SearchIndex::open(&place.folder, &database)?,
        containment: ContainmentIndex::open(&place.folder, &database, SEARCHERS)?,
        memory: MemoryIndex::open(&place.folder, &database)?,
        seal_key: SealKey::open(&place.keys(), &SystemRandom::new())?,
        model: config.model.connect(http.clone())?,
        keeper: config.relay.keeper()?,
        links: LinkParts {
            kinds: connectors::ALL,
            http: http.clone(),
            vault: LinkVault::open(&place.keys(), &SystemRandom::new())?,
        },
    });
    let web = WebSettings {
        allowed_hosts: config.allowed_hosts.clone(),
        allowed_origins: config.allowed_origins.clone(),
        public_url: address::public(config)
            .or_else(|| reached.url.clone())
            .unwrap_or_else(|| "http://localhost".to_owned()),
        authorization_servers: config
            .identity
            .issuers
            .iter()
            .map(|issuer| issuer.issuer.clone())
            .collect(),
        open: reached.open,
        fairness: Fairness {
            connections_per_agent_max: config.limits.connections_per_agent_max,
            streams_per_agent_max: config.limits.streams_per_agent_max,
        },
    };
    let app = App::new(hub, Arc::new(hub::catalogue()), Arc::new(verifier), web);
    let host = config.host.enabled.then(|| {
        let door = Door::new(place.sockets()?.hub, &config.workspace);
        Host::new(place, door, Installed::new(config.host.clone()))
    });
    let host = host.transpose()?;
    Ok(Opened { app, url: reached.url, duties, host, place: place.clone(), _lock: lock })
}

/// Prepares encryption, if the configuration asks for it.
pub(crate) fn tls(place: &Place, config: &Config) -> Option<Tls> {
    let certificate = match config.tls.mode {
        TlsMode::Off => return None,
        TlsMode::Local => {
            let address = config.listen.rsplit_once(':').map_or("", |(host, _)| host);
            let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
            names.extend(config.allowed_hosts.iter().cloned());
            names.push(address.trim_matches(['[', ']']).to_owned());
            names.retain(|name| !name.is_empty() && name != "0.0.0.0" && name != "::");
            names.dedup();
            Certificate::Local { folder: place.tls_folder(), names }
        }
        TlsMode::Files => Certificate::Files {
            certificate: config.tls.certificate.clone(),
            key: config.tls.key.clone(),
        },
    };
    let client_ca = Some(&config.tls.client_ca).filter(|path| !path.as_os_str().is_empty());
    Some(Tls { certificate, client_ca: client_ca.cloned() })
}

impl Opened {
    /// Learns which tokens have been revoked.
    pub(crate) async fn load_revocations(&self) -> Result<()> {
        self.app.hub.load_revocations().await.context("cannot read which tokens were revoked")
    }

    /// Serves until a signal, a request to stop, a failed disk or, without a listener, a minute of
    /// nobody asking; then drains and closes. `true` when all went well.
    pub(crate) async fn serve(
        self,
        sockets: &Sockets,
        listening: Option<Listening>,
    ) -> Result<bool> {
        // Whoever finds the hub ready may ask it to stop at once.
        let asked = asked_to_stop();
        let stop = CancellationToken::new();
        let connected = Arc::new(AtomicUsize::new(0));
        let info = OwnerInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            url: self.url.clone(),
        };
        let owner = Owner { info, stop: CancellationToken::new() };
        let public = edge::public(&self.app);
        let private = edge::private(&self.app, owner.clone());
        let local = edge::local::serve(
            self.app.clone(),
            private,
            sockets,
            Arc::clone(&connected),
            stop.clone(),
        )?;
        let idle_ends = listening.is_none();
        let remote = async {
            if let Some(listening) = listening {
                listening.serve(public, stop.clone()).await;
            }
        };
        let hub = Arc::clone(&self.app.hub);
        let host_stop = CancellationToken::new();
        let host_ended = CancellationToken::new();
        let host = async {
            if let Some(host) = &self.host {
                Arc::clone(host).run(host_stop.clone()).await;
            }
            host_ended.cancel();
        };
        let ending = async {
            let clean = tokio::select! {
                () = asked => true,
                () = owner.stop.cancelled() => true,
                () = hub.store.wait_for_failure() => false,
                () = self.nobody_left(&connected), if idle_ends => true,
            };
            // The host speaks over the private socket: what it is doing is reported before that ends.
            host_stop.cancel();
            if clean {
                host_ended.cancelled().await;
            }
            hub.stopping.cancel();
            stop.cancel();
            clean
        };
        let ((), (), (), clean) = tokio::join!(local, remote, host, ending);
        self.close().await;
        Ok(clean)
    }

    /// Ends when nobody has been connected for a while, and nobody waits to be woken.
    async fn nobody_left(&self, connected: &AtomicUsize) {
        let mut quiet = Duration::ZERO;
        let step = Duration::from_secs(1);
        loop {
            while quiet < limits::OWNER_IDLE {
                tokio::time::sleep(step).await;
                let others = self.host.as_ref().map_or(0, |host| host.connections());
                let is_alone = connected.load(Ordering::SeqCst) <= others;
                quiet = if is_alone { quiet + step } else { Duration::ZERO };
            }
            let Some(host) = &self.host else { return };
            if !has_keepers(&self.place) && !host.is_needed().await {
                return;
            }
            quiet = Duration::ZERO;
        }
    }

    /// Ends duties and closes the store.
    pub(crate) async fn close(self) {
        self.app.hub.close(self.duties).await;
    }
}

/// Ends with SIGTERM or SIGINT. From this call on neither ends the process by itself.
pub(crate) fn asked_to_stop() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    async move {
        let (Ok(mut terminate), Ok(mut interrupt)) = signals else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Signal, getpid, kill_process};

    use super::asked_to_stop;

    #[tokio::test]
    async fn a_signal_that_comes_before_anybody_waits_for_it_is_kept() {
        let asked = asked_to_stop();
        kill_process(getpid(), Signal::TERM).unwrap();
        asked.await;
    }
}
