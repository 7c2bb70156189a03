//! REST: every operation of the catalogue under `/v1`, and its OpenAPI document.
mod input;
mod openapi;
mod routes;
mod schemas;

pub(crate) use input::form_pairs;
pub use openapi::openapi;
pub(crate) use openapi::openapi_document;
pub(crate) use routes::routes;
pub(crate) use schemas::envelope_schema;
