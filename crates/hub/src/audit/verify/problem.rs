//! What can be wrong with a trail, in the words an operator reads.

/// The first thing that is wrong with a trail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// An entry says something else than when it was sealed.
    #[error("entry {entry} was altered after seal {seal} was made")]
    EntryAltered {
        /// The entry.
        entry: i64,
        /// The seal over it.
        seal: i64,
    },
    /// An entry holds what no hub writes.
    #[error("entry {entry} cannot be read; it was altered after seal {seal} was made")]
    EntryUnreadable {
        /// The entry.
        entry: i64,
        /// The seal over it.
        seal: i64,
    },
    /// An entry's detail is not the one that it was made with.
    #[error("the detail of entry {entry}, which seal {seal} covers, was rewritten")]
    DetailAltered {
        /// The entry.
        entry: i64,
        /// The seal over it.
        seal: i64,
    },
    /// An entry has a detail that it was not made with: hubs have committed to each before it.
    #[error("entry {entry}, which seal {seal} covers, was given a detail that it was made without")]
    DetailAdded {
        /// The entry.
        entry: i64,
        /// The seal over it.
        seal: i64,
    },
    /// A sealed entry is gone. Numbers may have gaps, so it may be known only roughly which.
    #[error("an entry is missing that was sealed by seal {seal}: {}", range(*.first, *.last))]
    EntryMissing {
        /// The lowest number it can have had.
        first: i64,
        /// The highest number it can have had.
        last: i64,
        /// The seal over it.
        seal: i64,
    },
    /// An entry stands where none was sealed.
    #[error("entry {entry} was inserted after seal {seal} was made")]
    EntryInserted {
        /// The entry.
        entry: i64,
        /// The seal over its place.
        seal: i64,
    },
    /// Two entries have changed places.
    #[error("entry {entry} holds what entry {belongs_to} was when seal {seal} was made")]
    OrderChanged {
        /// The entry.
        entry: i64,
        /// Where its content belongs.
        belongs_to: i64,
        /// The seal over it.
        seal: i64,
    },
    /// A seal holds what no hub writes.
    #[error("seal {seal} cannot be read; it was altered")]
    SealUnreadable {
        /// The seal.
        seal: i64,
    },
    /// A seal is gone.
    #[error("seal {seal} is missing")]
    SealMissing {
        /// The seal.
        seal: i64,
    },
    /// A seal stands where none can be.
    #[error("seal {seal} was inserted; seals count 1, 2, 3")]
    SealInserted {
        /// The seal.
        seal: i64,
    },
    /// A seal does not point to the one before.
    #[error("the chain is broken at seal {seal}: it does not follow from the seal before")]
    ChainBroken {
        /// The seal.
        seal: i64,
    },
    /// The list of entry hashes is not the one that was sealed.
    #[error("seal {seal} was altered: its leaves do not give its root")]
    LeavesAltered {
        /// The seal.
        seal: i64,
    },
    /// The root is not the one that was sealed.
    #[error("seal {seal} was altered: its root is not the one it was sealed with")]
    RootAltered {
        /// The seal.
        seal: i64,
    },
    /// A seal's fields do not give its hash.
    #[error("seal {seal} was altered: its fields do not give its hash")]
    HashMismatch {
        /// The seal.
        seal: i64,
    },
    /// A seal covers other numbers than it says.
    #[error("seal {seal} says that it covers other entries than it does")]
    RangeWrong {
        /// The seal.
        seal: i64,
    },
    /// No public key is at hand for a seal.
    #[error("seal {seal} is signed with key {key_id}, which is not among the trusted keys")]
    UnknownKey {
        /// The seal.
        seal: i64,
        /// The key.
        key_id: String,
    },
    /// A seal was not signed by its key.
    #[error("the signature of seal {seal} is wrong")]
    SignatureWrong {
        /// The seal.
        seal: i64,
    },
    /// The trail ends before the checkpoint.
    #[error(
        "the tail was cut: the checkpoint names seal {expected}, the trail ends with seal {last}"
    )]
    TailCut {
        /// The newest seal there is; 0 when there is none.
        last: i64,
        /// The seal that the checkpoint names.
        expected: i64,
    },
    /// The trail ends before the entry that the verification was to begin with.
    #[error("there is no entry {entry}: the trail ends with {last}")]
    EntryBeyondEnd {
        /// The entry that was asked for.
        entry: i64,
        /// The newest entry there is; 0 when there is none.
        last: i64,
        /// The seal that would be over it at the earliest.
        seal: i64,
    },
    /// The trail had another past when the checkpoint was made.
    #[error("the trail was rewritten: seal {seal} is not the one that the checkpoint names")]
    CheckpointDiffers {
        /// The seal.
        seal: i64,
    },
}

impl Problem {
    /// The first entry concerned, where it is an entry.
    pub fn entry(&self) -> Option<i64> {
        match self {
            Self::EntryAltered { entry, .. }
            | Self::EntryUnreadable { entry, .. }
            | Self::EntryInserted { entry, .. }
            | Self::DetailAltered { entry, .. }
            | Self::DetailAdded { entry, .. }
            | Self::OrderChanged { entry, .. }
            | Self::EntryBeyondEnd { entry, .. }
            | Self::EntryMissing { first: entry, .. } => Some(*entry),
            _ => None,
        }
    }

    /// The first seal concerned.
    pub fn seal(&self) -> i64 {
        match self {
            Self::EntryAltered { seal, .. }
            | Self::EntryUnreadable { seal, .. }
            | Self::DetailAltered { seal, .. }
            | Self::DetailAdded { seal, .. }
            | Self::EntryMissing { seal, .. }
            | Self::EntryBeyondEnd { seal, .. }
            | Self::EntryInserted { seal, .. }
            | Self::OrderChanged { seal, .. }
            | Self::SealUnreadable { seal }
            | Self::SealMissing { seal }
            | Self::SealInserted { seal }
            | Self::ChainBroken { seal }
            | Self::LeavesAltered { seal }
            | Self::RootAltered { seal }
            | Self::HashMismatch { seal }
            | Self::RangeWrong { seal }
            | Self::UnknownKey { seal, .. }
            | Self::SignatureWrong { seal }
            | Self::CheckpointDiffers { seal } => *seal,
            Self::TailCut { last, .. } => last.saturating_add(1),
        }
    }
}

fn range(first: i64, last: i64) -> String {
    if first == last {
        format!("entry {first}")
    } else {
        format!("one of the entries {first} to {last}")
    }
}
