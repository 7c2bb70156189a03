//! TLS to the database by rustls: whom it trusts, and what it says of a server it does not trust.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::{TlsConnector, client};

use super::url::{Roots, SslMode};
use crate::error::{Result, StoreError};

/// Makes connections private.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// What a mode asks for; `None` for the one in the clear.
    pub(super) fn of(mode: SslMode, roots: Option<&Roots>) -> Result<Option<Self>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let trusted = |provider: &Arc<CryptoProvider>| {
            let roots = Arc::new(load(roots.unwrap_or(&Roots::System))?);
            WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider))
                .build()
                .map_err(|error| StoreError::BadUrl(format!("sslrootcert: {error}")))
        };
        let check = match mode {
            SslMode::Disable => return Ok(None),
            SslMode::Prefer | SslMode::Require => Check::Nothing,
            SslMode::VerifyCa => Check::Authority(trusted(&provider)?),
            SslMode::VerifyFull => Check::Name(trusted(&provider)?),
        };
        let verifier = Arc::new(Verifier { check, provider: Arc::clone(&provider) });
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring speaks every version of TLS that rustls does")
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Some(Self(Arc::new(config))))
    }
}

fn load(roots: &Roots) -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    match roots {
        Roots::System => {
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if store.is_empty() {
                let reason = "this machine trusts no authority; name one with sslrootcert=FILE";
                return Err(StoreError::BadUrl(reason.to_owned()));
            }
        }
        Roots::File(path) => {
            let unusable = |reason: &dyn std::fmt::Display| {
                let path = path.display();
                StoreError::BadUrl(format!("sslrootcert={path} cannot be used: {reason}"))
            };
            let found = CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))?;
            for certificate in found {
                let certificate = certificate.map_err(|error| unusable(&error))?;
                store.add(certificate).map_err(|error| unusable(&error))?;
            }
            if store.is_empty() {
                return Err(unusable(&"it holds no certificate"));
            }
        }
    }
    Ok(store)
}

/// What a server has to show.
#[derive(Debug)]
enum Check {
    Nothing,
    Authority(Arc<WebPkiServerVerifier>),
    Name(Arc<WebPkiServerVerifier>),
}

#[derive(Debug)]
struct Verifier {
    check: Check,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let verify = |verifier: &WebPkiServerVerifier| {
            verifier.verify_server_cert(certificate, intermediates, name, ocsp, now)
        };
        match &self.check {
            Check::Nothing => Ok(ServerCertVerified::assertion()),
            Check::Name(verifier) => verify(verifier),
            Check::Authority(verifier) => match verify(verifier) {
                // The name is looked at last: everything else was good.
                Err(rustls::Error::InvalidCertificate(error)) if is_about_name(&error) => {
                    Ok(ServerCertVerified::assertion())
                }
                result => result,
            },
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn is_about_name(error: &CertificateError) -> bool {
    use CertificateError::{NotValidForName, NotValidForNameContext};
    matches!(error, NotValidForName | NotValidForNameContext { .. })
}

/// Why a server is not spoken to, in words its operator can act on.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(
        "it does not offer TLS, and what is sent could be read on the way; set ssl = on in its \
         postgresql.conf, or write sslmode=disable in the URL if nobody else can listen"
    )]
    NotOffered,
    #[error("its certificate is by none of the authorities that sslrootcert names")]
    OtherAuthority,
    #[error(
        "its certificate is for another name than the URL's; use a name that stands in the \
         certificate, or sslmode=verify-ca to take any"
    )]
    OtherName,
    #[error("its certificate is not good")]
    Bad(#[source] rustls::Error),
}

/// Puts the client's words on TLS into ours.
pub(super) fn explain(error: postgres::Error) -> Box<dyn Error + Send + Sync> {
    let Some(source) = error.source() else { return Box::new(error) };
    if source.to_string() == "server does not support TLS" {
        return Box::new(Refusal::NotOffered);
    }
    let inner = source.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    match inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            Box::new(Refusal::OtherAuthority)
        }
        Some(rustls::Error::InvalidCertificate(problem)) if is_about_name(problem) => {
            Box::new(Refusal::OtherName)
        }
        Some(problem @ rustls::Error::InvalidCertificate(_)) => {
            Box::new(Refusal::Bad(problem.clone()))
        }
        _ => Box::new(error),
    }
}

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type TlsConnect = Connect;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> std::result::Result<Connect, Self::Error> {
        let name = ServerName::try_from(host)?.to_owned();
        Ok(Connect { connector: TlsConnector::from(Arc::clone(&self.0)), name })
    }
}

/// One handshake to come.
pub(super) struct Connect {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S> TlsConnect<S> for Connect
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { Ok(Stream(self.connector.connect(self.name, stream).await?)) })
    }
}

/// A private connection.
pub(super) struct Stream<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> postgres::tls::TlsStream for Stream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
