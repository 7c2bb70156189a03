//! Changes that are told of although their caller has gone away.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

use crate::error::Result;
use crate::hub::Hub;
use crate::operation::Answer;

/// An operation under way.
pub(crate) type Work = Pin<Box<dyn Future<Output = Result<Box<dyn Answer>>> + Send>>;

/// An operation that its caller waits for. A change that has begun is made whether they still do or
/// not, and what is made must be announced: when its caller hangs up, it goes on to its end by itself.
pub(crate) struct Unbroken {
    work: Option<Work>,
    /// Where it goes on; nowhere when nothing is lost with its caller.
    hub: Option<Arc<Hub>>,
    has_begun: bool,
}

impl Unbroken {
    pub(crate) fn new(work: Work, hub: Option<Arc<Hub>>) -> Self {
        Self { work: Some(work), hub, has_begun: false }
    }
}

impl Future for Unbroken {
    type Output = Result<Box<dyn Answer>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.has_begun = true;
        let Some(work) = &mut self.work else { return Poll::Pending };
        let answer = std::task::ready!(work.as_mut().poll(context));
        self.work = None;
        Poll::Ready(answer)
    }
}

impl Drop for Unbroken {
    fn drop(&mut self) {
        let (Some(work), Some(hub), true) = (self.work.take(), &self.hub, self.has_begun) else {
            return;
        };
        // Without a runtime there is nobody left to tell.
        if let Ok(runtime) = Handle::try_current() {
            hub.unbroken.spawn_on(async move { drop(work.await) }, &runtime);
        }
    }
}
