//! Several messages at once by what x86-64 processors have for it.

mod sixteen;
mod two;

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

/// How the rounds are written out.
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

    /// Compresses blocks of two messages, as many of one as of the other.
    #[expect(unsafe_code, reason = "only those who know the processor may use what not all have")]
    pub(super) fn compress_two(self, states: [&mut [u32; 8]; 2], blocks: [&[Block]; 2]) {
        let Self(()) = self;
        // SAFETY: a `Sha` is made only where the processor has all the features that the function is
        // compiled for. It takes and gives references and has no other requirement.
        unsafe { two::compress_two(states, blocks) }
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

    /// Compresses so many blocks of each message. The states are by word: the first words of all messages, then
    /// their second ones.
    #[expect(unsafe_code, reason = "only those who know the processor may use what not all have")]
    pub(super) fn compress_sixteen(
        self,
        states: &mut [[u32; LANES]; 8],
        blocks: [&[Block]; LANES],
        count: usize,
    ) {
        let Self(()) = self;
        // SAFETY: an `Avx512` is made only where the processor has all the features that the function is
        // compiled for. It takes references and has no other requirement.
        unsafe { sixteen::compress_sixteen(states, blocks, count) }
    }
}
