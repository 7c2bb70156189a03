//! Trying the way in.

use std::sync::Arc;
use std::time::Instant;

use protocol::Scope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::view::{self, TakenView};
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::Result;
use crate::operation::{Effect, Operation, Route};

/// Send a recorded delivery of a service through a link's whole way in: signed with the link's own secret,
/// verified, mapped, taken in. The message says that it is a test (`meta.is_test`), and makes work like any.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestLink {
    /// The link.
    name: String,
}

/// How it went.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TestLinkOutput {
    /// The link.
    name: String,
    /// What became of it.
    taken: Vec<TakenView>,
    /// How long it took, in milliseconds.
    took_ms: u64,
}

impl Operation for TestLink {
    const NAME: &'static str = "test_link";
    const ROUTE: Route = Route::post("/v1/links/{name}/test");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Write;
    const TOOLSET: &'static str = "admin";
    type Output = TestLinkOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.name)
    }

    async fn run(self, call: &Call) -> Result<TestLinkOutput> {
        let (caller, name) = (call.shared_caller(), self.name);
        let link = call.read(move |tx| view::link(tx, &caller.workspace_id, &name)).await?;
        let link = Arc::new(link);
        #[expect(clippy::disallowed_methods, reason = "measures how long the way in takes")]
        let began = Instant::now();
        let received = call.hub.links.try_sample(&link).await?;
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let taken: Vec<TakenView> = received.into_iter().map(TakenView::of).collect();
        let (name, count) = (link.name.clone(), taken.len());
        call.write(move |_| Ok(Change::of(name.clone(), count))).await?;
        Ok(TestLinkOutput { name: link.name.clone(), taken, took_ms })
    }

    fn brief(output: &TestLinkOutput) -> String {
        let TestLinkOutput { name, took_ms, .. } = output;
        if output.taken.is_empty() {
            return format!(
                "{name} accepted the sample, which says nothing that the relay carries"
            );
        }
        let lines: Vec<String> = output.taken.iter().map(TakenView::brief).collect();
        format!("{name} took the sample in within {took_ms} ms\n{}", lines.join("\n"))
    }
}
