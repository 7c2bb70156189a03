//! The database's URL. The client knows fewer ways to encrypt than people write; what it does not know
//! is taken out and read here.

use std::path::PathBuf;

use postgres::Config;
use postgres::config::Host;

use crate::error::{Result, StoreError};

/// How much of the way to the database is protected, in the words of libpq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SslMode {
    /// In the clear.
    Disable,
    /// Encrypted if the server can.
    Prefer,
    /// Encrypted, whoever the server is.
    Require,
    /// Encrypted, to a server with a certificate by a trusted authority.
    VerifyCa,
    /// Encrypted, to a server with such a certificate for the name that was asked for.
    VerifyFull,
}

const SSL_MODES: [(&str, SslMode); 5] = [
    ("disable", SslMode::Disable),
    ("prefer", SslMode::Prefer),
    ("require", SslMode::Require),
    ("verify-ca", SslMode::VerifyCa),
    ("verify-full", SslMode::VerifyFull),
];

/// Which authorities are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Roots {
    /// Those the machine trusts.
    System,
    /// Those in a PEM file.
    File(PathBuf),
}

/// What a URL says.
#[derive(Debug)]
pub(super) struct DatabaseUrl {
    pub(super) config: Config,
    pub(super) ssl_mode: SslMode,
    pub(super) roots: Option<Roots>,
}

impl DatabaseUrl {
    /// Reads a URL such as `postgres://user@host/database?sslmode=verify-full`. No error repeats a part
    /// of it that could be a password.
    pub(super) fn parse(url: &str) -> Result<Self> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(bad("it does not begin with postgres://"));
        }
        // A question mark before the first @ belongs to a password.
        let host_at = url.find('@').map_or(0, |at| at + 1);
        let (mut ssl_mode, mut roots) = (None, None);
        let mut rest = url.to_owned();
        if let Some((before, query)) = url.get(host_at..).and_then(|rest| rest.split_once('?')) {
            let mut kept = Vec::new();
            for option in query.split('&').filter(|option| !option.is_empty()) {
                match option.split_once('=') {
                    Some(("sslmode", mode)) => ssl_mode = Some(parse_mode(mode)?),
                    Some(("sslrootcert", "system")) => roots = Some(Roots::System),
                    Some(("sslrootcert", file)) => {
                        roots = Some(Roots::File(PathBuf::from(decode(file)?)));
                    }
                    _ => kept.push(option),
                }
            }
            let start = url.get(..host_at).unwrap_or_default();
            rest = format!("{start}{before}?{}", kept.join("&"));
        }
        let config = rest.parse::<Config>().map_err(|error| bad(&explain(&error)))?;
        let ssl_mode = effective(ssl_mode, roots.as_ref(), &config);
        if ssl_mode == SslMode::VerifyCa && roots.is_none() {
            return Err(bad("sslmode=verify-ca needs sslrootcert=FILE, the authority it trusts"));
        }
        Ok(Self { config, ssl_mode, roots })
    }
}

/// What is meant by what was written: beyond this machine nothing is sent in the clear unless the URL says
/// so, and as with libpq an authority's file is not named in vain.
fn effective(written: Option<SslMode>, roots: Option<&Roots>, config: &Config) -> SslMode {
    if config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)))
        && config.get_hostaddrs().is_empty()
    {
        return SslMode::Disable;
    }
    let mode = match written {
        None if is_local(config) && roots.is_none() => SslMode::Disable,
        None => SslMode::Require,
        Some(SslMode::Prefer) if !is_local(config) => SslMode::Require,
        Some(mode) => mode,
    };
    match (mode, roots) {
        (SslMode::Require, Some(_)) => SslMode::VerifyCa,
        _ => mode,
    }
}

/// Whether no part of the way leaves this machine, by name and by address.
fn is_local(config: &Config) -> bool {
    let is_local_host = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost"
                || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
    };
    config.get_hosts().iter().all(is_local_host)
        && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
}

fn parse_mode(text: &str) -> Result<SslMode> {
    let found = SSL_MODES.iter().find(|(name, _)| *name == text);
    found
        .map(|(_, mode)| *mode)
        .ok_or_else(|| bad("sslmode must be disable, prefer, require, verify-ca or verify-full"))
}

/// Undoes `%20` and the like.
fn decode(text: &str) -> Result<String> {
    let broken = || bad("sslrootcert is not readable");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next(), rest.next()].map(|b| b.map(char::from));
            let [Some(high), Some(low)] = digits.map(|c| c.and_then(|c| c.to_digit(16))) else {
                return Err(broken());
            };
            bytes.push(u8::try_from(high * 16 + low).map_err(|_| broken())?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).map_err(|_| broken())
}

/// The client's own words, unless they repeat what may be a piece of a password.
fn explain(error: &postgres::Error) -> String {
    match std::error::Error::source(error).map(ToString::to_string) {
        Some(reason) if reason.starts_with("invalid value for option") => reason,
        _ => {
            "one of its options is malformed or not known; signs such as @, / and ? in a password \
              are written %40, %2F and %3F"
                .to_owned()
        }
    }
}

fn bad(reason: &str) -> StoreError {
    StoreError::BadUrl(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> SslMode {
        DatabaseUrl::parse(url).unwrap().ssl_mode
    }

    #[test]
    fn beyond_this_machine_only_disable_means_in_the_clear() {
        for local in ["localhost", "127.0.0.1", "[::1]"] {
            assert_eq!(mode(&format!("postgres://u@{local}/d")), SslMode::Disable, "{local}");
            let prefer = format!("postgres://u@{local}/d?sslmode=prefer");
            assert_eq!(mode(&prefer), SslMode::Prefer, "{local}");
        }
        for remote in ["db.example.org", "10.0.0.1", "db.example.org,localhost"] {
            assert_eq!(mode(&format!("postgres://u@{remote}/d")), SslMode::Require, "{remote}");
            let prefer = format!("postgres://u@{remote}/d?sslmode=prefer");
            assert_eq!(mode(&prefer), SslMode::Require, "{remote}");
            let disable = format!("postgres://u@{remote}/d?sslmode=disable");
            assert_eq!(mode(&disable), SslMode::Disable, "{remote}");
        }
        assert_eq!(mode("postgres://u@localhost/d?hostaddr=10.0.0.1"), SslMode::Require);
        assert_eq!(mode("postgres://u@/d?host=/run/pg&sslmode=verify-full"), SslMode::Disable);
    }

    #[test]
    fn a_named_authority_is_asked() {
        let url = "postgres://u@db/d?sslrootcert=/a%20b.pem&connect_timeout=3";
        let parsed = DatabaseUrl::parse(url).unwrap();
        assert_eq!(parsed.ssl_mode, SslMode::VerifyCa);
        assert_eq!(parsed.roots, Some(Roots::File("/a b.pem".into())));
        assert!(parsed.config.get_connect_timeout().is_some());
        assert_eq!(mode("postgres://u@db/d?sslmode=verify-full"), SslMode::VerifyFull);
    }

    #[test]
    fn a_bad_url_is_explained_without_its_password() {
        for (url, word) in [
            ("host=db user=u", "postgres://"),
            ("postgres://u:s3cret@db/d?sslmode=on", "verify-full"),
            ("postgres://u:s3cret@db/d?sslmode=verify-ca", "sslrootcert"),
            ("postgres://u:s3cret@db/d?sslrootcert=%zz", "sslrootcert"),
            ("postgres://u:s3cret@db:nonsense/d", "port"),
            ("postgres://u:a@b/c?s3cret=1", "%40"),
            ("postgres://u:a@b/c?s3cret@db/d", "%40"),
        ] {
            let error = DatabaseUrl::parse(url).unwrap_err().to_string();
            assert!(error.contains(word) && !error.contains("s3cret"), "{url}: {error}");
        }
    }
}
