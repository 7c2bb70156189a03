//! Where every request comes in: what is known of its connection is put on it, its host and its origin
//! are checked, and then it finds its route.
//!
//! What concerns every request is a function here and not a layer of the router: each layer costs each
//! request two boxes and a copy of everything below it.

use std::ops::ControlFlow;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use hub::identity::CertificateNames;
use hyper::body::Incoming;
use tower::ServiceExt;

use crate::app::App;
use crate::fair::Holder;
use crate::server::{LocalProcess, Peer};
use crate::{cors, guard, rest, trace};

/// All that a listener serves. Cheap to clone.
#[derive(Clone)]
pub struct Front {
    app: Option<App>,
    /// Whether operations are asked for here, before any route.
    has_operations: bool,
    router: Router,
}

/// What is known of the other end of a connection; nothing where only our own user can connect.
#[derive(Default)]
pub(crate) struct Client {
    pub(crate) peer: Option<Peer>,
    pub(crate) holder: Holder,
    pub(crate) names: Option<CertificateNames>,
    pub(crate) process: Option<LocalProcess>,
}

impl From<Router> for Front {
    /// Routes that anybody who can connect may ask for.
    fn from(router: Router) -> Self {
        Self { app: None, has_operations: false, router }
    }
}

impl Front {
    /// Routes for requests that name this hub and come from no foreign web page.
    pub(crate) fn guarded(app: &App, router: Router) -> Self {
        Self { app: Some(app.clone()), has_operations: false, router }
    }

    /// Operations as well, for callers with tokens.
    pub(crate) fn with_operations(self) -> Self {
        Self { has_operations: true, ..self }
    }

    /// Answers a request.
    pub(crate) async fn answer(self, client: Arc<Client>, request: Request<Incoming>) -> Response {
        if let Some(refusal) = self.app.as_ref().and_then(|app| guard::refusal(app, &request)) {
            return refusal;
        }
        let page = self.app.as_ref().and_then(|_| cors::Page::of(request.headers()));
        let marks = trace::Marks::of(request.headers());
        let mut response = match cors::preflight(&request).filter(|_| page.is_some()) {
            Some(response) => response,
            None => self.route(client, request).await,
        };
        marks.carry_back(&mut response);
        if let Some(page) = page {
            page.show(&mut response);
        }
        response
    }

    async fn route(self, client: Arc<Client>, mut request: Request<Incoming>) -> Response {
        if let Some(app) = self.app.as_ref().filter(|_| self.has_operations) {
            match rest::answer(app, Some(&client), request).await {
                ControlFlow::Break(response) => return response,
                ControlFlow::Continue(other) => request = other,
            }
        }
        request.extensions_mut().insert(client);
        // Boxed: it is large, and most requests do without.
        let routed = Box::pin(self.router.oneshot(request.map(axum::body::Body::new)));
        let Ok(response) = routed.await;
        response
    }
}

impl Client {
    /// Whoever connects from this address.
    pub(crate) fn at(peer: Peer) -> Self {
        Self { peer: Some(peer), ..Self::default() }
    }

    /// What is known of whoever sent a request.
    pub(crate) fn of<B>(request: &http::Request<B>) -> Option<&Self> {
        request.extensions().get::<Arc<Self>>().map(Arc::as_ref)
    }
}
