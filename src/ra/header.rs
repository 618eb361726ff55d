//! The header, with the offsets of its fields, and the byte order of elements.

use std::io::Read;

use super::element::{Element, ElementType, Flags};
use super::{DecodeError, DecodeErrorKind, ReadError, ShapeError};

/// The first eight bytes of every file.
pub const MAGIC: [u8; 8] = *b"rawarray";

/// Length of the header before `dims`, in bytes.
pub const FIXED_LEN: usize = 48;

/// Most dimensions of a header.
///
/// The number of elements of an array with more than 64 dimensions of at least 2 elements does not fit 64 bits. NumPy
/// also stops at 64. The limit keeps recursion over dimensions shallow.
pub const MAX_NDIMS: usize = 64;

/// [`MAGIC`] as a careless writer on a big-endian machine writes it.
const SWAPPED_MAGIC: [u8; 8] = *b"yarrawar";

const FLAGS_AT: usize = 8;
const ELTYPE_AT: usize = 16;
const ELBYTE_AT: usize = 24;
const SIZE_AT: usize = 32;
const NDIMS_AT: usize = 40;
const DIMS_AT: usize = FIXED_LEN;

/// The header of a file: the element type and the length of each dimension.
///
/// A header is consistent: `ndims` is the number of `dims`, and the length of the data is computed from element type
/// and dimensions. Only a file that is flagged as encoded has a `size` of its own, which is kept as stored.
///
/// ```
/// use ra_pack::ra::{ElementType, Header};
///
/// let header = Header::new(ElementType::COMPLEX64, vec![3, 4])?;
/// assert_eq!(header.header_len(), 64); // where the data begins
/// assert_eq!(header.data_len(), 96);
/// assert_eq!(Header::parse(&header.encode()), Ok(header));
/// # Ok::<(), ra_pack::ra::ShapeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Header {
    flags: Flags,
    element: ElementType,
    dims: Vec<u64>,
    /// Length of the decoded elements in bytes, computed from `element` and `dims`.
    data_len: u64,
    /// The `size` field; differs from `data_len` only if flagged as encoded.
    size: u64,
}

impl Header {
    /// Makes the header of an unencoded array, with flags 0.
    ///
    /// # Errors
    ///
    /// - [`ShapeError::TooManyDims`] if there are more than [`MAX_NDIMS`] dimensions.
    /// - [`ShapeError::Overflow`] if the length of the data does not fit 64 bits.
    /// - [`ShapeError::PackedBits`] if `element` is [`ElementType::BITS`], which is only read.
    pub fn new(element: ElementType, dims: Vec<u64>) -> Result<Self, ShapeError> {
        if element == ElementType::BITS {
            return Err(ShapeError::PackedBits);
        }
        let data_len = data_len(element, &dims)?;
        Ok(Self { flags: Flags::NONE, element, dims, data_len, size: data_len })
    }

    /// Returns the header of elements in memory, whose length therefore cannot overflow.
    pub(super) fn in_memory<T: Element>(dims: Vec<u64>, data: &[T]) -> Self {
        let data_len = count(size_of_val(data));
        let element = ElementType::of::<T>();
        Self { flags: Flags::NONE, element, dims, data_len, size: data_len }
    }

    /// Returns the length of the header, as far as its first bytes give it: [`FIXED_LEN`] until `prefix` is that long,
    /// and then the exact length. With it, a caller can fetch a header in two steps.
    ///
    /// # Errors
    ///
    /// - [`DecodeErrorKind::Magic`] or [`DecodeErrorKind::SwappedMagic`] if the magic is wrong.
    /// - [`DecodeErrorKind::Shape`] if there are more than [`MAX_NDIMS`] dimensions.
    pub fn len_from_prefix(prefix: &[u8]) -> Result<usize, DecodeError> {
        check_magic(prefix)?;
        let Some(ndims) = field(prefix, NDIMS_AT) else { return Ok(FIXED_LEN) };
        match usize::try_from(ndims) {
            Ok(n) if n <= MAX_NDIMS => Ok(FIXED_LEN.saturating_add(n.saturating_mul(8))),
            _ => Err(DecodeError::new(count(NDIMS_AT), ShapeError::TooManyDims { ndims })),
        }
    }

    /// Decodes the header at the beginning of `bytes`; the rest is ignored.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if the magic is wrong, the header is truncated, a field has an undefined value, or `size` is not
    /// the length of the elements in a file that is not flagged as encoded.
    pub fn parse(bytes: &[u8]) -> Result<Self, DecodeError> {
        let expected = Self::len_from_prefix(bytes)?;
        let truncated = || {
            let (expected, found) = (count(expected), count(bytes.len()));
            DecodeError::new(found, DecodeErrorKind::HeaderTruncated { expected, found })
        };
        let fields = bytes.get(..expected).ok_or_else(truncated)?;
        let at = |offset| field(fields, offset).ok_or_else(truncated);

        let flags =
            Flags::new(at(FLAGS_AT)?).map_err(|kind| DecodeError::new(count(FLAGS_AT), kind))?;
        let element = ElementType::new(at(ELTYPE_AT)?, at(ELBYTE_AT)?).map_err(|kind| {
            let known = ElementType::new(at(ELTYPE_AT).unwrap_or(u64::MAX), 1).is_ok();
            let offset = if known { ELBYTE_AT } else { ELTYPE_AT };
            DecodeError::new(count(offset), kind)
        })?;
        let size = at(SIZE_AT)?;
        let (dims, _) = fields.get(DIMS_AT..).unwrap_or_default().as_chunks::<8>();
        let dims: Vec<u64> = dims.iter().map(|dim| u64::from_le_bytes(*dim)).collect();

        let packed = Flags::ENCODED.bits() | Flags::BITS.bits();
        if flags.contains(Flags::BITS) != (element == ElementType::BITS)
            || flags.contains(Flags::BITS) && flags.bits() & packed != packed
        {
            let kind = DecodeErrorKind::Bits { flags, element };
            return Err(DecodeError::new(count(FLAGS_AT), kind));
        }
        let data_len =
            data_len(element, &dims).map_err(|kind| DecodeError::new(count(DIMS_AT), kind))?;
        let header = Self { flags, element, dims, data_len, size };
        if size != data_len && !header.is_encoded() {
            return Err(header.wrong_size(data_len));
        }
        Ok(header)
    }

    /// Reads exactly the header; the next byte of `reader` is the first of the data.
    ///
    /// # Errors
    ///
    /// - [`ReadError::Io`] if the reader fails.
    /// - [`ReadError::Decode`] in the cases of [`Header::parse`].
    pub fn read(reader: &mut impl Read) -> Result<Self, ReadError> {
        let mut bytes = Vec::new();
        loop {
            let there = bytes.len();
            let wanted = Self::len_from_prefix(&bytes)?;
            bytes.resize(wanted, 0);
            let (_, rest) = bytes.split_at_mut(there);
            let found = read_full(reader, rest)?;
            bytes.truncate(there + found);
            if found == 0 {
                return Ok(Self::parse(&bytes)?);
            }
        }
    }

    /// Encodes this header, with its flags, so that [`Header::parse`] returns it. To write decoded elements, encode the
    /// result of [`Header::decoded`] instead.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let fields = [
            self.flags.bits(),
            self.element.eltype(),
            self.element.elbyte(),
            self.size,
            count(self.dims.len()),
        ];
        for field in fields.iter().chain(&self.dims) {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    /// Returns the header of the same data section with other dimensions.
    ///
    /// # Errors
    ///
    /// - [`ShapeError::Length`] if they give another number of elements.
    /// - Other variants if no array can have them.
    pub fn with_dims(&self, dims: Vec<u64>) -> Result<Self, ShapeError> {
        let data_len = data_len(self.element, &dims)?;
        let new = Self { dims, data_len, ..self.clone() };
        if data_len == self.data_len {
            return Ok(new);
        }
        let (expected, found) = (new.elements(), self.elements());
        Err(ShapeError::Length { dims: new.dims, expected, found })
    }

    /// Returns the header of an array with another length of the slowest dimension, if it has one and is not too long.
    #[cfg(feature = "full")]
    pub(crate) fn with_slices(&self, length: u64) -> Option<Self> {
        let mut dims = self.dims.clone();
        *dims.last_mut()? = length;
        let data_len = data_len(self.element, &dims).ok()?;
        Some(Self { dims, data_len, size: data_len, ..self.clone() })
    }

    /// Returns the header of the same data section with its dimensions in reverse order.
    #[must_use]
    pub(crate) fn reversed(&self) -> Self {
        let dims = self.dims.iter().rev().copied().collect();
        Self { dims, ..self.clone() }
    }

    /// Returns the header of the decoded array, with flags 0; see [`decode`](super::decode). Packed bits become
    /// `uint8`, which every implementation reads.
    #[must_use]
    pub fn decoded(&self) -> Self {
        let element = match self.element {
            ElementType::BITS => ElementType::UINT8,
            element => element,
        };
        Self { flags: Flags::NONE, element, size: self.data_len, ..self.clone() }
    }

    /// Returns the header of the same array with big-endian elements, which sets flag bit 0.
    #[must_use]
    pub fn big_endian(self) -> Self {
        Self { flags: self.flags.with(Flags::BIG_ENDIAN), ..self }
    }

    /// Returns the element type.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// Returns the flags.
    pub fn flags(&self) -> Flags {
        self.flags
    }

    /// Returns the lengths of the dimensions, fastest first.
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// Returns the number of dimensions; 0 for a single element.
    pub fn ndims(&self) -> usize {
        self.dims.len()
    }

    /// Returns the number of elements: the product of the dimensions.
    pub fn elements(&self) -> u64 {
        let width = if self.element == ElementType::BITS { 1 } else { self.element.elbyte() };
        self.data_len.checked_div(width).unwrap_or(0)
    }

    /// Returns the length of the header in bytes, which is the offset of the data: 48 + 8·ndims.
    pub fn header_len(&self) -> u64 {
        header_len(&self.dims)
    }

    /// Returns the length of the decoded elements in bytes; packed bits decode to one byte each.
    pub fn data_len(&self) -> u64 {
        self.data_len
    }

    /// Returns the `size` field. It equals [`Header::data_len`] unless the file is flagged as encoded. Then it is the
    /// stored length (LZ4, packed bits) or the decoded length (LEB128), as the writer chose.
    pub fn stored_len(&self) -> u64 {
        self.size
    }

    /// Returns whether the data section is encoded, so that it can only be decoded from its beginning.
    pub fn is_encoded(&self) -> bool {
        self.flags.contains(Flags::ENCODED)
    }

    /// Returns whether the data section has the bytes of the elements in the memory of this machine.
    pub fn is_native(&self) -> bool {
        !self.is_encoded() && !self.needs_swap()
    }

    /// Checks the length of the complete file in bytes, and returns the number of trailing metadata bytes. For an
    /// encoded file, the result is 0, because only decoding finds the end of the data.
    ///
    /// # Errors
    ///
    /// [`DecodeErrorKind::DataTruncated`] or [`DecodeErrorKind::HeaderTruncated`] if the file is too short.
    pub fn check_file_len(&self, file_len: u64) -> Result<u64, DecodeError> {
        let Some(found) = file_len.checked_sub(self.header_len()) else {
            let kind =
                DecodeErrorKind::HeaderTruncated { expected: self.header_len(), found: file_len };
            return Err(DecodeError::new(file_len, kind));
        };
        if self.is_encoded() {
            return Ok(0);
        }
        found.checked_sub(self.data_len).ok_or_else(|| self.data_truncated(found))
    }

    /// Converts complete elements of an unencoded data section from the file's byte order to that of this machine.
    ///
    /// # Errors
    ///
    /// [`DecodeErrorKind::Swap`] if the byte orders differ and the layout of the elements is unknown.
    pub fn swap_to_native(&self, elements: &mut [u8]) -> Result<(), DecodeError> {
        if !self.needs_swap() || elements.is_empty() {
            return Ok(());
        }
        let width = self.element.swap_width().and_then(|width| usize::try_from(width).ok());
        let Some(width) = width else { return Err(self.unswappable()) };
        reverse_each(elements, width);
        Ok(())
    }

    /// Returns the error for elements whose byte order cannot be changed.
    pub(crate) fn unswappable(&self) -> DecodeError {
        let kind = DecodeErrorKind::Swap { element: self.element };
        DecodeError::new(count(FLAGS_AT), kind)
    }

    /// Checks that the elements may be read as `T`; see [`ElementType::reads_as`].
    ///
    /// # Errors
    ///
    /// [`DecodeErrorKind::WrongType`] with both types if they may not.
    pub fn check_type<T: Element>(&self) -> Result<(), DecodeError> {
        if self.element.reads_as::<T>() {
            return Ok(());
        }
        Err(DecodeError::new(count(ELTYPE_AT), DecodeErrorKind::wrong_type::<T>(self.element)))
    }

    /// Returns the error for a data section with only `found` bytes.
    pub(super) fn data_truncated(&self, found: u64) -> DecodeError {
        let kind = DecodeErrorKind::DataTruncated { expected: self.data_len, found };
        DecodeError::new(self.header_len().saturating_add(found), kind)
    }

    /// Returns the error for a `size` field that should be `expected`.
    pub(super) fn wrong_size(&self, expected: u64) -> DecodeError {
        let kind = DecodeErrorKind::Size {
            expected,
            found: self.size,
            element: self.element,
            dims: self.dims.clone(),
        };
        DecodeError::new(count(SIZE_AT), kind)
    }

    /// Returns the error for dimensions that this machine cannot index.
    pub(super) fn not_indexable(&self) -> DecodeError {
        let kind = ShapeError::NotIndexable { dims: self.dims.clone() };
        DecodeError::new(count(DIMS_AT), kind)
    }

    fn needs_swap(&self) -> bool {
        self.flags.contains(Flags::BIG_ENDIAN) != cfg!(target_endian = "big")
            && self.element.swap_width() != Some(1)
    }
}

fn header_len(dims: &[u64]) -> u64 {
    count(FIXED_LEN.saturating_add(dims.len().saturating_mul(8)))
}

/// Returns the length of all decoded elements in bytes. It is 0 if any dimension is 0, even if the product of the
/// others overflows.
fn data_len(element: ElementType, dims: &[u64]) -> Result<u64, ShapeError> {
    if dims.len() > MAX_NDIMS {
        return Err(ShapeError::TooManyDims { ndims: count(dims.len()) });
    }
    if dims.contains(&0) {
        return Ok(0);
    }
    let width = if element == ElementType::BITS { 1 } else { element.elbyte() };
    let len = dims.iter().try_fold(width, |product, &dim| product.checked_mul(dim));
    // A file also has a header.
    let len = len.filter(|len| len.checked_add(header_len(dims)).is_some());
    len.ok_or_else(|| ShapeError::Overflow { element, dims: dims.to_vec() })
}

fn check_magic(prefix: &[u8]) -> Result<(), DecodeError> {
    let found = prefix.get(..MAGIC.len()).unwrap_or(prefix);
    if MAGIC.starts_with(found) {
        return Ok(());
    }
    let kind = if found == SWAPPED_MAGIC {
        DecodeErrorKind::SwappedMagic
    } else {
        DecodeErrorKind::Magic { found: found.to_vec() }
    };
    Err(DecodeError::new(0, kind))
}

fn field(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// Reads until `buffer` is full or the input ends, and returns the number of bytes read.
pub(crate) fn read_full(
    reader: &mut (impl Read + ?Sized),
    buffer: &mut [u8],
) -> std::io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(read) if read <= rest.len() => filled += read,
            Ok(_) => {
                return Err(std::io::Error::other("the reader returned more than was asked for"));
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Converts a length in memory to the 64 bits of the format.
pub(super) fn count(len: usize) -> u64 {
    len as u64
}

/// Reverses each `width` bytes of `bytes`; a shorter rest at the end is unchanged.
pub(crate) fn reverse_each(bytes: &mut [u8], width: usize) {
    match width {
        0 | 1 => {}
        // Fixed widths compile to vector shuffles; the general loop does not.
        2 => reverse_fixed::<2>(bytes),
        4 => reverse_fixed::<4>(bytes),
        8 => reverse_fixed::<8>(bytes),
        16 => reverse_fixed::<16>(bytes),
        _ => bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse),
    }
}

fn reverse_fixed<const N: usize>(bytes: &mut [u8]) {
    let (elements, _) = bytes.as_chunks_mut::<N>();
    for element in elements {
        element.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns header fields as in a file, unchecked.
    fn fields(fields: &[u64]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(fields.iter().flat_map(|field| field.to_le_bytes()));
        bytes
    }

    fn fault(bytes: &[u8]) -> DecodeError {
        Header::parse(bytes).unwrap_err()
    }

    #[test]
    fn every_element_type_and_shape_survives() {
        for eltype in 0..=5 {
            for elbyte in [1, 2, 3, 4, 8, 12, 16, 1000] {
                for dims in [vec![], vec![1], vec![0], vec![2, 3], vec![4; 10], vec![1; MAX_NDIMS]]
                {
                    let Ok(element) = ElementType::new(eltype, elbyte) else { continue };
                    let Ok(header) = Header::new(element, dims.clone()) else {
                        assert_eq!(element, ElementType::BITS);
                        continue;
                    };
                    assert_eq!(header.elements(), dims.iter().product::<u64>());
                    assert_eq!(header.data_len(), header.elements() * elbyte);
                    assert_eq!(header.stored_len(), header.data_len());
                    let bytes = header.encode();
                    assert_eq!(count(bytes.len()), header.header_len());
                    assert_eq!(Header::parse(&bytes), Ok(header.clone()));
                    assert_eq!(Header::read(&mut bytes.as_slice()).unwrap(), header);
                }
            }
        }
    }

    #[test]
    fn fields_have_the_offsets_of_the_format() {
        let header = Header::new(ElementType::COMPLEX64, vec![3, 4]).unwrap();
        assert_eq!(header.encode(), fields(&[0, 4, 8, 96, 2, 3, 4]));
        assert_eq!(header.header_len(), 64);
    }

    #[test]
    fn a_dimension_of_length_0_makes_no_data_whatever_the_others_are() {
        let huge = 1 << 63;
        let header = Header::new(ElementType::FLOAT64, vec![huge, huge, 0]).unwrap();
        assert_eq!((header.elements(), header.data_len()), (0, 0));
        assert!(matches!(
            Header::new(ElementType::UINT8, vec![1 << 32, 1 << 32]),
            Err(ShapeError::Overflow { .. })
        ));
        assert!(matches!(
            Header::new(ElementType::FLOAT64, vec![1 << 61]),
            Err(ShapeError::Overflow { .. })
        ));
        // The header of 56 bytes and the data fill the longest file.
        assert!(Header::new(ElementType::UINT8, vec![u64::MAX - 56]).is_ok());
        assert!(Header::new(ElementType::UINT8, vec![u64::MAX - 55]).is_err());
    }

    #[test]
    fn errors_name_the_field_and_its_offset() {
        let cases: &[(&[u64], u64, &str)] = &[
            (&[8, 3, 8, 8, 1, 1], 8, "flag bit 3 (0x8) is not defined"),
            (&[0, 9, 4, 8, 1, 2], 16, "expected an `eltype` from 0 to 5, found 9"),
            (&[0, 3, 0, 0, 1, 2], 24, "expected an `elbyte` of at least 1"),
            (&[0, 5, 4, 8, 1, 2], 24, "expected an `elbyte` of 2 (bfloat16)"),
            (&[0, 2, 2, 0, 0], 32, "expected a `size` of 2 (uint16 of dims []), found 0"),
            (
                &[0, 3, 8, 47, 2, 2, 3],
                32,
                "expected a `size` of 48 (float64 of dims [2, 3]), found 47",
            ),
            (&[0, 1, 1, 0, 65], 40, "expected at most 64 dimensions, found 65"),
            (&[0, 1, 1, 0, u64::MAX], 40, "expected at most 64 dimensions"),
            (
                &[0, 1, 1, 0, 2, 1 << 32, 1 << 32],
                48,
                "int8 elements of dims [4294967296, 4294967296] take more",
            ),
            (&[0, 1, 1, 2, 1], 48, "expected a header of 56 bytes, found 48"),
            (&[4, 5, 8, 8, 1, 1], 8, "expected packed bits as flags 6"),
            (&[6, 2, 8, 8, 1, 1], 8, "expected packed bits as flags 6"),
            (&[0, 5, 8, 8, 1, 1], 8, "expected packed bits as flags 6"),
        ];
        for (header, offset, message) in cases {
            let error = fault(&fields(header));
            assert_eq!(error.offset, *offset, "{error}");
            assert!(error.to_string().starts_with(message), "{error}");
            assert!(error.to_string().ends_with(&format!("(at byte {offset})")), "{error}");
        }
    }

    #[test]
    fn another_magic_is_shown_and_a_swapped_one_explained() {
        assert_eq!(
            fault(b"PK\x03\x04abcdef").to_string(),
            "expected the magic `rawarray`, found `PK\\x03\\x04abcd` (at byte 0)"
        );
        assert!(matches!(fault(b"raX").kind, DecodeErrorKind::Magic { .. }));
        assert!(matches!(
            fault(b"").kind,
            DecodeErrorKind::HeaderTruncated { expected: 48, found: 0 }
        ));
        let error = fault(b"yarrawar");
        assert_eq!(error.kind, DecodeErrorKind::SwappedMagic);
        assert!(
            error.to_string().contains("reverse the bytes of each 8-byte header field"),
            "{error}"
        );
    }

    #[test]
    fn the_advice_for_a_swapped_header_makes_a_readable_file() {
        let header = Header::new(ElementType::UINT16, vec![2]).unwrap();
        let mut file = header.encode();
        file.as_chunks_mut::<8>().0.iter_mut().for_each(|field| field.reverse());
        assert_eq!(fault(&file).kind, DecodeErrorKind::SwappedMagic);
        file.as_chunks_mut::<8>().0.iter_mut().for_each(|field| field.reverse());
        file[FLAGS_AT] = 1;
        file.extend([1, 2, 3, 4]);
        assert_eq!(
            *super::super::decode(&file).unwrap().data,
            *bytemuck::bytes_of(&[0x0102_u16, 0x0304])
        );
    }

    #[test]
    fn a_header_can_be_fetched_in_two_steps() {
        let bytes = Header::new(ElementType::INT8, vec![1; 5]).unwrap().encode();
        for there in 0..bytes.len() {
            let known = if there < FIXED_LEN { FIXED_LEN } else { bytes.len() };
            assert_eq!(Header::len_from_prefix(&bytes[..there]), Ok(known));
        }
        assert!(Header::len_from_prefix(b"row").is_err());
    }

    #[test]
    fn reading_leaves_the_reader_at_the_data() {
        let mut file = Header::new(ElementType::INT8, vec![3]).unwrap().encode();
        file.extend(b"abc");
        let mut reader = file.as_slice();
        Header::read(&mut reader).unwrap();
        assert_eq!(reader, b"abc");
        let mut one_by_one = std::io::BufReader::with_capacity(1, file.as_slice());
        assert!(Header::read(&mut one_by_one).is_ok());
    }

    #[test]
    fn the_length_of_the_file_shows_missing_and_trailing_bytes() {
        let header = Header::new(ElementType::FLOAT64, vec![2, 3]).unwrap();
        assert_eq!(header.check_file_len(112), Ok(0));
        assert_eq!(header.check_file_len(368), Ok(256));
        let error = header.check_file_len(111).unwrap_err();
        assert_eq!(error.to_string(), "expected 48 bytes of data, found 47 (at byte 111)");
        let error = header.check_file_len(63).unwrap_err();
        assert_eq!(error.to_string(), "expected a header of 64 bytes, found 63 (at byte 63)");
        let huge = Header::new(ElementType::UINT8, vec![u64::MAX - 56]).unwrap();
        assert_eq!(huge.check_file_len(u64::MAX), Ok(0));
        assert!(huge.check_file_len(u64::MAX - 1).is_err());
    }

    #[test]
    fn no_truncation_and_no_flipped_bit_panics_or_reads_past_the_header() {
        for dims in [vec![], vec![2, 3], vec![0, u64::MAX]] {
            let bytes = Header::new(ElementType::COMPLEX64, dims).unwrap().encode();
            for len in 0..bytes.len() {
                let error = fault(&bytes[..len]);
                assert_eq!(error.offset, count(len));
                assert!(Header::read(&mut &bytes[..len]).is_err());
            }
            for bit in 0..bytes.len() * 8 {
                let mut bytes = bytes.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                if let Ok(header) = Header::parse(&bytes) {
                    assert_eq!(count(bytes.len()), header.header_len());
                    assert!(header.is_encoded() || header.stored_len() == header.data_len());
                }
            }
        }
    }

    #[test]
    fn reverses_within_elements_only() {
        for width in 1..=20 {
            let element: Vec<u8> = (0..width).collect();
            let mut bytes = element.repeat(3);
            reverse_each(&mut bytes, usize::from(width));
            let reversed: Vec<u8> = (0..width).rev().collect();
            assert_eq!(bytes, reversed.repeat(3));
        }
    }
}
