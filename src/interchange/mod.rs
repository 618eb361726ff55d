//! Formats of other tools, read and written over [`Read`] and [`Write`](std::io::Write), with the
//! description that each array implies.
//!
//! A format gives a [`Variable`], which is the header and the description that the array has as a RawArray,
//! and then its data as little-endian bytes **in the order in which the other file holds them**. No
//! format moves an element: where the last index runs fastest the description says `storage: {order: row}`, and the
//! dims of the header are the shape reversed. A caller that needs the other order asks for it where bytes can be
//! read and written anywhere.

#[cfg(feature = "convert")]
pub mod ds;
#[cfg(feature = "convert")]
mod literal;
#[cfg(feature = "convert")]
pub mod npy;
#[cfg(feature = "convert")]
pub mod npz;
#[cfg(feature = "png")]
pub mod png;

use std::io::{self, Read};

use crate::ndl::{Datatype, Integer, Ndarray, Order, Value};
use crate::ra::{ElementType, Header};

/// An array of another format, as RawArray and the Ndarray Data Language would have it; its data comes
/// separately.
///
/// `header` and `description` agree: the dims are those that the shape and `storage.order` give.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The header of the data as it is delivered: little-endian, and in the order of the other file.
    pub header: Header,
    /// Its name, shape, datatype and attributes. `storage.order` is `row` where the last index of the shape
    /// runs fastest and there is more than one.
    pub description: Ndarray,
    /// What the other file says and RawArray and description do not, one sentence each.
    pub losses: Vec<String>,
}

/// How to read. Each format takes the options that mean something for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportOptions {
    /// `.npy`: leave big-endian numbers as they are, and say so in header and description. Structures and text are
    /// swapped all the same.
    pub keep_endian: bool,
    /// `.npy`: take elements of two bytes without a type for bfloat16, which `ml_dtypes` saves so.
    pub bfloat16: bool,
    /// `.ds`: give the mask of `NAME`, when it has missing elements, as a variable `NAME.mask` of truth values
    /// after it.
    pub masks: bool,
}

/// How to write. Each format takes the options that mean something for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportOptions {
    /// `.npy`: write elements that numpy has no dtype for, such as integers of 16 bytes, as bytes without a type:
    /// `|V16`. Otherwise they are refused.
    pub as_void: bool,
    /// `.ds`: write elements that are `storage.fillvalue` as missing: the mask marks them, and they are not stored.
    pub mask_fill: bool,
}

/// Why a file of another format cannot be read, or an array not be written in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The system refused to read or write.
    #[error(transparent)]
    Io(io::Error),
    /// The file is not what its format demands.
    #[error("byte {offset}: {reason}")]
    Malformed {
        /// The byte of the file at which it goes wrong, from 0.
        offset: u64,
        /// What was expected, and what was found.
        reason: String,
    },
    /// The file or the array is sound, but has no counterpart.
    #[error("{reason}; {instead}")]
    NoCounterpart {
        /// What has none, and why.
        reason: String,
        /// The nearest way out.
        instead: String,
    },
}

/// A reader of this module gives what is wrong with a file as an [`io::Error`]; here it is itself again.
impl From<io::Error> for FormatError {
    fn from(error: io::Error) -> Self {
        error.downcast::<Self>().unwrap_or_else(Self::Io)
    }
}

impl FormatError {
    /// A fault of the file at `offset`.
    pub fn malformed(offset: u64, reason: impl Into<String>) -> Self {
        Self::Malformed { offset, reason: reason.into() }
    }

    /// What cannot be said in the other format, and what can be done instead.
    pub fn no_counterpart(reason: impl Into<String>, instead: impl Into<String>) -> Self {
        Self::NoCounterpart { reason: reason.into(), instead: instead.into() }
    }
}

/// The element type that a datatype stands for, when it is a single word for numbers: it has the same word.
pub fn element_of_word(datatype: &Datatype) -> Option<ElementType> {
    let word = datatype.word()?;
    let (kind, bits) = word.split_at(word.find(|letter: char| letter.is_ascii_digit())?);
    let eltype = match kind {
        "int" => 1,
        "uint" => 2,
        "float" => 3,
        "complex" => 4,
        _ => 5,
    };
    ElementType::new(eltype, bits.parse::<u64>().ok()? / 8).ok()
}

/// The element that stands for a missing one.
fn fillvalue(description: &Ndarray) -> Option<&Value> {
    description.storage.as_ref()?.fillvalue.as_ref()
}

/// The datatype of truth values.
pub(crate) fn truth() -> Datatype {
    let members = vec![("false".to_owned(), 0), ("true".to_owned(), 1)];
    Datatype::Enum { base: Some(Integer::UInt8), members }
}

/// Whether a datatype is that of truth values of one byte, by whatever letters; `masked` may have a name besides.
fn is_truth(datatype: &Datatype, masked: Option<i128>) -> bool {
    let Datatype::Enum { members, .. } = datatype else { return false };
    let is_byte = matches!(datatype.resolved_base(), Some(Integer::UInt8 | Integer::Int8));
    let is = |wanted: &'static str, number: i128| {
        move |member: &(String, i128)| member.0.eq_ignore_ascii_case(wanted) && member.1 == number
    };
    let (is_false, is_true) = (is("false", 0), is("true", 1));
    is_byte
        && members.iter().any(is_false)
        && members.iter().any(is_true)
        && members.iter().all(|one| is_false(one) || is_true(one) || Some(one.1) == masked)
}

/// The extents of an array whose last index runs fastest, which `format` demands, in the order of indices.
pub(crate) fn row_order_extents(
    variable: &Variable,
    format: &str,
) -> Result<Vec<u64>, FormatError> {
    let Variable { header, description, .. } = variable;
    let name = &description.name;
    if header.is_encoded() {
        let reason = format!("the data of {name:?} are encoded");
        return Err(FormatError::no_counterpart(reason, "decode them first"));
    }
    let mut extents = header.dims().to_vec();
    match description.order() {
        Order::Row => extents.reverse(),
        Order::Column if extents.len() > 1 => {
            let reason =
                format!("the first index of {name:?} runs fastest, and in {format} the last does");
            return Err(FormatError::no_counterpart(reason, "reorder its data first"));
        }
        Order::Column | Order::RowUnreversed => {}
    }
    Ok(extents)
}

/// Bytes that are swapped at a time, unless a unit is longer.
const SWAPPED: usize = 64 * 1024;

/// The longest unit that is swapped, since it is held as a whole.
const MAX_UNIT: usize = 32 << 20;

/// Bytes that are read a block at a time.
#[derive(Debug, Default)]
struct Block(io::Cursor<Vec<u8>>);

impl Block {
    /// Reads as [`Read::read`] does. Once all of a block is read, `fill` makes the next one in the empty buffer; it
    /// leaves that empty at the end.
    fn read(
        &mut self,
        out: &mut [u8],
        fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<usize> {
        let read = self.0.read(out)?;
        if read > 0 || out.is_empty() {
            return Ok(read);
        }
        let mut block = std::mem::take(&mut self.0).into_inner();
        block.clear();
        fill(&mut block)?;
        self.0 = io::Cursor::new(block);
        self.0.read(out)
    }
}

/// A reader of the blocks that a function makes, as for [`Block::read`].
pub(crate) struct BlockReader<F>(Block, F);

impl<F: FnMut(&mut Vec<u8>) -> io::Result<()>> BlockReader<F> {
    pub(crate) fn new(fill: F) -> Self {
        Self(Block::default(), fill)
    }
}

impl<F: FnMut(&mut Vec<u8>) -> io::Result<()>> Read for BlockReader<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out, &mut self.1)
    }
}

/// Reads the next of `input` into the empty `block`: whole units of so many bytes, at least 1.
pub(crate) fn read_units(
    input: &mut impl Read,
    unit: usize,
    block: &mut Vec<u8>,
) -> io::Result<()> {
    let whole = (SWAPPED - SWAPPED % unit).max(unit).min(MAX_UNIT);
    input.take(whole as u64).read_to_end(block)?;
    if block.len().is_multiple_of(unit) {
        return Ok(());
    }
    let reason = format!("big-endian numbers are in elements of over {MAX_UNIT} bytes");
    let error = FormatError::no_counterpart(reason, "swap them with numpy's `astype`");
    Err(io::Error::new(io::ErrorKind::Unsupported, error))
}

/// Gives exactly `len` bytes of `data` to `each`, `piece` of them at a time. Of data of another length `wrong`
/// makes the error; it gets how many bytes there are, or nothing when they are more.
fn read_all(
    mut data: impl Read,
    len: u64,
    piece: usize,
    mut each: impl FnMut(&mut [u8]) -> Result<(), FormatError>,
    wrong: impl Fn(Option<u64>) -> FormatError,
) -> Result<(), FormatError> {
    let mut buffer = Vec::new();
    let mut left = len;
    while left > 0 {
        buffer.clear();
        let wanted = left.min(piece as u64);
        let found = data.by_ref().take(wanted).read_to_end(&mut buffer)? as u64;
        if found < wanted {
            return Err(wrong(Some(len - left + found)));
        }
        each(&mut buffer)?;
        left -= found;
    }
    match data.take(1).read_to_end(&mut Vec::new())? {
        0 => Ok(()),
        _ => Err(wrong(None)),
    }
}

/// The error of data of another length than the header of the array `name` says, for [`read_all`].
pub(crate) fn wrong_length(name: &str, len: u64) -> impl Fn(Option<u64>) -> FormatError {
    let name = name.to_owned();
    move |found| {
        let (kind, fault) = match found {
            Some(_) => (io::ErrorKind::UnexpectedEof, "end before"),
            None => (io::ErrorKind::InvalidData, "are longer than"),
        };
        io::Error::new(kind, format!("the data of {name:?} {fault} their {len} bytes")).into()
    }
}
