//! Sets of tools: which of them an MCP client is shown. What it may call is another matter: its scopes.

use std::fmt;

/// Tools that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Toolset {
    /// Threads between agents and people.
    Threads,
    /// People's chats elsewhere.
    Chats,
    /// Who is there, and who is woken.
    Wakes,
    /// Work of the relay, its tools, its proposals and its memory.
    Relay,
}

impl Toolset {
    /// Every set, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::Threads, Self::Chats, Self::Wakes, Self::Relay];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Chats => "chats",
            Self::Wakes => "wakes",
            Self::Relay => "relay",
        }
    }

    /// The set of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }
}

/// Some sets of tools. By default those that every agent needs, which are small enough to be shown
/// always.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Toolsets(u8);

/// The name of all sets together.
const ALL: &str = "all";

impl Toolsets {
    /// Every set.
    pub const ALL: Self = Self(0b1111);

    /// These sets.
    pub const fn of(sets: &[Toolset]) -> Self {
        let mut bits = 0;
        let mut rest = sets;
        while let [first, tail @ ..] = rest {
            bits |= 1 << (*first as u8);
            rest = tail;
        }
        Self(bits)
    }

    /// Whether a set is among them.
    pub const fn has(self, set: Toolset) -> bool {
        self.0 & (1 << (set as u8)) != 0
    }

    /// The names, in the order of the documentation.
    pub fn names(self) -> Vec<&'static str> {
        Toolset::ALL.into_iter().filter(|set| self.has(*set)).map(Toolset::name).collect()
    }
}

impl Default for Toolsets {
    fn default() -> Self {
        Self::of(&[Toolset::Threads, Toolset::Chats])
    }
}

impl fmt::Display for Toolsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(","))
    }
}

impl fmt::Debug for Toolsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A name that is no set of tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no toolset {0:?}; name some of threads, chats, wakes, relay, or all")]
pub struct UnknownToolset(pub String);

impl std::str::FromStr for Toolsets {
    type Err = UnknownToolset;

    /// Reads names with commas or spaces between them; none at all are those of the default.
    fn from_str(text: &str) -> Result<Self, UnknownToolset> {
        let names = text.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty());
        let mut sets = Self(0);
        for name in names {
            sets = match (name, Toolset::from_name(name)) {
                (ALL, _) => Self::ALL,
                (_, Some(set)) => Self(sets.0 | (1 << (set as u8))),
                _ => return Err(UnknownToolset(name.chars().take(40).collect())),
            };
        }
        Ok(if sets.0 == 0 { Self::default() } else { sets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_survive_their_names() {
        let sets: Toolsets = "relay, threads".parse().unwrap();
        assert_eq!(sets.to_string(), "threads,relay");
        assert_eq!("all".parse(), Ok(Toolsets::ALL));
        assert_eq!("".parse(), Ok(Toolsets::default()));
        assert_eq!(Toolsets::of(&Toolset::ALL), Toolsets::ALL);
        assert_eq!("threads,nope".parse::<Toolsets>(), Err(UnknownToolset("nope".to_owned())));
    }
}
