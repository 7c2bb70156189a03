//! Connecting agents' programs: which lines of which files change, shown before, undone afterwards.
mod apply;
mod claude_servers;
mod claude_settings;
mod codex_config;
mod edited;
mod files;
mod json_spans;
mod json_text;
mod plan;
mod record;
mod report;
mod run;
mod station;

use edited::{Edited, drop_if_empty};
use plan::Scope;
pub(crate) use plan::{Connected, codex_trusts_hooks, is_connected};
pub(crate) use run::run;

#[cfg(test)]
mod tests {
    use super::station::Station;

    pub(super) fn station() -> Station {
        Station {
            program: "/opt/bin/waystation".into(),
            agent: "coder".to_owned(),
            data: None,
            config: None,
        }
    }
}
