//! A service with pages, whose every answer a test decides.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use connector_api::model::{Model, Prompt};
use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, BoxFuture, Capabilities, Connector, ConnectorError, ConnectorKind, Field,
    LinkSettings, Page, Result,
};
use parking_lot::Mutex;
use serde_json::{Map, Value};

/// What the pages of the service begin with.
pub(crate) const SITE: &str = "https://issues.example/";

/// What the next reader of a page gets.
pub(crate) enum Next {
    /// The page.
    Page(Page),
    /// An error.
    Fail(ConnectorError),
    /// Nothing, ever.
    Hang,
}

/// The service, as a test sees it.
#[derive(Default)]
pub(crate) struct Service {
    /// What the next readers get; after that every page is the usual one.
    pub(crate) next: Mutex<VecDeque<Next>>,
    /// How often a page was asked for.
    pub(crate) asked: AtomicUsize,
}

impl Service {
    pub(crate) fn that_answers(next: impl IntoIterator<Item = Next>) -> Arc<Self> {
        Arc::new(Self { next: Mutex::new(next.into_iter().collect()), ..Self::default() })
    }

    /// The table of services with this one alone.
    pub(crate) fn kinds(self: &Arc<Self>) -> testkit::Connectors {
        let kind: &'static Kind = Box::leak(Box::new(Kind(Arc::clone(self))));
        Box::leak(Box::new([kind as &dyn ConnectorKind]))
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// The page that is usually there.
pub(crate) fn page() -> Page {
    Page {
        title: "Checkout fails on Safari".to_owned(),
        body: "Paying with a card fails with a TypeError. It began on Monday.".to_owned(),
        url: format!("{SITE}12"),
        status: "open".to_owned(),
        labels: vec!["checkout".to_owned()],
        comments: vec![("ada".to_owned(), "We will fix the cookie.".to_owned())],
        is_cut: false,
    }
}

/// The service cannot be reached for a moment.
pub(crate) fn away() -> Next {
    Next::Fail(ConnectorError::Unreachable { reason: "it is away".to_owned() })
}

/// The service refuses, and will refuse again.
pub(crate) fn refusal() -> Next {
    Next::Fail(ConnectorError::Refused { reason: "no such page".to_owned() })
}

struct Kind(Arc<Service>);

const FIELDS: &[Field] = &[];

impl ConnectorKind for Kind {
    fn service(&self) -> &'static str {
        "pages"
    }

    fn title(&self) -> &'static str {
        "Pages"
    }

    fn guide(&self) -> &'static str {
        "Nothing to do."
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn connect(&self, _: &LinkSettings, _: HttpClient) -> Result<Arc<dyn Connector>> {
        Ok(Arc::new(Client(Arc::clone(&self.0))))
    }
}

struct Client(Arc<Service>);

impl Connector for Client {
    fn capabilities(&self) -> Capabilities {
        Capabilities { relay: true, ..Capabilities::default() }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(std::future::ready(Ok(Account { name: "pages".to_owned(), ..Account::default() })))
    }

    fn address_of(&self, url: &str) -> Option<Map<String, Value>> {
        let number = url.strip_prefix(SITE)?;
        Some(Map::from_iter([("page".to_owned(), number.into())]))
    }

    fn read_page<'a>(&'a self, _url: &'a str) -> BoxFuture<'a, Result<Page>> {
        Box::pin(async {
            self.0.asked.fetch_add(1, Ordering::SeqCst);
            let next = self.0.next.lock().pop_front();
            match next {
                None => Ok(page()),
                Some(Next::Page(page)) => Ok(page),
                Some(Next::Fail(error)) => Err(error),
                Some(Next::Hang) => std::future::pending().await,
            }
        })
    }
}

/// A model that repeats what it was asked, or fails.
pub(crate) struct Parrot {
    pub(crate) heard: Mutex<Vec<Prompt>>,
    pub(crate) answer: Option<&'static str>,
}

impl Model for Parrot {
    fn writer(&self) -> Option<&str> {
        Some("parrot")
    }

    fn embedder(&self) -> Option<&str> {
        None
    }

    fn complete<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Result<String>> {
        self.heard.lock().push(prompt.clone());
        let answer = self.answer.map(str::to_owned);
        let answer = answer.ok_or(ConnectorError::Unreachable { reason: "asleep".to_owned() });
        Box::pin(std::future::ready(answer))
    }

    fn embed<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>>> {
        let error = ConnectorError::Unsupported { service: "parrot", what: "embed" };
        Box::pin(std::future::ready(Err(error)))
    }
}
