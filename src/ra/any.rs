//! Arrays whose element type the file decides.

use std::io::{self, Read, Write};

use half::{bf16, f16};
use ndarray::{ArrayD, SliceInfoElem};
use num_complex::Complex;

use super::array::{Body, RawArray, fortran_array, read_body, read_slice_data};
use super::element::ElementType;
use super::error::{DecodeError, ReadError, ShapeError};
use super::header::{Header, count};
use super::reverse::Reversal;
use super::slice::{SliceError, SlicePlan, checked_slice};

/// Elements that no Rust type holds: user-defined ones, and numbers of unusual widths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpaqueArray {
    header: Header,
    bytes: Vec<u8>,
}

impl OpaqueArray {
    /// The extents, first index fastest.
    pub fn dims(&self) -> &[u64] {
        self.header.dims()
    }

    /// The element type.
    pub fn element(&self) -> ElementType {
        self.header.element()
    }

    /// The bytes of all elements, first index fastest, in this machine's byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[expect(clippy::expect_used, reason = "the reversed array is exactly as long")]
    fn reversed_axes(self) -> Self {
        let mut bytes = vec![0; self.bytes.len()];
        Reversal::new(&self.header).reverse(&self.bytes, &mut bytes).expect("two of one length");
        Self { header: self.header.reversed(), bytes }
    }

    fn slice(&self, slice: &[SliceInfoElem]) -> Result<Self, SliceError> {
        let element = self.element();
        let plan = SlicePlan::new(self.dims(), element.elbyte(), slice)?;
        let position = |offset| usize::try_from(offset).unwrap_or(usize::MAX);
        let pieces =
            plan.runs().filter_map(|run| self.bytes.get(position(run.start)..position(run.end)));
        let bytes = pieces.flatten().copied().collect();
        let header =
            Header::new(element, plan.dims().to_vec()).map_err(|_| SliceError::TooLarge)?;
        Ok(Self { header, bytes })
    }
}

/// Defines [`AnyArray`] and everything that treats its variants alike from one table of them.
macro_rules! any_array {
    ($($variant:ident($rust:ty) = $($element:ident)|+, $doc:literal;)+) => {
        /// An array of any element type that a file can have. All arrays are as ndarray holds them, with
        /// the indices of the file unless its reader says otherwise.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum AnyArray {
            $(#[doc = $doc] $variant(ArrayD<$rust>),)+
            /// User-defined elements and numbers of widths for which Rust has no type, as bytes.
            Opaque(OpaqueArray),
        }

        impl AnyArray {
            /// The element type that the array is written as; truth values are `uint8`.
            pub fn element(&self) -> ElementType {
                match self {
                    $(Self::$variant(_) => ElementType::of::<$rust>(),)+
                    Self::Opaque(array) => array.element(),
                }
            }

            /// The extents, in the order of the indices.
            pub fn dims(&self) -> Vec<u64> {
                match self {
                    $(Self::$variant(array) => array.shape().iter().copied().map(count).collect(),)+
                    Self::Opaque(array) => array.dims().to_vec(),
                }
            }

            /// Reads what follows `header`, to the end. `file_len` counts from the beginning of the file, as far as it
            /// is known.
            ///
            /// # Errors
            ///
            /// As [`AnyArray::read_from`].
            pub fn read_after(
                header: &Header,
                reader: &mut impl Read,
                file_len: Option<u64>,
            ) -> Result<Self, ReadError> {
                let array = match header.element() {
                    $($(ElementType::$element)|+ => {
                        let Body { data, .. } = read_body::<$rust>(header, reader, file_len)?;
                        let array = fortran_array(header.dims(), data);
                        Self::$variant(array.map_err(|_| header.not_indexable())?)
                    })+
                    _ => {
                        let Body { data, .. } = read_body::<u8>(header, reader, file_len)?;
                        Self::Opaque(OpaqueArray { header: header.decoded(), bytes: data })
                    }
                };
                // A reader that counts or hashes must see the metadata too.
                io::copy(reader, &mut io::sink())?;
                Ok(array)
            }

            /// Takes elements of `element` in native byte order, first index fastest, as
            /// [`decode`](super::decode) gives them.
            ///
            /// # Errors
            ///
            /// When `bytes` has another length than `element` and `dims` say, or ndarray cannot hold them.
            pub fn from_elements(
                element: ElementType,
                dims: Vec<u64>,
                bytes: Vec<u8>,
            ) -> Result<Self, ShapeError> {
                let header = Header::new(element, dims)?;
                if header.data_len() != count(bytes.len()) {
                    let found = count(bytes.len()).checked_div(element.elbyte()).unwrap_or(0);
                    let expected = header.elements();
                    return Err(ShapeError::Length { dims: header.dims().to_vec(), expected, found });
                }
                match element {
                    $($(ElementType::$element)|+ => {
                        // A vector of bytes has not the alignment of its elements: this copies, but for bytes.
                        let data = bytemuck::allocation::try_cast_vec(bytes)
                            .unwrap_or_else(|(_, bytes)| bytemuck::pod_collect_to_vec(&bytes));
                        Ok(Self::$variant(fortran_array(header.dims(), data)?))
                    })+
                    _ => Ok(Self::Opaque(OpaqueArray { header, bytes })),
                }
            }

            /// Reads a slice of an unencoded file and nothing else of it; see [`read_slice`](super::read_slice).
            ///
            /// # Errors
            ///
            /// When the file is too short or encoded, the slice does not fit, or `read_at` fails.
            pub fn read_slice(
                header: &Header,
                file_len: u64,
                slice: &[SliceInfoElem],
                read_at: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
            ) -> Result<Self, ReadError> {
                let error = |kind: ShapeError| DecodeError::new(header.header_len(), kind);
                match header.element() {
                    $($(ElementType::$element)|+ => {
                        let (dims, data) = read_slice_data::<$rust>(header, file_len, slice, read_at)?;
                        Ok(Self::$variant(fortran_array(&dims, data).map_err(error)?))
                    })+
                    element => {
                        let (dims, bytes) = read_slice_data::<u8>(header, file_len, slice, read_at)?;
                        let header = Header::new(element, dims).map_err(error)?;
                        Ok(Self::Opaque(OpaqueArray { header, bytes }))
                    }
                }
            }

            /// The same elements with their indices in the opposite order: `[i, j]` becomes `[j, i]`. Only
            /// opaque elements are moved.
            #[must_use]
            pub fn reversed_axes(self) -> Self {
                match self {
                    $(Self::$variant(array) => Self::$variant(array.reversed_axes()),)+
                    Self::Opaque(array) => Self::Opaque(array.reversed_axes()),
                }
            }

            /// The slice of an array that is in memory.
            ///
            /// # Errors
            ///
            /// When the slice does not fit.
            pub fn slice(&self, slice: &[SliceInfoElem]) -> Result<Self, SliceError> {
                match self {
                    $(Self::$variant(array) => {
                        Ok(Self::$variant(checked_slice(array, slice)?.to_owned()))
                    })+
                    Self::Opaque(array) => array.slice(slice).map(Self::Opaque),
                }
            }

            /// Writes the file: flags 0, little-endian elements, no metadata.
            ///
            /// # Errors
            ///
            /// When the writer fails, or (on a big-endian machine) the layout of user-defined elements is
            /// not known.
            pub fn write_to(&self, mut writer: impl Write) -> io::Result<()> {
                match self {
                    $(Self::$variant(array) => RawArray::from(array).write_to(writer),)+
                    Self::Opaque(array) => {
                        writer.write_all(&array.header.encode())?;
                        if array.header.is_native() {
                            return writer.write_all(&array.bytes);
                        }
                        let mut swapped = array.bytes.clone();
                        array.header.swap_to_native(&mut swapped)?;
                        writer.write_all(&swapped)
                    }
                }
            }
        }

        $(impl From<ArrayD<$rust>> for AnyArray {
            fn from(array: ArrayD<$rust>) -> Self {
                Self::$variant(array)
            }
        })+
    };
}

any_array! {
    I8(i8) = INT8, "`int8`.";
    I16(i16) = INT16, "`int16`.";
    I32(i32) = INT32, "`int32`.";
    I64(i64) = INT64, "`int64`.";
    I128(i128) = INT128, "`int128`.";
    U8(u8) = UINT8 | BOOL | BITS, "`uint8`, and the truth values `bool` and `bits`.";
    U16(u16) = UINT16, "`uint16`.";
    U32(u32) = UINT32, "`uint32`.";
    U64(u64) = UINT64, "`uint64`.";
    U128(u128) = UINT128, "`uint128`.";
    F16(f16) = FLOAT16, "`float16`.";
    Bf16(bf16) = BFLOAT16, "`bfloat16`.";
    F32(f32) = FLOAT32, "`float32`.";
    F64(f64) = FLOAT64, "`float64`.";
    C32(Complex<f16>) = COMPLEX32, "`complex32`.";
    C64(Complex<f32>) = COMPLEX64, "`complex64`.";
    C128(Complex<f64>) = COMPLEX128, "`complex128`.";
}

impl AnyArray {
    /// Reads a whole file; trailing metadata is read and dropped. No more memory is taken than what
    /// arrives needs; [`AnyArray::read_sized`] is faster where the length is known.
    ///
    /// # Errors
    ///
    /// When the reader fails, the file is damaged, or ndarray cannot hold its dims.
    pub fn read_from(mut reader: impl Read) -> Result<Self, ReadError> {
        let header = Header::read(&mut reader)?;
        Self::read_after(&header, &mut reader, None)
    }

    /// Reads a whole file of `file_len` bytes, with memory taken once.
    ///
    /// # Errors
    ///
    /// As [`AnyArray::read_from`].
    pub fn read_sized(mut reader: impl Read, file_len: u64) -> Result<Self, ReadError> {
        let header = Header::read(&mut reader)?;
        Self::read_after(&header, &mut reader, Some(file_len))
    }
}
