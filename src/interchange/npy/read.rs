//! Reads an `.npy` file: its header, what that is here, and its data in little-endian order.

use std::io::{self, Read};

use super::descr::{ByteOrder, Descr, Kind, Scalar};
use super::from_npy::{self, Mapped};
use super::header::Header;
use super::swap::{Plan, Swapper};
use crate::interchange::{Error, Variable};
use crate::ndl::{Datatype, Endian, Extent, Ndarray, Order, Storage};
use crate::ra::{self, ElementType};

/// The longest single text whose bytes are looked at, to see whether they are UTF-8.
const MAX_TEXT: u64 = 64 * 1024;

/// How to read an `.npy` file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Leave big-endian numbers as they are, and say so in header and description. Structures and text are
    /// swapped all the same.
    pub keep_endian: bool,
    /// Take elements of two bytes without a type for brain floats, which `ml_dtypes` saves so.
    pub bfloat16: bool,
}

impl ReadOptions {
    /// Little-endian numbers, and nothing guessed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`keep_endian`](Self::keep_endian).
    #[must_use]
    pub fn keep_endian(self, keep_endian: bool) -> Self {
        Self { keep_endian, ..self }
    }

    /// Sets [`bfloat16`](Self::bfloat16).
    #[must_use]
    pub fn bfloat16(self, bfloat16: bool) -> Self {
        Self { bfloat16, ..self }
    }
}

/// An `.npy` file that is read from the beginning to the end.
///
/// The reader itself gives the data, through [`Read`]: exactly as many bytes as the header says, in the
/// order of the file, each number little-endian. A file that ends earlier is an error with the offset of
/// its end. Memory does not depend on what the header claims. Give it a [`BufReader`](io::BufReader) when
/// single reads are costly and you read in small pieces.
///
/// ```
/// use std::io::Read;
/// use ra_pack::interchange::npy::Reader;
///
/// let text = b"\x93NUMPY\x01\x00\x3c\0{'descr': '>i2', 'fortran_order': False, 'shape': (2, 2), }\n";
/// let file = [&text[..], &[0, 1, 0, 2, 0, 3, 0, 4]].concat();
/// let mut reader = Reader::new(&file[..])?;
/// let variable = reader.variable("x")?;
/// assert_eq!(variable.header.dims(), [2, 2]);
/// assert_eq!(variable.description.datatype.word(), Some("int16"));
/// let mut data = Vec::new();
/// reader.read_to_end(&mut data)?;
/// assert_eq!(data, [1, 0, 2, 0, 3, 0, 4, 0]);
/// assert_eq!(reader.finish()?, 0); // bytes after the data
/// # Ok::<(), ra_pack::interchange::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    data: Data<R>,
    header: Header,
    mapped: Mapped,
    ra_header: ra::Header,
    storage: Option<Storage>,
    shape: Vec<Extent>,
    swapper: Option<Swapper>,
    /// The beginning of the data, which was looked at and not given yet.
    ahead: io::Cursor<Vec<u8>>,
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// As [`Header::read`], and when the array has no counterpart: Python objects, long doubles, elements of
    /// no bytes. A pickle is never loaded.
    pub fn new(input: R) -> Result<Self, Error> {
        Self::with_options(input, &ReadOptions::default())
    }

    /// Reads the header; `options` say how the data is to be given.
    ///
    /// # Errors
    ///
    /// As [`Reader::new`].
    pub fn with_options(mut input: R, options: &ReadOptions) -> Result<Self, Error> {
        let header = Header::read(&mut input)?;
        let mut mapped = from_npy::mapped(header.descr(), options.bfloat16)?;
        let is_row = !header.fortran_order() && header.shape().len() > 1;
        let mut dims = header.shape().to_vec();
        if is_row {
            dims.reverse();
        }
        let at = header.shape_at();
        let too_large = |error: ra::ShapeError| {
            Error::malformed(
                at,
                format!("expected a shape that can be counted in bytes, found: {error}"),
            )
        };
        let mut ra_header = ra::Header::new(mapped.element, dims).map_err(too_large)?;
        let mut shape: Vec<Extent> = header.shape().iter().copied().map(Extent::Fixed).collect();
        let len = ra_header.data_len();
        let mut data =
            Data { input, left: len, at: header.len(), len, goes_on: false, trailing: 0 };

        let mut ahead = Vec::new();
        if let Some(length) = lone_text(&header).filter(|length| *length <= MAX_TEXT) {
            Read::by_ref(&mut data).take(length).read_to_end(&mut ahead)?;
            if str::from_utf8(&ahead).is_ok() {
                mapped.datatype = Datatype::String;
                ra_header = ra::Header::new(ElementType::UINT8, vec![length]).map_err(too_large)?;
                shape = Vec::new();
            }
        }

        let numbers = if options.bfloat16 { brain_floats(header.descr()) } else { None };
        let descr = numbers.as_ref().unwrap_or(header.descr());
        let is_kept = options.keep_endian && is_big_number(descr);
        if is_kept {
            ra_header = ra_header.big_endian();
        }
        let plan = if is_kept { Plan::default() } else { Plan::new(descr) };
        let storage = Storage {
            order: if is_row { Order::Row } else { Order::Column },
            endian: is_kept.then_some(Endian::Big),
            fillvalue: mapped.fillvalue.take(),
            ..Storage::default()
        };
        Ok(Self {
            data,
            header,
            mapped,
            ra_header,
            storage: (storage != Storage::default()).then_some(storage),
            shape,
            swapper: (!plan.is_empty()).then(|| Swapper::new(plan)),
            ahead: io::Cursor::new(ahead),
        })
    }

    /// What the file says of itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Whether the data are given as they lie in the file, from [`Header::len`] on: no number is swapped.
    pub fn is_verbatim(&self) -> bool {
        self.swapper.is_none()
    }

    /// The array as RawArray and description, under a name of yours.
    ///
    /// Data with the last index fastest has `storage: {order: row}` and its dims are the shape reversed;
    /// nothing is transposed. A single text of UTF-8 is a `string`.
    ///
    /// # Errors
    ///
    /// When no array can have the name: it is empty or has a slash.
    pub fn variable(&self, name: &str) -> Result<Variable, Error> {
        if name.is_empty() || name.contains('/') {
            return Err(Error::no_counterpart(
                format!("no array in a description can be called `{}`", name.escape_debug()),
                "give it a name without slashes",
            ));
        }
        Ok(Variable {
            header: self.ra_header.clone(),
            description: Ndarray {
                name: name.to_owned(),
                shape: self.shape.clone(),
                datatype: self.mapped.datatype.clone(),
                value: None,
                attributes: self.mapped.attributes.clone(),
                storage: self.storage.clone(),
            },
            losses: self.mapped.losses.clone(),
        })
    }

    /// Reads what is left of the data and everything after it, and gives the number of bytes after the data:
    /// numpy ignores them, and so they are lost.
    ///
    /// # Errors
    ///
    /// When the data is cut off, or the reader fails.
    pub fn finish(mut self) -> Result<u64, Error> {
        io::copy(&mut self, &mut io::sink())?;
        self.data.goes_on = true;
        self.data.end()?;
        Ok(self.data.trailing)
    }

    /// Reads everything after the data together with its last bytes, for an input that is wrong or right as
    /// a whole.
    pub(in crate::interchange) fn checked_to_the_end(mut self) -> Self {
        self.data.goes_on = true;
        self
    }

    /// The reader, wherever it is: behind the data once all of that was read, where another array may begin.
    pub fn into_inner(self) -> R {
        self.data.input
    }
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let given = self.ahead.read(out)?;
        if given > 0 {
            return Ok(given);
        }
        match &mut self.swapper {
            Some(swapper) => swapper.read(&mut self.data, out),
            None => self.data.read(out),
        }
    }
}

/// The width of the one text that a file holds, if it holds just that.
fn lone_text(header: &Header) -> Option<u64> {
    match header.descr() {
        Descr::Scalar(Scalar { kind: Kind::Bytes, size, .. }) if header.shape().is_empty() => {
            Some(*size)
        }
        _ => None,
    }
}

/// Voids that are brain floats as numbers, which have a byte order.
fn brain_floats(descr: &Descr) -> Option<Descr> {
    match descr {
        Descr::Scalar(scalar @ Scalar { kind: Kind::Void, size: 2, .. }) => {
            Some(Descr::Scalar(Scalar { kind: Kind::UInt, ..*scalar }))
        }
        _ => None,
    }
}

fn is_big_number(descr: &Descr) -> bool {
    matches!(descr, Descr::Scalar(scalar)
        if scalar.order == ByteOrder::Big && scalar.swap_width() > 1 && scalar.kind != Kind::Text)
}

/// Exactly the data of a file.
#[derive(Debug)]
struct Data<R> {
    input: R,
    /// Bytes still to come.
    left: u64,
    /// Where in the file it is.
    at: u64,
    len: u64,
    /// Whether the last bytes of data are only given when the rest of the input can be read.
    goes_on: bool,
    /// How many bytes there were after the data, as far as that was read.
    trailing: u64,
}

impl<R: Read> Data<R> {
    /// Reads what comes after the data, once that is done.
    fn end(&mut self) -> io::Result<()> {
        if self.left == 0 && self.goes_on {
            let more = io::copy(&mut self.input, &mut io::sink())?;
            self.trailing = self.trailing.saturating_add(more);
        }
        Ok(())
    }
}

impl<R: Read> Read for Data<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(out.len());
        let Some(out) = out.get_mut(..wanted).filter(|out| !out.is_empty()) else {
            self.end()?;
            return Ok(0);
        };
        let found = self.input.read(out)?;
        if found == 0 {
            let (len, found) = (self.len, self.len.saturating_sub(self.left));
            let reason =
                format!("expected {len} bytes of data, found the end of the file after {found}");
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                Error::malformed(self.at, reason),
            ));
        }
        let count = u64::try_from(found).unwrap_or(u64::MAX);
        self.left = self.left.saturating_sub(count);
        self.at = self.at.saturating_add(count);
        self.end()?;
        Ok(found)
    }
}
