//! What an import did, for people and for scripts.

use anyhow::Result;
use connector_api::Importer;
use serde_json::{Value, json};

use super::parcel::Counts;
use super::send::Taken;
use crate::commands::link;
use crate::commands::progress::grouped;
use crate::output;

/// What an import did.
pub(super) struct Report {
    source: String,
    format: &'static str,
    what: String,
    /// Nothing was stored.
    pub(super) is_dry: bool,
    /// Messages that an earlier run has taken.
    pub(super) messages_before: u64,
    pub(super) taken: Taken,
    counts: Counts,
}

impl Report {
    pub(super) fn new(source: &str, importer: &dyn Importer, what: &str) -> Self {
        Self {
            source: source.to_owned(),
            format: importer.format(),
            what: what.to_owned(),
            is_dry: false,
            messages_before: 0,
            taken: Taken::default(),
            counts: Counts::default(),
        }
    }

    pub(super) fn count(&mut self, counts: Counts) {
        self.counts = counts;
    }

    pub(super) fn print(&self, as_json: bool) -> Result<()> {
        if as_json {
            return output::json(&self.json());
        }
        output::line(output::safe(&self.text()).trim_end())
    }

    fn json(&self) -> Value {
        let skipped: Vec<Value> = self
            .counts
            .skipped_first
            .iter()
            .map(|skipped| json!({ "place": skipped.place, "reason": skipped.reason }))
            .collect();
        json!({
            "source": self.source,
            "format": self.format,
            "found": self.what,
            "dry_run": self.is_dry,
            "messages_read": self.counts.messages,
            "messages_added": self.taken.messages_added,
            "messages_known": self.taken.messages_known,
            "messages_changed": self.taken.messages_changed,
            "messages_before": self.messages_before,
            "chats_added": self.taken.chats_added,
            "skipped": self.counts.skipped,
            "skipped_first": skipped,
        })
    }

    fn text(&self) -> String {
        let mut lines = vec![format!("{}: {}", self.format, self.what)];
        if self.is_dry {
            lines.push(format!(
                "  would take {} of {} and {} into {}",
                counted(self.counts.messages, "message", "messages"),
                counted(self.counts.chats, "chat", "chats"),
                counted(self.counts.people, "person", "people"),
                self.source
            ));
        } else {
            lines.extend(self.taken_lines());
        }
        if self.counts.skipped > 0 {
            lines.push(format!("  {} left out:", grouped(self.counts.skipped)));
            let shown = self.counts.skipped_first.iter();
            lines.extend(shown.map(|one| format!("    {}: {}", one.place, one.reason)));
            let shown = u64::try_from(self.counts.skipped_first.len()).unwrap_or(u64::MAX);
            let rest = self.counts.skipped.saturating_sub(shown);
            if rest > 0 {
                lines.push(format!("    and {} more", grouped(rest)));
            }
        }
        if self.is_dry {
            lines.push("Nothing was stored; leave --dry-run out to do it.".to_owned());
        } else if self.counts.messages > 0 || self.messages_before > 0 {
            lines.push(link::next_steps(&self.source));
        }
        lines.join("\n")
    }

    fn taken_lines(&self) -> Vec<String> {
        let Taken { chats_added, messages_added, messages_known, messages_changed } = self.taken;
        let mut lines = vec![format!(
            "  {} in {} ({})",
            counted(messages_added, "new message", "new messages"),
            self.source,
            counted(chats_added, "new chat", "new chats")
        )];
        if messages_known > 0 {
            lines.push(format!("  {} known already", grouped(messages_known)));
        }
        if messages_changed > 0 {
            lines.push(format!("  {} changed since", grouped(messages_changed)));
        }
        if self.messages_before > 0 {
            let before = grouped(self.messages_before);
            lines.push(format!("  {before} taken by an earlier import of this file"));
        }
        lines
    }
}

/// `1 new chat`, `2,000 new chats`.
fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}
