//! Parts that the formats share: data in blocks, and parts of descriptions.

use std::io::{self, Read};

use super::{FormatError, Variable};
use crate::ndl::{Datatype, Integer, Ndarray, Order, Value};

/// Returns the element that marks missing ones.
pub(crate) fn fillvalue(description: &Ndarray) -> Option<&Value> {
    description.storage.as_ref()?.fillvalue.as_ref()
}

/// Returns whether a datatype is that of booleans of one byte, ignoring the case of the names; `masked` may have a
/// name as well.
pub(crate) fn is_truth(datatype: &Datatype, masked: Option<i128>) -> bool {
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

/// Returns the shape of a row-major array in the order of indices; `format` accepts no other order.
pub(crate) fn row_order_extents(
    variable: &Variable,
    format: &str,
) -> Result<Vec<u64>, FormatError> {
    let Variable { header, description, .. } = variable;
    let name = &description.name;
    if header.is_encoded() {
        let reason = format!("the data of {name:?} is encoded");
        return Err(FormatError::no_counterpart(reason, "decode them first"));
    }
    let mut extents = header.dims().to_vec();
    match description.order() {
        Order::Row => extents.reverse(),
        Order::Column if extents.len() > 1 => {
            let reason = format!("{name:?} is column-major, but {format} is row-major");
            return Err(FormatError::no_counterpart(reason, "reverse its dimensions first"));
        }
        Order::Column | Order::RowUnreversed => {}
    }
    Ok(extents)
}

/// Number of bytes that are swapped at once, unless a unit is longer.
const SWAPPED: usize = 64 * 1024;

/// Longest unit that is swapped in bytes, because it is kept in memory.
const MAX_UNIT: usize = 32 << 20;

/// Bytes that are read in blocks.
#[derive(Debug, Default)]
pub(crate) struct Block(pub(super) io::Cursor<Vec<u8>>);

impl Block {
    /// Reads like [`Read::read`]. After the end of a block, `fill` puts the next one in the empty buffer; at the end it
    /// leaves the buffer empty.
    pub(crate) fn read(
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

/// Reads the next bytes of `input` into the empty `block`: complete units of this number of bytes, at least 1.
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
    let reason = format!("elements with big-endian numbers are longer than {MAX_UNIT} bytes");
    let error = FormatError::no_counterpart(reason, "swap them with NumPy's `astype`");
    Err(io::Error::new(io::ErrorKind::Unsupported, error))
}

/// Passes exactly `len` bytes of `data` to `each`, in pieces of `piece` bytes. If the length of the data differs,
/// `wrong` makes the error; its argument is the actual length, or `None` if the data is longer.
pub(crate) fn read_all(
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

/// Returns a function for [`read_all`] that makes the error for data of the array `name` with the wrong length.
pub(crate) fn wrong_length(name: &str, len: u64) -> impl Fn(Option<u64>) -> FormatError {
    let name = name.to_owned();
    move |found| {
        let (kind, fault) = match found {
            Some(_) => (io::ErrorKind::UnexpectedEof, "ends before"),
            None => (io::ErrorKind::InvalidData, "is longer than"),
        };
        io::Error::new(kind, format!("the data of {name:?} {fault} its {len} bytes")).into()
    }
}
