//! What the hooks of agent CLIs call.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// For whom a hook speaks.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HookArgs {
    /// The agent, where neither a token nor the environment says so.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// A hook of Claude Code: reports what its session does. Never blocks it and never fails.
    Claude(HookArgs),
    /// A hook of Codex, in the same way.
    Codex(HookArgs),
    /// Codex' `notify`: reports that a turn has ended, then calls the program that was there before.
    CodexNotify {
        #[command(flatten)]
        hook: HookArgs,
        /// `--then` and the program that was there before with its arguments, and last what Codex says.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// For any other CLI that is run by `waystation run`: reports a turn.
    Turn {
        #[command(flatten)]
        hook: HookArgs,
        /// What happened.
        #[arg(value_enum)]
        happened: TurnHappened,
        /// The program it runs in.
        #[arg(long, default_value = "cli", value_name = "NAME")]
        runtime: String,
    },
    /// Watches a transcript until a notice is in a turn, and reports it.
    #[command(hide = true)]
    ClaudeTurn {
        #[command(flatten)]
        hook: HookArgs,
        /// The wake.
        #[arg(long)]
        wake: String,
        /// Which attempt of it.
        #[arg(long)]
        attempt: Option<i64>,
        /// The session, by Claude Code's own name.
        #[arg(long)]
        session: String,
        /// Its transcript.
        #[arg(long)]
        transcript: PathBuf,
    },
}

/// What happened to a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TurnHappened {
    /// It began.
    Start,
    /// It ended; the program waits for its human.
    End,
    /// The program is left.
    Leave,
}
