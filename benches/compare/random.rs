//! Reproducible random numbers.

/// The generator `SplitMix64`: one addition and a mix for each number.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number evenly distributed from `low` to `high`.
    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        let unit = (self.next() >> 40) as f32 / (1_u32 << 24) as f32;
        low + unit * (high - low)
    }

    /// Returns a roughly normal number with mean 0 and deviation 1: the sum of four even ones.
    pub(crate) fn normal(&mut self) -> f32 {
        let bits = self.next();
        let sum: u32 = (0..4).map(|part| (bits >> (16 * part)) as u32 & 0xffff).sum();
        (sum as f32 / 65535.0 - 2.0) * 1.732
    }
}
