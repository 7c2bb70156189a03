//! MCP over HTTP and over streams, as clients of both eras see it.
#[cfg(test)]
mod bridge;
#[cfg(test)]
mod chats;
#[cfg(test)]
mod edge;
#[cfg(test)]
mod legacy;
#[cfg(test)]
mod modern;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod resources;
#[cfg(test)]
mod review;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod stream;
#[cfg(test)]
mod toolsets;
