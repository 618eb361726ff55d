//! Bits of masks and booleans: the first element is the most significant bit of the first byte.

/// Bytes of so many bits.
pub(super) fn packed_len(bits: u64) -> u64 {
    bits.div_ceil(8)
}

/// The bits of `packed`, one after the other.
pub(super) fn unpack(packed: &[u8]) -> impl Iterator<Item = bool> {
    packed.iter().flat_map(|&byte| (0..8).rev().map(move |shift| (byte >> shift) & 1 == 1))
}

/// Packs bits as they come.
#[derive(Debug, Default)]
pub(super) struct Packer {
    byte: u8,
    filled: u8,
}

impl Packer {
    /// Adds one bit to those of `out`, as soon as a byte of them is full.
    pub(super) fn push(&mut self, bit: bool, out: &mut Vec<u8>) {
        self.byte = (self.byte << 1) | u8::from(bit);
        self.filled = self.filled.saturating_add(1);
        if self.filled == 8 {
            out.push(self.byte);
            *self = Self::default();
        }
    }

    /// Adds what is left, followed by zeros.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        while self.filled != 0 {
            self.push(false, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_element_is_the_highest_bit() {
        let mut packed = Vec::new();
        let mut bits = Packer::default();
        for bit in [true, false, true, true, false, false, false, false, true, true] {
            bits.push(bit, &mut packed);
        }
        bits.finish(&mut packed);
        assert_eq!(packed, [0xB0, 0xC0]);
        bits.finish(&mut packed);
        assert_eq!(packed.len(), 2);
    }

    proptest! {
        #[test]
        fn bits_come_back(bits: Vec<bool>) {
            let mut packed = Vec::new();
            let mut into = Packer::default();
            for bit in &bits {
                into.push(*bit, &mut packed);
            }
            into.finish(&mut packed);
            let count = u64::try_from(bits.len()).unwrap();
            prop_assert_eq!(u64::try_from(packed.len()).unwrap(), packed_len(count));
            let mut unpacked = unpack(&packed);
            for bit in bits {
                prop_assert_eq!(unpacked.next(), Some(bit));
            }
            prop_assert!(unpacked.all(|bit| !bit));
        }
    }
}
