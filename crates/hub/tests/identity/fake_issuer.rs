//! An outside issuer on this machine: its keys, and a server that publishes them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use protocol::Role;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    RsaPublicKeyComponents,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use waystation_hub::identity::{ClaimMap, ClaimSource, IssuerConfig, ScopeList, SigningAlgorithm};

use crate::world::{AUDIENCE, NOW_SECONDS, World, config, encode};

pub(crate) const OUTSIDE: &str = "https://tenant.auth0.example/";

const RSA_KEY: &[u8] = include_bytes!("rsa_test_key.pk8");

/// What the server says to the next request.
#[derive(Clone)]
pub(crate) enum Answer {
    Document(String),
    Status(u16),
    Down,
    Never,
    /// The document, but only when told to.
    Held(String, Arc<Notify>),
}

pub(crate) struct FakeIssuer {
    pub(crate) at: SocketAddr,
    pub(crate) arrived: Arc<Notify>,
    requests: Arc<AtomicUsize>,
    answer: Arc<Mutex<Answer>>,
    _tasks: JoinSet<()>,
}

impl FakeIssuer {
    pub(crate) async fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let answer = Arc::new(Mutex::new(answer));
        let arrived = Arc::new(Notify::new());
        let mut tasks = JoinSet::new();
        let (count, current, arrival) =
            (Arc::clone(&requests), Arc::clone(&answer), Arc::clone(&arrived));
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let answer = current.lock().clone();
                connections.spawn(respond(stream, answer, Arc::clone(&arrival)));
            }
        });
        Self { at, arrived, requests, answer, _tasks: tasks }
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn set(&self, answer: Answer) {
        *self.answer.lock() = answer;
    }

    /// A hub that trusts this issuer.
    pub(crate) fn world(&self, algorithm: SigningAlgorithm) -> World {
        let mut config = config();
        config.issuers.push(self.config(algorithm));
        World::with(&config)
    }

    pub(crate) fn config(&self, algorithm: SigningAlgorithm) -> IssuerConfig {
        IssuerConfig {
            issuer: OUTSIDE.to_owned(),
            jwks_url: format!("http://{}/.well-known/jwks.json", self.at),
            algorithm,
            audience: Vec::new(),
            claims: ClaimMap {
                chats: None,
                agent_id: "sub".to_owned(),
                workspace_id: ClaimSource::Value("acme".to_owned()),
                role: ClaimSource::Value(Role::Worker),
                session_id: None,
                scope: "scope".to_owned(),
            },
            scope_map: [("invoice.write".to_owned(), scopes("threads:write"))].into(),
            base_scopes: ScopeList::default(),
            allow_private_address: false,
        }
    }
}

pub(crate) fn scopes(names: &str) -> ScopeList {
    serde_json::from_value(json!(names)).unwrap()
}

async fn respond(mut stream: TcpStream, answer: Answer, arrived: Arc<Notify>) {
    let mut request = [0; 4096];
    if stream.read(&mut request).await.is_err() {
        return;
    }
    arrived.notify_one();
    let (status, body) = match answer {
        Answer::Document(body) => (200, body),
        Answer::Status(status) => (status, String::new()),
        Answer::Down => return,
        Answer::Never => std::future::pending().await,
        Answer::Held(body, told) => {
            told.notified().await;
            (200, body)
        }
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.ok();
    stream.write_all(body.as_bytes()).await.ok();
    stream.shutdown().await.ok();
}

/// A key of the issuer.
pub(crate) enum Key {
    Es256(EcdsaKeyPair),
    Rs256(RsaKeyPair),
}

impl Key {
    pub(crate) fn es256() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self::Es256(EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap())
    }

    pub(crate) fn rs256() -> Self {
        Self::Rs256(RsaKeyPair::from_pkcs8(RSA_KEY).unwrap())
    }

    pub(crate) fn jwk(&self, kid: &str) -> Value {
        match self {
            Self::Es256(pair) => {
                let point = pair.public_key().as_ref();
                let (x, y) = point[1..].split_at(32);
                json!({"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": kid,
                    "x": encode(x), "y": encode(y)})
            }
            Self::Rs256(pair) => {
                let public = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public_key());
                json!({"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "x5t": "abc",
                    "x5c": ["MIIC"], "n": encode(public.n), "e": encode(public.e)})
            }
        }
    }

    pub(crate) fn sign(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let random = SystemRandom::new();
        let signature = match self {
            Self::Es256(pair) => pair.sign(&random, message.as_bytes()).unwrap().as_ref().to_vec(),
            Self::Rs256(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message.as_bytes(), &mut signature).unwrap();
                signature
            }
        };
        format!("{message}.{}", encode(signature))
    }

    /// A good token; `number` makes it differ from others.
    pub(crate) fn token(&self, kid: &str, number: usize) -> String {
        let mut claims = claims();
        claims["number"] = json!(number);
        self.sign(&self.header(kid), &claims)
    }

    pub(crate) fn header(&self, kid: &str) -> Value {
        let alg = match self {
            Self::Es256(_) => "ES256",
            Self::Rs256(_) => "RS256",
        };
        json!({"alg": alg, "typ": "JWT", "kid": kid})
    }
}

/// The claims of a token that Auth0 gives to a machine.
pub(crate) fn claims() -> Value {
    json!({
        "iss": OUTSIDE,
        "sub": "Zx81abc@clients",
        "aud": AUDIENCE,
        "iat": NOW_SECONDS,
        "exp": NOW_SECONDS + 86_400,
        "scope": "threads:read invoice.write invoice.void admin",
        "gty": "client-credentials",
        "azp": "Zx81abc",
    })
}

pub(crate) fn document(keys: &[Value]) -> Answer {
    Answer::Document(json!({ "keys": keys }).to_string())
}
