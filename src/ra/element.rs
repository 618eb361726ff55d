//! The kind and width of elements, and the flags of a file.

use std::fmt;

use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::Complex;
use serde::{Serialize, Serializer};

use super::structure::{Part, Structure};

/// The `eltype` field: the kind of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ElementKind {
    /// 0: user-defined elements, such as structures.
    User,
    /// 1: signed integers.
    Int,
    /// 2: unsigned integers.
    UInt,
    /// 3: IEEE 754 floats.
    Float,
    /// 4: pairs of floats, real part first.
    Complex,
    /// 5: bfloat16 (2 bytes). Julia also writes its `Bool` (1 byte) and packed bits (8 bytes) with this kind.
    BFloat,
}

impl ElementKind {
    /// The kinds in the order of their `eltype`.
    const ALL: [Self; 6] =
        [Self::User, Self::Int, Self::UInt, Self::Float, Self::Complex, Self::BFloat];

    /// Returns the `eltype` field.
    pub fn eltype(self) -> u64 {
        self as u64
    }
}

/// A kind of element and its width in bytes: the fields `eltype` and `elbyte` together.
///
/// Displays as a name such as `float32`, `complex64` (two 4-byte floats), `bfloat16`, `bool`, `bits`, or `user12` for
/// user-defined elements of 12 bytes.
///
/// ```
/// use ra_pack::ra::ElementType;
///
/// let element = ElementType::new(4, 8)?;
/// assert_eq!(element, ElementType::COMPLEX64);
/// assert_eq!(element.to_string(), "complex64");
/// # Ok::<(), ra_pack::ra::UnknownElement>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementType {
    kind: ElementKind,
    elbyte: u64,
}

impl ElementType {
    /// `i8`.
    pub const INT8: Self = Self::known(ElementKind::Int, 1);
    /// `i16`.
    pub const INT16: Self = Self::known(ElementKind::Int, 2);
    /// `i32`.
    pub const INT32: Self = Self::known(ElementKind::Int, 4);
    /// `i64`.
    pub const INT64: Self = Self::known(ElementKind::Int, 8);
    /// `i128`.
    pub const INT128: Self = Self::known(ElementKind::Int, 16);
    /// `u8`.
    pub const UINT8: Self = Self::known(ElementKind::UInt, 1);
    /// `u16`.
    pub const UINT16: Self = Self::known(ElementKind::UInt, 2);
    /// `u32`.
    pub const UINT32: Self = Self::known(ElementKind::UInt, 4);
    /// `u64`.
    pub const UINT64: Self = Self::known(ElementKind::UInt, 8);
    /// `u128`.
    pub const UINT128: Self = Self::known(ElementKind::UInt, 16);
    /// `f16` of the crate `half`.
    pub const FLOAT16: Self = Self::known(ElementKind::Float, 2);
    /// `f32`.
    pub const FLOAT32: Self = Self::known(ElementKind::Float, 4);
    /// `f64`.
    pub const FLOAT64: Self = Self::known(ElementKind::Float, 8);
    /// IEEE 754 binary128, for which Rust has no type.
    pub const FLOAT128: Self = Self::known(ElementKind::Float, 16);
    /// `Complex<f16>`.
    pub const COMPLEX32: Self = Self::known(ElementKind::Complex, 4);
    /// `Complex<f32>`.
    pub const COMPLEX64: Self = Self::known(ElementKind::Complex, 8);
    /// `Complex<f64>`.
    pub const COMPLEX128: Self = Self::known(ElementKind::Complex, 16);
    /// `bf16` of the crate `half`.
    pub const BFLOAT16: Self = Self::known(ElementKind::BFloat, 2);
    /// Julia's `Bool`: one byte, 0 or 1. Read as `u8`.
    pub const BOOL: Self = Self::known(ElementKind::BFloat, 1);
    /// Julia's `BitArray`: 64 elements in 8 bytes, only with flags 6. Decoded to `u8`, 0 or 1.
    pub const BITS: Self = Self::known(ElementKind::BFloat, 8);

    const fn known(kind: ElementKind, elbyte: u64) -> Self {
        Self { kind, elbyte }
    }

    /// Checks the two fields of a header.
    ///
    /// Kinds 0 to 4 may have any width, even if no Rust type has it.
    ///
    /// # Errors
    ///
    /// - [`UnknownElement::Kind`] if `eltype` is above 5.
    /// - [`UnknownElement::NoWidth`] if `elbyte` is 0.
    /// - [`UnknownElement::BFloatWidth`] if `eltype` is 5 and `elbyte` is not 1, 2 or 8.
    pub fn new(eltype: u64, elbyte: u64) -> Result<Self, UnknownElement> {
        let kind = usize::try_from(eltype).ok().and_then(|at| ElementKind::ALL.get(at).copied());
        let kind = kind.ok_or(UnknownElement::Kind { eltype })?;
        match (kind, elbyte) {
            (_, 0) => Err(UnknownElement::NoWidth),
            (ElementKind::BFloat, width) if !matches!(width, 1 | 2 | 8) => {
                Err(UnknownElement::BFloatWidth { elbyte })
            }
            _ => Ok(Self { kind, elbyte }),
        }
    }

    /// Returns the element type of `T`. Its width is checked against the size of `T` at compile time.
    pub const fn of<T: Element>() -> Self {
        const {
            assert!(
                T::ELEMENT_TYPE.elbyte == width::<T>(),
                "the size of a type must equal the width of its element type"
            );
            assert!(!T::ELEMENT_TYPE.is_bits(), "packed bits cannot be elements in memory");
        }
        T::ELEMENT_TYPE
    }

    /// Returns the element type of a structure: user-defined, with the size of `T`. See [`Element`].
    ///
    /// A zero-sized type has no element type:
    ///
    /// ```compile_fail
    /// const NONE: ra_pack::ra::ElementType = ra_pack::ra::ElementType::user::<()>();
    /// ```
    pub const fn user<T>() -> Self {
        const {
            assert!(size_of::<T>() > 0, "an element must have at least one byte");
        }
        Self::known(ElementKind::User, width::<T>())
    }

    const fn is_bits(self) -> bool {
        matches!(self, Self { kind: ElementKind::BFloat, elbyte: 8 })
    }

    /// Returns the kind.
    pub fn kind(self) -> ElementKind {
        self.kind
    }

    /// Returns the `eltype` field.
    pub fn eltype(self) -> u64 {
        self.kind.eltype()
    }

    /// Returns the `elbyte` field: the width of one element in bytes.
    pub fn elbyte(self) -> u64 {
        self.elbyte
    }

    /// Returns the number of bytes that are reversed together to change the byte order: all bytes of a number, half of
    /// a complex number. `None` if the layout is unknown.
    pub fn swap_width(self) -> Option<u64> {
        match self.kind {
            ElementKind::User => (self.elbyte == 1).then_some(1),
            ElementKind::Complex => {
                self.elbyte.is_multiple_of(2).then_some(self.elbyte.wrapping_div(2))
            }
            ElementKind::Int | ElementKind::UInt | ElementKind::Float | ElementKind::BFloat => {
                Some(self.elbyte)
            }
        }
    }

    /// Returns whether elements of this type may be read as `T`.
    ///
    /// They may if this is the element type of `T`. Two other cases are allowed: booleans ([`BOOL`](Self::BOOL),
    /// [`BITS`](Self::BITS) and the user-defined single bytes of ra.py) as `u8`, and user-defined elements as any
    /// structure of their width. A user-defined element is never read as a number, because its bytes may be anything.
    pub fn reads_as<T: Element>(self) -> bool {
        let wanted = Self::of::<T>();
        let truth = self == Self::BOOL
            || self == Self::BITS
            || (self.kind == ElementKind::User && self.elbyte == 1);
        self == wanted || (wanted == Self::UINT8 && truth)
    }
}

#[expect(
    clippy::as_conversions,
    reason = "`From` is not available in a constant; no width exceeds 64 bits"
)]
const fn width<T>() -> u64 {
    size_of::<T>() as u64
}

/// A type that elements of a file are read as and written from.
///
/// It is implemented for the numbers of the format: the integers `i8` to `i128` and `u8` to `u128`, the floats `f16`,
/// `bf16`, `f32` and `f64`, and `Complex<f16|f32|f64>`. Arrays `[T; N]` of elements are user-defined elements.
/// Implement it for a structure with [`compound!`](crate::compound), and for a wrapper of a number in one line:
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use ra_pack::ra::{Element, ElementType};
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Fix {
///     latitude: f32,
///     longitude: f32,
/// }
/// # // SAFETY: two floats without padding.
/// unsafe impl Zeroable for Fix {} // or #[derive(Zeroable, Pod)]
/// unsafe impl Pod for Fix {}
///
/// ra_pack::compound!(Fix { latitude: f32, longitude: f32 });
///
/// /// Written as the numbers that it wraps.
/// #[derive(Clone, Copy)]
/// #[repr(transparent)]
/// struct Celsius(f32);
/// # // SAFETY: it is a float.
/// unsafe impl Zeroable for Celsius {}
/// unsafe impl Pod for Celsius {}
///
/// impl Element for Celsius {
///     const ELEMENT_TYPE: ElementType = ElementType::FLOAT32;
/// }
///
/// assert_eq!(ElementType::of::<Fix>().to_string(), "user8");
/// assert_eq!(ElementType::of::<Celsius>().to_string(), "float32");
/// ```
///
/// The element type of other types is never guessed, so numbers are not silently written as opaque bytes. A structure
/// without an implementation does not compile:
///
/// ```compile_fail,E0277
/// # use bytemuck::{Pod, Zeroable};
/// #[derive(Clone, Copy)]
/// #[repr(transparent)]
/// struct Celsius(f32);
/// # unsafe impl Zeroable for Celsius {}
/// # unsafe impl Pod for Celsius {}
/// let element = ra_pack::ra::ElementType::of::<Celsius>();
/// ```
///
/// Nor does a wrapper of the standard library:
///
/// ```compile_fail,E0277
/// let element = ra_pack::ra::ElementType::of::<std::num::Wrapping<i32>>();
/// ```
///
/// Nor does an `f16` from another version of the crate `half`, which is a different type with the same name:
///
/// ```compile_fail,E0277
/// # use bytemuck::{Pod, Zeroable};
/// # mod half {
/// #     #[derive(Clone, Copy)]
/// #     #[allow(non_camel_case_types)]
/// #     #[repr(transparent)]
/// #     pub struct f16(u16);
/// # }
/// # unsafe impl Zeroable for half::f16 {}
/// # unsafe impl Pod for half::f16 {}
/// let element = ra_pack::ra::ElementType::of::<half::f16>();
/// ```
///
/// Nor does a type whose element type has another width:
///
/// ```compile_fail,E0080
/// # use bytemuck::{Pod, Zeroable};
/// # use ra_pack::ra::{Element, ElementType};
/// # #[derive(Clone, Copy)]
/// # #[repr(transparent)]
/// # struct Celsius(f32);
/// # unsafe impl Zeroable for Celsius {}
/// # unsafe impl Pod for Celsius {}
/// impl Element for Celsius {
///     const ELEMENT_TYPE: ElementType = ElementType::FLOAT64;
/// }
/// let element = ElementType::of::<Celsius>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no RawArray element type",
    note = "implement `ra_pack::ra::Element`, for a structure with `ra_pack::compound!`; use the same versions of \
            half, num-complex and bytemuck as ra-pack"
)]
pub trait Element: Pod {
    /// The element type in a file.
    const ELEMENT_TYPE: ElementType;
    /// The parts of an element, which a description names; see [`compound!`](crate::compound).
    const STRUCTURE: Structure = Structure::Plain;
}

/// Implements [`Element`] for the numbers of the format.
macro_rules! elements {
    ($($rust:ty = $element:expr;)+) => {
        $(impl Element for $rust {
            const ELEMENT_TYPE: ElementType = $element;
        })+
    };
}

elements! {
    i8 = ElementType::INT8;
    i16 = ElementType::INT16;
    i32 = ElementType::INT32;
    i64 = ElementType::INT64;
    i128 = ElementType::INT128;
    isize = ElementType::known(ElementKind::Int, width::<isize>());
    u8 = ElementType::UINT8;
    u16 = ElementType::UINT16;
    u32 = ElementType::UINT32;
    u64 = ElementType::UINT64;
    u128 = ElementType::UINT128;
    usize = ElementType::known(ElementKind::UInt, width::<usize>());
    f16 = ElementType::FLOAT16;
    bf16 = ElementType::BFLOAT16;
    f32 = ElementType::FLOAT32;
    f64 = ElementType::FLOAT64;
    Complex<f16> = ElementType::COMPLEX32;
    Complex<f32> = ElementType::COMPLEX64;
    Complex<f64> = ElementType::COMPLEX128;
}

impl<T: Element, const N: usize> Element for [T; N]
where
    Self: Pod,
{
    const ELEMENT_TYPE: ElementType = ElementType::user::<Self>();
    const STRUCTURE: Structure =
        Structure::Array { element: &Part::of::<T>(), count: width::<Self>() / width::<T>() };
}

/// Serializes the displayed name.
impl Serialize for ElementType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            ElementKind::User => return f.pad(&format!("user{}", self.elbyte)),
            ElementKind::BFloat if *self == Self::BOOL => return f.pad("bool"),
            ElementKind::BFloat if *self == Self::BITS => return f.pad("bits"),
            ElementKind::Int => "int",
            ElementKind::UInt => "uint",
            ElementKind::Float => "float",
            ElementKind::Complex => "complex",
            ElementKind::BFloat => "bfloat",
        };
        let bits = u128::from(self.elbyte).saturating_mul(8);
        f.pad(&format!("{name}{bits}"))
    }
}

/// The reason why header fields are not an element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownElement {
    /// The kind is not defined by any implementation.
    #[error("expected an `eltype` from 0 to 5, found {eltype}")]
    Kind {
        /// The `eltype` field.
        eltype: u64,
    },
    /// The elements have no bytes.
    #[error("expected an `elbyte` of at least 1, found 0")]
    NoWidth,
    /// Kind 5 has a width that no implementation writes.
    #[error(
        "expected an `elbyte` of 2 (bfloat16), 1 (bool) or 8 (bits) for `eltype` 5, found {elbyte}"
    )]
    BFloatWidth {
        /// The `elbyte` field.
        elbyte: u64,
    },
}

/// The `flags` field, without unknown bits.
///
/// Displays as `0`, or as the names of its bits: `big-endian + encoded`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u64);

impl Flags {
    /// No bits: little-endian, unencoded elements. ra-pack writes every file with these flags.
    pub const NONE: Self = Self(0);
    /// Bit 0: the elements are big-endian; the header never is.
    pub const BIG_ENDIAN: Self = Self(1);
    /// Bit 1: the data section is encoded, or is claimed to be; see [`Encoding`](super::Encoding).
    pub const ENCODED: Self = Self(2);
    /// Bit 2: an element is a single bit; only together with bit 1.
    pub const BITS: Self = Self(4);

    const KNOWN: u64 = 7;

    /// Checks the field.
    ///
    /// # Errors
    ///
    /// [`UnknownFlags`] if a bit is set that no implementation defines, because its effect is unknown.
    pub fn new(bits: u64) -> Result<Self, UnknownFlags> {
        match bits & !Self::KNOWN {
            0 => Ok(Self(bits)),
            unknown => Err(UnknownFlags(unknown)),
        }
    }

    /// Returns the field.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Returns these bits together with those of `other`.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether no bit is set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether all bits of `other` are set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table =
            [(Self::BIG_ENDIAN, "big-endian"), (Self::ENCODED, "encoded"), (Self::BITS, "bits")];
        let set = table.into_iter().filter(|(bit, _)| self.contains(*bit));
        let names: Vec<_> = set.map(|(_, name)| name).collect();
        if names.is_empty() { f.pad("0") } else { f.pad(&names.join(" + ")) }
    }
}

/// The undefined bits of a `flags` field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct UnknownFlags(pub u64);

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

    type Triple = [f32; 3];

    #[test]
    fn names_are_those_of_the_field() {
        let cases = [
            (0, 12, "user12"),
            (1, 1, "int8"),
            (1, 16, "int128"),
            (2, 8, "uint64"),
            (3, 2, "float16"),
            (3, 16, "float128"),
            (3, 3, "float24"),
            (4, 4, "complex32"),
            (4, 8, "complex64"),
            (5, 1, "bool"),
            (5, 2, "bfloat16"),
            (5, 8, "bits"),
        ];
        for (eltype, elbyte, name) in cases {
            let element = ElementType::new(eltype, elbyte).unwrap();
            assert_eq!(element.to_string(), name);
            assert_eq!((element.eltype(), element.elbyte()), (eltype, elbyte));
        }
        assert_eq!(ElementType::new(1, u64::MAX).unwrap().to_string(), "int147573952589676412920");
        assert_eq!(format!("[{:>8}]", ElementType::BOOL), "[    bool]");
    }

    #[test]
    fn refuses_fields_that_no_implementation_writes() {
        assert_eq!(ElementType::new(6, 4), Err(UnknownElement::Kind { eltype: 6 }));
        assert_eq!(ElementType::new(0, 0), Err(UnknownElement::NoWidth));
        assert_eq!(ElementType::new(5, 4), Err(UnknownElement::BFloatWidth { elbyte: 4 }));
    }

    #[test]
    fn every_rust_type_has_its_element() {
        assert_eq!(ElementType::of::<i8>(), ElementType::INT8);
        assert_eq!(ElementType::of::<i16>(), ElementType::INT16);
        assert_eq!(ElementType::of::<i32>(), ElementType::INT32);
        assert_eq!(ElementType::of::<i64>(), ElementType::INT64);
        assert_eq!(ElementType::of::<i128>(), ElementType::INT128);
        assert_eq!(ElementType::of::<u8>(), ElementType::UINT8);
        assert_eq!(ElementType::of::<u16>(), ElementType::UINT16);
        assert_eq!(ElementType::of::<u32>(), ElementType::UINT32);
        assert_eq!(ElementType::of::<u64>(), ElementType::UINT64);
        assert_eq!(ElementType::of::<u128>(), ElementType::UINT128);
        assert_eq!(ElementType::of::<f16>(), ElementType::FLOAT16);
        assert_eq!(ElementType::of::<bf16>(), ElementType::BFLOAT16);
        assert_eq!(ElementType::of::<f32>(), ElementType::FLOAT32);
        assert_eq!(ElementType::of::<f64>(), ElementType::FLOAT64);
        assert_eq!(ElementType::of::<Complex<f16>>(), ElementType::COMPLEX32);
        assert_eq!(ElementType::of::<Complex<f32>>(), ElementType::COMPLEX64);
        assert_eq!(ElementType::of::<Complex<f64>>(), ElementType::COMPLEX128);
        assert_eq!(ElementType::of::<Triple>(), ElementType::new(0, 12).unwrap());
    }

    #[test]
    fn byte_order_reverses_numbers_and_not_structures() {
        let width = |eltype, elbyte| ElementType::new(eltype, elbyte).unwrap().swap_width();
        assert_eq!(width(3, 8), Some(8));
        assert_eq!(width(4, 8), Some(4));
        assert_eq!(width(4, 7), None);
        assert_eq!(width(0, 1), Some(1));
        assert_eq!(width(0, 2), None);
        assert_eq!(width(5, 2), Some(2));
    }

    #[test]
    fn only_truth_values_and_structures_are_read_loosely() {
        let user = |elbyte| ElementType::new(0, elbyte).unwrap();
        assert!(ElementType::BOOL.reads_as::<u8>());
        assert!(user(1).reads_as::<u8>());
        assert!(user(12).reads_as::<Triple>());
        assert!(!user(8).reads_as::<f64>());
        assert!(!user(8).reads_as::<Triple>());
        assert!(!ElementType::INT8.reads_as::<u8>());
        assert!(!ElementType::FLOAT32.reads_as::<u32>());
        assert!(!ElementType::UINT8.reads_as::<i8>());
    }

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
