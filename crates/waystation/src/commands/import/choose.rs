//! Which importer reads a file: the surest of them.

use anyhow::{Result, bail};
use connector_api::{Importer, Probe};

use super::look::Found;
use crate::cli::ImportArgs;

/// The importer, and what it found.
pub(super) struct Choice {
    pub(super) importer: &'static dyn Importer,
    pub(super) what: String,
}

/// Asks every importer what a file is.
pub(super) fn choose(args: &ImportArgs, found: &Found) -> Result<Choice> {
    let probe = Probe { path: &args.path, head: &found.head, names: &found.names };
    let importers = connectors::ALL.iter().flat_map(|kind| kind.importers().iter().copied());
    let wanted = |importer: &&dyn Importer| {
        args.service.as_deref().is_none_or(|service| importer.service() == service)
    };
    let detected = importers
        .clone()
        .filter(wanted)
        .filter_map(|importer| importer.detect(&probe).map(|detected| (importer, detected)))
        .max_by_key(|(_, detected)| detected.confidence);
    if let Some((importer, detected)) = detected {
        return Ok(Choice { importer, what: detected.what });
    }
    let known: Vec<String> = importers
        .filter(wanted)
        .map(|importer| format!("  {:<10} {}", importer.service(), importer.format()))
        .collect();
    let path = args.path.display();
    match (&args.service, known.is_empty()) {
        (Some(service), true) => bail!(
            "{service} gives no exports that could be imported; waystation link add {service} \
             connects an account"
        ),
        (Some(service), false) => bail!(
            "{path} is not an export of {service} that is understood. These are:\n{}",
            known.join("\n")
        ),
        (None, _) => bail!(
            "{path} is no export that is understood. These are:\n{}\n\
             If it is one of them, say which with --service, and tell us that it was not found out",
            known.join("\n")
        ),
    }
}
