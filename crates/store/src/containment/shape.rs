//! How large the pieces of the index are.

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
    /// Three blocks fit into a page of the file.
    fn default() -> Self {
        Self {
            block_bytes: 5_400,
            block_messages: 128,
            segment_blocks: 1_024,
            signature_bits: 8_192,
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

    /// What the file says about its own shape.
    pub(super) fn words(self) -> String {
        format!(
            "{} {} {} {}",
            self.block_bytes, self.block_messages, self.segment_blocks, self.signature_bits
        )
    }
}
