//! The parts of elements that are not numbers: fields of structures, and small arrays.
//!
//! An element may have a structure, and its parts are elements: this file and `element.rs` are two halves of one thing.

use super::element::{Element, ElementType};

/// The structure of an element, as `compound` or `array` in a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Structure {
    /// A number, or bytes without a known structure.
    Plain,
    /// Equal elements without gaps, such as `[T; N]`.
    Array {
        /// One of the elements.
        element: &'static Part,
        /// Their number.
        count: u64,
    },
    /// Named fields without gaps, in this order.
    Compound(&'static [(&'static str, Part)]),
}

/// A part of an element: its type and structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The element type.
    pub element: ElementType,
    /// The structure of the part.
    pub structure: Structure,
}

impl Part {
    /// Returns the part for a value of type `T`.
    pub const fn of<T: Element>() -> Self {
        Self { element: ElementType::of::<T>(), structure: T::STRUCTURE }
    }

    /// Returns the name of a field: `type` for `r#type`.
    #[doc(hidden)]
    pub const fn field(identifier: &'static str) -> &'static str {
        match identifier.as_bytes() {
            [b'r', b'#', name @ ..] => match std::str::from_utf8(name) {
                Ok(name) => name,
                Err(_) => identifier,
            },
            _ => identifier,
        }
    }
}

/// Implements [`Element`](crate::ra::Element) for a structure with these fields.
///
/// A [`PackWriter`](crate::PackWriter) describes its arrays as a `compound` with the fields. Reading an array that is
/// described as a different compound fails with [`Error::Structure`](crate::Error::Structure).
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use ra_pack::ndarray::arr1;
/// use ra_pack::{Error, Pack, PackWriter, WriteOptions};
///
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// #[repr(C)]
/// struct Hit {
///     energy: f32,
///     channel: u32,
/// }
/// # // SAFETY: two numbers without padding.
/// unsafe impl Zeroable for Hit {} // or #[derive(Zeroable, Pod)]
/// unsafe impl Pod for Hit {}
/// ra_pack::compound!(Hit { energy: f32, channel: u32 });
///
/// # let scratch = tempfile::tempdir()?;
/// # let path = scratch.path().join("hits.zip");
/// let hits = arr1(&[Hit { energy: 0.5, channel: 7 }]);
/// let mut pack = PackWriter::create(&path, WriteOptions::default())?;
/// pack.array("hits", &hits).write()?; // type: {compound: [{energy: float32}, {channel: uint32}]}
/// pack.finish()?;
///
/// let array = Pack::open(&path)?.array("hits.ra")?;
/// assert_eq!(array.read::<Hit>()?, hits.into_dyn());
/// assert!(matches!(array.read::<[u32; 2]>(), Err(Error::Structure { .. })));
/// assert_eq!(array.read::<[u8; 8]>()?[[0]][4], 7); // bytes are bytes
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// List every field with its type, in the order of the structure. Anything else does not compile:
///
/// ```compile_fail
/// # use bytemuck::{Pod, Zeroable};
/// # #[derive(Clone, Copy)]
/// # #[repr(C)]
/// # struct Hit { energy: f32, channel: u32 }
/// # unsafe impl Zeroable for Hit {}
/// # unsafe impl Pod for Hit {}
/// ra_pack::compound!(Hit { channel: u32, energy: f32 });
/// ```
#[macro_export]
macro_rules! compound {
    ($structure:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        impl $crate::ra::Element for $structure {
            const ELEMENT_TYPE: $crate::ra::ElementType = $crate::ra::ElementType::user::<Self>();
            const STRUCTURE: $crate::ra::Structure = $crate::ra::Structure::Compound(&[
                $(($crate::ra::Part::field(::core::stringify!($field)), $crate::ra::Part::of::<$type>())),+
            ]);
        }
        const _: fn($structure) = |$structure { $($field),+ }| { $(let _: $type = $field;)+ };
        const _: () = {
            let mut end = 0;
            $(
                assert!(::core::mem::offset_of!($structure, $field) == end, "list the fields in their order");
                end += ::core::mem::size_of::<$type>();
            )+
            assert!(end == ::core::mem::size_of::<$structure>(), "list all fields");
        };
    };
}
