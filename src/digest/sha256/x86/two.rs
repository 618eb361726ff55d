//! The SHA extensions: two messages, round by round in turn.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_alignr_epi8, _mm_extract_epi32, _mm_set_epi32, _mm_set_epi64x,
    _mm_sha256msg1_epu32, _mm_sha256msg2_epu32, _mm_sha256rnds2_epu32, _mm_shuffle_epi8,
    _mm_shuffle_epi32,
};

use super::super::Block;
use super::CONSTANTS;

#[target_feature(enable = "sha,ssse3,sse4.1")]
pub(super) fn compress_two(
    [state, other_state]: [&mut [u32; 8]; 2],
    [blocks, others]: [&[Block]; 2],
) {
    let (mut one, mut other) = (Message::new(state), Message::new(other_state));
    // In fours, which the compiler unrolls: then no register is moved to rename it.
    let fours = CONSTANTS.as_chunks::<4>().0;
    let [early, middle, late, last] = fours.as_chunks::<4>().0 else {
        unreachable!("there are 64 constants")
    };
    assert_eq!(blocks.len(), others.len(), "none may be left out");
    for (block, other_block) in blocks.iter().zip(others) {
        let (before, other_before) = (one, other);
        one.take(block);
        other.take(other_block);
        for four in [early, middle, late] {
            for constants in four {
                one.four_rounds(*constants);
                other.four_rounds(*constants);
                one.extend();
                other.extend();
            }
        }
        for constants in last {
            one.four_rounds(*constants);
            other.four_rounds(*constants);
            one.next_words();
            other.next_words();
        }
        one.add(before);
        other.add(other_before);
    }
    *state = one.state();
    *other_state = other.state();
}

/// A message, as the processor's instructions want it.
#[derive(Clone, Copy)]
struct Message {
    /// The words `a`, `b`, `e` and `f` of the state, the first in the highest place.
    abef: __m128i,
    /// The other four.
    cdgh: __m128i,
    /// The last sixteen words of the message schedule, the earliest first.
    schedule: [__m128i; 4],
}

impl Message {
    #[inline]
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    #[expect(clippy::many_single_char_names, reason = "the names that the standard gives")]
    fn new(state: &[u32; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = *state;
        let abef = words([f, e, b, a]);
        let cdgh = words([h, g, d, c]);
        Self { abef, cdgh, schedule: [words([0; 4]); 4] }
    }

    #[inline]
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    #[expect(clippy::many_single_char_names, reason = "the names that the standard gives")]
    fn state(self) -> [u32; 8] {
        let [f, e, b, a] = numbers(self.abef);
        let [h, g, d, c] = numbers(self.cdgh);
        [a, b, c, d, e, f, g, h]
    }

    /// Begins the schedule with the words of a block, which are big-endian.
    #[inline]
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    fn take(&mut self, block: &Block) {
        let swap = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
        for (words, bytes) in self.schedule.iter_mut().zip(block.as_chunks::<16>().0) {
            let [low, high] = bytes.as_chunks().0 else { unreachable!("16 bytes are twice 8") };
            let bytes = _mm_set_epi64x(i64::from_le_bytes(*high), i64::from_le_bytes(*low));
            *words = _mm_shuffle_epi8(bytes, swap);
        }
    }

    /// Four rounds with the earliest four words of the schedule (§6.2.2).
    #[inline]
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    fn four_rounds(&mut self, constants: [u32; 4]) {
        let [first, ..] = self.schedule;
        let sum = _mm_add_epi32(first, words(constants));
        // Two rounds leave the new `abef` behind, and the old one is the new `cdgh`.
        self.cdgh = _mm_sha256rnds2_epu32(self.cdgh, self.abef, sum);
        let upper = _mm_shuffle_epi32::<0b00_00_11_10>(sum);
        self.abef = _mm_sha256rnds2_epu32(self.abef, self.cdgh, upper);
    }

    /// Puts the next four words of the schedule in the place of the earliest.
    #[inline]
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    fn extend(&mut self) {
        let [w0, w1, w2, w3] = self.schedule;
        let seventh_back = _mm_alignr_epi8::<4>(w3, w2);
        let sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), seventh_back);
        self.schedule = [w1, w2, w3, _mm_sha256msg2_epu32(sum, w3)];
    }

    /// Goes on to the words that are there.
    fn next_words(&mut self) {
        self.schedule.rotate_left(1);
    }

    #[inline]
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    fn add(&mut self, before: Self) {
        self.abef = _mm_add_epi32(self.abef, before.abef);
        self.cdgh = _mm_add_epi32(self.cdgh, before.cdgh);
    }
}

/// Four words, the first in the lowest place.
#[inline]
#[target_feature(enable = "sse2")]
fn words(numbers: [u32; 4]) -> __m128i {
    let [a, b, c, d] = numbers.map(u32::cast_signed);
    _mm_set_epi32(d, c, b, a)
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn numbers(words: __m128i) -> [u32; 4] {
    let signed = [
        _mm_extract_epi32::<0>(words),
        _mm_extract_epi32::<1>(words),
        _mm_extract_epi32::<2>(words),
        _mm_extract_epi32::<3>(words),
    ];
    signed.map(i32::cast_unsigned)
}
