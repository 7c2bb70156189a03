//! Turning a bearer token, or the environment of a parent process, into a verified `Caller`.
//!
//! Signatures are checked with `ring` itself, in `jws` and `public_key`. The usual JWT crate reads
//! the system's clock and takes its cryptography from a process-wide slot that panics when empty,
//! and it would still have left the rules for headers, repeated keys and claims to us.

mod algorithm;
mod cache;
mod certificates;
mod claims;
mod config;
mod error;
mod follower;
mod hub_token;
mod issue;
mod json;
mod jwk;
mod jwks;
mod jws;
mod key_files;
mod key_ring;
mod local;
mod outside_issuer;
mod public_key;
mod revocations;

mod static_tokens;
mod verifier;

pub use algorithm::SigningAlgorithm;
pub use certificates::CertificateNames;
pub use config::{
    ClaimMap, ClaimSource, ClientCertificate, IdentityConfig, IssuerConfig, ScopeList, StaticToken,
};
pub use error::IdentityError;
pub use follower::Follower;
pub use issue::{IssuedToken, NewToken};
pub use jwks::JwksError;
pub use key_ring::{Authority, KeyRing};
pub use local::{LocalEnv, local_caller};
pub use protocol::Secret;
pub use revocations::Revocations;
pub use verifier::Verifier;
