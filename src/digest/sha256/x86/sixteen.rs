//! AVX-512: sixteen messages, a register for the same word of all of them.

use core::arch::x86_64::{
    __m512i, _mm_set_epi64x, _mm512_add_epi32, _mm512_broadcast_i32x4, _mm512_extracti32x4_epi32,
    _mm512_ror_epi32, _mm512_set_epi32, _mm512_set_epi64, _mm512_set1_epi32, _mm512_shuffle_epi8,
    _mm512_shuffle_i32x4, _mm512_srli_epi32, _mm512_sub_epi32, _mm512_ternarylogic_epi32,
    _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
};

use super::super::{Block, LANES};
use super::{CONSTANTS, two};

/// One word of every message.
type Words = __m512i;

/// Compresses so many blocks of each message. The states are by word: the first words of all
/// messages, then their second ones.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn compress_sixteen(
    states: &mut [[u32; LANES]; 8],
    blocks: [&[Block]; LANES],
    count: usize,
) {
    let mut state = [_mm512_set1_epi32(0); 8];
    for (words, numbers) in state.iter_mut().zip(&*states) {
        *words = from_numbers(*numbers);
    }
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
    for (numbers, words) in states.iter_mut().zip(state) {
        *numbers = to_numbers(words);
    }
}

/// All rounds of one block of every message (FIPS 180-4 §6.2.2).
#[inline]
#[target_feature(enable = "avx512f")]
fn rounds(mut state: [Words; 8], mut schedule: [Words; 16]) -> [Words; 8] {
    // Every word by a number that is known here, so that all stay in registers.
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

/// One round. The sums are put together so that what becomes known last, which is `e`, has the fewest additions to
/// go through before the next round can use it: that is what takes the time.
#[inline]
#[target_feature(enable = "avx512f")]
#[expect(clippy::many_single_char_names, reason = "the names that the standard gives")]
fn round([a, b, c, d, e, f, g, h]: [Words; 8], word: Words, constant: u32) -> [Words; 8] {
    let constant = _mm512_set1_epi32(constant.cast_signed());
    let known = _mm512_add_epi32(d, _mm512_add_epi32(h, _mm512_add_epi32(word, constant)));
    let new_e = _mm512_add_epi32(_mm512_add_epi32(known, choice(e, f, g)), upper_sum_1(e));
    // The same sum without `d` is what the new `a` begins with.
    let rest = _mm512_sub_epi32(majority(a, b, c), d);
    let new_a = _mm512_add_epi32(_mm512_add_epi32(new_e, rest), upper_sum_0(a));
    [new_a, a, b, c, new_e, e, f, g]
}

/// The word of the message schedule that is sixteen behind the first of these (§6.2.2).
#[inline]
#[target_feature(enable = "avx512f")]
fn extended(first: Words, second: Words, tenth: Words, fifteenth: Words) -> Words {
    let earlier = _mm512_add_epi32(first, lower_sum_0(second));
    _mm512_add_epi32(earlier, _mm512_add_epi32(tenth, lower_sum_1(fifteenth)))
}

/// `Ch` (§4.1.2): the bits of `y` where `x` has ones, else those of `z`.
#[inline]
#[target_feature(enable = "avx512f")]
fn choice(x: Words, y: Words, z: Words) -> Words {
    _mm512_ternarylogic_epi32::<0b1100_1010>(x, y, z)
}

/// `Maj`: the bits that two of three have.
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

/// A block of one message, whose words are big-endian.
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

/// Makes rows, each with the words of one message, into columns, each with one word of all messages.
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

/// Transposes within each quarter of four rows: what was one row is then one word in four of them.
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

/// The first quarters of four rows, then their second ones.
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
    let mut numbers = [0; LANES];
    for (four, quarter) in numbers.as_chunks_mut().0.iter_mut().zip(quarters) {
        *four = two::numbers(quarter);
    }
    numbers
}
