//! The parts of elements that are no numbers: fields of structures, and small arrays.

use super::element::{Element, ElementType};

/// The parts of an element, as `compound` and `array` of a description name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Structure {
    /// One number, or bytes that nothing is said about.
    Plain,
    /// Equal elements without gaps, as of `[T; N]`.
    Array {
        /// Each of them.
        element: &'static Part,
        /// Their number.
        count: u64,
    },
    /// Named fields without gaps, in this order.
    Compound(&'static [(&'static str, Part)]),
}

/// A part of an element: its type, and what it is made of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// What it would be as an element of an array.
    pub element: ElementType,
    /// Its own parts.
    pub structure: Structure,
}

impl Part {
    /// A value of type `T`.
    pub const fn of<T: Element>() -> Self {
        Self { element: ElementType::of::<T>(), structure: T::STRUCTURE }
    }

    /// The name of a field: `type` of `r#type`.
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

/// Makes a structure an [`Element`](crate::ra::Element) with these fields, which a description lists as a `compound`.
///
/// A [`PackWriter`](crate::PackWriter) describes arrays of it so. An array that is described as another compound is
/// not read as this one: [`Error::Structure`](crate::Error::Structure).
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
/// Every field has to be named, with its type and in its place:
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
                assert!(::core::mem::offset_of!($structure, $field) == end, "the fields in their order");
                end += ::core::mem::size_of::<$type>();
            )+
            assert!(end == ::core::mem::size_of::<$structure>(), "all fields");
        };
    };
}
