//! SHA-256 (FIPS 180-4) of one message, or of several at once.

#![expect(
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "a violated assumption must not be ignored: a wrong digest would be the worst error here"
)]

use sha2::block_api::compress256;

use super::lanes::{BLOCK_BYTES, Block, Stream, Units, compress};

/// The initial hash value (§5.3.3).
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

/// An incremental SHA-256.
#[derive(Debug, Clone)]
pub(crate) struct Sha256 {
    state: [u32; 8],
    /// The bytes after the last complete block.
    partial: Block,
    /// Number of bytes in `partial`.
    filled: usize,
    /// Number of bytes added so far.
    length: u64,
}

impl Sha256 {
    /// Starts without bytes.
    pub(crate) fn new() -> Self {
        Self { state: INITIAL, partial: [0; BLOCK_BYTES], filled: 0, length: 0 }
    }

    /// Adds `bytes`.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        let blocks = self.begin(bytes);
        compress256(&mut self.state, blocks);
    }

    /// Adds bytes to several messages at once, which is faster if [`at_once`](super::lanes::at_once) says so.
    pub(crate) fn update_all<'m>(messages: impl Iterator<Item = (&'m mut Self, &'m [u8])>) {
        Self::update_all_by(Units::find(), messages);
    }

    fn update_all_by<'m>(units: Units, messages: impl Iterator<Item = (&'m mut Self, &'m [u8])>) {
        let begin = |(message, bytes): (&'m mut Self, &'m [u8])| {
            let blocks = message.begin(bytes);
            Stream { state: &mut message.state, blocks }
        };
        compress(units, messages.map(begin).collect());
    }

    /// Computes the digests of several messages at once, which is faster if [`at_once`](super::lanes::at_once) says so.
    #[cfg(feature = "full")]
    pub(crate) fn of_each(messages: &[&[u8]]) -> Vec<[u8; 32]> {
        Self::of_each_by(Units::find(), messages)
    }

    #[cfg(feature = "full")]
    fn of_each_by(units: Units, messages: &[&[u8]]) -> Vec<[u8; 32]> {
        let mut hashers = vec![Self::new(); messages.len()];
        Self::update_all_by(units, hashers.iter_mut().zip(messages.iter().copied()));
        let ends: Vec<_> = hashers.iter().map(Self::last_blocks).collect();
        let streams = hashers.iter_mut().zip(&ends);
        let streams = streams
            .map(|(message, end)| Stream { state: &mut message.state, blocks: end.blocks() });
        compress(units, streams.collect());
        hashers.iter().map(Self::digest).collect()
    }

    /// Counts and buffers `bytes`, and returns the complete blocks that are still to be compressed.
    fn begin<'b>(&mut self, mut bytes: &'b [u8]) -> &'b [Block] {
        let length = self.length.checked_add(bytes.len() as u64);
        self.length = length.expect("messages are below 2^64 bytes");
        if self.filled > 0 {
            let (_, room) = self.partial.split_at_mut(self.filled);
            let (first, rest) = bytes.split_at(room.len().min(bytes.len()));
            room[..first.len()].copy_from_slice(first);
            self.filled += first.len();
            if self.filled < BLOCK_BYTES {
                return &[];
            }
            compress256(&mut self.state, &[self.partial]);
            bytes = rest;
        }
        let (blocks, rest) = bytes.as_chunks();
        self.partial[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
        blocks
    }

    /// Returns the digest of all bytes added.
    pub(crate) fn finish(mut self) -> [u8; 32] {
        let end = self.last_blocks();
        compress256(&mut self.state, end.blocks());
        self.digest()
    }

    /// Returns the last one or two blocks: the rest of the message, a one bit, zeros, and the length in bits (§5.1.1).
    fn last_blocks(&self) -> LastBlocks {
        // Longer messages have no digest (§1).
        let bits = self.length.checked_mul(8).expect("less than 2^64 bits").to_be_bytes();
        let count = if self.filled + 1 + bits.len() > BLOCK_BYTES { 2 } else { 1 };
        let mut end = LastBlocks { blocks: [[0; BLOCK_BYTES]; 2], count };
        let bytes = end.blocks.as_flattened_mut();
        bytes[..self.filled].copy_from_slice(&self.partial[..self.filled]);
        bytes[self.filled] = 0x80;
        bytes[count * BLOCK_BYTES - bits.len()..count * BLOCK_BYTES].copy_from_slice(&bits);
        end
    }

    fn digest(&self) -> [u8; 32] {
        let mut digest = [0; 32];
        digest.as_chunks_mut().0.copy_from_slice(&self.state.map(u32::to_be_bytes));
        digest
    }
}

/// The padded end of a message.
struct LastBlocks {
    blocks: [Block; 2],
    count: usize,
}

impl LastBlocks {
    fn blocks(&self) -> &[Block] {
        &self.blocks[..self.count]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::Digest as _;

    use super::*;

    /// Pseudorandom bytes.
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
    fn every_length_is_padded_correctly() {
        for length in 0..300 {
            let message = message(1, length);
            let mut alone = Sha256::new();
            alone.update(&message);
            assert_eq!(alone.finish(), expected(&message), "{length}");
        }
    }

    /// Tests all numbers of lanes with all boundary lengths, equal and mixed, in one piece and split. Each digest must
    /// equal that of another implementation.
    #[test]
    fn every_implementation_matches_another() {
        let mut lengths = vec![0, 1, 55, 56, 63, 64, 65, 119, 120, 127, 128, 129, 183, 184];
        lengths
            .extend([3, 8, 15, 16, 17, 64].iter().flat_map(|k| [k * 64 - 1, k * 64, k * 64 + 1]));
        let counts: Vec<usize> = if cfg!(miri) { vec![2, 9, 16] } else { (1..=18).collect() };
        if cfg!(miri) {
            lengths.truncate(8);
        }
        for &count in &counts {
            for first in 0..lengths.len() {
                for step in [0, 1, 5] {
                    let texts: Vec<_> = (0..count)
                        .map(|number| {
                            let length = lengths[(first + step * number) % lengths.len()];
                            message(u8::try_from(number).unwrap(), length)
                        })
                        .collect();
                    let wanted: Vec<_> = texts.iter().map(|text| expected(text)).collect();
                    let texts: Vec<_> = texts.iter().map(|text| &**text).collect();
                    for units in Units::every() {
                        assert_eq!(Sha256::of_each_by(units, &texts), wanted);
                        let mut messages = vec![Sha256::new(); count];
                        let cut = |text: &[u8]| text.len() * (first + 1) / (lengths.len() + 1);
                        let heads = texts.iter().map(|text| &text[..cut(text)]);
                        Sha256::update_all_by(units, messages.iter_mut().zip(heads));
                        let tails = texts.iter().map(|text| &text[cut(text)..]);
                        Sha256::update_all_by(units, messages.iter_mut().zip(tails));
                        let found: Vec<_> = messages.into_iter().map(Sha256::finish).collect();
                        assert_eq!(found, wanted, "{count} messages");
                    }
                }
            }
        }
    }

    fn update_all<'b>(messages: &mut [Sha256], bytes: impl IntoIterator<Item = &'b [u8]>) {
        let bytes: Vec<_> = bytes.into_iter().collect();
        Sha256::update_all(messages.iter_mut().zip(bytes));
    }

    /// Tests pairs of messages of every length below three blocks and their padding.
    #[test]
    fn two_at_once_match_each_alone() {
        let lengths = if cfg!(miri) { (0..140).step_by(23) } else { (0..200).step_by(1) };
        let messages: Vec<_> = lengths
            .map(|length| (message(2, length), message(3, length)))
            .map(|(one, other)| (expected(&one), expected(&other), one, other))
            .collect();
        for (digest, _, one, _) in &messages {
            for (_, other_digest, _, other) in &messages {
                let mut both = [Sha256::new(), Sha256::new()];
                update_all(&mut both, [&**one, other]);
                let [first, second] = both;
                assert_eq!(first.finish(), *digest, "{} {}", one.len(), other.len());
                assert_eq!(second.finish(), *other_digest, "{} {}", one.len(), other.len());
            }
        }
    }

    /// Tests fewer and more messages than lanes, each of another length.
    #[test]
    fn many_at_once_match_each_alone() {
        let counts: &[usize] =
            if cfg!(miri) { &[9, 17] } else { &[1, 2, 3, 8, 9, 10, 15, 16, 17, 31, 32, 33, 50] };
        for &count in counts {
            for length in [0, 1, 55, 56, 63, 64, 65, 127, 128, 1000] {
                let texts: Vec<_> = (0..count)
                    .map(|number| {
                        message(u8::try_from(number).unwrap(), length + number * 37 % 200)
                    })
                    .collect();
                let mut messages = vec![Sha256::new(); count];
                update_all(&mut messages, texts.iter().map(|text| &**text));
                for (message, text) in messages.into_iter().zip(&texts) {
                    assert_eq!(message.finish(), expected(text), "{count} of about {length}");
                }
                let texts: Vec<_> = texts.iter().map(|text| &**text).collect();
                for (digest, text) in Sha256::of_each(&texts).into_iter().zip(texts) {
                    assert_eq!(digest, expected(text), "{count} of about {length}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 256 }))]

        #[test]
        fn pieces_give_the_digest_of_the_complete_message(
            rounds in proptest::collection::vec(proptest::collection::vec(0_usize..400, 0..20), 0..8),
        ) {
            let mut messages = vec![Sha256::new(); 20];
            let mut wholes = vec![Vec::new(); 20];
            for (number, lengths) in (0..).zip(rounds) {
                let pieces: Vec<_> =
                    lengths.into_iter().map(|length| message(number, length)).collect();
                update_all(&mut messages[..pieces.len()], pieces.iter().map(|piece| &**piece));
                for (whole, piece) in wholes.iter_mut().zip(pieces) {
                    whole.extend(piece);
                }
            }
            for (message, whole) in messages.into_iter().zip(wholes) {
                prop_assert_eq!(message.finish(), expected(&whole));
            }
        }
    }
}
