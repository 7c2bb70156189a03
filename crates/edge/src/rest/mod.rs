//! REST: every operation of the catalogue under `/v1`, and its OpenAPI document.
mod answer;
mod input;
mod openapi;
mod schemas;
mod table;

pub(crate) use answer::{answer, answer_or_refuse};
pub(crate) use input::form_pairs;
pub use openapi::openapi;
pub(crate) use openapi::openapi_document;
pub(crate) use schemas::envelope_schema;
pub(crate) use table::Table;
