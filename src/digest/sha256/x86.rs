//! The SHA extensions of x86-64: two messages, round by round in turn.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_alignr_epi8, _mm_extract_epi32, _mm_set_epi32, _mm_set_epi64x,
    _mm_sha256msg1_epu32, _mm_sha256msg2_epu32, _mm_sha256rnds2_epu32, _mm_shuffle_epi8,
    _mm_shuffle_epi32,
};

use super::Block;

/// The constants of the rounds, four at a time (FIPS 180-4 §4.2.2).
const CONSTANTS: [[u32; 4]; 16] = [
    [0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5],
    [0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5],
    [0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3],
    [0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174],
    [0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc],
    [0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da],
    [0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7],
    [0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967],
    [0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13],
    [0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85],
    [0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3],
    [0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070],
    [0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5],
    [0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3],
    [0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208],
    [0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2],
];

/// Proof that the processor has the extensions.
#[derive(Clone, Copy)]
pub(super) struct Unit(());

impl Unit {
    pub(super) fn find() -> Option<Self> {
        let has_all = is_x86_feature_detected!("sha")
            && is_x86_feature_detected!("ssse3")
            && is_x86_feature_detected!("sse4.1");
        has_all.then_some(Self(()))
    }

    /// Compresses as many blocks of one message as of another: of the longer one only so many.
    #[expect(unsafe_code, reason = "only those who know the processor may use what not all have")]
    pub(super) fn compress_two(self, states: [&mut [u32; 8]; 2], blocks: [&[Block]; 2]) {
        let Self(()) = self;
        // SAFETY: a `Unit` is made only where the processor has all the features that the function is
        // compiled for. It takes and gives references and has no other requirement.
        unsafe { compress_two(states, blocks) }
    }
}

#[target_feature(enable = "sha,ssse3,sse4.1")]
fn compress_two([state, other_state]: [&mut [u32; 8]; 2], [blocks, others]: [&[Block]; 2]) {
    let (mut one, mut other) = (Message::new(state), Message::new(other_state));
    // In fours, which the compiler unrolls: then no register is moved to rename it.
    let [early, middle, late, last] = CONSTANTS.as_chunks::<4>().0 else { return };
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
            if let [low, high] = bytes.as_chunks().0 {
                let bytes = _mm_set_epi64x(i64::from_le_bytes(*high), i64::from_le_bytes(*low));
                *words = _mm_shuffle_epi8(bytes, swap);
            }
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
fn numbers(words: __m128i) -> [u32; 4] {
    let signed = [
        _mm_extract_epi32::<0>(words),
        _mm_extract_epi32::<1>(words),
        _mm_extract_epi32::<2>(words),
        _mm_extract_epi32::<3>(words),
    ];
    signed.map(i32::cast_unsigned)
}
