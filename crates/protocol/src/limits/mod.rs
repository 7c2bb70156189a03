//! Every maximum of the hub, in one place. Units stand last in the name.

pub mod approvals;
pub mod chats;
pub mod containment;
pub mod import;
pub mod inbound;
pub mod links;
pub mod mcp;
pub mod memory;
pub mod model;
pub mod outbound;
pub mod relay;
pub mod retention;
pub mod session;
pub mod slack;
pub mod summary;
pub mod tools;
pub mod wake;

use std::time::Duration;

/// A JSON request body.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Nesting of a JSON request body.
pub const JSON_DEPTH_MAX: usize = 64;
/// A name that somebody may have mistyped; what is longer was meant as something else.
pub const MISTYPED_CHARS_MAX: usize = 64;
/// All headers of a request together, with its first line.
pub const HEADER_BYTES_MAX: usize = 32 * 1024;
/// The number of headers of a request.
pub const HEADERS_MAX: usize = 100;
/// A correlation id that is carried back.
pub const CORRELATION_ID_BYTES_MAX: usize = 128;
/// How long a client may take to send its headers once it has begun, or to shake hands.
pub const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection may take to say anything, or stay idle.
pub const CONNECTION_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a client may take nothing of what waits to be written to it.
pub const WRITE_STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// What a connection reads ahead, and what waits to be written to it before more is asked for.
pub const CONNECTION_BUFFER_BYTES_MAX: usize = 128 * 1024;
/// What may be written to a connection between two looks at it while it counts as idle: pings, mostly.
pub const IDLE_BYTES_WRITTEN_MAX: u64 = 8 * 1024;
/// How long to wait after a connection could not be accepted.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long a request may take.
pub const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);
/// Requests worked on at one time.
pub const REQUESTS_IN_FLIGHT_MAX: usize = 100;
/// Requests that wait for one of those places before new ones are refused.
pub const REQUESTS_WAITING_MAX: usize = 900;
/// Calls that wait for others at one time; they do not count as in flight.
pub const WAITERS_MAX: usize = 5_000;
/// Those of one agent.
pub const WAITERS_PER_AGENT_MAX: usize = 500;
/// Open connections.
pub const CONNECTIONS_MAX: usize = 2_000;
/// Open connections from one address, unless it is this machine's own.
pub const CONNECTIONS_PER_ADDRESS_MAX: usize = 50;
/// How much of an IPv6 address counts as one address: what one customer is given is seldom less.
pub const IPV6_NETWORK_BITS: u32 = 64;
/// Open connections of one agent, unless its operator says otherwise.
pub const CONNECTIONS_PER_AGENT_MAX: usize = 20;
/// Open event streams of one agent, unless its operator says otherwise.
pub const STREAMS_PER_AGENT_MAX: usize = 5;
/// How slowly a request's body may come, in bytes a second.
pub const UPLOAD_BYTES_PER_SECOND_MIN: u64 = 1_024;
/// How far a body may be behind that.
pub const UPLOAD_GRACE: Duration = Duration::from_secs(5);
/// How long a whole body may take.
pub const UPLOAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Tokens that one address may get wrong in a minute before its further failures are slowed down.
pub const AUTH_FAILURES_PER_MINUTE: u32 = 10;
/// How long an answer to a wrong token takes from then on.
pub const AUTH_FAILURE_DELAY: Duration = Duration::from_secs(1);
/// Addresses whose failures are remembered.
pub const AUTH_FAILURE_ADDRESSES_MAX: usize = 10_000;
/// Concurrent streams of one HTTP/2 connection.
pub const HTTP2_STREAMS_MAX: u32 = 100;
/// What is sent at once of an answer over HTTP/2, and what a client takes of it before it may have more.
pub const HTTP2_PIECE_BYTES_MAX: usize = 16 * 1024;
/// How long a stopping hub waits for requests in flight.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);
/// Between two keep-alive comments on an event stream.
pub const STREAM_KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A message's text.
pub const MESSAGE_BODY_BYTES_MAX: usize = 256 * 1024;
/// A message's metadata, as canonical JSON.
pub const METADATA_BYTES_MAX: usize = 64 * 1024;
/// Keys of one metadata object.
pub const METADATA_KEYS_MAX: usize = 1_000;
/// A thread's title.
pub const TITLE_CHARS_MAX: usize = 200;
/// Participants of a thread.
pub const PARTICIPANTS_MAX: usize = 100;
/// An agent's, session's or workspace's name.
pub const NAME_CHARS_MAX: usize = 128;
/// An idempotency key.
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 200;
/// The reason given with a change.
pub const REASON_CHARS_MAX: usize = 1_000;
/// A search query.
pub const SEARCH_QUERY_CHARS_MAX: usize = 500;
/// Words of a search query.
pub const SEARCH_WORDS_MAX: usize = 20;
/// Threads a search may be narrowed to by what its caller may see before it filters hits instead.
pub const SEARCH_SCOPE_THREADS_MAX: usize = 64;
/// Threads of a caller that a search looks into.
pub const SEARCH_THREADS_MAX: usize = 100_000;
/// A path such as a session's working directory.
pub const PATH_CHARS_MAX: usize = 4_096;

/// Messages of one page, unless the caller says otherwise.
pub const PAGE_DEFAULT: usize = 50;
/// Messages or rows of one page.
pub const PAGE_MAX: usize = 200;
/// Bytes of message text in one page; the page ends early when it is reached.
pub const PAGE_BYTES_MAX: usize = 1024 * 1024;
/// Messages that answer or cite one message, as far as they are listed.
pub const REFERENCES_MAX: usize = 100;
/// How far unread messages are counted.
pub const UNREAD_COUNT_MAX: i64 = 1_000;
/// The longest long poll, in milliseconds.
pub const WAIT_MS_MAX: u64 = 55_000;
/// A long poll, unless the caller says otherwise, in milliseconds.
pub const WAIT_MS_DEFAULT: u64 = 30_000;
/// Threads whose place in the store the hub remembers for those who wait.
pub const THREAD_ROWS_KNOWN_MAX: usize = 65_536;
/// Threads whose newest messages the hub keeps for those who wait together.
pub const TAILS_MAX: usize = 256;
/// Messages it keeps of each.
pub const TAIL_MESSAGES_MAX: usize = 8;
/// Bytes of their text, together.
pub const TAIL_BYTES_MAX: usize = 64 * 1024;
/// Threads that the writer remembers as it left them.
pub const THREADS_KNOWN_MAX: usize = 4_096;
/// Keys of messages that wait in memory until the index of keys takes them in: one for so many messages
/// that there are, so that a page of the index gets several of them at once.
pub const MESSAGES_FOR_EACH_UNFILED_KEY: usize = 16;
/// The fewest that wait for company.
pub const KEYS_UNFILED_MIN: usize = 4_096;
/// The most.
pub const KEYS_UNFILED_MAX: usize = 262_144;
/// Bytes of the messages they belong to: a hub that was killed reads them again when it starts.
pub const KEYS_UNFILED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Changed rows after which they are taken in however few they are, for the same reason.
pub const KEYS_UNFILED_CHANGES_MAX: u64 = 1_000_000;
/// Threads one long poll watches; of older ones it is told which had news.
pub const WAIT_THREADS_MAX: usize = 1_000;
/// Older threads with news that are remembered for one long poll before it looks at all of them.
pub const WAIT_OLDER_THREADS_MAX: usize = 256;

/// Posts an agent may make a second, on average.
pub const POSTS_PER_SECOND: u32 = 20;
/// Posts an agent may make at once.
pub const POSTS_BURST: u32 = 100;
/// Other calls an agent may make a second, on average.
pub const CALLS_PER_SECOND: u32 = 100;
/// Other calls an agent may make at once.
pub const CALLS_BURST: u32 = 500;
/// Callers whose quota is remembered.
pub const QUOTA_CALLERS_MAX: usize = 100_000;
/// Changes of speaker between agents without a human before a thread is paused.
pub const AGENT_TURNS_MAX: i64 = 100;
/// A session not heard of for so long is offline, in milliseconds.
pub const SESSION_FRESH_MS: i64 = 120_000;

/// The life of a token for a person's client, in seconds.
pub const TOKEN_TTL_SECONDS_DEFAULT: i64 = 90 * 24 * 3600;
/// The longest life of a token, in seconds.
pub const TOKEN_TTL_SECONDS_MAX: i64 = 366 * 24 * 3600;
/// How far clocks may disagree about a token, in seconds.
pub const TOKEN_LEEWAY_SECONDS: i64 = 30;
/// A token's length.
pub const TOKEN_BYTES_MAX: usize = 8 * 1024;
/// A token's id.
pub const TOKEN_ID_CHARS_MAX: usize = 200;
/// Tokens that the hub did not issue and that are revoked in one workspace, one by one.
pub const REVOKED_BY_ID_MAX: i64 = 10_000;
/// Revoked tokens that are read at once.
pub const REVOKED_PAGE_MAX: usize = 1_000;
/// Verified tokens that are remembered.
pub const TOKEN_CACHE_MAX: usize = 10_000;
/// A key set of an outside issuer.
pub const JWKS_BYTES_MAX: usize = 256 * 1024;
/// Keys of one key set.
pub const JWKS_KEYS_MAX: usize = 64;
/// How long a fetched key set is trusted.
pub const JWKS_FRESH: Duration = Duration::from_mins(10);
/// How long a key set is used after its last fetch while its issuer cannot be reached.
pub const JWKS_STALE_MAX: Duration = Duration::from_hours(24);
/// How often an unknown key id may cause a fetch.
pub const JWKS_REFETCH_MIN: Duration = Duration::from_secs(30);
/// An outgoing request of the hub itself.
pub const EGRESS_TIMEOUT: Duration = Duration::from_secs(10);
/// An answer of a service's API, unless the caller says otherwise.
pub const API_ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// A message that comes in on a WebSocket of the hub's own.
pub const WEBSOCKET_MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// What waits to be sent on a WebSocket whose other side does not read.
pub const WEBSOCKET_QUEUED_BYTES_MAX: usize = 8 * 1024 * 1024;
/// After so much silence a WebSocket is asked whether it still stands.
pub const WEBSOCKET_PING_AFTER: Duration = Duration::from_secs(10);
/// After so much silence a WebSocket counts as broken.
pub const WEBSOCKET_SILENCE_MAX: Duration = Duration::from_secs(30);

/// Changes waiting for the writer; further ones are refused as overloaded.
pub const WRITE_QUEUE_MAX: usize = 4_096;
/// Changes that share one commit.
pub const WRITE_BATCH_MAX: usize = 256;
/// Reads waiting for a reader.
pub const READ_QUEUE_MAX: usize = 4_096;
/// How often a transaction is run again after a deadlock.
pub const TRANSACTION_TRIES_MAX: u32 = 8;
/// How long a connection to the database may take to come about, unless its URL says otherwise.
pub const DATABASE_CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the database may leave what was sent to it unconfirmed, unless its URL says otherwise.
pub const DATABASE_SILENCE_MAX: Duration = Duration::from_secs(20);
/// After a connection to the database could not be opened, nobody tries again for so long.
pub const DATABASE_RECONNECT_PAUSE: Duration = Duration::from_millis(250);
/// Prepared statements kept by a connection.
pub const STATEMENTS_MAX: usize = 256;
/// Writing is refused when the disk has less room than this.
pub const DISK_FREE_BYTES_MIN: u64 = 64 * 1024 * 1024;

/// Reads waiting to be entered in the audit trail; whoever reads more waits for them.
pub const AUDIT_READS_QUEUE_MAX: usize = 8_192;
/// How long, before they are refused. With the longest long poll before it, a request keeps to its time.
pub const AUDIT_READS_WAIT_MAX: Duration = Duration::from_secs(5);
/// Reads entered in the audit trail at once.
pub const AUDIT_READS_BATCH_MAX: usize = 512;
/// What a chat was called by whoever asked for it, as far as it is looked at for an audit entry.
pub const AUDIT_CHAT_BYTES_MAX: usize = 1_024;
/// Between two seals of the audit trail while there is something to seal.
pub const AUDIT_SEAL_EVERY: Duration = Duration::from_millis(500);
/// Entries under one seal.
pub const AUDIT_SEAL_ENTRIES_MAX: usize = 4_096;
/// How long an owner that was started on demand stays without a client.
pub const OWNER_IDLE: Duration = Duration::from_mins(1);
/// Half-made backups beside one that is being made, such as those of processes that were killed.
pub const PARTIAL_FILES_MAX: usize = 1_000;
/// How many of the newest messages a summary's highlights come from, unless the caller says otherwise.
pub const SUMMARY_MESSAGES_DEFAULT: u32 = 200;
/// A folded summary so many messages behind is brought forward before a change that needs it.
pub const SUMMARY_WARM_AFTER: i64 = 500;
/// A folded summary is kept again after so many new messages.
pub const SUMMARY_KEEP_EVERY: i64 = 16;
