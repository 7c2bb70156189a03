//! What goes into the view, what is asked of it, and what it answers.

use crate::memories::MemoryItem;
use crate::search::words::{self, Side};

/// What is looked through together: its words are weighed against each other and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Area {
    /// The workspace.
    pub workspace: String,
    /// What is in it.
    pub kind: AreaKind,
}

/// What is in an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AreaKind {
    /// Memories of threads.
    Episodic,
    /// Memories of the workspace.
    LongTerm,
    /// Pieces of documents.
    Documents,
}

impl AreaKind {
    pub(super) const fn code(self) -> i64 {
        match self {
            Self::Episodic => 0,
            Self::LongTerm => 1,
            Self::Documents => 2,
        }
    }
}

/// A vector and how it was made; only those made alike can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// How it was made.
    pub embedding: String,
    /// Its numbers, each from -127 to 127.
    pub values: Vec<i8>,
}

/// A memory or a piece, as the view takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDoc {
    /// Which one.
    pub item: MemoryItem,
    /// Where it is looked for.
    pub area: Area,
    /// The thread of an episodic one.
    pub thread_row: Option<i64>,
    /// Its words.
    pub text: String,
    /// Its vector.
    pub vector: Vector,
}

/// Words that are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallWords {
    pub(super) terms: Vec<String>,
}

/// Words of one search that are looked at.
const TERMS_MAX: usize = 32;
/// Words that tell nothing in the languages most people write to agents.
const EMPTY: [&str; 60] = [
    "the", "a", "an", "and", "or", "of", "to", "in", "on", "at", "is", "are", "was", "were", "be",
    "it", "this", "that", "for", "with", "as", "by", "from", "we", "you", "i", "do", "does", "did",
    "what", "which", "how", "der", "die", "das", "und", "ist", "ein", "eine", "wie", "was", "le",
    "la", "les", "un", "une", "et", "est", "de", "des", "el", "los", "que", "en", "y", "co", "jak",
    "jest", "w", "z",
];

impl RecallWords {
    /// The words of a question; words that tell nothing are left out.
    pub fn of(text: &str) -> Self {
        let split = words::split(text, Side::Search).text.to_lowercase();
        let mut terms: Vec<String> = Vec::new();
        for word in split.split(' ').filter(|word| !word.is_empty()) {
            if !EMPTY.contains(&word) && !terms.iter().any(|known| known == word) {
                terms.push(word.to_owned());
            }
        }
        terms.truncate(TERMS_MAX);
        Self { terms }
    }
}

/// One search.
#[derive(Clone, Debug)]
pub struct RecallQuery {
    /// Where to look.
    pub areas: Vec<Area>,
    /// Only in these threads, where memories belong to threads; sorted.
    pub threads: Option<Vec<i64>>,
    /// Words to look for.
    pub words: RecallWords,
    /// The vector to come near to.
    pub vector: Option<Vector>,
    /// How many each of the two ways may answer.
    pub pool: usize,
}

/// Something that may be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Which one.
    pub item: MemoryItem,
    /// Its rank by words, from 1.
    pub by_words: Option<usize>,
    /// Its rank by vectors, from 1.
    pub by_vector: Option<usize>,
}
