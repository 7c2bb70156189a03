//! The maximums of what services say to the relay. Units stand last in the name.

/// What was said, for a model to read; a message takes twice as much.
pub const TEXT_BYTES_MAX: usize = 128 * 1024;
/// What something is called.
pub const TITLE_CHARS_MAX: usize = 200;
/// The facts beside it, as JSON.
pub const FACTS_BYTES_MAX: usize = 16 * 1024;
/// One text among the facts.
pub const FACT_CHARS_MAX: usize = 500;
/// Elements of a list among the facts.
pub const FACT_ITEMS_MAX: usize = 20;
/// How deep facts may lie in facts.
pub const FACTS_DEPTH_MAX: usize = 8;
/// Fields of all facts together.
pub const FACTS_FIELDS_MAX: usize = 400;
/// Fields of a form.
pub const FORM_FIELDS_MAX: usize = 256;
/// Commits, labels, frames or mentions that one text names.
pub const NAMED_MAX: usize = 20;
/// A key by which something is known again.
pub const KEY_CHARS_MAX: usize = 400;
