//! What an operation is: a request struct that documents, describes and runs itself.

use std::future::Future;
use std::sync::OnceLock;

use bytes::Bytes;
use protocol::Scope;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::audit::Object;
use crate::call::Call;
use crate::error::Result;

/// One thing a caller can ask. The doc comment of the implementing struct is its documentation.
pub trait Operation: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its name, the same on every edge.
    const NAME: &'static str;
    /// Where it stands in REST.
    const ROUTE: Route;
    /// The coarse gate; finer rules are in `run`.
    const SCOPE: Scope;
    /// Another gate that lets a caller in as well; `run` then sees to what each of them opens.
    const OTHER_SCOPE: Option<Scope> = None;
    /// Whether it changes anything.
    const EFFECT: Effect;
    /// Which quota it uses.
    const QUOTA: Quota = Quota::Calls;
    /// Whether it asks nobody but the store: it is over before anyone could hear of its progress or
    /// take it back.
    const IS_BRIEF: bool = false;
    /// Whether it goes on to its end when its caller hangs up, once it has begun: what it changes is of no
    /// use, or does harm, before it is told of.
    const GOES_ON: bool = Self::IS_BRIEF;
    /// The set of MCP tools it belongs to.
    const TOOLSET: &'static str = "threads";
    /// What it answers.
    type Output: Serialize + JsonSchema + Send + Sync + 'static;

    /// What it is about, for the audit trail. It is asked once the input has been read, and entered
    /// where something is read, refused, or was done before; a change says itself what it touched.
    fn object(&self) -> Object<'_> {
        Object::None
    }

    /// What it does.
    fn run(self, call: &Call) -> impl Future<Output = Result<Self::Output>> + Send;

    /// The answer in a few words, for models and people.
    fn brief(output: &Self::Output) -> String;
}

/// Where an operation stands in REST. `{name}` in the path fills the field of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The HTTP method.
    pub method: Method,
    /// The path, beginning with `/v1/`.
    pub path: &'static str,
}

impl Route {
    /// Read.
    pub const fn get(path: &'static str) -> Self {
        Self { method: Method::Get, path }
    }

    /// Create or do.
    pub const fn post(path: &'static str) -> Self {
        Self { method: Method::Post, path }
    }

    /// Set.
    pub const fn put(path: &'static str) -> Self {
        Self { method: Method::Put, path }
    }

    /// Remove.
    pub const fn delete(path: &'static str) -> Self {
        Self { method: Method::Delete, path }
    }

    /// The names between braces in the path.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

/// An HTTP method, without HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// POST
    Post,
    /// PUT
    Put,
    /// DELETE
    Delete,
}

/// Whether an operation changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing changes.
    Read,
    /// Something is added; asking twice may add it twice.
    Write,
    /// Something is set; asking twice sets it to the same.
    Set,
    /// Something is taken away; what is gone is not taken twice.
    Destroy,
}

impl Effect {
    /// Whether asking twice does no more than asking once.
    pub const fn is_idempotent(self) -> bool {
        !matches!(self, Self::Write)
    }
}

/// Which quota an operation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    /// Posts.
    Posts,
    /// Calls that wait for others; they hold no place among the requests in flight.
    Waits,
    /// Everything else.
    Calls,
}

/// What an operation answered, in whatever form an edge needs.
pub trait Answer: Send + Sync {
    /// As JSON text, made once.
    fn json(&self) -> Bytes;
    /// As a JSON value.
    fn value(&self) -> Value;
    /// In a few words.
    fn brief(&self) -> String;
}

/// The typed answer behind [`Answer`].
pub(crate) struct Answered<O: Operation> {
    output: O::Output,
    json: OnceLock<Bytes>,
}

impl<O: Operation> Answered<O> {
    pub(crate) fn new(output: O::Output) -> Self {
        Self { output, json: OnceLock::new() }
    }
}

impl<O: Operation> Answer for Answered<O> {
    fn json(&self) -> Bytes {
        let make = || serde_json::to_vec(&self.output).expect("outputs are structs with text keys");
        self.json.get_or_init(|| make().into()).clone()
    }

    fn value(&self) -> Value {
        serde_json::to_value(&self.output).expect("outputs are structs with text keys")
    }

    fn brief(&self) -> String {
        O::brief(&self.output)
    }
}
