//! Ruling out blocks of a segment by their signatures.

use super::filter::Filter;
use super::needle::Needle;
use super::signature::{Label, bits_of_label};
use super::slots::Slots;
use crate::error::Result;

/// So few blocks are read sooner than the signatures that might rule them out.
const READ_AT_ONCE_MAX: usize = 4;
/// More senders or content types than this are not looked for in signatures.
const LABELS_MAX: usize = 16;

/// In how many of the blocks that the caller may see a needle may occur.
pub(super) struct Spread {
    pub(super) blocks: usize,
    /// By needle.
    pub(super) with: Vec<usize>,
}

impl Spread {
    /// Of so many needles, in no block yet.
    pub(super) fn of(needles: usize) -> Self {
        Self { blocks: 0, with: vec![0; needles] }
    }
}

/// What signatures are asked for.
pub(super) struct Narrowing<'a> {
    needles: &'a [Needle],
    /// The bits of each sender, and of each content type, of which one must be there.
    labels: Vec<Vec<Vec<usize>>>,
}

impl<'a> Narrowing<'a> {
    /// For a filter and needles.
    pub(super) fn new(filter: &Filter, needles: &'a [Needle], signature_bits: usize) -> Self {
        let senders = filter.senders().map(|ids| ids.iter().map(|id| Label::Sender(*id)).collect());
        let codes = filter.content_types();
        let codes = codes.map(|codes| codes.iter().map(|code| Label::ContentType(*code)).collect());
        let wanted: [Option<Vec<Label>>; 2] = [senders, codes];
        let bits = |label: Label| bits_of_label(label, signature_bits);
        let few = wanted.into_iter().flatten().filter(|labels| labels.len() <= LABELS_MAX);
        let labels = few.map(|labels| labels.into_iter().map(bits).collect()).collect();
        Self { needles, labels }
    }

    /// Reads signatures until the blocks are few. `slots_with` tells which blocks have a bit.
    pub(super) fn narrow(
        &self,
        visible: Slots,
        mut slots_with: impl FnMut(usize) -> Result<Slots>,
    ) -> Result<Slots> {
        let mut slots = self.narrow_by_labels(visible, &mut slots_with)?;
        for bit in self.needles.iter().flat_map(|needle| &needle.bits) {
            if slots.count() <= READ_AT_ONCE_MAX {
                break;
            }
            slots &= slots_with(*bit)?;
        }
        Ok(slots)
    }

    /// Reads all signatures, to know in how many blocks each needle may occur.
    pub(super) fn narrow_and_count(
        &self,
        visible: Slots,
        spread: &mut Spread,
        mut slots_with: impl FnMut(usize) -> Result<Slots>,
    ) -> Result<Slots> {
        let mut slots = self.narrow_by_labels(visible, &mut slots_with)?;
        spread.blocks += visible.count();
        for (needle, count) in self.needles.iter().zip(&mut spread.with) {
            let mut with = visible;
            for bit in &needle.bits {
                with &= slots_with(*bit)?;
            }
            *count += with.count();
            slots &= with;
        }
        Ok(slots)
    }

    fn narrow_by_labels(
        &self,
        visible: Slots,
        slots_with: &mut impl FnMut(usize) -> Result<Slots>,
    ) -> Result<Slots> {
        let mut slots = visible;
        for labels in &self.labels {
            if slots.count() <= READ_AT_ONCE_MAX {
                break;
            }
            let mut any = Slots::default();
            for bits in labels {
                let mut with = slots;
                for bit in bits {
                    with &= slots_with(*bit)?;
                }
                any.join(with);
            }
            slots = any;
        }
        Ok(slots)
    }
}
