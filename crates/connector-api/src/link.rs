//! What a person gives to connect an account.

use std::collections::BTreeMap;

use protocol::Secret;

use crate::error::{ConnectorError, Result};

/// One thing that a link asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in settings: `bot_token`.
    pub name: &'static str,
    /// How a person is asked for it.
    pub prompt: &'static str,
    /// Where to get it, and what it looks like.
    pub help: &'static str,
    /// What stands there unless something is given; `None` where something must be given.
    pub default: Option<&'static str>,
    /// Whether it must never be shown.
    pub is_secret: bool,
}

/// What was given for a link.
#[derive(Clone, Debug, Default)]
pub struct LinkSettings {
    /// What may be shown.
    pub plain: BTreeMap<String, String>,
    /// What may not.
    pub secrets: BTreeMap<String, Secret<String>>,
}

impl LinkSettings {
    /// Sorts given values into plain and secret ones, and fills in the defaults of a service.
    pub fn sorted(fields: &[Field], given: &BTreeMap<String, String>) -> Result<Self> {
        let mut settings = Self::default();
        for name in given.keys() {
            if fields.iter().all(|field| field.name != name) {
                let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
                return Err(ConnectorError::Setting {
                    field: name.clone(),
                    reason: format!("is not asked for; known are {}", known.join(", ")),
                });
            }
        }
        for field in fields {
            let value = given.get(field.name).cloned().or(field.default.map(str::to_owned));
            let Some(value) = value else {
                let reason = format!("is missing. {}", field.help);
                return Err(ConnectorError::Setting { field: field.name.to_owned(), reason });
            };
            if field.is_secret {
                settings.secrets.insert(field.name.to_owned(), Secret::new(value));
            } else {
                settings.plain.insert(field.name.to_owned(), value);
            }
        }
        Ok(settings)
    }

    /// A plain setting; empty where nothing was given.
    pub fn text(&self, name: &str) -> &str {
        self.plain.get(name).map_or("", String::as_str)
    }

    /// A secret; empty where nothing was given.
    pub fn secret(&self, name: &str) -> &str {
        self.secrets.get(name).map_or("", |secret| secret.expose().as_str())
    }
}
