//! SHA-256 of several messages at once with x86-64 instructions: the half of the parent module that this processor has.

use core::arch::x86_64::{
    __m128i, __m512i, _mm_add_epi32, _mm_alignr_epi8, _mm_extract_epi32, _mm_set_epi32,
    _mm_set_epi64x, _mm_sha256msg1_epu32, _mm_sha256msg2_epu32, _mm_sha256rnds2_epu32,
    _mm_shuffle_epi8, _mm_shuffle_epi32, _mm512_add_epi32, _mm512_broadcast_i32x4,
    _mm512_extracti32x4_epi32, _mm512_ror_epi32, _mm512_set_epi32, _mm512_set_epi64,
    _mm512_set1_epi32, _mm512_shuffle_epi8, _mm512_shuffle_i32x4, _mm512_srli_epi32,
    _mm512_sub_epi32, _mm512_ternarylogic_epi32, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
};

use super::{Block, LANES};

/// The constants of the rounds (FIPS 180-4 §4.2.2).
#[rustfmt::skip]
const CONSTANTS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5,
    0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
    0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc,
    0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
    0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3,
    0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5,
    0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
    0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

/// The rounds below are written out for these sizes.
const _: () = assert!(CONSTANTS.len() == 4 * 16 && LANES == 16 && size_of::<Block>() == 4 * 16);

/// Proof that the processor has the SHA extensions.
#[derive(Clone, Copy)]
pub(super) struct Sha(());

impl Sha {
    pub(super) fn find() -> Option<Self> {
        let has_all = is_x86_feature_detected!("sha")
            && is_x86_feature_detected!("ssse3")
            && is_x86_feature_detected!("sse4.1");
        has_all.then_some(Self(()))
    }

    /// Compresses blocks of two messages, the same number of each.
    #[expect(unsafe_code, reason = "the instructions need a processor that has them")]
    pub(super) fn compress_two(self, states: [&mut [u32; 8]; 2], blocks: [&[Block]; 2]) {
        let Self(()) = self;
        // SAFETY: a `Sha` is made only where the processor has all the features that the function is
        // compiled for. It takes and gives references and has no other requirement.
        unsafe { compress_two(states, blocks) }
    }
}

/// Proof that the processor has AVX-512.
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn find() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        has_all.then_some(Self(()))
    }

    /// Compresses `count` blocks of each message. The states are arranged by word: the first words of all messages,
    /// then the second ones.
    #[expect(unsafe_code, reason = "the instructions need a processor that has them")]
    pub(super) fn compress_sixteen(
        self,
        states: &mut [[u32; LANES]; 8],
        blocks: [&[Block]; LANES],
        count: usize,
    ) {
        let Self(()) = self;
        // SAFETY: an `Avx512` is made only where the processor has all the features that the function is
        // compiled for. It takes references and has no other requirement.
        unsafe { compress_sixteen(states, blocks, count) }
    }
}

/// Compresses two messages with the SHA extensions, alternating their rounds.
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn compress_two([state, other_state]: [&mut [u32; 8]; 2], [blocks, others]: [&[Block]; 2]) {
    let (mut one, mut other) = (Message::new(state), Message::new(other_state));
    // In fours, so that the compiler unrolls the loop and moves no registers.
    let fours = CONSTANTS.as_chunks::<4>().0;
    let [early, middle, late, last] = fours.as_chunks::<4>().0 else {
        unreachable!("there are 64 constants")
    };
    assert_eq!(blocks.len(), others.len(), "both messages have the same number of blocks");
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

/// A message in the layout of the SHA instructions.
#[derive(Clone, Copy)]
struct Message {
    /// The words `a`, `b`, `e` and `f` of the state, the first in the highest lane.
    abef: __m128i,
    /// The words `c`, `d`, `g` and `h`.
    cdgh: __m128i,
    /// The last sixteen words of the message schedule, earliest first.
    schedule: [__m128i; 4],
}

impl Message {
    #[inline]
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    #[expect(clippy::many_single_char_names, reason = "the names in the standard")]
    fn new(state: &[u32; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = *state;
        let abef = words([f, e, b, a]);
        let cdgh = words([h, g, d, c]);
        Self { abef, cdgh, schedule: [words([0; 4]); 4] }
    }

    #[inline]
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    #[expect(clippy::many_single_char_names, reason = "the names in the standard")]
    fn state(self) -> [u32; 8] {
        let [f, e, b, a] = numbers(self.abef);
        let [h, g, d, c] = numbers(self.cdgh);
        [a, b, c, d, e, f, g, h]
    }

    /// Starts the schedule with the words of a block, which are big-endian.
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

    /// Computes four rounds with the earliest four words of the schedule (§6.2.2).
    #[inline]
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    fn four_rounds(&mut self, constants: [u32; 4]) {
        let [first, ..] = self.schedule;
        let sum = _mm_add_epi32(first, words(constants));
        // After two rounds, `abef` is new and the old `abef` is the new `cdgh`.
        self.cdgh = _mm_sha256rnds2_epu32(self.cdgh, self.abef, sum);
        let upper = _mm_shuffle_epi32::<0b00_00_11_10>(sum);
        self.abef = _mm_sha256rnds2_epu32(self.abef, self.cdgh, upper);
    }

    /// Replaces the earliest four words of the schedule with the next four.
    #[inline]
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    fn extend(&mut self) {
        let [w0, w1, w2, w3] = self.schedule;
        let seventh_back = _mm_alignr_epi8::<4>(w3, w2);
        let sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), seventh_back);
        self.schedule = [w1, w2, w3, _mm_sha256msg2_epu32(sum, w3)];
    }

    /// Advances to the next words, which are already computed.
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

/// Four words, the first in the lowest lane.
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

/// One word of every message.
type Words = __m512i;

/// Compresses `count` blocks of sixteen messages with AVX-512. Each register contains the same word of all messages.
/// The states are arranged by word: the first words of all messages, then the second ones.
#[target_feature(enable = "avx512f,avx512bw")]
fn compress_sixteen(states: &mut [[u32; LANES]; 8], blocks: [&[Block]; LANES], count: usize) {
    let mut state = states.map(|numbers| from_numbers(numbers));
    let mut rows = [_mm512_set1_epi32(0); LANES];
    for number in 0..count {
        for (row, blocks) in rows.iter_mut().zip(&blocks) {
            *row = load(&blocks[number]);
        }
        let before = state;
        state = rounds(state, transpose(&rows));
        for (words, before) in state.iter_mut().zip(before) {
            *words = _mm512_add_epi32(*words, before);
        }
    }
    *states = state.map(|words| to_numbers(words));
}

/// Computes all rounds of one block of every message (FIPS 180-4 §6.2.2).
#[inline]
#[target_feature(enable = "avx512f")]
fn rounds(mut state: [Words; 8], mut schedule: [Words; 16]) -> [Words; 8] {
    // Constant indices keep every word in a register.
    macro_rules! sixteen_rounds {
        ($constants:expr, then $then:tt) => {
            sixteen_rounds!($constants, $then,
                0 1 9 14, 1 2 10 15, 2 3 11 0, 3 4 12 1, 4 5 13 2, 5 6 14 3, 6 7 15 4, 7 8 0 5,
                8 9 1 6, 9 10 2 7, 10 11 3 8, 11 12 4 9, 12 13 5 10, 13 14 6 11, 14 15 7 12, 15 0 8 13)
        };
        ($constants:expr, $then:tt, $($at:literal $next:literal $tenth:literal $fifteenth:literal),*) => {
            $(
                state = round(state, schedule[$at], $constants[$at]);
                sixteen_rounds!($then $at $next $tenth $fifteenth);
            )*
        };
        (extend $at:literal $next:literal $tenth:literal $fifteenth:literal) => {
            schedule[$at] =
                extended(schedule[$at], schedule[$next], schedule[$tenth], schedule[$fifteenth]);
        };
        (end $at:literal $next:literal $tenth:literal $fifteenth:literal) => {};
    }
    let ([first, second, third, last], _) = CONSTANTS.as_chunks::<16>() else {
        unreachable!("there are 64 constants")
    };
    for constants in [first, second, third] {
        sixteen_rounds!(constants, then extend);
    }
    sixteen_rounds!(last, then end);
    state
}

/// Computes one round. `e` becomes known last, so the sums are grouped to leave the fewest additions after it. This
/// chain takes most of the time.
#[inline]
#[target_feature(enable = "avx512f")]
#[expect(clippy::many_single_char_names, reason = "the names in the standard")]
fn round([a, b, c, d, e, f, g, h]: [Words; 8], word: Words, constant: u32) -> [Words; 8] {
    let constant = _mm512_set1_epi32(constant.cast_signed());
    let known = _mm512_add_epi32(d, _mm512_add_epi32(h, _mm512_add_epi32(word, constant)));
    let new_e = _mm512_add_epi32(_mm512_add_epi32(known, choice(e, f, g)), upper_sum_1(e));
    // The new `a` is this sum without `d`.
    let rest = _mm512_sub_epi32(majority(a, b, c), d);
    let new_a = _mm512_add_epi32(_mm512_add_epi32(new_e, rest), upper_sum_0(a));
    [new_a, a, b, c, new_e, e, f, g]
}

/// Computes the word of the message schedule that is sixteen after the first of these (§6.2.2).
#[inline]
#[target_feature(enable = "avx512f")]
fn extended(first: Words, second: Words, tenth: Words, fifteenth: Words) -> Words {
    let earlier = _mm512_add_epi32(first, lower_sum_0(second));
    _mm512_add_epi32(earlier, _mm512_add_epi32(tenth, lower_sum_1(fifteenth)))
}

/// `Ch` (§4.1.2): the bits of `y` where `x` is one, else those of `z`.
#[inline]
#[target_feature(enable = "avx512f")]
fn choice(x: Words, y: Words, z: Words) -> Words {
    _mm512_ternarylogic_epi32::<0b1100_1010>(x, y, z)
}

/// `Maj` (§4.1.2): the majority of three bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn majority(x: Words, y: Words, z: Words) -> Words {
    _mm512_ternarylogic_epi32::<0b1110_1000>(x, y, z)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn exclusive_or(x: Words, y: Words, z: Words) -> Words {
    _mm512_ternarylogic_epi32::<0b1001_0110>(x, y, z)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn upper_sum_0(x: Words) -> Words {
    exclusive_or(_mm512_ror_epi32::<2>(x), _mm512_ror_epi32::<13>(x), _mm512_ror_epi32::<22>(x))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn upper_sum_1(x: Words) -> Words {
    exclusive_or(_mm512_ror_epi32::<6>(x), _mm512_ror_epi32::<11>(x), _mm512_ror_epi32::<25>(x))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn lower_sum_0(x: Words) -> Words {
    exclusive_or(_mm512_ror_epi32::<7>(x), _mm512_ror_epi32::<18>(x), _mm512_srli_epi32::<3>(x))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn lower_sum_1(x: Words) -> Words {
    exclusive_or(_mm512_ror_epi32::<17>(x), _mm512_ror_epi32::<19>(x), _mm512_srli_epi32::<10>(x))
}

/// Loads a block of one message, whose words are big-endian.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(block: &Block) -> Words {
    let mut eights = [0; 8];
    for (eight, bytes) in eights.iter_mut().zip(block.as_chunks().0) {
        *eight = i64::from_le_bytes(*bytes);
    }
    let words = _mm512_set_epi64(
        eights[7], eights[6], eights[5], eights[4], eights[3], eights[2], eights[1], eights[0],
    );
    let swap = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
    _mm512_shuffle_epi8(words, _mm512_broadcast_i32x4(swap))
}

/// Transposes 16 rows, each with the words of one message, into columns, each with one word of all messages.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(rows: &[Words; LANES]) -> [Words; 16] {
    let ([a, b, c, d], _) = rows.as_chunks::<4>() else { unreachable!("there are 16 rows") };
    let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (in_quarters(*a), in_quarters(*b));
    let ([c0, c1, c2, c3], [d0, d1, d2, d3]) = (in_quarters(*c), in_quarters(*d));
    let [w0, w4, w8, w12] = of_quarters([a0, b0, c0, d0]);
    let [w1, w5, w9, w13] = of_quarters([a1, b1, c1, d1]);
    let [w2, w6, w10, w14] = of_quarters([a2, b2, c2, d2]);
    let [w3, w7, w11, w15] = of_quarters([a3, b3, c3, d3]);
    [w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15]
}

/// Transposes within each quarter of four rows. Each row becomes one word in each of the four.
#[inline]
#[target_feature(enable = "avx512f")]
fn in_quarters([a, b, c, d]: [Words; 4]) -> [Words; 4] {
    let (low, high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let (other_low, other_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    [
        _mm512_unpacklo_epi64(low, other_low),
        _mm512_unpackhi_epi64(low, other_low),
        _mm512_unpacklo_epi64(high, other_high),
        _mm512_unpackhi_epi64(high, other_high),
    ]
}

/// Collects the first quarters of four rows, then the second ones, and so on.
#[inline]
#[target_feature(enable = "avx512f")]
fn of_quarters([a, b, c, d]: [Words; 4]) -> [Words; 4] {
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    let (even, odd) = (_mm512_shuffle_i32x4::<EVEN>(a, b), _mm512_shuffle_i32x4::<ODD>(a, b));
    let (others, other_odd) =
        (_mm512_shuffle_i32x4::<EVEN>(c, d), _mm512_shuffle_i32x4::<ODD>(c, d));
    [
        _mm512_shuffle_i32x4::<EVEN>(even, others),
        _mm512_shuffle_i32x4::<EVEN>(odd, other_odd),
        _mm512_shuffle_i32x4::<ODD>(even, others),
        _mm512_shuffle_i32x4::<ODD>(odd, other_odd),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
#[expect(clippy::many_single_char_names, reason = "sixteen numbers")]
fn from_numbers(numbers: [u32; LANES]) -> Words {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = numbers.map(u32::cast_signed);
    _mm512_set_epi32(p, o, n, m, l, k, j, i, h, g, f, e, d, c, b, a)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn to_numbers(words: Words) -> [u32; LANES] {
    let quarters = [
        _mm512_extracti32x4_epi32::<0>(words),
        _mm512_extracti32x4_epi32::<1>(words),
        _mm512_extracti32x4_epi32::<2>(words),
        _mm512_extracti32x4_epi32::<3>(words),
    ];
    let mut all = [0; LANES];
    for (four, quarter) in all.as_chunks_mut().0.iter_mut().zip(quarters) {
        *four = numbers(quarter);
    }
    all
}
