//! NumPy `.npy` files with one array each, versions 1.0 to 3.0.
//!
//! | dtype | datatype | element | back |
//! | --- | --- | --- | --- |
//! | `b1` | enum `{false: 0, true: 1}` of `uint8` | `uint8` | `b1` |
//! | `i1` to `i8`, `u1` to `u8`, `f2`, `f4`, `f8` | the word | the same | the same |
//! | `c8`, `c16` | compound of `r` and `i` | `complex64`, `complex128` | the same |
//! | `Sn` | opaque with the tag `text` | user, n bytes | `Sn` |
//! | one `Sn` without dimensions, in UTF-8 | `string` | `uint8`, n elements | `Sn` |
//! | `Un` | opaque with the tag `utf-32le` | user, 4n bytes | `Un` |
//! | `Vn` | opaque | user, n bytes | `Vn` |
//! | `V2`, with an option | `bfloat16` | `bfloat16` | `<V2` |
//! | structured | compound; padding is opaque and called `_pad0`, `_pad1` | user | structured |
//! | `M8[ns]` | `int64`, `units: nanoseconds since 1970-01-01` | `int64` | `M8[ns]` |
//! | `m8[25s]` | `int64`, `units: 25 seconds` | `int64` | `m8[25s]` |
//! | `O`, `f16`, `c32`, `f1`, no bytes | refused | | |
//!
//! "Not a time" becomes the `storage.fillvalue` of times. It distinguishes durations from other numbers with a unit.
//! The unit of the field `t` of a structure is the attribute `t.units`; the unit of a nested field `u` is `t.u.units`.
//! In a structure, two floats called `r` and `i` are written as a complex number. Titles of fields and bytes after the
//! data are dropped with a loss.

mod dtype;
mod header;
mod mapping;
#[cfg(test)]
mod tests;

use std::io::{self, Read, Write};

pub use self::dtype::{ByteOrder, Descr, DtypeKind, DtypeScalar, Field, TimeUnit};
pub use self::header::{MAGIC, MAX_HEADER, NpyHeader};

use self::mapping::{FromDtype, from_dtype, to_dtype};
use super::{Block, ExportOptions, FormatError, ImportOptions, Variable, read_all, read_units};
use crate::ndl::{Datatype, Endian, Extent, Ndarray, Order, Storage};
use crate::ra::header::reverse_each;
use crate::ra::{ElementType, Header};

/// Length of the longest single text that is checked for UTF-8, in bytes.
const MAX_TEXT: u64 = 64 * 1024;

/// Number of bytes that are written at once; large, to make few system calls.
const PIECE: usize = 256 * 1024;

/// Returns the dtype of the elements of an array, without regard to its attributes: times are integers.
///
/// # Errors
///
/// [`FormatError::NoCounterpart`] if NumPy has no such elements, or if header and description contradict each other.
#[cfg(feature = "full")]
pub(crate) fn dtype_of(header: &Header, description: &Ndarray) -> Result<Descr, FormatError> {
    let attributes = Vec::new();
    let description = Ndarray { attributes, storage: None, ..description.clone() };
    let variable = Variable { header: header.clone(), description, losses: Vec::new() };
    to_dtype(&variable, false).map(|(descr, _)| descr)
}

/// An `.npy` file, read from the beginning to the end.
///
/// [`Read`] returns the data: exactly as many bytes as the header says, in the order of the file, each number
/// little-endian. If the file ends earlier, the error has the offset of its end. Memory does not depend on the header.
/// Pass a [`BufReader`](io::BufReader) if small reads are expensive.
///
/// ```
/// use std::io::Read;
/// use ra_pack::interchange::{ImportOptions, npy::NpyReader};
///
/// let text = b"\x93NUMPY\x01\x00\x3c\0{'descr': '>i2', 'fortran_order': False, 'shape': (2, 2), }\n";
/// let file = [&text[..], &[0, 1, 0, 2, 0, 3, 0, 4]].concat();
/// let mut reader = NpyReader::new(&file[..], ImportOptions::default())?;
/// let variable = reader.variable("x")?;
/// assert_eq!(variable.header.dims(), [2, 2]);
/// assert_eq!(variable.description.datatype.word(), Some("int16"));
/// let mut data = Vec::new();
/// reader.read_to_end(&mut data)?;
/// assert_eq!(data, [1, 0, 2, 0, 3, 0, 4, 0]);
/// assert_eq!(reader.finish()?, 0); // bytes after the data
/// # Ok::<(), ra_pack::interchange::FormatError>(())
/// ```
#[derive(Debug)]
pub struct NpyReader<R> {
    data: ExactReader<R>,
    header: NpyHeader,
    /// The array, without a name.
    variable: Variable,
    /// The dtype to swap, if any.
    swap: Option<Descr>,
    /// Data that was swapped or checked but not returned yet.
    block: Block,
}

impl<R: Read> NpyReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// - The errors of [`NpyHeader::read`].
    /// - [`FormatError::NoCounterpart`] if the array cannot be converted: Python objects, long doubles, elements of no
    ///   bytes. A pickle is never loaded.
    pub fn new(mut input: R, options: ImportOptions) -> Result<Self, FormatError> {
        let header = NpyHeader::read(&mut input)?;
        let is_row = !header.fortran_order && header.shape.len() > 1;
        let mut dims = header.shape.clone();
        if is_row {
            dims.reverse();
        }
        let new_header = |element, dims| {
            Header::new(element, dims).map_err(|error| {
                let reason = format!("expected a shape whose data fits 64 bits, found: {error}");
                FormatError::malformed(header.shape_at, reason)
            })
        };
        let (element, mut datatype, FromDtype { attributes, fillvalue, losses }) =
            from_dtype(&header.descr, options.bfloat16)?;
        let mut ra_header = new_header(element, dims)?;
        let mut shape: Vec<Extent> = header.shape.iter().copied().map(Extent::Fixed).collect();
        let len = ra_header.data_len();
        let mut data = ExactReader { input, left: len, at: header.len, len, goes_on: false };

        let mut ahead = Vec::new();
        if let Descr::Scalar(DtypeScalar {
            kind: DtypeKind::Bytes, size: length @ ..=MAX_TEXT, ..
        }) = header.descr
            && header.shape.is_empty()
        {
            data.by_ref().take(length).read_to_end(&mut ahead)?;
            if str::from_utf8(&ahead).is_ok() {
                datatype = Datatype::String;
                ra_header = new_header(ElementType::UINT8, vec![length])?;
                shape = Vec::new();
            }
        }

        let mut descr = header.descr.clone();
        if let Descr::Scalar(DtypeScalar { kind: kind @ DtypeKind::Void, size: 2, .. }) = &mut descr
            && options.bfloat16
        {
            *kind = DtypeKind::UInt; // a bfloat16 is a number with a byte order
        }
        let is_kept = options.keep_endian
            && matches!(&descr, Descr::Scalar(scalar)
                if scalar.order == ByteOrder::Big && scalar.swap_width() > 1 && scalar.kind != DtypeKind::Text);
        if is_kept {
            ra_header = ra_header.big_endian();
        }
        let storage = Storage {
            order: if is_row { Order::Row } else { Order::Column },
            endian: is_kept.then_some(Endian::Big),
            fillvalue,
            ..Storage::default()
        };
        let storage = (storage != Storage::default()).then_some(storage);
        let name = String::new();
        let description = Ndarray { name, shape, datatype, value: None, attributes, storage };
        let swap = Some(descr).filter(|descr| !is_kept && descr.is_big());
        let variable = Variable { header: ra_header, description, losses };
        Ok(Self { data, header, variable, swap, block: Block(io::Cursor::new(ahead)) })
    }

    /// Returns the header.
    pub fn header(&self) -> &NpyHeader {
        &self.header
    }

    /// Returns whether the data has the bytes of the file from [`NpyHeader::len`] on, without swapping.
    pub fn is_verbatim(&self) -> bool {
        self.swap.is_none()
    }

    /// Returns the header and description of the array, with the given name.
    ///
    /// Row-major data has `storage: {order: row}`, and the dimensions of the header are the shape reversed; nothing is
    /// transposed. A single UTF-8 text is a `string`.
    ///
    /// # Errors
    ///
    /// [`FormatError::NoCounterpart`] if no array can have the name: it is empty or contains a slash.
    pub fn variable(&self, name: &str) -> Result<Variable, FormatError> {
        if name.is_empty() || name.contains('/') {
            return Err(FormatError::no_counterpart(
                format!("an array cannot have the name `{}`", name.escape_debug()),
                "choose a name without slashes",
            ));
        }
        let mut variable = self.variable.clone();
        name.clone_into(&mut variable.description.name);
        Ok(variable)
    }

    /// Reads the rest of the data and everything after it, and returns the number of bytes after the data. NumPy
    /// ignores them, and so they are dropped.
    ///
    /// # Errors
    ///
    /// [`FormatError::Malformed`] if the data is truncated, and [`FormatError::Io`] if the reader fails.
    pub fn finish(mut self) -> Result<u64, FormatError> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(io::copy(&mut self.data.input, &mut io::sink())?)
    }

    /// Makes reading the last bytes of the data also read everything after it, for an input that is verified at its
    /// end.
    #[cfg(feature = "full")]
    pub(in crate::interchange) fn checked_to_the_end(mut self) -> Self {
        self.data.goes_on = true;
        self
    }

    /// Returns the inner reader. After all data is read, it is at the end of the data, where another array may begin.
    pub fn into_inner(self) -> R {
        self.data.input
    }
}

impl<R: Read> Read for NpyReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Self { data, swap, block, .. } = self;
        match swap {
            Some(descr) => block.read(out, |block| {
                read_units(data, descr.swap_unit(), block)?;
                descr.swap(block);
                Ok(())
            }),
            None => match block.read(out, |_| Ok(()))? {
                0 => data.read(out),
                read => Ok(read),
            },
        }
    }
}

/// A reader for exactly the data of a file.
#[derive(Debug)]
struct ExactReader<R> {
    input: R,
    /// Number of bytes to come.
    left: u64,
    /// The offset in the file.
    at: u64,
    len: u64,
    /// Whether to return the last bytes of data only if the rest of the input can be read.
    goes_on: bool,
}

impl<R: Read> Read for ExactReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let found = self.input.by_ref().take(self.left).read(out)?;
        if found == 0 && self.left > 0 && !out.is_empty() {
            let (len, found) = (self.len, self.len - self.left);
            let reason =
                format!("expected {len} bytes of data, found the end of the file after {found}");
            let error = FormatError::malformed(self.at, reason);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, error));
        }
        self.left -= found as u64;
        self.at += found as u64;
        if self.left == 0 && self.goes_on {
            io::copy(&mut self.input, &mut io::sink())?;
        }
        Ok(found)
    }
}

/// The plan for an `.npy` file before it is written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NpyPlan {
    /// The header.
    pub header: NpyHeader,
    /// Messages about metadata that the file cannot store.
    pub losses: Vec<String>,
    /// Length of the data in bytes.
    data_len: u64,
    /// Number of bytes to write after the data: an empty text has an element of one NUL.
    filler: u64,
}

impl NpyPlan {
    /// Plans the file that [`write()`] makes of an array, before any data is read.
    ///
    /// # Errors
    ///
    /// [`FormatError::NoCounterpart`] if the array cannot be converted: integers of 16 bytes, `complex32`, `float128`
    /// or unusual widths (unless [`ExportOptions::as_void`]); members of variable width; encoded data; a description
    /// that does not match the header.
    pub fn new(variable: &Variable, options: ExportOptions) -> Result<Self, FormatError> {
        let (mut descr, losses) = to_dtype(variable, options.as_void)?;
        let (dims, data_len) = (variable.header.dims(), variable.header.data_len());
        if variable.description.datatype == Datatype::String {
            let (Descr::Scalar(text), [length @ ..=dtype::MAX_ITEM]) = (&mut descr, dims) else {
                return Err(FormatError::no_counterpart(
                    format!("a string with the dimensions {dims:?} is not a single text in NumPy"),
                    "make it an array of opaque elements with the tag `text`",
                ));
            };
            text.size = *length.max(&1);
            let filler = text.size - length;
            return Ok(Self {
                header: NpyHeader::new(descr, false, Vec::new()),
                losses,
                data_len,
                filler,
            });
        }
        let order = variable.description.order();
        let mut shape = dims.to_vec();
        if order == Order::Row {
            shape.reverse();
        }
        let (described, stored) = (variable.description.shape.len(), shape.len());
        if described != stored {
            return Err(FormatError::no_counterpart(
                format!("the description has {described} dimensions, but the header has {stored}"),
                "make both agree",
            ));
        }
        if shape.iter().any(|extent| i64::try_from(*extent).is_err()) {
            return Err(FormatError::no_counterpart(
                "a dimension is too long for NumPy",
                "leave the array out: it has no elements",
            ));
        }
        // If at most one dimension is longer than 1, both orders are the same.
        let moving = shape.iter().filter(|extent| **extent > 1).count();
        let is_column_only = moving > 1 && !shape.contains(&0);
        let header = NpyHeader::new(descr, order == Order::Column && is_column_only, shape);
        Ok(Self { header, losses, data_len, filler: 0 })
    }

    /// Returns the length of the complete file in bytes.
    pub fn file_len(&self) -> u64 {
        let before = self.header.len + self.filler;
        before.saturating_add(self.data_len) // an empty array may claim any length
    }

    /// Writes the file: the header, then all of `data`.
    ///
    /// # Errors
    ///
    /// The errors of [`write()`].
    pub fn write(&self, out: &mut impl Write, data: impl Read) -> Result<(), FormatError> {
        out.write_all(&self.header.encode())?;
        let write = |part: &mut [u8]| Ok(out.write_all(part)?);
        read_all(data, self.data_len, PIECE, write, |found| {
            let at = found.unwrap_or(self.data_len);
            let found = found.map_or("more".to_owned(), |found| found.to_string());
            let reason = format!("expected {} bytes of data, found {found}", self.data_len);
            FormatError::malformed(at, reason)
        })?;
        io::copy(&mut io::repeat(0).take(self.filler), out)?;
        Ok(())
    }
}

/// Writes an array: the same header as NumPy, byte for byte, and the unchanged data.
///
/// `data` has the order of the description, and is little-endian unless the header is flagged as big-endian. Nothing is
/// transposed: `order: row` becomes `'fortran_order': False`, column-major becomes `True`. The same array gives the
/// same file.
///
/// ```
/// use ra_pack::interchange::{Variable, ExportOptions, npy};
/// use ra_pack::{describe, ra};
///
/// let header = ra::Header::new(ra::ElementType::FLOAT32, vec![2, 3])?;
/// let description = describe("x", &header, ra::Encoding::Raw);
/// let variable = Variable { header, description, losses: Vec::new() };
/// let mut file = Vec::new();
/// let plan = npy::write(&mut file, &variable, &[0; 24][..], ExportOptions::default())?;
/// assert!(plan.header.fortran_order);
/// assert_eq!(file.len(), 128 + 24);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// - The errors of [`NpyPlan::new`].
/// - [`FormatError::Io`] if reading or writing fails.
/// - [`FormatError::Malformed`], with the offset in the data, if `data` does not have the length in the header.
pub fn write(
    mut out: impl Write,
    variable: &Variable,
    data: impl Read,
    options: ExportOptions,
) -> Result<NpyPlan, FormatError> {
    let plan = NpyPlan::new(variable, options)?;
    plan.write(&mut out, data)?;
    Ok(plan)
}

/// The byte order of elements.
impl Descr {
    /// Returns whether any part is a big-endian number.
    fn is_big(&self) -> bool {
        self.any(|scalar| scalar.order == ByteOrder::Big && scalar.swap_width() > 1)
    }

    /// Returns the number of bytes that are swapped together: those of a number, or of a complete structure.
    fn swap_unit(&self) -> usize {
        match self {
            Self::Scalar(scalar) => to_usize(scalar.swap_width().max(1)),
            Self::Struct(_) => to_usize(self.checked_size().max(1)),
            Self::Subarray { base, .. } => base.swap_unit(),
        }
    }

    /// Makes the numbers in complete elements little-endian.
    fn swap(&self, elements: &mut [u8]) {
        match self {
            Self::Scalar(_) if !self.is_big() => {}
            Self::Scalar(_) => reverse_each(elements, self.swap_unit()),
            Self::Subarray { base, .. } => base.swap(elements),
            Self::Struct(fields) => {
                for mut rest in elements.chunks_exact_mut(self.swap_unit()) {
                    for Field { descr, .. } in fields {
                        let (own, after) = rest.split_at_mut(to_usize(descr.checked_size()));
                        descr.swap(own);
                        rest = after;
                    }
                }
            }
        }
    }
}

fn to_usize(size: u64) -> usize {
    usize::try_from(size).expect("an element has at most 2 GiB")
}

#[cfg(test)]
mod swap_tests {
    use proptest::prelude::*;

    use super::tests::any_descr;
    use super::*;
    use crate::interchange::BlockReader;

    /// Swaps an element, straight from the dtype.
    fn swapped(descr: &Descr, bytes: &mut [u8]) {
        match descr {
            Descr::Scalar(scalar) if scalar.order == ByteOrder::Big => {
                let width = usize::try_from(scalar.swap_width()).unwrap();
                bytes.chunks_mut(width.max(1)).for_each(<[u8]>::reverse);
            }
            Descr::Scalar(_) => {}
            Descr::Struct(fields) => {
                let mut rest = bytes;
                for field in fields {
                    let size = usize::try_from(field.descr.size().unwrap()).unwrap();
                    let (own, after) = rest.split_at_mut(size);
                    swapped(&field.descr, own);
                    rest = after;
                }
            }
            Descr::Subarray { base, .. } => {
                let size = usize::try_from(base.size().unwrap()).unwrap().max(1);
                bytes.chunks_mut(size).for_each(|element| swapped(base, element));
            }
        }
    }

    /// A reader that returns a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let end = out.len().min(self.1);
            self.0.read(&mut out[..end])
        }
    }

    fn read(descr: &Descr, bytes: &[u8], drop: usize) -> Vec<u8> {
        let mut input = Drops(bytes, drop);
        let mut reader = BlockReader::new(|block| {
            read_units(&mut input, descr.swap_unit(), block)?;
            descr.swap(block);
            Ok(())
        });
        let mut found = Vec::new();
        loop {
            let mut out = [0; 7];
            match reader.read(&mut out).unwrap() {
                0 => return found,
                given => found.extend(&out[..given]),
            }
        }
    }

    #[test]
    fn a_structure_that_is_too_long_to_be_swapped_is_refused() {
        let read = |unit| read_units(&mut io::repeat(0), unit, &mut Vec::new());
        assert!(read(1 << 20).is_ok());
        let error = FormatError::from(read(1 << 30).unwrap_err());
        assert!(matches!(error, FormatError::NoCounterpart { .. }), "{error}");
    }

    proptest! {
        #[test]
        fn swapping_a_stream_swaps_each_element(
            descr in any_descr(), count in 0..4_usize, drop in 1..40_usize,
        ) {
            let size = usize::try_from(descr.size().unwrap()).unwrap();
            let bytes: Vec<u8> = (0..=255).cycle().take(size * count).collect();
            let mut expected = bytes.clone();
            if size > 0 {
                expected.chunks_mut(size).for_each(|element| swapped(&descr, element));
            }
            if descr.is_big() {
                prop_assert_eq!(read(&descr, &bytes, drop), expected);
            } else {
                prop_assert_eq!(bytes, expected);
            }
        }
    }
}
