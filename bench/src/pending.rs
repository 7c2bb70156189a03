//! Rows that wait for a part of the hub: each says what it is waiting for.

use crate::table::{Bar, Row};

/// Posts over MCP, in both eras of the protocol.
pub(crate) fn mcp() -> Vec<Row> {
    let what = "post_message over MCP, CPU a post (do-nothing tool + store append)";
    vec![Row::not_measured("4", what, "the hub has no MCP edge yet", Bar::AtMost(1.15))]
}

/// Search among five million messages.
pub(crate) fn search() -> Vec<Row> {
    let what = "search among 5,000,000 messages, p50";
    vec![Row::not_measured("9", what, "the hub has no search yet", Bar::AtMost(5.0))]
}
