//! The maximums of memory, documents and retrieval. Units stand last in the name.

use std::time::Duration;

/// Words of one memory that are searched, in bytes.
pub const TEXT_BYTES_MAX: usize = 8 * 1024;
/// The question of one recall.
pub const QUERY_CHARS_MAX: usize = 2_000;
/// Memories that one recall answers unless the caller says otherwise.
pub const RECALL_DEFAULT: u32 = 10;
/// How many candidates each way of looking brings for one that is answered.
pub const POOL_FACTOR: usize = 3;
/// The fewest candidates of each way.
pub const POOL_MIN: usize = 50;
/// How long a recall waits for the view to take in what was remembered before it.
pub const CATCH_UP: Duration = Duration::from_millis(250);
/// How long the endpoint that embeds may take for a question; after that words alone are looked for.
pub const EMBED_QUERY_TIMEOUT: Duration = Duration::from_secs(3);
/// Changes that the view takes in at once.
pub const INDEX_BATCH: usize = 256;
/// Texts that are embedded in one request.
pub const EMBED_BATCH: usize = 32;
/// How long the hub waits after the endpoint that embeds has failed.
pub const EMBED_RETRY: Duration = Duration::from_secs(30);
/// How often the hub looks for what has to be forgotten, at the latest.
pub const LOOK_EVERY: Duration = Duration::from_secs(30);
/// How long uses of memories, and whatever else is kept in order, are gathered before they are written
/// down.
pub const GATHER: Duration = Duration::from_millis(500);
/// Uses that wait to be written down; more are not noted.
pub const TOUCHED_MAX: usize = 10_000;
/// Memories that are forgotten in one transaction.
pub const EXPIRY_BATCH_MAX: usize = 256;
/// For how long the views are told that something is gone, in milliseconds.
pub const GONE_KEPT_MS: i64 = 30 * 24 * 3_600_000;
/// Tombstones that are cleared away in one transaction.
pub const GONE_BATCH_MAX: usize = 1_000;

/// Names of people that are taken out of long-term memories.
pub const NAMES_MAX: usize = 20_000;
/// For how long the names of a workspace are not looked up again, in milliseconds.
pub const NAMES_FRESH_MS: i64 = 30_000;
/// Workspaces whose names are remembered.
pub const WORKSPACES_KNOWN_MAX: usize = 1_000;

/// The text of one document.
pub const DOCUMENT_BYTES_MAX: usize = 512 * 1024;
/// Documents of one call.
pub const DOCUMENTS_ADDED_MAX: usize = 200;
/// Documents that one call removes.
pub const DOCUMENTS_REMOVED_MAX: usize = 1_000;
/// Pieces of one document.
pub const PIECES_MAX: usize = 2_000;
/// The length that pieces of a document come near to, in characters.
pub const PIECE_CHARS: usize = 1_200;
/// The longest piece of a document, in characters.
pub const PIECE_CHARS_MAX: usize = 1_800;
/// The name of a document's source: a path or an address.
pub const SOURCE_CHARS_MAX: usize = 1_000;
/// The name of a collection.
pub const COLLECTION_CHARS_MAX: usize = 64;
/// The collection of documents that name none.
pub const COLLECTION_DEFAULT: &str = "docs";
/// Pieces that one retrieval answers.
pub const RETRIEVED_MAX: u32 = 20;
/// The same unless the caller says otherwise.
pub const RETRIEVED_DEFAULT: u32 = 5;
/// Files of one folder that are looked at.
pub const FILES_MAX: usize = 50_000;
/// How deep folders are walked.
pub const FOLDERS_DEEP_MAX: usize = 32;
/// What one call of the command line hands in, in bytes.
pub const PARCEL_BYTES_MAX: usize = 384 * 1024;
