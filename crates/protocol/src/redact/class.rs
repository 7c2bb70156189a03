//! What is looked for, and what was found.

use serde::Serialize;

/// A kind of thing that does not belong into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Keys, tokens and passwords.
    ApiKey,
    /// Addresses of mail.
    Email,
    /// International bank account numbers.
    Iban,
    /// Numbers of payment cards.
    Card,
    /// Social security numbers of the United States.
    Ssn,
    /// Addresses of machines.
    Ip,
    /// Numbers that states give to people.
    NationalId,
    /// Numbers of telephones.
    Phone,
    /// Names and handles that the hub knows.
    Name,
}

impl Class {
    /// Every class. Where findings overlap, the earlier class is right.
    pub const ALL: [Self; 9] = [
        Self::ApiKey,
        Self::Email,
        Self::Iban,
        Self::Card,
        Self::Ssn,
        Self::Ip,
        Self::NationalId,
        Self::Phone,
        Self::Name,
    ];

    /// The name in tokens, answers and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::Email => "email",
            Self::Iban => "iban",
            Self::Card => "card",
            Self::Ssn => "ssn",
            Self::NationalId => "national_id",
            Self::Ip => "ip",
            Self::Phone => "phone",
            Self::Name => "name",
        }
    }

    /// Its place in [`Self::ALL`].
    pub const fn index(self) -> usize {
        match self {
            Self::ApiKey => 0,
            Self::Email => 1,
            Self::Iban => 2,
            Self::Card => 3,
            Self::Ssn => 4,
            Self::Ip => 5,
            Self::NationalId => 6,
            Self::Phone => 7,
            Self::Name => 8,
        }
    }
}

impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Something that was found, by its bytes in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// What it is.
    pub class: Class,
    /// What it is more exactly, such as `github` or `pl_pesel`.
    pub kind: &'static str,
}

/// How many of each class were found; never what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; Class::ALL.len()]);

impl Counts {
    /// Counts one more.
    pub fn add(&mut self, class: Class) {
        if let Some(count) = self.0.get_mut(class.index()) {
            *count += 1;
        }
    }

    /// Adds what was counted elsewhere.
    pub fn add_all(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }

    /// How many of a class.
    pub fn of(&self, class: Class) -> u64 {
        self.0.get(class.index()).copied().unwrap_or(0)
    }

    /// How many in all.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The classes that were found, with how many of each.
    pub fn iter(&self) -> impl Iterator<Item = (Class, u64)> {
        Class::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }
}
