//! Whole files: header, elements in native byte order, trailing metadata.

use std::borrow::Cow;
use std::io::{self, Read};

use bytemuck::Pod;

use super::encoding::{Encoding, decode_into, probe};
use super::error::{DecodeError, ReadError};
use super::header::{Header, count, read_full};

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
    let mut data = match file_len {
        Some(file_len) => {
            header.check_file_len(file_len)?;
            let mut data = zeroed::<T>(elements)?;
            let found = read_full(reader, bytemuck::cast_slice_mut(&mut data))?;
            if found < len {
                return Err(header.data_truncated(count(found)).into());
            }
            data
        }
        None => read_growing(header, reader, elements)?,
    };
    header.swap_to_native(bytemuck::cast_slice_mut(&mut data))?;
    Ok(Body { data, metadata: Vec::new() })
}

/// Memory that is first taken for elements whose presence nothing but the header promises; it doubles
/// as they arrive.
const FIRST_BYTES: usize = 1 << 20;

fn read_growing<T: Pod>(
    header: &Header,
    reader: &mut impl Read,
    elements: usize,
) -> Result<Vec<T>, ReadError> {
    let first = FIRST_BYTES.checked_div(size_of::<T>()).unwrap_or(0).max(1);
    let mut data: Vec<T> = Vec::new();
    while data.len() < elements {
        let there = data.len();
        let more = there.max(first).min(elements.saturating_sub(there));
        data.try_reserve(more).map_err(|_| out_of_memory())?;
        data.resize(there.saturating_add(more), T::zeroed());
        let fresh = data.get_mut(there..).unwrap_or_default();
        let wanted = size_of_val(fresh);
        let found = read_full(reader, bytemuck::cast_slice_mut(fresh))?;
        if found < wanted {
            let found = there.saturating_mul(size_of::<T>()).saturating_add(found);
            return Err(header.data_truncated(count(found)).into());
        }
    }
    Ok(data)
}

/// Zeroed memory as the system gives it, which costs no pass over it.
pub(super) fn zeroed<T: Pod>(elements: usize) -> io::Result<Vec<T>> {
    bytemuck::allocation::try_zeroed_vec(elements).map_err(|()| out_of_memory())
}

fn out_of_memory() -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}
