//! TLS by rustls: the operator's own files, or a local authority made on the first start.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::error::EdgeError;

/// Where a certificate comes from.
#[derive(Clone, Debug)]
pub enum Certificate {
    /// The operator's own PEM files.
    Files {
        /// The certificate and its chain.
        certificate: PathBuf,
        /// Its private key.
        key: PathBuf,
    },
    /// A certificate by the hub's local authority, which lives in this folder.
    Local {
        /// The folder of the authority.
        folder: PathBuf,
        /// The names and addresses the certificate is for.
        names: Vec<String>,
    },
}

/// How a listener is encrypted.
#[derive(Clone, Debug)]
pub struct Tls {
    /// What it shows to clients.
    pub certificate: Certificate,
    /// A PEM file of the authorities whose client certificates count; clients need none.
    pub client_ca: Option<PathBuf>,
}

/// The file clients must trust to reach a hub with a local certificate.
pub const LOCAL_AUTHORITY_FILE: &str = "ca.pem";

/// Prepares TLS for a listener.
pub fn acceptor(tls: &Tls) -> Result<TlsAcceptor, EdgeError> {
    let (chain, key) = match &tls.certificate {
        Certificate::Files { certificate, key } => (read_chain(certificate)?, read_key(key)?),
        Certificate::Local { folder, names } => local(folder, names)?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients = match &tls.client_ca {
        Some(path) => client_verifier(path, &provider)?,
        None => WebPkiClientVerifier::no_client_auth(),
    };
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_client_cert_verifier(clients).with_single_cert(chain, key))
        .map_err(|error| EdgeError::Tls {
            path: "the certificate".to_owned(),
            reason: error.to_string(),
        })?;
    if tls.client_ca.is_some() {
        // A session that is taken up again would not ask whether its certificate has ended.
        config.session_storage = Arc::new(NoServerSessionStorage {});
    }
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Lets clients in with a certificate by one of these authorities, or with none.
fn client_verifier(
    path: &Path,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, EdgeError> {
    let mut roots = RootCertStore::empty();
    for authority in read_chain(path)? {
        roots.add(authority).map_err(|error| bad_file(path, &error))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .allow_unauthenticated()
        .build()
        .map_err(|error| bad_file(path, &error))
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, EdgeError> {
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).map_err(|error| bad_file(path, &error))?.collect();
    match chain {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        Ok(_) => Err(bad_file(path, &"it holds no certificate")),
        Err(error) => Err(bad_file(path, &error)),
    }
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, EdgeError> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| bad_file(path, &error))
}

/// A certificate for these names by the authority of the folder, which is made if it is not there.
fn local(folder: &Path, names: &[String]) -> Result<Identity, EdgeError> {
    let failed = |error: rcgen::Error| bad_file(folder, &error);
    let (authority_key, authority_pem) = authority(folder)?;
    let authority_params = authority_params().map_err(failed)?;
    let issuer = Issuer::from_params(&authority_params, authority_key);
    let key = KeyPair::generate().map_err(failed)?;
    let mut params = CertificateParams::new(Vec::new()).map_err(failed)?;
    params.distinguished_name.push(DnType::CommonName, "Waystation");
    for name in names {
        let san = match name.parse() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName(name.as_str().try_into().map_err(failed)?),
        };
        params.subject_alt_names.push(san);
    }
    let leaf = params.signed_by(&key, &issuer).map_err(failed)?;
    let authority_der = CertificateDer::from_pem_slice(authority_pem.as_bytes())
        .map_err(|error| bad_file(folder, &error))?;
    let key =
        PrivateKeyDer::try_from(key.serialize_der()).map_err(|error| bad_file(folder, &error))?;
    Ok((vec![leaf.der().clone(), authority_der], key))
}

fn authority(folder: &Path) -> Result<(KeyPair, String), EdgeError> {
    let failed = |error: rcgen::Error| bad_file(folder, &error);
    let (key_path, certificate_path) = (folder.join("ca.key"), folder.join(LOCAL_AUTHORITY_FILE));
    if key_path.exists() {
        let read =
            |path: &Path| std::fs::read_to_string(path).map_err(|error| bad_file(path, &error));
        let key = KeyPair::from_pem(&read(&key_path)?).map_err(failed)?;
        return Ok((key, read(&certificate_path)?));
    }
    let key = KeyPair::generate().map_err(failed)?;
    let params = authority_params().map_err(failed)?;
    let certificate = params.self_signed(&key).map_err(failed)?.pem();
    write_private(&certificate_path, &certificate)?;
    write_private(&key_path, &key.serialize_pem())?;
    Ok((key, certificate))
}

/// What the authority is called and may do; the same every time, so that its signatures fit.
fn authority_params() -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, "Waystation local authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn write_private(path: &Path, text: &str) -> Result<(), EdgeError> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| bad_file(folder, &error))?;
    }
    std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .map_err(|error| bad_file(path, &error))
}

fn bad_file(path: &Path, reason: &dyn std::fmt::Display) -> EdgeError {
    EdgeError::Tls { path: path.display().to_string(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_authority_is_made_once_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let certificate = Certificate::Local {
            folder: folder.path().join("tls"),
            names: vec!["localhost".to_owned(), "127.0.0.1".to_owned()],
        };
        let local = Tls { certificate, client_ca: None };
        acceptor(&local).unwrap();
        let first = std::fs::read(folder.path().join("tls/ca.pem")).unwrap();
        acceptor(&local).unwrap();
        assert_eq!(std::fs::read(folder.path().join("tls/ca.pem")).unwrap(), first);
    }

    #[test]
    fn a_missing_file_is_named() {
        let certificate =
            Certificate::Files { certificate: "/no/such.pem".into(), key: "/no/such.key".into() };
        let files = Tls { certificate, client_ca: None };
        let Err(error) = acceptor(&files) else { panic!("there is no such file") };
        assert!(error.to_string().contains("/no/such.pem"), "{error}");
    }
}
