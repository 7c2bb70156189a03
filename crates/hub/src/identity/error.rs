//! Why an identity is refused, in sentences that say what to do and never hold a token or a claim.

use std::path::PathBuf;
use std::sync::Arc;

use connector_api::toolkit::HttpError;
use protocol::{ErrorCode, limits};

use super::jwks::JwksError;

/// Why there is no verified caller, no new token, or no way to make either.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// No token.
    #[error("send a token, as `Authorization: Bearer <token>`")]
    Missing,
    /// A token no issuer would make.
    #[error("the token is longer than {} bytes; ask for a new one", limits::TOKEN_BYTES_MAX)]
    TooLong,
    /// Neither a static token nor three canonical base64url segments.
    #[error("this is no token of this hub and no well-formed JWT; ask an operator for a new one")]
    Malformed,
    /// The header is not a JSON object of texts with unique keys.
    #[error("the token's header is malformed; ask its issuer for a new one")]
    HeaderMalformed,
    /// The header holds more than `alg`, `typ` and `kid`.
    #[error("the token's header may hold only alg, typ and kid; ask its issuer for a plain token")]
    HeaderNotAllowed,
    /// The algorithm is not the one pinned for the issuer.
    #[error("the token is not signed with the algorithm set for its issuer; ask for a new one")]
    AlgorithmNotAllowed,
    /// The token is of another type, such as an identity token.
    #[error("the token is of the wrong type; send an access token (at+jwt)")]
    TypeNotAllowed,
    /// The key id is missing or not in the allowed alphabet.
    #[error("the token's key id is missing or malformed; ask its issuer for a new one")]
    KeyIdMalformed,
    /// The key id is in no key set.
    #[error("the token was signed with a key that is not known or no longer valid; get a new one")]
    KeyUnknown,
    /// The key id is none of the hub's own.
    #[error(
        "this hub lacks the key that signed the token: get a new one here, or give all hubs on one \
         database the same keys/token-*.pk8"
    )]
    HubKeyUnknown,
    /// The signature does not fit.
    #[error("the token's signature does not fit; copy the whole token, or ask for a new one")]
    SignatureInvalid,
    /// The payload is not a JSON object with unique keys.
    #[error("the token's claims are malformed; ask its issuer for a new one")]
    ClaimsMalformed,
    /// A claim that the hub needs is not there.
    #[error("the token lacks the claim `{claim}`; ask its issuer to add it")]
    ClaimMissing {
        /// The claim's name.
        claim: String,
    },
    /// A claim is there, but not as it should be.
    #[error("the claim `{claim}` {problem}")]
    ClaimMalformed {
        /// The claim's name.
        claim: String,
        /// What would be right.
        problem: String,
    },
    /// The issuer is neither the hub nor trusted by it.
    #[error(
        "the token's issuer is not trusted here; name it under `issuers`, or use another token"
    )]
    IssuerUnknown,
    /// The token is meant for somebody else.
    #[error("the token is meant for another audience; ask for one whose `aud` is this hub")]
    AudienceMismatch,
    /// The token has ended.
    #[error("the token has expired; ask for a new one")]
    Expired,
    /// The token has not begun.
    #[error("the token is not valid yet; wait, or set the clocks of hub and issuer")]
    NotYetValid,
    /// The token comes from the future.
    #[error("the token says it was issued in the future; set the clocks of hub and issuer")]
    IssuedInFuture,
    /// Somebody took the token back.
    #[error("the token was revoked; ask an operator for a new one")]
    Revoked,
    /// The client certificate has names of several agents.
    #[error("the client certificate stands for several agents; use one that names a single agent")]
    CertificateAmbiguous,
    /// The client certificate has no name that the configuration knows.
    #[error(
        "the client certificate stands for nobody here; name it under \
         `identity.client_certificates`, or send a token"
    )]
    CertificateUnknown,
    /// Token and certificate are two different agents'.
    #[error(
        "the token and the client certificate are of different agents; send the token of the \
         certificate's agent, or none"
    )]
    CertificateDisagrees,
    /// The issuer's keys could not be fetched, so nothing of it can be checked.
    #[error("the keys of the token's issuer cannot be fetched now; try again in a minute")]
    IssuerKeysUnavailable(#[source] Arc<JwksError>),
    /// A local process asks for more than a local process gets.
    #[error("without a token the role may be only worker or observer; for others send a token")]
    LocalRoleNeedsToken,
    /// A local process calls itself something that is no name.
    #[error("the local {field} {problem}")]
    LocalNameMalformed {
        /// What is misnamed: agent, workspace or session.
        field: &'static str,
        /// What would be right.
        problem: String,
    },
    /// The life asked for is too short or too long.
    #[error(
        "a token lives 1 to {} seconds; ask for a life in between",
        limits::TOKEN_TTL_SECONDS_MAX
    )]
    LifeOutOfRange,
    /// A setting is wrong.
    #[error("the setting `{field}` {problem}")]
    Config {
        /// Where it stands.
        field: String,
        /// What would be right.
        problem: String,
    },
    /// The client that fetches key sets cannot be built.
    #[error("cannot prepare to fetch the keys of outside issuers")]
    Http(#[from] HttpError),
    /// Others could read the hub's keys.
    #[error(
        "{0} is open to others (mode {mode:o}); run `chmod {wanted:o} {0}`",
        path.display()
    )]
    KeysOpenToOthers {
        /// The folder or file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
        /// The mode it must have at most.
        wanted: u32,
    },
    /// A key file cannot be read or written.
    #[error("cannot use the key at {}; check the hub's rights to read and write", path.display())]
    KeyFile {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A key file holds something else.
    #[error(
        "{} is not the signing key its name says; restore it from a backup or remove it",
        path.display()
    )]
    KeyFileMalformed {
        /// The file.
        path: PathBuf,
    },
    /// The system gave no randomness.
    #[error("the system gave no random bytes for a new key; try again")]
    NoRandomness,
}

impl IdentityError {
    /// The public code: `UNAUTHORIZED` for everything that verifying a token can meet, unless nobody
    /// could say.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::LifeOutOfRange => ErrorCode::ValidationError,
            Self::IssuerKeysUnavailable(_) => ErrorCode::Unavailable,
            Self::Config { .. }
            | Self::Http(_)
            | Self::KeysOpenToOthers { .. }
            | Self::KeyFile { .. }
            | Self::KeyFileMalformed { .. }
            | Self::NoRandomness => ErrorCode::Internal,
            _ => ErrorCode::Unauthorized,
        }
    }

    pub(super) fn missing(claim: &str) -> Self {
        Self::ClaimMissing { claim: claim.to_owned() }
    }

    pub(super) fn malformed(claim: &str, problem: impl Into<String>) -> Self {
        Self::ClaimMalformed { claim: claim.to_owned(), problem: problem.into() }
    }

    pub(super) fn config(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Config { field: field.into(), problem: problem.into() }
    }
}
