//! How large the pieces of the index are.

/// Bits whose blocks are stored together: in full segments they fill a page.
pub(super) const SLAB_SLICES: usize = 31;

/// The sizes of blocks, segments and signatures; a file of another shape is built anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContainmentShape {
    /// Bytes of a full block, with what it knows about its messages; a longer message has a block
    /// of its own.
    pub block_bytes: usize,
    /// Messages of a full block.
    pub block_messages: usize,
    /// Blocks of a segment; a multiple of 64, at most 1,024.
    pub segment_blocks: usize,
    /// Bits of a signature; a power of two from 64 to 65,536.
    pub signature_bits: usize,
}

impl Default for ContainmentShape {
    /// A block fits into a page of the file.
    fn default() -> Self {
        Self {
            block_bytes: 4_050,
            block_messages: 128,
            segment_blocks: 1_024,
            signature_bits: 16_384,
        }
    }
}

impl ContainmentShape {
    /// The nearest shape that can be used.
    #[must_use]
    pub(super) fn checked(self) -> Self {
        Self {
            block_bytes: self.block_bytes.clamp(64, 60_000),
            block_messages: self.block_messages.clamp(1, 1_024),
            segment_blocks: self.segment_blocks.next_multiple_of(64).clamp(64, 1_024),
            signature_bits: self.signature_bits.next_power_of_two().clamp(64, 65_536),
        }
    }

    /// The number of a segment's first block.
    pub(super) fn first_block(self, segment: i64) -> i64 {
        segment.saturating_mul(i64::try_from(self.segment_blocks).unwrap_or(i64::MAX))
    }

    /// The segment of a block.
    pub(super) fn segment_of(self, block: i64) -> i64 {
        block.div_euclid(i64::try_from(self.segment_blocks).unwrap_or(i64::MAX))
    }

    /// Bytes of the set of blocks that have one bit.
    pub(super) fn slice_bytes(self) -> usize {
        self.segment_blocks / 8
    }

    /// The slab that holds a segment's blocks with a bit, and where they begin in it.
    pub(super) fn slab_of(self, segment: i64, bit: usize) -> (i64, usize) {
        let slabs = i64::try_from(self.signature_bits.div_ceil(SLAB_SLICES)).unwrap_or(i64::MAX);
        let slab = i64::try_from(bit / SLAB_SLICES).unwrap_or(i64::MAX);
        let slab = segment.saturating_mul(slabs).saturating_add(slab);
        (slab, bit % SLAB_SLICES * self.slice_bytes())
    }

    /// What the file says about its own shape.
    pub(super) fn words(self) -> String {
        format!(
            "{} {} {} {}",
            self.block_bytes, self.block_messages, self.segment_blocks, self.signature_bits
        )
    }
}
