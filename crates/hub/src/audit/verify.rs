//! Verifies a trail from its database and public keys alone, and names the first thing that is wrong.
//!
//! Seals are walked in order. Each is checked by itself and against the one before; only then are its
//! leaves believed, and its entries compared with them one by one. One seal is in memory at a time.

mod entries;
mod problem;
mod read;
mod seals;

use protocol::audit::{Checkpoint, hashes_of};
use store::{SealRow, Store};

use super::error::AuditError;
use super::keys::TrustedKeys;
use entries::Details;
use read::FoundSeal;
use seals::Before;

pub use problem::Problem;

/// Seals read at once.
const SEALS_PER_READ: usize = 16;

/// What to verify a trail against.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// Whose seals are believed.
    pub keys: TrustedKeys,
    /// Begin with the seal over this entry; what is before it is taken as it is. A trail that does not
    /// come so far is not good.
    pub from: Option<i64>,
    /// How far the trail had come at least.
    pub checkpoint: Option<Checkpoint>,
}

/// How far a verification has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Entries verified.
    pub entries_done: u64,
    /// Entries that the seals claim to cover.
    pub entries_total: u64,
}

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Good seals.
    pub seals: u64,
    /// Good entries under them.
    pub entries: u64,
    /// Entries after the last seal: not wrong, only not sealed yet. Counted when nothing is wrong.
    pub unsealed: u64,
    /// The newest good seal's number; 0 when there is none.
    pub last_seal: i64,
    /// The first thing that is wrong.
    pub problem: Option<Problem>,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_good(&self) -> bool {
        self.problem.is_none()
    }
}

/// Verifies a trail; `progress` is told after every seal.
pub async fn verify(
    store: &Store,
    verification: &Verification,
    mut progress: impl FnMut(Progress),
) -> Result<Report, AuditError> {
    let mut walk = Walk {
        store,
        verification,
        before: Before::first(),
        details: Details::default(),
        report: Report::default(),
    };
    walk.report.problem = walk.run(&mut progress).await?.err();
    if walk.report.is_good() {
        let from = walk.before.next_entry();
        let count = read::read(store, move |tx| tx.audit_count(from, i64::MAX)).await?;
        walk.report.unsealed = u64::try_from(count).unwrap_or(0);
    }
    Ok(walk.report)
}

/// A database that fails is the outer error, a trail that is wrong the inner one.
type Checked = Result<Result<(), Problem>, AuditError>;

/// A verification under way.
struct Walk<'a> {
    store: &'a Store,
    verification: &'a Verification,
    before: Before,
    details: Details,
    report: Report,
}

impl Walk<'_> {
    async fn run(&mut self, progress: &mut impl FnMut(Progress)) -> Checked {
        let mut next = match self.begin().await? {
            Ok(next) => next,
            Err(problem) => return Ok(Err(problem)),
        };
        // The total is for show; what cannot be added up is found wrong below.
        let total = read::read(self.store, move |tx| tx.sealed_entries(next)).await.unwrap_or(0);
        let entries_total = u64::try_from(total).unwrap_or(0);
        loop {
            let found = read::seals(self.store, next, SEALS_PER_READ).await?;
            let Some(last) = found.last() else {
                return match self.end() {
                    Ok(()) => self.reaches_its_beginning().await,
                    cut => Ok(cut),
                };
            };
            next = last.id.saturating_add(1);
            for seal in found {
                if let Err(problem) = self.check(seal).await? {
                    return Ok(Err(problem));
                }
                progress(Progress { entries_done: self.report.entries, entries_total });
            }
        }
    }

    /// Takes the seal before the first one that matters as it is; answers where to begin.
    async fn begin(&mut self) -> Result<Result<i64, Problem>, AuditError> {
        let Some(entry) = self.verification.from else { return Ok(Ok(i64::MIN)) };
        let first = read::read(self.store, move |tx| match tx.seal_covering(entry)? {
            Some(id) => Ok(id),
            None => Ok(tx.seal_head()?.map_or(0, |head| head.id).saturating_add(1)),
        });
        let first = first.await?;
        if first <= 1 {
            return Ok(Ok(i64::MIN));
        }
        let found = read::seals(self.store, first - 1, 1).await?;
        let anchor = match found.into_iter().next() {
            Some(FoundSeal { id, row }) if id == first - 1 => row,
            _ => return Ok(Err(Problem::SealMissing { seal: first - 1 })),
        };
        let Some(anchor) = anchor else {
            return Ok(Err(Problem::SealUnreadable { seal: first - 1 }));
        };
        if let Err(problem) = seals::check_alone(&anchor, &self.verification.keys) {
            return Ok(Err(problem));
        }
        self.before = Before::of(&anchor);
        self.report.last_seal = anchor.id;
        let from = self.before.next_entry();
        let look = read::read(self.store, move |tx| tx.has_detail_commitments_before(from));
        self.details.are_committed = look.await?;
        Ok(self.check_earlier_checkpoint(&anchor).await?.map(|()| first))
    }

    /// Whoever names an entry has seen it: a trail that ends before it was cut.
    async fn reaches_its_beginning(&self) -> Checked {
        let Some(entry) = self.verification.from else { return Ok(Ok(())) };
        let ends = read::read(self.store, |tx| Ok((tx.newest_audit_id()?, tx.seal_head()?)));
        let (newest, head) = ends.await?;
        let (seal, sealed) = head.map_or((0, 0), |head| (head.id, head.last_id));
        let last = newest.max(sealed);
        let beyond = Problem::EntryBeyondEnd { entry, last, seal: seal.saturating_add(1) };
        Ok(if entry > last { Err(beyond) } else { Ok(()) })
    }

    /// A checkpoint from before the beginning is compared with its seal alone.
    async fn check_earlier_checkpoint(&self, anchor: &SealRow) -> Checked {
        let Some(checkpoint) = &self.verification.checkpoint else { return Ok(Ok(())) };
        let seal = checkpoint.seal;
        if seal > anchor.id {
            return Ok(Ok(()));
        }
        let hash = read::read(self.store, move |tx| Ok(tx.seal(seal)?.map(|seal| seal.hash)));
        let is_same = hash.await?.is_some_and(|hash| *hash == checkpoint.head);
        Ok(if is_same { Ok(()) } else { Err(Problem::CheckpointDiffers { seal }) })
    }

    async fn check(&mut self, FoundSeal { id, row }: FoundSeal) -> Checked {
        let Some(seal) = row else {
            let unreadable = Err(Problem::SealUnreadable { seal: id });
            return Ok(self.before.check_number(id).and(unreadable));
        };
        let alone = || seals::check_alone(&seal, &self.verification.keys);
        if let Err(problem) = self.before.check(&seal).and_then(|()| alone()) {
            return Ok(Err(problem));
        }
        let leaves = hashes_of(&seal.leaves).unwrap_or_default();
        let range = (self.before.next_entry(), seal.last_id);
        let found = read::entries(self.store, range, leaves.len().saturating_add(1)).await?;
        if let Err(problem) = entries::check(&seal, leaves, &found, &mut self.details) {
            return Ok(Err(problem));
        }
        self.report.seals += 1;
        self.report.entries += leaves.len() as u64;
        self.report.last_seal = seal.id;
        self.before = Before::of(&seal);
        Ok(self.check_checkpoint(&seal))
    }

    fn check_checkpoint(&self, seal: &SealRow) -> Result<(), Problem> {
        let checkpoint = self.verification.checkpoint.as_ref();
        let Some(checkpoint) = checkpoint.filter(|checkpoint| checkpoint.seal == seal.id) else {
            return Ok(());
        };
        // Who begins in the middle cannot count what was before.
        let counted = self.verification.from.is_none();
        if *seal.hash == checkpoint.head
            && seal.last_id == checkpoint.last_id
            && (!counted || self.report.entries == checkpoint.entries)
        {
            Ok(())
        } else {
            Err(Problem::CheckpointDiffers { seal: seal.id })
        }
    }

    fn end(&self) -> Result<(), Problem> {
        let last = self.before.id;
        let cut = self.verification.checkpoint.as_ref().filter(|known| known.seal > last);
        cut.map_or(Ok(()), |known| Err(Problem::TailCut { last, expected: known.seal }))
    }
}
