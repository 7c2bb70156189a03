//! Reading prose without a language model: sentences, what they name and decide, and which of them say
//! most. Pure, and the same text always gives the same answer.
mod marks;
mod rank;
mod sentences;

pub(crate) use marks::{error_types, is_decision, references};
pub(crate) use rank::{Candidate, choose};
pub(crate) use sentences::{head, sentences};
