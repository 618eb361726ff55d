//! Decoded files, arrays with an element type known to the program, and arrays with an element type known from the
//! file.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use bytemuck::Pod;
use half::{bf16, f16};
use ndarray::{
    Array, ArrayBase, ArrayD, ArrayViewD, Data, Dimension, IxDyn, ShapeBuilder, SliceInfoElem,
    StrideShape,
};
use num_complex::Complex;

use super::element::{Element, ElementType};
use super::encoding::{Encoding, decode_into, probe};
use super::header::{Header, MAX_NDIMS, count, read_full};
use super::reverse::Reversal;
use super::slice::SlicePlan;
use super::{DecodeError, DecodeErrorKind, ReadError, ShapeError};

/// A decoded file. Nothing is copied if the elements are unencoded and in native byte order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decoded<'a> {
    /// The header as stored; [`Header::decoded`] is the header of the decoded data.
    pub header: Header,
    /// The elements in column-major order and native byte order.
    pub data: Cow<'a, [u8]>,
    /// The bytes after the data.
    pub metadata: &'a [u8],
    /// The encoding of the elements in the file.
    pub encoding: Encoding,
}

/// Decodes a complete file.
///
/// # Errors
///
/// [`DecodeError`] if the file is not a complete RawArray, cannot be decoded, or has elements of unknown layout in the
/// other byte order.
pub fn decode(file: &[u8]) -> Result<Decoded<'_>, DecodeError> {
    let header = Header::parse(file)?;
    header.check_file_len(count(file.len()))?;
    let (_, section) = usize::try_from(header.header_len())
        .ok()
        .and_then(|len| file.split_at_checked(len))
        .unwrap_or_default();
    let len = usize::try_from(header.data_len()).map_err(|_| header.not_indexable())?;
    if header.is_encoded() {
        // Memory for the data is allocated only once all of it is known to be there.
        let (encoding, used) = probe(&header, section)?;
        let mut data = zeroed(len).map_err(|_| header.not_indexable())?;
        decode_into(&header, encoding, section, &mut data).map_err(|error| match error {
            ReadError::Decode(error) => error,
            ReadError::Io(_) | ReadError::Slice(_) => header.not_indexable(),
        })?;
        let metadata = section.get(used..).unwrap_or_default();
        return Ok(Decoded { header, data: data.into(), metadata, encoding });
    }
    let (elements, metadata) = section.split_at_checked(len).unwrap_or_default();
    let mut data = Cow::Borrowed(elements);
    if !header.is_native() {
        header.swap_to_native(data.to_mut())?;
    }
    Ok(Decoded { header, data, metadata, encoding: Encoding::Raw })
}

/// The decoded content of a file after the header.
#[derive(Debug)]
pub(super) struct ReadBody<T> {
    pub(super) data: Vec<T>,
    /// The metadata that was read to find the end of the data; the reader may have more.
    pub(super) metadata: Vec<u8>,
}

/// Reads the data section after `header` as elements of type `T`, in native byte order. The caller checks the element
/// type; `T` may also be `u8` for the bytes. If the length of the file is known as `file_len`, the memory is allocated
/// at once.
pub(super) fn read_body<T: Pod>(
    header: &Header,
    reader: &mut impl Read,
    file_len: Option<u64>,
) -> Result<ReadBody<T>, ReadError> {
    let len = usize::try_from(header.data_len()).map_err(|_| header.not_indexable())?;
    let elements = len.checked_div(size_of::<T>()).unwrap_or(0);
    if header.is_encoded() {
        let mut section = Vec::new();
        reader.read_to_end(&mut section)?;
        let (encoding, used) = probe(header, &section)?;
        let mut data = zeroed(elements)?;
        decode_into(header, encoding, &section, bytemuck::cast_slice_mut(&mut data))?;
        section.drain(..used.min(section.len()));
        return Ok(ReadBody { data, metadata: section });
    }
    // If only the header claims the elements, the memory doubles as they arrive.
    let mut next = match file_len {
        Some(file_len) => {
            header.check_file_len(file_len)?;
            elements
        }
        None => (FIRST_BYTES / size_of::<T>()).max(1).min(elements),
    };
    let (mut data, mut found) = (Vec::new(), 0);
    while data.len() < elements {
        let there = data.len();
        if there == 0 {
            data = zeroed::<T>(next)?;
        } else {
            data.try_reserve(next).map_err(|_| out_of_memory())?;
            data.resize(there + next, T::zeroed());
        }
        let (_, fresh) = data.split_at_mut(there);
        let wanted = size_of_val(fresh);
        let arrived = read_full(reader, bytemuck::cast_slice_mut(fresh))?;
        found += arrived;
        if arrived < wanted {
            return Err(header.data_truncated(count(found)).into());
        }
        next = data.len().min(elements - data.len());
    }
    header.swap_to_native(bytemuck::cast_slice_mut(&mut data))?;
    Ok(ReadBody { data, metadata: Vec::new() })
}

/// First allocation in bytes, if the length of the file is not known.
const FIRST_BYTES: usize = 1 << 20;

/// Allocates zeroed memory from the system, without a pass over it.
fn zeroed<T: Pod>(elements: usize) -> io::Result<Vec<T>> {
    bytemuck::allocation::try_zeroed_vec(elements).map_err(|()| out_of_memory())
}

fn out_of_memory() -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}

/// An n-dimensional array of `T` as in a RawArray file: in column-major order (first index fastest).
///
/// `T` is one of the integers `i8` to `i128` and `u8` to `u128`, the floats `f16`, `bf16`, `f32` and `f64`,
/// `Complex<f16|f32|f64>`, or a structure that implements [`Element`].
///
/// ```
/// use ndarray::{ArrayD, array};
/// use ra_pack::RawArray;
///
/// let matrix = array![[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// let array = RawArray::from(&matrix);
/// assert_eq!(array.dims(), [2, 3]);
/// assert_eq!(array.data(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
///
/// let mut file = Vec::new();
/// array.write_to(&mut file)?;
/// let again: ArrayD<f32> = RawArray::read_from(file.as_slice())?.try_into()?;
/// assert_eq!(again, matrix.into_dyn());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RawArray<T> {
    /// The header: flags 0, the element type of `T`, and as many elements as `data`.
    header: Header,
    data: Vec<T>,
    metadata: Vec<u8>,
}

impl<T: Element> RawArray<T> {
    /// Makes an array with the dimensions `dims` from elements in column-major order.
    ///
    /// # Errors
    ///
    /// - [`ShapeError::Length`] if the number of elements is not the product of `dims`.
    /// - [`ShapeError::TooManyDims`] if there are more than [`MAX_NDIMS`] dimensions.
    pub fn new(dims: Vec<u64>, data: Vec<T>) -> Result<Self, ShapeError> {
        let header = Header::new(ElementType::of::<T>(), dims)?;
        let (expected, found) = (header.elements(), count(data.len()));
        if expected != found {
            return Err(ShapeError::Length { dims: header.dims().to_vec(), expected, found });
        }
        Ok(Self { header, data, metadata: Vec::new() })
    }

    /// Reads a complete file with trailing metadata. Memory grows with the data that arrives; [`RawArray::read_sized`]
    /// is faster if the length is known.
    ///
    /// # Errors
    ///
    /// - [`ReadError::Io`] if the reader fails.
    /// - [`ReadError::Decode`] if the file is not valid, or its elements may not be read as `T` (see
    ///   [`ElementType::reads_as`]).
    pub fn read_from(mut reader: impl Read) -> Result<Self, ReadError> {
        let header = Header::read(&mut reader)?;
        Self::read_after(&header, &mut reader, None)
    }

    /// Reads a complete file of `file_len` bytes, with a single allocation.
    ///
    /// # Errors
    ///
    /// The errors of [`RawArray::read_from`].
    pub fn read_sized(mut reader: impl Read, file_len: u64) -> Result<Self, ReadError> {
        let header = Header::read(&mut reader)?;
        Self::read_after(&header, &mut reader, Some(file_len))
    }

    /// Reads the rest of a file after `header`. `file_len` is the length of the file including the header, if it is
    /// known.
    ///
    /// # Errors
    ///
    /// The errors of [`RawArray::read_from`].
    pub fn read_after(
        header: &Header,
        reader: &mut impl Read,
        file_len: Option<u64>,
    ) -> Result<Self, ReadError> {
        header.check_type::<T>()?;
        let ReadBody { data, mut metadata } = read_body(header, reader, file_len)?;
        reader.read_to_end(&mut metadata)?;
        let header = Header::in_memory(header.dims().to_vec(), &data);
        Ok(Self { header, data, metadata })
    }

    /// Decodes a complete file in memory.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if the file is not valid, or its elements may not be read as `T`.
    pub fn from_bytes(file: &[u8]) -> Result<Self, DecodeError> {
        let decoded = decode(file)?;
        decoded.header.check_type::<T>()?;
        let data = bytemuck::allocation::pod_collect_to_vec(&decoded.data);
        let header = Header::in_memory(decoded.header.dims().to_vec(), &data);
        Ok(Self { header, data, metadata: decoded.metadata.to_vec() })
    }

    /// Writes the file: flags 0, little-endian elements, and any metadata.
    ///
    /// # Errors
    ///
    /// Any error of the writer. An error if there are more than [`MAX_NDIMS`] dimensions, or (on a big-endian machine)
    /// the layout of user-defined elements is unknown.
    pub fn write_to(&self, mut writer: impl Write) -> io::Result<()> {
        if self.header.ndims() > MAX_NDIMS {
            return Err(ShapeError::TooManyDims { ndims: count(self.header.ndims()) }.into());
        }
        write_plain(&self.header, bytemuck::cast_slice(&self.data), &mut writer)?;
        writer.write_all(&self.metadata)
    }

    /// Returns the header of the written file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the lengths of the dimensions, fastest first.
    pub fn dims(&self) -> &[u64] {
        self.header.dims()
    }

    /// Returns the elements in column-major order.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// Returns the bytes after the data in the file. Most implementations drop or refuse them.
    pub fn metadata(&self) -> &[u8] {
        &self.metadata
    }

    /// Sets the bytes to write after the data.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Vec<u8>) -> Self {
        self.metadata = metadata;
        self
    }

    /// Returns a view that ndarray can index, without copying the elements.
    ///
    /// # Errors
    ///
    /// [`ShapeError::NotIndexable`] if the dimensions are too large for ndarray, even for an array without elements.
    pub fn view(&self) -> Result<ArrayViewD<'_, T>, ShapeError> {
        let shape = fortran_shape(self.dims())?;
        ArrayViewD::from_shape(shape, &self.data)
            .map_err(|_| ShapeError::NotIndexable { dims: self.dims().to_vec() })
    }
}

impl<T: Element> From<Vec<T>> for RawArray<T> {
    fn from(data: Vec<T>) -> Self {
        let header = Header::in_memory(vec![count(data.len())], &data);
        Self { header, data, metadata: Vec::new() }
    }
}

impl<T> From<RawArray<T>> for Vec<T> {
    fn from(array: RawArray<T>) -> Self {
        array.data
    }
}

/// Keeps the indices of an array of any layout: element `[i, j]` stays element `[i, j]`. A column-major array is copied
/// byte by byte.
impl<T: Element, S: Data<Elem = T>, D: Dimension> From<&ArrayBase<S, D>> for RawArray<T> {
    fn from(array: &ArrayBase<S, D>) -> Self {
        let reversed = array.t();
        let data = match reversed.as_slice() {
            Some(elements) => elements.to_vec(),
            None => reversed.iter().copied().collect(),
        };
        let header = Header::in_memory(array.shape().iter().copied().map(count).collect(), &data);
        Self { header, data, metadata: Vec::new() }
    }
}

/// Keeps the indices. A contiguous column-major array is moved without copying the elements.
impl<T: Element, D: Dimension> From<Array<T, D>> for RawArray<T> {
    fn from(array: Array<T, D>) -> Self {
        if !array.t().is_standard_layout() {
            return Self::from(&array);
        }
        let (dims, len) = (array.shape().iter().copied().map(count).collect(), array.len());
        let (mut data, offset) = array.into_raw_vec_and_offset();
        data.drain(..offset.unwrap_or(0).min(data.len()));
        data.truncate(len);
        let header = Header::in_memory(dims, &data);
        Self { header, data, metadata: Vec::new() }
    }
}

/// Converts without copying the elements. Fails if the dimensions are too large for ndarray, even for an array without
/// elements.
impl<T: Element> TryFrom<RawArray<T>> for ArrayD<T> {
    type Error = ShapeError;

    fn try_from(array: RawArray<T>) -> Result<Self, Self::Error> {
        fortran_array(array.header.dims(), array.data)
    }
}

/// Writes a header with flags 0 and elements in native byte order.
fn write_plain(header: &Header, elements: &[u8], writer: &mut impl Write) -> io::Result<()> {
    writer.write_all(&header.encode())?;
    if header.is_native() {
        return writer.write_all(elements);
    }
    let mut swapped = elements.to_vec();
    header.swap_to_native(&mut swapped)?;
    writer.write_all(&swapped)
}

/// Returns a column-major array for elements in that order.
pub(super) fn fortran_array<T>(dims: &[u64], data: Vec<T>) -> Result<ArrayD<T>, ShapeError> {
    ArrayD::from_shape_vec(fortran_shape(dims)?, data)
        .map_err(|_| ShapeError::NotIndexable { dims: dims.to_vec() })
}

fn fortran_shape(dims: &[u64]) -> Result<StrideShape<IxDyn>, ShapeError> {
    let extents: Result<Vec<usize>, _> = dims.iter().map(|&dim| usize::try_from(dim)).collect();
    match extents {
        Ok(extents) => Ok(IxDyn(&extents).f().into()),
        Err(_) => Err(ShapeError::NotIndexable { dims: dims.to_vec() }),
    }
}

/// Returns a view of the elements of a complete file, without copying. Use it for files that are mapped into memory.
///
/// # Errors
///
/// - [`DecodeErrorKind::NotInPlace`] if the elements are encoded or in the other byte order.
/// - [`DecodeErrorKind::Misaligned`] if the data does not have the alignment of `T`.
/// - Other kinds if the file is not valid, or its elements may not be read as `T`.
pub fn view<T: Element>(file: &[u8]) -> Result<ArrayViewD<'_, T>, DecodeError> {
    let header = Header::parse(file)?;
    header.check_type::<T>()?;
    header.check_file_len(count(file.len()))?;
    let fault = |kind| DecodeError::new(header.header_len(), kind);
    if !header.is_native() {
        return Err(fault(DecodeErrorKind::NotInPlace { flags: header.flags() }));
    }
    let Cow::Borrowed(bytes) = decode(file)?.data else {
        unreachable!("native elements are not copied")
    };
    let elements = bytemuck::try_cast_slice(bytes)
        .map_err(|_| fault(DecodeErrorKind::Misaligned { expected: align_of::<T>() }))?;
    let shape = fortran_shape(header.dims()).map_err(|_| header.not_indexable())?;
    ArrayViewD::from_shape(shape, elements).map_err(|_| header.not_indexable())
}

/// Reads only the bytes of a slice of an unencoded file. `read_at` fills a buffer from an offset in the data section,
/// which begins [`Header::header_len`] bytes into the file. `file_len` is the length of the complete file in bytes; it
/// limits the memory that is allocated.
///
/// # Errors
///
/// - [`ReadError::Io`] if `read_at` fails.
/// - [`ReadError::Decode`] if the elements may not be read as `T`, or the file is too short or encoded.
/// - [`ReadError::Slice`] if the slice does not fit the array.
pub fn read_slice<T: Element>(
    header: &Header,
    file_len: u64,
    slice: &[SliceInfoElem],
    read_at: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
) -> Result<ArrayD<T>, ReadError> {
    header.check_type::<T>()?;
    let (dims, data) = read_slice_data(header, file_len, slice, read_at)?;
    let error = |kind| DecodeError::new(header.header_len(), kind);
    Ok(fortran_array(&dims, data).map_err(error)?)
}

/// Returns the dimensions of a slice and its elements in native byte order; `T` may also be `u8` for the bytes.
pub(super) fn read_slice_data<T: Pod>(
    header: &Header,
    file_len: u64,
    slice: &[SliceInfoElem],
    read_at: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
) -> Result<(Vec<u64>, Vec<T>), ReadError> {
    if header.is_encoded() {
        let kind = DecodeErrorKind::NotInPlace { flags: header.flags() };
        return Err(DecodeError::new(header.header_len(), kind).into());
    }
    header.check_file_len(file_len)?;
    let plan = SlicePlan::new(header.dims(), header.element().elbyte(), slice)?;
    let len = usize::try_from(plan.data_len()).map_err(|_| header.not_indexable())?;
    let mut data: Vec<T> = zeroed(len.checked_div(size_of::<T>()).unwrap_or(0))?;
    plan.read_into(bytemuck::cast_slice_mut(&mut data), read_at)?;
    header.swap_to_native(bytemuck::cast_slice_mut(&mut data))?;
    Ok((plan.dims().to_vec(), data))
}

/// Elements for which Rust has no type: user-defined ones, and numbers of unusual widths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpaqueArray {
    header: Header,
    bytes: Vec<u8>,
}

impl OpaqueArray {
    /// Returns the lengths of the dimensions, fastest first.
    pub fn dims(&self) -> &[u64] {
        self.header.dims()
    }

    /// Returns the element type.
    pub fn element(&self) -> ElementType {
        self.header.element()
    }

    /// Returns the bytes of all elements in column-major order and native byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[expect(clippy::expect_used, reason = "the reversed array has the same length")]
    fn reversed_axes(self) -> Self {
        let mut bytes = vec![0; self.bytes.len()];
        Reversal::new(&self.header)
            .reverse(&self.bytes, &mut bytes)
            .expect("both have the same length");
        Self { header: self.header.reversed(), bytes }
    }
}

/// Defines [`AnyArray`], and everything that is the same for all its variants, from one table.
macro_rules! any_array {
    ($($variant:ident($rust:ty) = $($element:ident)|+, $doc:literal;)+) => {
        /// An array of any element type. It has the indices of the file, unless its reader documents otherwise.
        ///
        /// ```
        /// use ra_pack::{AnyArray, Pack};
        ///
        /// let time = Pack::open("examples/experiment")?.array("time.ra")?.read_any()?;
        /// match &time {
        ///     AnyArray::F64(seconds) => println!("{} times from {}", seconds.len(), seconds[[0]]),
        ///     other => println!("times of type {}", other.element()),
        /// }
        /// # Ok::<(), ra_pack::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum AnyArray {
            $(#[doc = $doc] $variant(ArrayD<$rust>),)+
            /// The bytes of user-defined elements, and of numbers for which Rust has no type.
            Opaque(OpaqueArray),
        }

        impl AnyArray {
            /// Returns the element type in a written file; booleans are `uint8`.
            pub fn element(&self) -> ElementType {
                match self {
                    $(Self::$variant(_) => ElementType::of::<$rust>(),)+
                    Self::Opaque(array) => array.element(),
                }
            }

            /// Returns the lengths of the dimensions, in the order of the indices.
            pub fn dims(&self) -> Vec<u64> {
                match self {
                    $(Self::$variant(array) => array.shape().iter().copied().map(count).collect(),)+
                    Self::Opaque(array) => array.dims().to_vec(),
                }
            }

            /// Reads the rest of a file after `header`, to the end. `file_len` is the length of the file including the
            /// header, if it is known.
            ///
            /// # Errors
            ///
            /// The errors of [`AnyArray::read_from`].
            pub fn read_after(
                header: &Header,
                reader: &mut impl Read,
                file_len: Option<u64>,
            ) -> Result<Self, ReadError> {
                let array = match header.element() {
                    $($(ElementType::$element)|+ => {
                        let ReadBody { data, .. } = read_body::<$rust>(header, reader, file_len)?;
                        let array = fortran_array(header.dims(), data);
                        Self::$variant(array.map_err(|_| header.not_indexable())?)
                    })+
                    _ => {
                        let ReadBody { data, .. } = read_body::<u8>(header, reader, file_len)?;
                        Self::Opaque(OpaqueArray { header: header.decoded(), bytes: data })
                    }
                };
                // A reader that counts or hashes must also read the metadata.
                io::copy(reader, &mut io::sink())?;
                Ok(array)
            }

            /// Reads only the bytes of a slice of an unencoded file; see [`read_slice`](super::read_slice).
            ///
            /// # Errors
            ///
            /// - [`ReadError::Io`] if `read_at` fails.
            /// - [`ReadError::Decode`] if the file is too short or encoded.
            /// - [`ReadError::Slice`] if the slice does not fit the array.
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

            /// Reverses the order of the indices: `[i, j]` becomes `[j, i]`. Only opaque elements are moved in memory.
            #[must_use]
            pub fn reversed_axes(self) -> Self {
                match self {
                    $(Self::$variant(array) => Self::$variant(array.reversed_axes()),)+
                    Self::Opaque(array) => Self::Opaque(array.reversed_axes()),
                }
            }

            /// Writes the file: flags 0, little-endian elements, no metadata.
            ///
            /// # Errors
            ///
            /// Any error of the writer. An error if (on a big-endian machine) the layout of user-defined elements is
            /// unknown.
            pub fn write_to(&self, mut writer: impl Write) -> io::Result<()> {
                match self {
                    $(Self::$variant(array) => RawArray::from(array).write_to(writer),)+
                    Self::Opaque(array) => write_plain(&array.header, &array.bytes, &mut writer),
                }
            }
        }

        $(impl From<ArrayD<$rust>> for AnyArray {
            fn from(array: ArrayD<$rust>) -> Self {
                Self::$variant(array)
            }
        }

        /// Converts without copying the elements. Fails if they have another type.
        impl TryFrom<AnyArray> for ArrayD<$rust> {
            type Error = DecodeErrorKind;

            fn try_from(array: AnyArray) -> Result<Self, Self::Error> {
                match array {
                    AnyArray::$variant(array) => Ok(array),
                    other => Err(DecodeErrorKind::wrong_type::<$rust>(other.element())),
                }
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
    U8(u8) = UINT8 | BOOL | BITS, "`uint8`, and the booleans of Julia, `bool` and `bits`.";
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
    /// Converts the elements to `f64`, with the same indices; `None` for complex and opaque elements.
    ///
    /// Integers of more than 53 bits are rounded to the nearest `f64`, ties to even. All other numbers are exact.
    ///
    /// ```
    /// use ndarray::arr1;
    /// use ra_pack::AnyArray;
    ///
    /// let counts = AnyArray::from(arr1(&[3_i16, -4]).into_dyn());
    /// assert_eq!(counts.to_f64(), Some(arr1(&[3.0, -4.0]).into_dyn()));
    /// ```
    #[expect(clippy::cast_precision_loss, reason = "the documentation gives the precision")]
    pub fn to_f64(&self) -> Option<ArrayD<f64>> {
        Some(match self {
            Self::I8(array) => array.mapv(f64::from),
            Self::I16(array) => array.mapv(f64::from),
            Self::I32(array) => array.mapv(f64::from),
            Self::I64(array) => array.mapv(|element| element as f64),
            Self::I128(array) => array.mapv(|element| element as f64),
            Self::U8(array) => array.mapv(f64::from),
            Self::U16(array) => array.mapv(f64::from),
            Self::U32(array) => array.mapv(f64::from),
            Self::U64(array) => array.mapv(|element| element as f64),
            Self::U128(array) => array.mapv(|element| element as f64),
            Self::F16(array) => array.mapv(f64::from),
            Self::Bf16(array) => array.mapv(f64::from),
            Self::F32(array) => array.mapv(f64::from),
            Self::F64(array) => array.clone(),
            Self::C32(_) | Self::C64(_) | Self::C128(_) | Self::Opaque(_) => return None,
        })
    }

    /// Reads a complete file, and drops trailing metadata. Memory grows with the data that arrives;
    /// [`AnyArray::read_sized`] is faster if the length is known.
    ///
    /// # Errors
    ///
    /// - [`ReadError::Io`] if the reader fails.
    /// - [`ReadError::Decode`] if the file is not valid, or its dimensions are too large for ndarray.
    pub fn read_from(mut reader: impl Read) -> Result<Self, ReadError> {
        let header = Header::read(&mut reader)?;
        Self::read_after(&header, &mut reader, None)
    }

    /// Reads a complete file of `file_len` bytes, with a single allocation.
    ///
    /// # Errors
    ///
    /// The errors of [`AnyArray::read_from`].
    pub fn read_sized(mut reader: impl Read, file_len: u64) -> Result<Self, ReadError> {
        let header = Header::read(&mut reader)?;
        Self::read_after(&header, &mut reader, Some(file_len))
    }
}
