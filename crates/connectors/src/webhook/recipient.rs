//! The key of a receiver: a public JSON Web Key on P-256 or X25519.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use connector_api::{ConnectorError, Result};
use ring::agreement;
use serde_json::{Value, json};

use crate::foreign::Foreign as _;

/// Whose eyes a body is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recipient {
    pub(super) curve: Curve,
    /// The public key, as it is agreed with.
    pub(super) public: Vec<u8>,
    /// What the receiver calls the key.
    pub(super) key_id: Option<String>,
}

/// On which curve a key lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    P256,
    X25519,
}

/// Bytes of a coordinate, on both curves.
const COORDINATE_BYTES: usize = 32;
/// What stands before the two coordinates of a point that is not compressed.
const UNCOMPRESSED: u8 = 4;

impl Recipient {
    /// Reads a JSON Web Key. A private one is refused: it has no business here.
    pub(super) fn read(text: &str) -> Result<Self> {
        let key: Value = serde_json::from_str(text).map_err(|_| wrong())?;
        if key.get("d").is_some() {
            return Err(ConnectorError::Setting {
                field: "encrypt_to".to_owned(),
                reason: "is a private key; give the receiver's public one, without d".to_owned(),
            });
        }
        let (curve, public) = match (key.text("kty"), key.text("crv")) {
            (Some("EC"), Some("P-256")) => {
                let mut point = vec![UNCOMPRESSED];
                point.extend(coordinate(&key, "x")?);
                point.extend(coordinate(&key, "y")?);
                (Curve::P256, point)
            }
            (Some("OKP"), Some("X25519")) => (Curve::X25519, coordinate(&key, "x")?),
            _ => return Err(wrong()),
        };
        Ok(Self { curve, public, key_id: key.text("kid").map(str::to_owned) })
    }
}

impl Curve {
    pub(super) fn algorithm(self) -> &'static agreement::Algorithm {
        match self {
            Self::P256 => &agreement::ECDH_P256,
            Self::X25519 => &agreement::X25519,
        }
    }

    /// A public key on it as a JSON Web Key.
    pub(super) fn spelled(self, public: &[u8]) -> Value {
        match self {
            Self::P256 => {
                let point = public.get(1..).unwrap_or_default();
                let (x, y) = point.split_at_checked(COORDINATE_BYTES).unwrap_or_default();
                let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
                json!({"kty": "EC", "crv": "P-256", "x": x, "y": y})
            }
            Self::X25519 => {
                json!({"kty": "OKP", "crv": "X25519", "x": URL_SAFE_NO_PAD.encode(public)})
            }
        }
    }
}

fn coordinate(key: &Value, name: &str) -> Result<Vec<u8>> {
    let bytes = key.text(name).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    bytes.filter(|bytes| bytes.len() == COORDINATE_BYTES).ok_or_else(wrong)
}

fn wrong() -> ConnectorError {
    ConnectorError::Setting {
        field: "encrypt_to".to_owned(),
        reason: "is a public JSON Web Key: {\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":…,\"y\":…} or \
                 {\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":…}"
            .to_owned(),
    }
}
