//! A service at which things are posted, and whose every answer a test decides.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, BoxFuture, Capabilities, Connector, ConnectorError, ConnectorKind, Field,
    LinkSettings, Pace, Part, Posting, Receipt, Result,
};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

/// What the service does with the next request to post.
#[derive(Clone, Debug)]
pub(crate) enum Reaction {
    /// It takes it and says so.
    Take,
    /// It takes it, and the answer is lost.
    TakeAndLose,
    /// It never gets it, and nobody knows.
    Lose,
    /// It takes it, and then whoever sends dies.
    TakeAndDie,
    /// It asks for patience of so many seconds.
    Limit(u64),
    /// It refuses.
    Refuse,
    /// Something else is going on there.
    Conflict,
}

/// Something that stands at the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    pub(crate) place: String,
    pub(crate) mark: String,
    pub(crate) text: String,
    pub(crate) replaces: Option<String>,
}

/// The service, as a test sees it.
pub(crate) struct Service {
    /// What stands there, in the order of arrival.
    pub(crate) comments: Mutex<Vec<Comment>>,
    /// What it does with the next requests; then it takes everything.
    pub(crate) reactions: Mutex<VecDeque<Reaction>>,
    /// Requests to post, whatever became of them.
    pub(crate) posts: AtomicUsize,
    /// Looks for a posting.
    pub(crate) looks: AtomicUsize,
    /// So many looks show nothing that is new.
    pub(crate) hides_for: AtomicI64,
    /// So many looks fail.
    pub(crate) looks_fail: AtomicI64,
    /// Whether it can be asked at all what was posted.
    pub(crate) cannot_look: AtomicI64,
    /// Its limits.
    pub(crate) paces: Mutex<Vec<Pace>>,
    /// How much of a text fits into one comment.
    pub(crate) part_chars: AtomicUsize,
    /// Who stood behind the last posting.
    pub(crate) footers: Mutex<Vec<Option<String>>>,
}

impl Service {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            comments: Mutex::default(),
            reactions: Mutex::default(),
            posts: AtomicUsize::new(0),
            looks: AtomicUsize::new(0),
            hides_for: AtomicI64::new(0),
            looks_fail: AtomicI64::new(0),
            cannot_look: AtomicI64::new(0),
            paces: Mutex::default(),
            part_chars: AtomicUsize::new(1_000),
            footers: Mutex::default(),
        })
    }

    /// The table of services with this one alone.
    pub(crate) fn kinds(self: &Arc<Self>) -> testkit::Connectors {
        let kind: &'static Kind = Box::leak(Box::new(Kind(Arc::clone(self))));
        Box::leak(Box::new([kind as &dyn ConnectorKind]))
    }

    pub(crate) fn reacts(&self, reactions: impl IntoIterator<Item = Reaction>) {
        self.reactions.lock().extend(reactions);
    }

    /// What stands there, in the order of arrival.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.comments.lock().iter().map(|comment| comment.text.clone()).collect()
    }

    pub(crate) fn posts(&self) -> usize {
        self.posts.load(Ordering::SeqCst)
    }

    pub(crate) fn looks(&self) -> usize {
        self.looks.load(Ordering::SeqCst)
    }

    fn put(&self, posting: &Posting, part: &Part) -> Receipt {
        let mut comments = self.comments.lock();
        comments.push(Comment {
            place: posting.action.place.clone(),
            mark: part.mark.clone(),
            text: part.body["text"].as_str().unwrap().to_owned(),
            replaces: posting.replaces.as_ref().map(|at| Value::Object(at.clone()).to_string()),
        });
        receipt(comments.len())
    }
}

fn receipt(number: usize) -> Receipt {
    let mut address = Map::new();
    address.insert("comment".to_owned(), number.into());
    Receipt {
        remote_id: format!("comment:{number}"),
        url: Some(format!("https://example.org/{number}")),
        address,
        ..Receipt::default()
    }
}

struct Kind(Arc<Service>);

const FIELDS: &[Field] = &[Field {
    name: "token",
    prompt: "The token",
    help: "Ask the test for it.",
    default: None,
    is_secret: true,
}];

impl ConnectorKind for Kind {
    fn service(&self) -> &'static str {
        "scripted"
    }

    fn title(&self) -> &'static str {
        "Scripted"
    }

    fn guide(&self) -> &'static str {
        "Ask the test."
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn connect(&self, _: &LinkSettings, _: HttpClient) -> Result<Arc<dyn Connector>> {
        Ok(Arc::new(Client(Arc::clone(&self.0))))
    }
}

struct Client(Arc<Service>);

/// Counts one down; whether there was one.
fn one_of(left: &AtomicI64) -> bool {
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| (left > 0).then(|| left - 1))
        .is_ok()
}

impl Connector for Client {
    fn capabilities(&self) -> Capabilities {
        Capabilities { relay: true, ..Capabilities::default() }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(async { Ok(Account { name: "@us".to_owned(), ..Account::default() }) })
    }

    fn render(&self, posting: &Posting) -> Result<Vec<Part>> {
        self.0.footers.lock().push(posting.footer.clone());
        let chars: Vec<char> = posting.action.text.chars().collect();
        let size = self.0.part_chars.load(Ordering::SeqCst);
        let part = |(index, piece): (usize, &[char])| Part {
            index,
            body: json!({ "text": piece.iter().collect::<String>() }),
            mark: format!("{} {index}", posting.mark),
        };
        Ok(chars.chunks(size).enumerate().map(part).collect())
    }

    fn paces(&self, _: &Posting) -> Vec<Pace> {
        self.0.paces.lock().clone()
    }

    fn post<'a>(&'a self, posting: &'a Posting, part: &'a Part) -> BoxFuture<'a, Result<Receipt>> {
        Box::pin(async move {
            self.0.posts.fetch_add(1, Ordering::SeqCst);
            let lost = || ConnectorError::Unreachable { reason: "it broke off".to_owned() };
            let reaction = self.0.reactions.lock().pop_front().unwrap_or(Reaction::Take);
            match reaction {
                Reaction::Take => Ok(self.0.put(posting, part)),
                Reaction::TakeAndLose => {
                    self.0.put(posting, part);
                    Err(lost())
                }
                Reaction::Lose => Err(lost()),
                Reaction::TakeAndDie => {
                    self.0.put(posting, part);
                    panic!("this sender dies, as the test says")
                }
                Reaction::Limit(seconds) => {
                    Err(ConnectorError::RateLimited { retry_after: Duration::from_secs(seconds) })
                }
                Reaction::Refuse => {
                    Err(ConnectorError::Refused { reason: "422 too rude".to_owned() })
                }
                Reaction::Conflict => {
                    Err(ConnectorError::Conflict { reason: "409 locked".to_owned() })
                }
            }
        })
    }

    fn find_posted<'a>(
        &'a self,
        _: &'a Posting,
        part: &'a Part,
    ) -> BoxFuture<'a, Result<Option<Receipt>>> {
        Box::pin(async move {
            self.0.looks.fetch_add(1, Ordering::SeqCst);
            if self.0.cannot_look.load(Ordering::SeqCst) > 0 {
                return Err(ConnectorError::Unsupported { service: "it", what: "look" });
            }
            if one_of(&self.0.looks_fail) {
                return Err(ConnectorError::Unreachable { reason: "it is down".to_owned() });
            }
            if one_of(&self.0.hides_for) {
                return Ok(None);
            }
            let comments = self.0.comments.lock();
            let found = comments.iter().position(|comment| comment.mark == part.mark);
            Ok(found.map(|place| receipt(place + 1)))
        })
    }
}
