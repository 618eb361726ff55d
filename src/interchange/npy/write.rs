//! Writes an `.npy` file as numpy would have written it.

use std::io::{self, Read, Write};

use super::descr::Descr;
use super::header::Header;
use super::to_npy;
use crate::interchange::{Error, Variable};
use crate::ndl::{Datatype, Order};

/// Bytes that are copied at a time.
const PIECE: usize = 256 * 1024;

/// How to write an `.npy` file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Write elements that numpy has no dtype for, such as integers of 16 bytes, as bytes without a type:
    /// `|V16`.
    pub as_void: bool,
}

impl WriteOptions {
    /// What has no dtype is refused.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`as_void`](Self::as_void).
    #[must_use]
    pub fn as_void(self, as_void: bool) -> Self {
        Self { as_void, ..self }
    }
}

/// What an `.npy` file is, or will be.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Its header.
    pub header: Header,
    /// What header and description of the array say and the file does not, one sentence each.
    pub losses: Vec<String>,
    /// Bytes of data.
    data_len: u64,
    /// Bytes written after it: an empty text has an element of one NUL.
    filler: u64,
}

impl Plan {
    /// What [`write()`] would make of an array, before any data is there.
    ///
    /// # Errors
    ///
    /// When the array has no counterpart: integers of 16 bytes, `complex32`, `float128`, odd widths (unless
    /// [`WriteOptions::as_void`]); members of variable width; encoded data, which is to be decoded first;
    /// a description that is not one of the header.
    pub fn new(variable: &Variable, options: &WriteOptions) -> Result<Self, Error> {
        let mapped = to_npy::mapped(variable, options.as_void)?;
        let dims = variable.header.dims();
        let data_len = variable.header.data_len();
        if variable.description.datatype == Datatype::String {
            let Descr::Scalar(scalar) = mapped.descr else { return Err(not_one_text(dims)) };
            let [length] = *dims else { return Err(not_one_text(dims)) };
            let size = length.max(1);
            if size > super::descr::MAX_ITEM {
                return Err(not_one_text(dims));
            }
            let descr = Descr::Scalar(super::Scalar { size, ..scalar });
            let header = Header::new(descr, false, Vec::new());
            let filler = size.saturating_sub(length);
            return Ok(Self { header, losses: mapped.losses, data_len, filler });
        }
        let order = variable.description.order();
        let mut shape = dims.to_vec();
        if order == Order::Row {
            shape.reverse();
        }
        if variable.description.shape.len() != shape.len() {
            return Err(Error::no_counterpart(
                format!(
                    "the description has {} dimensions, the header {}",
                    variable.description.shape.len(),
                    shape.len()
                ),
                "make both say the same",
            ));
        }
        if shape.iter().any(|extent| i64::try_from(*extent).is_err()) {
            return Err(Error::no_counterpart(
                "an extent is larger than numpy can count",
                "leave the array out: it has no elements",
            ));
        }
        let fortran_order = order == Order::Column && !is_c_contiguous(&shape);
        let header = Header::new(mapped.descr, fortran_order, shape);
        Ok(Self { header, losses: mapped.losses, data_len, filler: 0 })
    }

    /// Bytes of the whole file.
    pub fn file_len(&self) -> u64 {
        self.header.len().saturating_add(self.data_len).saturating_add(self.filler)
    }

    /// Writes the file: the header, then all of `data`.
    ///
    /// # Errors
    ///
    /// As [`write()`].
    pub fn write(&self, out: &mut impl Write, mut data: impl Read) -> Result<(), Error> {
        out.write_all(&self.header.encode())?;
        let copied = copy(&mut Read::by_ref(&mut data).take(self.data_len), out)?;
        let more = copied == self.data_len && io::copy(&mut data.take(1), &mut io::sink())? > 0;
        if copied < self.data_len || more {
            let found = if more { "more".to_owned() } else { copied.to_string() };
            let reason = format!("expected {} bytes of data, found {found}", self.data_len);
            return Err(Error::malformed(copied, reason));
        }
        io::copy(&mut io::repeat(0).take(self.filler), out)?;
        Ok(())
    }
}

/// As [`io::copy`], by pieces that make few calls of the system.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<u64> {
    let mut buffer = vec![0; PIECE];
    let mut copied: u64 = 0;
    loop {
        let found = match from.read(&mut buffer) {
            Ok(0) => return Ok(copied),
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(buffer.get(..found).unwrap_or_default())?;
        copied = copied.saturating_add(u64::try_from(found).unwrap_or(u64::MAX));
    }
}

fn not_one_text(dims: &[u64]) -> Error {
    Error::no_counterpart(
        format!("a string with the dims {dims:?} is not one text that numpy can hold"),
        "make it an array of opaque elements with the tag `text`",
    )
}

/// Whether data with the first index fastest has the last one fastest too: at most one index moves.
fn is_c_contiguous(shape: &[u64]) -> bool {
    shape.contains(&0) || shape.iter().filter(|extent| **extent > 1).count() <= 1
}

/// Writes an array: a header that is numpy's, byte for byte, and the data as it is.
///
/// `data` is in the order that the description states, and little-endian unless the header is flagged as
/// big-endian. Nothing is transposed: `order: row` becomes `'fortran_order': False`, column order
/// `True`. The same array gives the same file.
///
/// ```
/// use ra_pack::interchange::{Variable, npy};
/// use ra_pack::{describe, ra};
///
/// let header = ra::Header::new(ra::ElementType::FLOAT32, vec![2, 3])?;
/// let description = describe("x", &header, ra::Encoding::Raw);
/// let variable = Variable { header, description, losses: Vec::new() };
/// let mut file = Vec::new();
/// let plan = npy::write(&mut file, &variable, &[0; 24][..], &npy::WriteOptions::new())?;
/// assert!(plan.header.fortran_order());
/// assert_eq!(file.len(), 128 + 24);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`Plan::new`]; when reading or writing fails; when `data` is shorter or longer than the header says,
/// with the offset in the data.
pub fn write(
    mut out: impl Write,
    variable: &Variable,
    data: impl Read,
    options: &WriteOptions,
) -> Result<Plan, Error> {
    let plan = Plan::new(variable, options)?;
    plan.write(&mut out, data)?;
    Ok(plan)
}
