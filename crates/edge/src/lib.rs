//! The edges of Waystation: REST, MCP, health and metrics over HTTP, TLS and the private socket.
#![forbid(unsafe_code)]

pub mod mcp;
