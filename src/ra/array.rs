//! Whole files decoded, and arrays whose element type the program knows.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use bytemuck::Pod;
use ndarray::{
    Array, ArrayBase, ArrayD, ArrayViewD, Data, Dimension, IxDyn, ShapeBuilder, SliceInfoElem,
    StrideShape,
};

use super::element::Element;
use super::encoding::{Encoding, decode_into, probe};
use super::error::{DecodeError, DecodeErrorKind, ReadError, ShapeError};
use super::header::{Header, MAX_NDIMS, count, read_full};
use super::slice::SlicePlan;

/// A decoded file. Nothing is copied when the file holds plain elements in this machine's byte order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The header as stored; [`Header::decoded`] is that of the decoded data.
    pub header: Header,
    /// The elements, first index fastest, in this machine's byte order.
    pub data: Cow<'a, [u8]>,
    /// What follows the data.
    pub metadata: &'a [u8],
    /// How the elements were stored.
    pub encoding: Encoding,
}

/// Decodes a complete file.
///
/// # Errors
///
/// When the file is not a whole RawArray, cannot be decoded, or holds elements of unknown layout in
/// the other byte order.
pub fn decode(file: &[u8]) -> Result<Decoded<'_>, DecodeError> {
    let header = Header::parse(file)?;
    header.check_file_len(count(file.len()))?;
    let (_, section) = usize::try_from(header.header_len())
        .ok()
        .and_then(|len| file.split_at_checked(len))
        .unwrap_or_default();
    let len = usize::try_from(header.data_len()).map_err(|_| header.not_indexable())?;
    if header.is_encoded() {
        // Nothing is taken for data before it is known that there are so many.
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

/// What follows a header, read and decoded.
#[derive(Debug)]
pub(super) struct Body<T> {
    pub(super) data: Vec<T>,
    /// Metadata that had to be read to find the end of the data; the reader may have more.
    pub(super) metadata: Vec<u8>,
}

/// Reads the data section after `header` as elements of type `T`, in native byte order. The element
/// type is the caller's to check; `T` may also be `u8` for the bytes. `file_len`, when the caller knows
/// the length of the file, lets the memory be taken at once.
pub(super) fn read_body<T: Pod>(
    header: &Header,
    reader: &mut impl Read,
    file_len: Option<u64>,
) -> Result<Body<T>, ReadError> {
    let len = usize::try_from(header.data_len()).map_err(|_| header.not_indexable())?;
    let elements = len.checked_div(size_of::<T>()).unwrap_or(0);
    if header.is_encoded() {
        let mut section = Vec::new();
        reader.read_to_end(&mut section)?;
        let (encoding, used) = probe(header, &section)?;
        let mut data = zeroed(elements)?;
        decode_into(header, encoding, &section, bytemuck::cast_slice_mut(&mut data))?;
        section.drain(..used.min(section.len()));
        return Ok(Body { data, metadata: section });
    }
    // Memory for elements whose presence nothing but the header promises doubles as they arrive.
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
    Ok(Body { data, metadata: Vec::new() })
}

/// Memory that is first taken where the length of the file is not known.
const FIRST_BYTES: usize = 1 << 20;

/// Zeroed memory as the system gives it, which costs no pass over it.
fn zeroed<T: Pod>(elements: usize) -> io::Result<Vec<T>> {
    bytemuck::allocation::try_zeroed_vec(elements).map_err(|()| out_of_memory())
}

fn out_of_memory() -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}

/// An n-dimensional array of `T` as a RawArray file holds it: elements with the first index fastest.
///
/// `T` is one of the integers `i8` to `i128` and `u8` to `u128`, the floats `f16`, `bf16`, `f32` and
/// `f64`, `Complex<f16|f32|f64>`, or a structure that says that it is a user-defined element: see
/// [`Element`].
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
    /// Always flags 0 and the element type of `T`, and as many elements as `data`.
    header: Header,
    data: Vec<T>,
    metadata: Vec<u8>,
}

impl<T: Element> RawArray<T> {
    /// An array of `dims` whose elements are `data`, first index fastest.
    ///
    /// # Errors
    ///
    /// When `data` has not as many elements as `dims` say, or there are more than [`MAX_NDIMS`] dims.
    pub fn new(dims: Vec<u64>, data: Vec<T>) -> Result<Self, ShapeError> {
        let header = Header::new(super::ElementType::of::<T>(), dims)?;
        let (expected, found) = (header.elements(), count(data.len()));
        if expected != found {
            return Err(ShapeError::Length { dims: header.dims().to_vec(), expected, found });
        }
        Ok(Self { header, data, metadata: Vec::new() })
    }

    /// Reads a whole file, trailing metadata included. No more memory is taken than what arrives needs;
    /// [`RawArray::read_sized`] is faster where the length is known.
    ///
    /// # Errors
    ///
    /// When the reader fails, the file is damaged, or its elements may not be read as `T` (see
    /// [`ElementType::reads_as`](super::ElementType::reads_as)).
    pub fn read_from(mut reader: impl Read) -> Result<Self, ReadError> {
        let header = Header::read(&mut reader)?;
        Self::read_after(&header, &mut reader, None)
    }

    /// Reads a whole file of `file_len` bytes, with memory taken once.
    ///
    /// # Errors
    ///
    /// As [`RawArray::read_from`].
    pub fn read_sized(mut reader: impl Read, file_len: u64) -> Result<Self, ReadError> {
        let header = Header::read(&mut reader)?;
        Self::read_after(&header, &mut reader, Some(file_len))
    }

    /// Reads what follows `header`. `file_len` counts from the beginning of the file, as far as it is
    /// known.
    ///
    /// # Errors
    ///
    /// As [`RawArray::read_from`].
    pub fn read_after(
        header: &Header,
        reader: &mut impl Read,
        file_len: Option<u64>,
    ) -> Result<Self, ReadError> {
        header.check_type::<T>()?;
        let Body { data, mut metadata } = read_body(header, reader, file_len)?;
        reader.read_to_end(&mut metadata)?;
        let header = Header::in_memory(header.dims().to_vec(), &data);
        Ok(Self { header, data, metadata })
    }

    /// Decodes a whole file that is in memory.
    ///
    /// # Errors
    ///
    /// When the file is damaged, or its elements may not be read as `T`.
    pub fn from_bytes(file: &[u8]) -> Result<Self, DecodeError> {
        let decoded = decode(file)?;
        decoded.header.check_type::<T>()?;
        let data = bytemuck::allocation::pod_collect_to_vec(&decoded.data);
        let header = Header::in_memory(decoded.header.dims().to_vec(), &data);
        Ok(Self { header, data, metadata: decoded.metadata.to_vec() })
    }

    /// Writes the file: flags 0, little-endian elements, and the metadata if there is any.
    ///
    /// # Errors
    ///
    /// When the writer fails, there are more than [`MAX_NDIMS`] dims, or (on a big-endian machine) the
    /// layout of user-defined elements is not known.
    pub fn write_to(&self, mut writer: impl Write) -> io::Result<()> {
        if self.header.ndims() > MAX_NDIMS {
            return Err(ShapeError::TooManyDims { ndims: count(self.header.ndims()) }.into());
        }
        writer.write_all(&self.header.encode())?;
        let bytes: &[u8] = bytemuck::cast_slice(&self.data);
        if self.header.is_native() {
            writer.write_all(bytes)?;
        } else {
            let mut swapped = bytes.to_vec();
            self.header.swap_to_native(&mut swapped)?;
            writer.write_all(&swapped)?;
        }
        writer.write_all(&self.metadata)
    }

    /// The header that the file is written with.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The extents, first index fastest.
    pub fn dims(&self) -> &[u64] {
        self.header.dims()
    }

    /// The elements, first index fastest.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// The elements, first index fastest, without copying them.
    pub fn into_data(self) -> Vec<T> {
        self.data
    }

    /// The bytes that follow the data in the file. Most implementations lose or refuse them.
    pub fn metadata(&self) -> &[u8] {
        &self.metadata
    }

    /// The same array, to be written with `metadata` after its data.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Vec<u8>) -> Self {
        self.metadata = metadata;
        self
    }

    /// The elements as an array that ndarray can index, without copying them.
    ///
    /// # Errors
    ///
    /// When the dims are too large for ndarray, which takes an array without elements too.
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

/// Any layout is stored with the same indices: element `[i, j]` stays element `[i, j]`. An array whose
/// first index is fastest in memory is copied as it lies.
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

/// Elements are moved, not copied, when the first index is fastest in memory and they fill it.
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

/// Without copying the elements. Fails when the dims are too large for ndarray, which takes an array
/// without elements too.
impl<T: Element> TryFrom<RawArray<T>> for ArrayD<T> {
    type Error = ShapeError;

    fn try_from(array: RawArray<T>) -> Result<Self, Self::Error> {
        fortran_array(array.header.dims(), array.data)
    }
}

/// An array with the first index fastest, from its elements in that order.
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

/// The elements of a whole file as an array in place, for files that are mapped into memory.
///
/// # Errors
///
/// When the file is damaged, its elements may not be read as `T`, are encoded or in the other byte
/// order, or are not aligned in memory as `T` needs.
pub fn view<T: Element>(file: &[u8]) -> Result<ArrayViewD<'_, T>, DecodeError> {
    let header = Header::parse(file)?;
    header.check_type::<T>()?;
    header.check_file_len(count(file.len()))?;
    let fault = |kind| DecodeError::new(header.header_len(), kind);
    if !header.is_native() {
        return Err(fault(DecodeErrorKind::NotInPlace { flags: header.flags() }));
    }
    let (start, len) = (usize::try_from(header.header_len()), usize::try_from(header.data_len()));
    let bytes = match (start, len) {
        (Ok(start), Ok(len)) => file.get(start..).and_then(|rest| rest.get(..len)),
        _ => None,
    };
    let bytes = bytes.ok_or_else(|| header.not_indexable())?;
    let elements = bytemuck::try_cast_slice(bytes)
        .map_err(|_| fault(DecodeErrorKind::Misaligned { expected: align_of::<T>() }))?;
    let shape = fortran_shape(header.dims()).map_err(|_| header.not_indexable())?;
    ArrayViewD::from_shape(shape, elements).map_err(|_| header.not_indexable())
}

/// Reads a slice of an unencoded file and nothing else of it. `read_at` fills a buffer from an offset in
/// the data section, which begins [`Header::header_len`] bytes into the file. `file_len` is the length of
/// the whole file in bytes: it proves that the memory taken is not merely claimed.
///
/// # Errors
///
/// When the elements may not be read as `T`, the file is too short or encoded, the slice does not fit,
/// or `read_at` fails.
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

/// The extents of a slice and its elements in native byte order; `T` may also be `u8` for the bytes.
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
