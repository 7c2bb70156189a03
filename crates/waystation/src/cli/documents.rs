//! The words of `docs`, `reference` and `redact`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Clone, Debug, Args)]
pub(crate) struct ReferenceArgs {
    /// Where to write it.
    #[arg(long, default_value = "docs/reference")]
    pub(crate) out: PathBuf,
    /// Only check that it is fresh.
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DocsCommand {
    /// Add Markdown, text and code, or bring it up to date: a file, a folder or a page.
    Add {
        /// A file, a folder, or an https address.
        place: String,
        /// The collection they belong to.
        #[arg(long, default_value = "docs")]
        collection: String,
        /// Where readers find the files: the address that stands before their paths.
        #[arg(long, value_name = "URL")]
        url: Option<String>,
        /// Only say what would be added and removed.
        #[arg(long)]
        dry_run: bool,
    },
    /// List documents.
    List {
        /// Only of this collection.
        #[arg(long)]
        collection: Option<String>,
    },
    /// Remove documents by their sources, or a whole collection.
    Remove {
        /// The sources, as `docs list` shows them.
        sources: Vec<String>,
        /// The collection.
        #[arg(long, default_value = "docs")]
        collection: String,
        /// Remove every document of the collection.
        #[arg(long, conflicts_with = "sources")]
        all: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RedactArgs {
    /// The file; `-` for stdin.
    pub(crate) file: PathBuf,
    /// A file with names to take out as well, one in each line.
    #[arg(long, value_name = "FILE")]
    pub(crate) names: Option<PathBuf>,
}
