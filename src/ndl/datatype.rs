//! Datatypes: the words and mappings of the language, the extension words, and the size of an element of each.

use std::fmt;

/// The element type of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Datatype {
    /// Text of any length.
    String,
    /// Signed integer of 1 byte.
    Int8,
    /// Signed integer of 2 bytes.
    Int16,
    /// Signed integer of 4 bytes.
    Int32,
    /// Signed integer of 8 bytes.
    Int64,
    /// Unsigned integer of 1 byte.
    UInt8,
    /// Unsigned integer of 2 bytes.
    UInt16,
    /// Unsigned integer of 4 bytes.
    UInt32,
    /// Unsigned integer of 8 bytes.
    UInt64,
    /// IEEE 754 binary32.
    Float32,
    /// IEEE 754 binary64.
    Float64,
    /// The path of a group, dimcoord or ndarray.
    ObjRef,
    /// Bytes without a meaning in the language.
    Opaque {
        /// Size of an element in bytes, at least 1.
        size: u64,
        /// A name for their meaning, such as a MIME type.
        tag: Option<String>,
    },
    /// Integers with names.
    Enum {
        /// The type that is stored; if `None`, see [`Datatype::resolved_base`].
        base: Option<Integer>,
        /// Name and number of each member.
        members: Vec<(String, i128)>,
    },
    /// A part of an ndarray.
    RegRef {
        /// How the part is selected.
        selection: RegionSelection,
    },
    /// Named members, packed without gaps, in this order.
    Compound(Vec<(String, Self)>),
    /// A list of any length.
    Vlen(Box<Self>),
    /// A small array as an element.
    Array {
        /// The type of its elements.
        base: Box<Self>,
        /// Its shape in row-major order, the slowest index first as in C.
        shape: Vec<u64>,
    },
    /// Extension: IEEE 754 binary16.
    Float16,
    /// Extension: the upper half of an IEEE 754 binary32.
    BFloat16,
    /// Extension: IEEE 754 binary128.
    Float128,
    /// Extension: two `float32`, the real part first.
    Complex64,
    /// Extension: two `float64`, the real part first.
    Complex128,
    /// Extension: signed integer of 16 bytes.
    Int128,
    /// Extension: unsigned integer of 16 bytes.
    UInt128,
}

/// The integer types that an enum can have as its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Integer {
    /// Signed, 1 byte.
    Int8,
    /// Signed, 2 bytes.
    Int16,
    /// Signed, 4 bytes.
    Int32,
    /// Signed, 8 bytes.
    Int64,
    /// Unsigned, 1 byte.
    UInt8,
    /// Unsigned, 2 bytes.
    UInt16,
    /// Unsigned, 4 bytes.
    UInt32,
    /// Unsigned, 8 bytes.
    UInt64,
}

/// How a region reference selects a part of an ndarray.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegionSelection {
    /// By two opposite corners.
    Block,
    /// By single elements.
    Element,
}

impl RegionSelection {
    /// Returns the word in the language.
    pub fn word(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Element => "element",
        }
    }
}

/// The words that are a complete datatype, with the size of an element in bytes. The extensions follow the words of the
/// language.
pub(super) const WORDS: [(&str, Datatype, Option<u64>); 19] = [
    ("string", Datatype::String, None),
    ("int8", Datatype::Int8, Some(1)),
    ("int16", Datatype::Int16, Some(2)),
    ("int32", Datatype::Int32, Some(4)),
    ("int64", Datatype::Int64, Some(8)),
    ("uint8", Datatype::UInt8, Some(1)),
    ("uint16", Datatype::UInt16, Some(2)),
    ("uint32", Datatype::UInt32, Some(4)),
    ("uint64", Datatype::UInt64, Some(8)),
    ("float32", Datatype::Float32, Some(4)),
    ("float64", Datatype::Float64, Some(8)),
    ("objref", Datatype::ObjRef, None),
    ("float16", Datatype::Float16, Some(2)),
    ("bfloat16", Datatype::BFloat16, Some(2)),
    ("float128", Datatype::Float128, Some(16)),
    ("complex64", Datatype::Complex64, Some(8)),
    ("complex128", Datatype::Complex128, Some(16)),
    ("int128", Datatype::Int128, Some(16)),
    ("uint128", Datatype::UInt128, Some(16)),
];

/// Number of words of the language.
const OWN_WORDS: usize = 12;

impl Integer {
    /// All integer types; of two types with the same size, the unsigned one is first.
    pub const ALL: [Self; 8] = [
        Self::UInt8,
        Self::Int8,
        Self::UInt16,
        Self::Int16,
        Self::UInt32,
        Self::Int32,
        Self::UInt64,
        Self::Int64,
    ];

    /// Returns the word in the language.
    #[expect(clippy::missing_panics_doc, reason = "each of them is in the table")]
    pub fn word(self) -> &'static str {
        self.datatype().word().expect("an integer type is a word")
    }

    /// Returns the size of an element in bytes.
    #[expect(clippy::missing_panics_doc, reason = "each of them is in the table")]
    pub fn size(self) -> u64 {
        self.datatype().packed_size().expect("an integer has a size")
    }

    /// Returns the smallest and the largest number.
    pub fn range(self) -> (i128, i128) {
        let bits = 8 * self.size();
        match self {
            Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 => {
                (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            }
            Self::UInt8 | Self::UInt16 | Self::UInt32 | Self::UInt64 => (0, (1 << bits) - 1),
        }
    }

    /// Returns whether the type holds a number.
    pub fn holds(self, number: i128) -> bool {
        let (low, high) = self.range();
        (low..=high).contains(&number)
    }

    /// Returns the smallest type that holds all numbers from `low` to `high`, unsigned if `low` is not negative.
    pub fn smallest(low: i128, high: i128) -> Option<Self> {
        Self::ALL.into_iter().find(|integer| integer.holds(low) && integer.holds(high))
    }

    /// Returns the datatype of the same name.
    pub fn datatype(self) -> Datatype {
        match self {
            Self::Int8 => Datatype::Int8,
            Self::Int16 => Datatype::Int16,
            Self::Int32 => Datatype::Int32,
            Self::Int64 => Datatype::Int64,
            Self::UInt8 => Datatype::UInt8,
            Self::UInt16 => Datatype::UInt16,
            Self::UInt32 => Datatype::UInt32,
            Self::UInt64 => Datatype::UInt64,
        }
    }
}

impl Datatype {
    /// Returns the datatype that a word means, extensions included.
    ///
    /// ```
    /// use ra_pack::ndl::Datatype;
    ///
    /// assert_eq!(Datatype::from_word("float32"), Some(Datatype::Float32));
    /// assert_eq!(Datatype::from_word("double"), None);
    /// ```
    pub fn from_word(word: &str) -> Option<Self> {
        WORDS.iter().find(|(known, ..)| *known == word).map(|(_, datatype, _)| datatype.clone())
    }

    /// Returns the word for the datatype, if it has one.
    pub fn word(&self) -> Option<&'static str> {
        WORDS.iter().find(|(_, datatype, _)| datatype == self).map(|(word, ..)| *word)
    }

    /// Returns the integer type of the same name; `None` for 16-byte integers and enums.
    pub fn integer(&self) -> Option<Integer> {
        Integer::ALL.into_iter().find(|integer| integer.datatype() == *self)
    }

    /// Returns whether elements are real floats of NDL.
    pub(crate) fn is_float(&self) -> bool {
        matches!(self, Self::Float16 | Self::Float32 | Self::Float64)
    }

    /// Returns whether the datatype, or one inside it, is an extension that NDL 0.6.1 does not have.
    pub fn is_extension(&self) -> bool {
        match self {
            Self::Compound(members) => members.iter().any(|(_, member)| member.is_extension()),
            Self::Vlen(base) | Self::Array { base, .. } => base.is_extension(),
            _ => WORDS.iter().skip(OWN_WORDS).any(|(_, datatype, _)| datatype == self),
        }
    }

    /// Returns the integer type that stores an enum: its base, or the smallest type that holds all members, unsigned if
    /// none is negative. Returns `None` for other datatypes, and for an enum without members or with members that no
    /// type holds.
    pub fn resolved_base(&self) -> Option<Integer> {
        let Self::Enum { base, members } = self else { return None };
        base.or_else(|| {
            let low = members.iter().map(|(_, number)| *number).min()?;
            let high = members.iter().map(|(_, number)| *number).max()?;
            Integer::smallest(low, high)
        })
    }

    /// Returns the size of an element in bytes, stored without gaps. Returns `None` if elements have no fixed size
    /// (text, lists of any length, references) or the size does not fit 64 bits.
    pub fn packed_size(&self) -> Option<u64> {
        match self {
            Self::RegRef { .. } | Self::Vlen(_) => None,
            Self::Opaque { size, .. } => Some(*size),
            Self::Enum { .. } => self.resolved_base().map(Integer::size),
            Self::Compound(members) => members
                .iter()
                .try_fold(0_u64, |sum, (_, member)| sum.checked_add(member.packed_size()?)),
            Self::Array { base, shape } => {
                shape.iter().try_fold(base.packed_size()?, |size, extent| size.checked_mul(*extent))
            }
            word => WORDS.iter().find(|(_, datatype, _)| datatype == word)?.2,
        }
    }

    /// Returns whether every element has the same size.
    pub fn is_fixed_size(&self) -> bool {
        match self {
            Self::String | Self::ObjRef | Self::RegRef { .. } | Self::Vlen(_) => false,
            Self::Compound(members) => members.iter().all(|(_, member)| member.is_fixed_size()),
            Self::Array { base, .. } => base.is_fixed_size(),
            _ => true,
        }
    }
}

/// Writes the word, or a short notation on one line: `enum(uint8)`, `opaque(16)`, `compound(x: float32, y: int32)`.
impl fmt::Display for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(word) = self.word() {
            return f.pad(word);
        }
        match self {
            Self::Opaque { size, .. } => write!(f, "opaque({size})"),
            Self::Enum { .. } => match self.resolved_base() {
                Some(base) => write!(f, "enum({})", base.word()),
                None => f.write_str("enum"),
            },
            Self::RegRef { selection } => write!(f, "regref({})", selection.word()),
            Self::Compound(members) => {
                f.write_str("compound(")?;
                for (at, (name, member)) in members.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{}: {member}", crate::path::escape(name))?;
                }
                f.write_str(")")
            }
            Self::Vlen(base) => write!(f, "vlen({base})"),
            Self::Array { base, shape } => {
                write!(f, "array({base}, {shape:?})")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(numbers: &[i128]) -> Datatype {
        let members = numbers.iter().map(|number| (format!("m{number}"), *number)).collect();
        Datatype::Enum { base: None, members }
    }

    #[test]
    fn every_word_names_its_datatype_and_shows_itself() {
        for (word, datatype, _) in &WORDS {
            assert_eq!(Datatype::from_word(word).as_ref(), Some(datatype));
            assert_eq!(datatype.to_string(), *word);
        }
        for integer in Integer::ALL {
            assert_eq!(Datatype::from_word(integer.word()), Some(integer.datatype()));
            assert_eq!(integer.datatype().packed_size(), Some(integer.size()));
            assert_eq!(integer.datatype().integer(), Some(integer));
        }
    }

    #[test]
    fn an_enum_without_base_takes_the_smallest_type() {
        let cases = [
            (&[0, 1, 255][..], Some(Integer::UInt8)),
            (&[0, 127], Some(Integer::UInt8)),
            (&[-1, 127], Some(Integer::Int8)),
            (&[-1, 128], Some(Integer::Int16)),
            (&[0, 256], Some(Integer::UInt16)),
            (&[0, 65_536], Some(Integer::UInt32)),
            (&[-1, 65_536], Some(Integer::Int32)),
            (&[0, u64::MAX.into()], Some(Integer::UInt64)),
            (&[-1, u64::MAX.into()], None),
            (&[], None),
        ];
        for (numbers, base) in cases {
            assert_eq!(members(numbers).resolved_base(), base, "{numbers:?}");
        }
    }

    #[test]
    fn packed_sizes_add_up_and_never_wrap() {
        let array =
            |base, shape: &[u64]| Datatype::Array { base: Box::new(base), shape: shape.into() };
        let compound = |types: &[Datatype]| {
            Datatype::Compound(
                types.iter().map(|member| ("m".to_owned(), member.clone())).collect(),
            )
        };
        assert_eq!(array(Datatype::Float32, &[3, 3]).packed_size(), Some(36));
        assert_eq!(array(Datatype::Float32, &[]).packed_size(), Some(4));
        let inner = compound(&[Datatype::Int8, Datatype::Float64]);
        assert_eq!(compound(&[inner, members(&[0])]).packed_size(), Some(10));
        assert_eq!(array(Datatype::Int16, &[u64::MAX]).packed_size(), None);
        let huge = Datatype::Opaque { size: u64::MAX, tag: None };
        assert_eq!(compound(&[huge, Datatype::Int8]).packed_size(), None);
        assert_eq!(compound(&[Datatype::String]).packed_size(), None);
        assert!(!array(Datatype::Vlen(Box::new(Datatype::Int8)), &[2]).is_fixed_size());
    }

    #[test]
    fn short_forms_fit_one_line() {
        let point = Datatype::Compound(vec![
            ("x".into(), Datatype::Float32),
            ("b".into(), Datatype::Vlen(Box::new(members(&[0])))),
        ]);
        assert_eq!(point.to_string(), "compound(x: float32, b: vlen(enum(uint8)))");
        let array = Datatype::Array { base: Box::new(Datatype::Int8), shape: vec![2, 3] };
        assert_eq!(array.to_string(), "array(int8, [2, 3])");
        assert!(Datatype::Vlen(Box::new(Datatype::Complex64)).is_extension());
        assert!(!array.is_extension());
    }
}
