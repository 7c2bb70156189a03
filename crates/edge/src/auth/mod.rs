//! From a request's credentials to a verified caller.
mod bearer;
mod metadata;

pub(crate) use bearer::{caller, require_caller};
pub(crate) use metadata::resource_metadata;
