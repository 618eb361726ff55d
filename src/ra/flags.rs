//! The `flags` field: three bits that are defined, and an error that names the others.

use std::fmt;

/// The `flags` field with no unknown bit.
///
/// Displays as `0`, or as the names of its bits: `big-endian + encoded`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u64);

impl Flags {
    /// No bit: little-endian, plain elements. What every file is written with.
    pub const NONE: Self = Self(0);
    /// Bit 0: the elements (never the header) are big-endian.
    pub const BIG_ENDIAN: Self = Self(1);
    /// Bit 1: the data section is compressed, or was meant to be; see [`Encoding`](super::Encoding).
    pub const ENCODED: Self = Self(2);
    /// Bit 2: an element is a single bit; always together with bit 1.
    pub const BITS: Self = Self(4);

    const KNOWN: u64 = 7;

    /// Checks the field.
    ///
    /// # Errors
    ///
    /// When a bit is set that no implementation defines: what it would change is unknown.
    pub fn new(bits: u64) -> Result<Self, UnknownFlags> {
        match bits & !Self::KNOWN {
            0 => Ok(Self(bits)),
            unknown => Err(UnknownFlags(unknown)),
        }
    }

    /// The field.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// These bits and those of `other`.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether no bit is set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all bits of `other` are set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table =
            [(Self::BIG_ENDIAN, "big-endian"), (Self::ENCODED, "encoded"), (Self::BITS, "bits")];
        let names: Vec<_> = table
            .into_iter()
            .filter_map(|(bit, name)| self.contains(bit).then_some(name))
            .collect();
        if names.is_empty() { f.pad("0") } else { f.pad(&names.join(" + ")) }
    }
}

/// The bits of a `flags` field that are not defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownFlags(pub u64);

impl std::error::Error for UnknownFlags {}

impl fmt::Display for UnknownFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits: Vec<_> =
            (0..64).filter(|bit| self.0 >> bit & 1 == 1).map(|bit: u32| bit.to_string()).collect();
        let (noun, verb) = if bits.len() == 1 { ("bit", "is") } else { ("bits", "are") };
        write!(
            f,
            "flag {noun} {} ({:#x}) {verb} not defined; known are 0 (big-endian), 1 (encoded) and 2 (bits)",
            bits.join(", "),
            self.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_bits_are_refused_by_their_numbers() {
        let one = Flags::new(8 | 1).unwrap_err();
        assert!(one.to_string().starts_with("flag bit 3 (0x8) is not defined"), "{one}");
        let two = Flags::new(1 << 63 | 1 << 32).unwrap_err();
        assert!(two.to_string().starts_with("flag bits 32, 63 (0x8000000100000000) are"), "{two}");
    }

    #[test]
    fn known_bits_have_names() {
        assert_eq!(Flags::NONE.to_string(), "0");
        assert_eq!(Flags::new(7).unwrap().to_string(), "big-endian + encoded + bits");
        assert!(Flags::new(6).unwrap().contains(Flags::ENCODED));
        assert!(!Flags::new(4).unwrap().contains(Flags::ENCODED));
    }
}
