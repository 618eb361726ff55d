//! SHA-256 of messages that come in pieces (FIPS 180-4), alone or two at once.
//!
//! One message keeps a core's SHA unit waiting: each round needs the result of the one before. Where the
//! processor has such a unit, the rounds of a second message fill the gaps.

#[cfg(target_arch = "x86_64")]
mod x86;

use sha2::block_api::compress256;

/// Bytes that are compressed at once (§5.2.1).
const BLOCK: usize = 64;

type Block = [u8; BLOCK];

/// The hash value that every message begins with (§5.3.3).
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The digest of a message in the making.
#[derive(Debug, Clone)]
pub(crate) struct Sha256 {
    state: [u32; 8],
    /// The bytes behind the last whole block.
    partial: Block,
    /// How many those are.
    filled: usize,
    /// Bytes of the whole message so far.
    length: u64,
}

impl Sha256 {
    /// No bytes yet.
    pub(crate) fn new() -> Self {
        Self { state: INITIAL, partial: [0; BLOCK], filled: 0, length: 0 }
    }

    /// Adds `bytes`.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        let blocks = self.begin(bytes);
        compress256(&mut self.state, blocks);
    }

    /// Adds bytes to two messages, which takes less time than to add them one after the other.
    pub(crate) fn update_both(messages: [&mut Self; 2], bytes: [&[u8]; 2]) {
        let ([one, other], [its, others]) = (messages, bytes);
        let (blocks, other_blocks) = (one.begin(its), other.begin(others));
        let common = blocks.len().min(other_blocks.len());
        let (blocks, rest) = blocks.split_at(common);
        let (other_blocks, other_rest) = other_blocks.split_at(common);
        compress_two([&mut one.state, &mut other.state], [blocks, other_blocks]);
        compress256(&mut one.state, rest);
        compress256(&mut other.state, other_rest);
    }

    /// Takes `bytes` into account, and gives the whole blocks among them that are still to be compressed.
    fn begin<'b>(&mut self, mut bytes: &'b [u8]) -> &'b [Block] {
        self.length = self.length.wrapping_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if self.filled > 0 {
            let (_, room) = self.partial.split_at_mut(self.filled);
            let (first, rest) = bytes.split_at(room.len().min(bytes.len()));
            if let Some(room) = room.get_mut(..first.len()) {
                room.copy_from_slice(first);
            }
            self.filled = self.filled.saturating_add(first.len());
            if self.filled < BLOCK {
                return &[];
            }
            compress256(&mut self.state, &[self.partial]);
            bytes = rest;
        }
        let (blocks, rest) = bytes.as_chunks();
        if let Some(partial) = self.partial.get_mut(..rest.len()) {
            partial.copy_from_slice(rest);
        }
        self.filled = rest.len();
        blocks
    }

    /// The digest of all that was added.
    pub(crate) fn finish(mut self) -> [u8; 32] {
        // A one, zeros, and the number of bits fill the last block, or one more (§5.1.1).
        let bits = self.length.wrapping_mul(8).to_be_bytes();
        let mut padding = [0; 2 * BLOCK];
        padding[0] = 0x80;
        let zeros = BLOCK.saturating_sub(self.filled);
        let end = if zeros > bits.len() { zeros } else { zeros.saturating_add(BLOCK) };
        let padding = padding.get_mut(..end).unwrap_or_default();
        if let Some(last) = padding.last_chunk_mut() {
            *last = bits;
        }
        self.update(padding);
        let mut digest = [0; 32];
        for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(self.state) {
            *bytes = word.to_be_bytes();
        }
        digest
    }
}

/// Whether two messages at once take less time than one after the other on this processor.
pub(crate) fn is_faster_in_twos() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::Unit::find().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Compresses as many blocks of one message as of another.
fn compress_two(states: [&mut [u32; 8]; 2], blocks: [&[Block]; 2]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(unit) = x86::Unit::find() {
        return unit.compress_two(states, blocks);
    }
    for (state, blocks) in states.into_iter().zip(blocks) {
        compress256(state, blocks);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::Digest as _;

    use super::*;

    /// Bytes without a pattern.
    fn message(seed: u8, length: usize) -> Vec<u8> {
        let mut state = u32::from(seed) + 1;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        (0..length).map(|_| next()).collect()
    }

    fn expected(message: &[u8]) -> [u8; 32] {
        sha2::Sha256::digest(message).into()
    }

    #[test]
    fn every_length_is_padded_as_it_should_be() {
        for length in 0..300 {
            let message = message(1, length);
            let mut alone = Sha256::new();
            alone.update(&message);
            assert_eq!(alone.finish(), expected(&message), "{length}");
        }
    }

    /// Two messages of every length that is less than three blocks and their padding, whatever the other's.
    #[test]
    fn two_at_once_are_what_each_is_alone() {
        let lengths = if cfg!(miri) { (0..140).step_by(23) } else { (0..200).step_by(1) };
        let messages: Vec<_> = lengths
            .map(|length| (message(2, length), message(3, length)))
            .map(|(one, other)| (expected(&one), expected(&other), one, other))
            .collect();
        for (digest, _, one, _) in &messages {
            for (_, other_digest, _, other) in &messages {
                let (mut first, mut second) = (Sha256::new(), Sha256::new());
                Sha256::update_both([&mut first, &mut second], [one, other]);
                assert_eq!(first.finish(), *digest, "{} {}", one.len(), other.len());
                assert_eq!(second.finish(), *other_digest, "{} {}", one.len(), other.len());
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 256 }))]

        #[test]
        fn pieces_make_the_whole(
            pieces in proptest::collection::vec((0_usize..400, 0_usize..400, any::<bool>()), 0..20),
        ) {
            let (mut first, mut second) = (Sha256::new(), Sha256::new());
            let mut wholes = [Vec::new(), Vec::new()];
            for (number, (one, other, at_once)) in (0..).zip(pieces) {
                let (one, other) = (message(number, one), message(number + 100, other));
                if at_once {
                    Sha256::update_both([&mut first, &mut second], [&one, &other]);
                } else {
                    first.update(&one);
                    second.update(&other);
                }
                wholes[0].extend(one);
                wholes[1].extend(other);
            }
            prop_assert_eq!(first.finish(), expected(&wholes[0]));
            prop_assert_eq!(second.finish(), expected(&wholes[1]));
        }
    }
}
