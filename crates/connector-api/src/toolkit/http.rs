//! The one outgoing HTTP client: ring under rustls, no redirects, no proxies, a cap on everything.
//!
//! Names are resolved here, every address is judged, and the connection goes to an address that
//! passed. So a name that answers differently the second time gains nothing. A WebSocket goes out
//! by the same rules.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::limits;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Certificate, redirect};

use super::destination::Destination;
use super::websocket::Ground;
use super::{address, api};

/// How the client is built.
#[derive(Clone, Debug, Default)]
pub struct HttpSettings {
    /// Certificates of authorities to trust beside the system's, as PEM.
    pub ca_file: Option<PathBuf>,
    /// Names that may resolve to private addresses.
    pub private_hosts: BTreeSet<String>,
}

/// Why an outgoing request failed.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The address is not one the hub sends to.
    #[error("this address is not allowed: {0}")]
    AddressRefused(&'static str),
    /// The file of certificates cannot be used.
    #[error("cannot read certificates from {}; give a readable PEM file", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The client cannot be built.
    #[error("cannot set up TLS; install the system's CA certificates or name a CA file")]
    Setup(#[source] reqwest::Error),
    /// No answer, or half of one.
    #[error("the request got no whole answer; check that the address can be reached from the hub")]
    NoAnswer(#[source] reqwest::Error),
    /// A stream that said nothing for too long.
    #[error("the answer broke off: nothing came for too long")]
    Silent,
    /// An answer other than success. Redirects count, because the client follows none.
    #[error("the answer had status {0}; check the address")]
    Status(u16),
    /// A WebSocket that did not come about, or broke.
    #[error("the connection broke: {0}")]
    Broken(&'static str),
    /// An answer larger than the caller takes.
    #[error("the answer is larger than {bytes_max} bytes")]
    TooLarge {
        /// The maximum.
        bytes_max: usize,
    },
}

/// The client. Clones share their connections.
#[derive(Clone, Debug)]
pub struct HttpClient {
    client: reqwest::Client,
    ground: Arc<Ground>,
}

impl HttpError {
    /// Whether the other side cannot have seen anything of the request.
    pub fn is_unsent(&self) -> bool {
        matches!(self, Self::NoAnswer(error) if error.is_connect())
    }
}

impl HttpClient {
    /// Builds the client; the only blocking work is reading certificates.
    pub fn new(settings: &HttpSettings) -> Result<Self, HttpError> {
        // The first caller in the process wins; a provider that is there already is ours too.
        rustls::crypto::ring::default_provider().install_default().ok();
        let private_hosts = Arc::new(settings.private_hosts.clone());
        let resolver = PublicResolver { private_hosts: Arc::clone(&private_hosts) };
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("waystation/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .timeout(limits::EGRESS_TIMEOUT)
            .connect_timeout(limits::EGRESS_TIMEOUT)
            .dns_resolver(resolver);
        if let Some(path) = &settings.ca_file {
            builder = builder.tls_certs_merge(certificates(path)?);
        }
        let client = builder.build().map_err(HttpError::Setup)?;
        let ground = Ground::new(private_hosts, settings.ca_file.clone());
        Ok(Self { client, ground: Arc::new(ground) })
    }

    /// Fetches a document of at most `bytes_max` bytes.
    pub async fn get(&self, from: &Destination, bytes_max: usize) -> Result<Vec<u8>, HttpError> {
        let answer = self.client.get(from.url().clone()).send().await.map_err(api::no_answer)?;
        if !answer.status().is_success() {
            return Err(HttpError::Status(answer.status().as_u16()));
        }
        api::read(answer, bytes_max).await
    }

    pub(super) fn client(&self) -> &reqwest::Client {
        &self.client
    }

    pub(super) fn ground(&self) -> &Arc<Ground> {
        &self.ground
    }
}

fn certificates(path: &Path) -> Result<Vec<Certificate>, HttpError> {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| HttpError::CaFile {
        path: path.to_owned(),
        source,
    };
    let pem = std::fs::read(path).map_err(|error| failed(error.into()))?;
    let found = Certificate::from_pem_bundle(&pem).map_err(|error| failed(error.into()))?;
    if found.is_empty() {
        return Err(failed("no certificate in it".into()));
    }
    Ok(found)
}

/// The name resolves only to addresses inside.
#[derive(Debug, thiserror::Error)]
#[error("the name resolves to no public address; list it as a private host if it should")]
struct NoPublicAddress;

/// The system's resolver, minus addresses that are not public.
struct PublicResolver {
    private_hosts: Arc<BTreeSet<String>>,
}

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let private_hosts = Arc::clone(&self.private_hosts);
        Box::pin(async move {
            // The client puts the port of the URL in place of this one.
            let allowed = allowed_addresses(name.as_str(), 0, &private_hosts).await?;
            if allowed.is_empty() {
                return Err(NoPublicAddress.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// The addresses of a name that the hub may connect to.
pub(super) async fn allowed_addresses(
    name: &str,
    port: u16,
    private_hosts: &BTreeSet<String>,
) -> std::io::Result<Vec<SocketAddr>> {
    let may_be_private = private_hosts.contains(name);
    let found = tokio::net::lookup_host((name, port)).await?;
    Ok(found.filter(|to| may_be_private || address::is_public(to.ip())).collect())
}
