//! Which importer reads a file: the surest of them, or the one whose service is named.

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
    let mut importers = connectors::ALL.iter().flat_map(|kind| kind.importers().iter().copied());
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
    let path = args.path.display();
    let Some(service) = &args.service else {
        let known: Vec<String> = importers
            .map(|importer| format!("  {:<10} {}", importer.service(), importer.format()))
            .collect();
        bail!(
            "{path} is no export that is understood. These are:\n{}\n\
             If it is one of them, say which with --service, and tell us that it was not found out",
            known.join("\n")
        );
    };
    // Whoever names the service knows better than a look at the beginning.
    match importers.find(wanted) {
        Some(importer) => Ok(Choice { importer, what: "as --service says".to_owned() }),
        None => bail!(
            "{service} gives no exports that could be imported; waystation link add {service} \
             connects an account"
        ),
    }
}
