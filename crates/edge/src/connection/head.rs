//! How long a client of HTTP/1 may take over the head of a request: it may be idle for long, but what it
//! has begun to send must come.
//!
//! hyper has one time for both. It asks its timer for an alarm when it begins to wait for a head, and
//! looks at the alarm whenever it has read all there is; so an alarm that asks whether anything was
//! read can tell the two apart, at no cost for a head that comes in one piece.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::Timer;
use pin_project_lite::pin_project;
use protocol::limits;
use tokio::time::{Instant, Sleep};

use super::line::Traffic;

/// The timer of one connection.
pub(super) struct HeadTimer(Arc<Traffic>);

impl HeadTimer {
    pub(super) fn new(traffic: Arc<Traffic>) -> Self {
        Self(traffic)
    }
}

impl Timer for HeadTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        self.0.forget_what_was_heard();
        let sleep = tokio::time::sleep_until(deadline.into());
        Box::pin(Alarm { traffic: Arc::clone(&self.0), has_begun: false, sleep })
    }

    fn now(&self) -> std::time::Instant {
        Instant::now().into()
    }
}

pin_project! {
    /// Rings when a head should have come.
    struct Alarm {
        traffic: Arc<Traffic>,
        has_begun: bool,
        #[pin]
        sleep: Sleep,
    }
}

impl hyper::rt::Sleep for Alarm {}

impl Future for Alarm {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut alarm = self.project();
        if !*alarm.has_begun && alarm.traffic.was_heard() {
            *alarm.has_begun = true;
            alarm.sleep.as_mut().reset(Instant::now() + limits::HEADER_READ_TIMEOUT);
        }
        alarm.sleep.poll(context)
    }
}
