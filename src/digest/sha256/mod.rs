//! SHA-256 of messages that come in pieces (FIPS 180-4), alone or several at once.
//!
//! One message keeps a core waiting: each round needs the result of the one before. Where the processor has
//! instructions for SHA-256, the rounds of a second message fill the gaps; where it has registers for a word of
//! sixteen messages, the same instruction does a round of all of them.

#[cfg(target_arch = "x86_64")]
mod x86;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sha2::block_api::compress256;

#[cfg(target_arch = "x86_64")]
use self::x86::{Avx512, Sha};

/// Bytes that are compressed at once (§5.2.1).
const BLOCK: usize = 64;

type Block = [u8; BLOCK];

/// Messages that registers with a word of each take at once.
const LANES: usize = 16;

/// From so many messages on, sixteen at once take less time than two after two, where the processor does both.
const WORTH_LANES: usize = 9;

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

    /// Adds bytes to several messages, which takes less time than to add them one after the other where
    /// [`at_once`] says so.
    pub(crate) fn update_all<'m>(messages: impl Iterator<Item = (&'m mut Self, &'m [u8])>) {
        let begin = |(message, bytes): (&'m mut Self, &'m [u8])| {
            let blocks = message.begin(bytes);
            Stream { state: &mut message.state, blocks }
        };
        compress_all(messages.map(begin).collect());
    }

    /// The digests of several messages, which take less time than one after the other where [`at_once`] says so.
    pub(crate) fn of_each(messages: &[&[u8]]) -> Vec<[u8; 32]> {
        let mut hashers = vec![Self::new(); messages.len()];
        Self::update_all(hashers.iter_mut().zip(messages.iter().copied()));
        let ends: Vec<_> = hashers.iter().map(Self::last_blocks).collect();
        let streams = hashers.iter_mut().zip(&ends);
        compress_all(
            streams
                .map(|(message, end)| Stream { state: &mut message.state, blocks: end.blocks() })
                .collect(),
        );
        hashers.iter().map(Self::digest).collect()
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
        let end = self.last_blocks();
        compress256(&mut self.state, end.blocks());
        self.digest()
    }

    /// What is left of the message, with a one, zeros, and the number of its bits: they fill the last block, or one
    /// more (§5.1.1).
    fn last_blocks(&self) -> LastBlocks {
        let mut end = LastBlocks { bytes: [0; 2 * BLOCK], count: 1 };
        let (partial, rest) = end.bytes.split_at_mut(self.filled);
        partial.copy_from_slice(self.partial.get(..self.filled).unwrap_or_default());
        if let Some(one) = rest.first_mut() {
            *one = 0x80;
        }
        let bits = self.length.wrapping_mul(8).to_be_bytes();
        if self.filled.saturating_add(1).saturating_add(bits.len()) > BLOCK {
            end.count = 2;
        }
        if let Some(last) = end.bytes.as_chunks_mut::<BLOCK>().0.get_mut(end.count - 1)
            && let Some(last) = last.last_chunk_mut()
        {
            *last = bits;
        }
        end
    }

    fn digest(&self) -> [u8; 32] {
        let mut digest = [0; 32];
        for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(self.state) {
            *bytes = word.to_be_bytes();
        }
        digest
    }
}

/// The padded end of a message.
struct LastBlocks {
    bytes: [u8; 2 * BLOCK],
    count: usize,
}

impl LastBlocks {
    fn blocks(&self) -> &[Block] {
        self.bytes.as_chunks().0.get(..self.count).unwrap_or_default()
    }
}

/// Blocks of one message that are still to be compressed.
struct Stream<'m> {
    state: &'m mut [u32; 8],
    blocks: &'m [Block],
}

/// Compresses all blocks of several messages.
fn compress_all(mut streams: Vec<Stream<'_>>) {
    loop {
        streams.retain(|stream| !stream.blocks.is_empty());
        if streams.is_empty() {
            return;
        }
        compress_some(&mut streams);
    }
}

/// Compresses blocks of as many messages as there is something for, until one of those has no more.
fn compress_some(streams: &mut [Stream<'_>]) {
    #[cfg(target_arch = "x86_64")]
    {
        if streams.len() >= WORTH_LANES
            && let Some(unit) = Avx512::find()
        {
            return compress_lanes(unit, streams);
        }
        if let [one, other, ..] = streams
            && let Some(unit) = Sha::find()
        {
            let common = one.blocks.len().min(other.blocks.len());
            let blocks = [one.take(common), other.take(common)];
            return unit.compress_two([one.state, other.state], blocks);
        }
    }
    if let [stream, ..] = streams {
        let blocks = stream.take(stream.blocks.len());
        compress256(stream.state, blocks);
    }
}

/// Sixteen messages at most, each in a lane of its own; what is in the others is lost.
#[cfg(target_arch = "x86_64")]
fn compress_lanes(unit: Avx512, streams: &mut [Stream<'_>]) {
    let mut states = [[0; LANES]; 8];
    let common = streams.iter().take(LANES).map(|stream| stream.blocks.len()).min().unwrap_or(0);
    let mut blocks = [streams.first().map_or(&[][..], |first| first.blocks); LANES];
    for (lane, (stream, blocks)) in streams.iter_mut().zip(&mut blocks).enumerate() {
        *blocks = stream.take(common);
        for (words, word) in states.iter_mut().zip(&*stream.state) {
            if let Some(of_lane) = words.get_mut(lane) {
                *of_lane = *word;
            }
        }
    }
    unit.compress_sixteen(&mut states, blocks);
    for (lane, stream) in streams.iter_mut().take(LANES).enumerate() {
        for (words, word) in states.iter().zip(&mut *stream.state) {
            if let Some(of_lane) = words.get(lane) {
                *word = *of_lane;
            }
        }
    }
}

impl<'m> Stream<'m> {
    /// The first blocks, which are then no longer there.
    fn take(&mut self, count: usize) -> &'m [Block] {
        let (first, rest) = self.blocks.split_at(count.min(self.blocks.len()));
        self.blocks = rest;
        first
    }
}

/// How many messages at once take less time than one after the other on this processor: the most, then fewer.
pub(crate) fn at_once() -> &'static [usize] {
    #[cfg(target_arch = "x86_64")]
    return match (Avx512::find(), Sha::find()) {
        (Some(_), Some(_)) => &[LANES, 2],
        (Some(_), None) => &[LANES],
        (None, Some(_)) => &[2],
        (None, None) => &[],
    };
    #[cfg(not(target_arch = "x86_64"))]
    return &[];
}

/// How long messages of these sizes take when so many are hashed at once, and one that is done makes room for the
/// next: as long as so many bytes of one alone.
pub(crate) fn time_at_once(sizes: &[u64], width: usize) -> u64 {
    let mut waiting = sizes.iter().copied();
    let mut ends: BinaryHeap<Reverse<u64>> =
        waiting.by_ref().take(width.max(1)).map(Reverse).collect();
    let (mut passed, mut time) = (0_u64, 0_u64);
    // Until the shortest ends, all go on by as many bytes.
    while let Some(Reverse(end)) = ends.peek().copied() {
        time = time.saturating_add(time_of_each(ends.len(), end.saturating_sub(passed)));
        passed = end;
        ends.pop();
        ends.extend(waiting.next().map(|size| Reverse(passed.saturating_add(size))));
    }
    time
}

/// The same of so many messages of one size.
fn time_of_each(count: usize, size: u64) -> u64 {
    let has = |most| at_once().contains(&most);
    let wide = |count| u64::try_from(count).unwrap_or(u64::MAX);
    if count >= WORTH_LANES && has(LANES) {
        // Sixteen last as long as five and a third of them.
        return (size / 3).saturating_mul(wide(LANES));
    }
    let (twos, ones) = if has(2) { (count / 2, count % 2) } else { (0, count) };
    // Two last four thirds as long as one of them.
    let of_twos = (size / 3).saturating_mul(4).saturating_mul(wide(twos));
    of_twos.saturating_add(size.saturating_mul(wide(ones)))
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

    fn update_all<'b>(messages: &mut [Sha256], bytes: impl IntoIterator<Item = &'b [u8]>) {
        let bytes: Vec<_> = bytes.into_iter().collect();
        Sha256::update_all(messages.iter_mut().zip(bytes));
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
                let mut both = [Sha256::new(), Sha256::new()];
                update_all(&mut both, [&**one, other]);
                let [first, second] = both;
                assert_eq!(first.finish(), *digest, "{} {}", one.len(), other.len());
                assert_eq!(second.finish(), *other_digest, "{} {}", one.len(), other.len());
            }
        }
    }

    /// As many messages as there are lanes, fewer and more, each with a length of its own.
    #[test]
    fn many_at_once_are_what_each_is_alone() {
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

    #[test]
    fn more_at_once_take_less_time_than_one_after_the_other() {
        for &most in at_once() {
            let sizes = vec![3 << 20; most];
            let at_once = time_at_once(&sizes, most);
            assert!(at_once < sizes.iter().sum(), "{most}");
            // Those that follow find room as soon as there is any.
            let twice = [&*sizes, &sizes].concat();
            assert_eq!(time_at_once(&twice, most), 2 * at_once);
            assert_eq!(time_at_once(&twice, 1), twice.iter().sum::<u64>());
        }
        assert_eq!(time_at_once(&[], 2), 0);
        assert_eq!(time_at_once(&[7], 2), 7);
        // The longest one is left alone.
        let mut sizes = vec![3; 16];
        sizes[0] = 3 << 40;
        assert!(time_at_once(&sizes, 16) >= 2 << 40);
        assert_eq!(time_at_once(&[u64::MAX; 16], 16) / 2, u64::MAX / 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 256 }))]

        #[test]
        fn pieces_make_the_whole(
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
