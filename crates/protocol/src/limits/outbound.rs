//! The maximums of what leaves for services. Units stand last in the name.

use std::time::Duration;

/// How deep quotes, lists and emphasis may lie in each other; what is deeper is read as text.
pub const MARKDOWN_DEPTH_MAX: usize = 32;
/// A link with its label and its marks, in UTF-16 units; a larger one is written out as text.
pub const MARKDOWN_LINK_UNITS_MAX: usize = 2_000;
/// Backticks in a row inside code; longer rows are broken up.
pub const MARKDOWN_TICKS_MAX: usize = 16;
/// The language of a code block.
pub const MARKDOWN_INFO_CHARS_MAX: usize = 32;
/// The id inside `[[ref:…]]`.
pub const REF_ID_BYTES_MAX: usize = 128;

/// The text of one section of a message at Slack.
pub const SLACK_SECTION_UNITS_MAX: usize = 3_000;
/// Sections of one message at Slack, which takes 12,000 characters altogether; one is left free.
pub const SLACK_SECTIONS_MAX: usize = 3;
/// What an editor at Slack may be opened with, in characters.
pub const SLACK_INPUT_CHARS_MAX: usize = 3_000;
/// What an editor at Slack carries unseen, in characters.
pub const SLACK_METADATA_CHARS_MAX: usize = 3_000;
/// How long Slack may take to open an editor; what opens it works for three seconds.
pub const SLACK_EDITOR_TIMEOUT: Duration = Duration::from_millis(2_500);
/// Messages of a thread that are looked through for a mark.
pub const SLACK_LOOK_MAX: usize = 1_000;
/// What Slack takes in a second for one channel.
pub const SLACK_MESSAGES_PER_SECOND: u32 = 1;

/// A comment at GitHub, in characters.
pub const GITHUB_COMMENT_UNITS_MAX: usize = 65_536;
/// Comments of an issue that are looked through for a mark.
pub const GITHUB_LOOK_MAX: usize = 300;
/// Comments on one page at GitHub.
pub const GITHUB_PAGE: usize = 100;
/// What GitHub lets an installation write in a minute.
pub const GITHUB_WRITES_PER_MINUTE: u32 = 80;
/// What GitHub lets an installation write in an hour.
pub const GITHUB_WRITES_PER_HOUR: u32 = 500;
/// How long a token of an app's own lasts; GitHub takes at most ten minutes.
pub const GITHUB_JWT_SECONDS: i64 = 540;
/// How far clocks may be apart.
pub const GITHUB_JWT_SKEW_SECONDS: i64 = 60;
/// How long before its end a token of an installation is replaced.
pub const GITHUB_TOKEN_MARGIN: Duration = Duration::from_mins(5);
/// How long a token of an installation is trusted where GitHub does not say.
pub const GITHUB_TOKEN_LIFE: Duration = Duration::from_mins(30);
/// Repositories whose installation is remembered.
pub const GITHUB_INSTALLATIONS_MAX: usize = 10_000;
/// How long to wait where GitHub asks for patience without saying how much.
pub const GITHUB_RETRY_AFTER: Duration = Duration::from_mins(1);
/// Pages of deliveries that are read for what was missed.
pub const GITHUB_DELIVERY_PAGE: usize = 100;

/// A comment at Sentry.
pub const SENTRY_COMMENT_UNITS_MAX: usize = 16_384;
/// What Sentry takes in a second.
pub const SENTRY_WRITES_PER_SECOND: u32 = 5;
/// Issues asked for at once.
pub const SENTRY_PAGE: usize = 100;

/// A comment at OpenProject.
pub const OPENPROJECT_COMMENT_UNITS_MAX: usize = 65_536;
/// What OpenProject is sent in a minute.
pub const OPENPROJECT_WRITES_PER_MINUTE: u32 = 60;

/// How long to wait where a service asks for patience without saying how much.
pub const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(30);
/// The longest wait that a service is taken at its word for.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);
/// An answer of a service: a page of comments, or a delivery.
pub const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Comments of a page that is read for a summary.
pub const PAGE_COMMENTS_MAX: usize = 100;
/// The text of a page, and of all its comments together.
pub const PAGE_BYTES_MAX: usize = 256 * 1024;

/// A webhook's secret, in bytes, at least.
pub const WEBHOOK_SECRET_BYTES_MIN: usize = 24;
/// A webhook's secret, in bytes, at most.
pub const WEBHOOK_SECRET_BYTES_MAX: usize = 64;
/// What a webhook is sent in a second.
pub const WEBHOOK_CALLS_PER_SECOND: u32 = 10;
/// What a receiver may answer.
pub const WEBHOOK_ANSWER_BYTES_MAX: usize = 64 * 1024;
/// How long a receiver may take.
pub const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(15);
