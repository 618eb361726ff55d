//! Writes the data of one array, a part at a time.

use std::io::{self, Read, Write};

use super::bits::Packer;
use super::body::count;
use super::chunks::{numbers, swap};
use super::fill::is_same;
use crate::interchange::Error;
use crate::ndl::{Datatype, Endian};

/// Bytes that are written at once: whole elements of every width.
const CHUNK: usize = 1 << 16;

/// Gives the data of an array from their beginning, each time that it is called.
pub(super) type Open<'a> = Box<dyn FnMut() -> io::Result<Box<dyn Read + 'a>> + 'a>;

/// How the data are written.
pub(super) enum Plan<'a> {
    Memory(Vec<u8>),
    /// As they come, so many bytes.
    Copied(Open<'a>, u64),
    Numbers(Open<'a>, Numbers),
    Bools(Open<'a>, Numbers),
}

/// Elements among which some may be missing.
#[derive(Debug, Clone)]
pub(super) struct Numbers {
    pub(super) datatype: Datatype,
    pub(super) width: usize,
    pub(super) endian: Endian,
    pub(super) elements: u64,
    /// The bits of what is missing.
    pub(super) fill: Option<u64>,
    /// The number that is true, and the one that is false.
    pub(super) truth: (u64, u64),
}

impl Numbers {
    pub(super) fn is_missing(&self, bits: u64) -> bool {
        self.fill.is_some_and(|fill| is_same(fill, bits, &self.datatype))
    }
}

/// Gives so many bytes to `part`, in whole elements, and sees that there are no more and no less.
pub(super) fn copy(
    open: &mut Open<'_>,
    name: &str,
    len: u64,
    mut part: impl FnMut(&mut [u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut data = open()?;
    let mut buffer = vec![0; usize::try_from(len).unwrap_or(CHUNK).clamp(1, CHUNK)];
    let mut left = len;
    while left > 0 {
        let bytes = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        let bytes = buffer.get_mut(..bytes).unwrap_or_default();
        data.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let reason = format!("the data of {name:?} end before their {len} bytes");
                io::Error::new(io::ErrorKind::UnexpectedEof, reason)
            }
            _ => error,
        })?;
        part(bytes)?;
        left = left.saturating_sub(count(bytes.len()));
    }
    let mut more = Vec::new();
    if data.take(1).read_to_end(&mut more)? > 0 {
        let reason = format!("the data of {name:?} are longer than their {len} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason).into());
    }
    Ok(())
}

/// Gives each element in bits and as its bytes.
pub(super) fn each(
    open: &mut Open<'_>,
    name: &str,
    of: &Numbers,
    mut one: impl FnMut(u64, &[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let width = of.width.max(1);
    let len = of.elements.saturating_mul(count(width));
    let mut plain = Vec::new();
    copy(open, name, len, |bytes| {
        plain.clear();
        plain.extend_from_slice(bytes);
        if of.endian == Endian::Big {
            swap(&mut plain, count(width));
        }
        for (bits, bytes) in numbers(&plain, width).zip(bytes.chunks_exact(width)) {
            one(bits, bytes)?;
        }
        Ok(())
    })
}

impl Plan<'_> {
    pub(super) fn write(self, name: &str, out: &mut impl Write) -> Result<(), Error> {
        match self {
            Self::Memory(bytes) => out.write_all(&bytes)?,
            Self::Copied(mut open, len) => {
                copy(&mut open, name, len, |bytes| Ok(out.write_all(bytes)?))?;
            }
            Self::Numbers(mut open, of) => {
                write_mask(&mut open, name, &of, out)?;
                let mut present = Vec::new();
                each(&mut open, name, &of, |bits, bytes| {
                    if !of.is_missing(bits) {
                        present.extend_from_slice(bytes);
                    }
                    flush(&mut present, out)
                })?;
                out.write_all(&present)?;
            }
            Self::Bools(mut open, of) => {
                write_mask(&mut open, name, &of, out)?;
                let (mut packed, mut into) = (Vec::new(), Packer::default());
                let mut element = 0_u64;
                each(&mut open, name, &of, |bits, _| {
                    let (yes, no) = of.truth;
                    if !of.is_missing(bits) {
                        if bits != yes && bits != no {
                            return Err(Error::no_counterpart(
                                format!(
                                    "element {element} of {name:?} is {bits}, neither false nor true"
                                ),
                                "describe it as `uint8`, or make it 0 or 1",
                            ));
                        }
                        into.push(bits == yes, &mut packed);
                    }
                    element = element.saturating_add(1);
                    flush(&mut packed, out)
                })?;
                into.finish(&mut packed);
                out.write_all(&packed)?;
            }
        }
        Ok(())
    }
}

fn write_mask(
    open: &mut Open<'_>,
    name: &str,
    of: &Numbers,
    out: &mut impl Write,
) -> Result<(), Error> {
    if of.fill.is_none() {
        return Ok(());
    }
    let (mut packed, mut into) = (Vec::new(), Packer::default());
    each(open, name, of, |bits, _| {
        into.push(of.is_missing(bits), &mut packed);
        flush(&mut packed, out)
    })?;
    into.finish(&mut packed);
    Ok(out.write_all(&packed)?)
}

/// Writes what has gathered, when it is much.
fn flush(bytes: &mut Vec<u8>, out: &mut impl Write) -> Result<(), Error> {
    if bytes.len() >= CHUNK {
        out.write_all(bytes)?;
        bytes.clear();
    }
    Ok(())
}

/// Counts what is written.
pub(super) struct Counted<W> {
    pub(super) out: W,
    pub(super) written: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.written = self.written.saturating_add(count(written));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
