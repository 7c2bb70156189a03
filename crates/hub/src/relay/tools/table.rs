//! THE LIST of tools that are no operations; every operation of the catalogue is a tool as well.

use std::sync::Arc;

use connector_api::BoxFuture;
use protocol::Caller;
use serde_json::{Map, Value};

use super::issue;
use super::outcome::{Failure, Outcome};
use crate::hub::Hub;

/// What a built-in tool is given.
pub(super) struct Order {
    pub(super) hub: Arc<Hub>,
    pub(super) caller: Arc<Caller>,
    pub(super) args: Map<String, Value>,
}

/// A tool that is no operation.
pub(super) struct BuiltIn {
    /// Its name.
    pub(super) name: &'static str,
    /// What it does. It may be done twice: a runner that dies is followed by another one.
    pub(super) run: fn(Order) -> BoxFuture<'static, Result<Outcome, Failure>>,
}

/// Every tool that is no operation.
pub(super) const BUILT_IN: &[BuiltIn] =
    &[BuiltIn { name: "SummarizeIssue", run: |order| Box::pin(issue::summarize(order)) }];

/// One of them.
pub(super) fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|tool| tool.name == name)
}
