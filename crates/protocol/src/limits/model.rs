//! The maximums of a configured model. Units stand last in the name.

use std::time::Duration;

/// How long a model may take unless its operator says otherwise.
pub const MODEL_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a model may be allowed to take.
pub const MODEL_TIMEOUT_CEILING: Duration = Duration::from_mins(10);
/// What a model answers.
pub const MODEL_ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Texts that are embedded with one request.
pub const EMBEDDED_TEXTS_MAX: usize = 64;
/// Numbers of one vector.
pub const VECTOR_LENGTH_MAX: usize = 8_192;
/// The text that a model is asked about.
pub const PROMPT_BYTES_MAX: usize = 256 * 1024;
/// How long the summary of an issue may be, in tokens.
pub const SUMMARY_TOKENS_MAX: u32 = 400;
