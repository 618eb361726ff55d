//! Writes the data of one array, a part at a time.

use std::io::{self, Read, Write};

use super::body::{BitPacker, numbers};
use super::numbers::is_same;
use crate::interchange::{Error, read_all, wrong_length};
use crate::ndl::{Datatype, Endian};
use crate::ra::reverse_each;

/// Bytes that are written at once: whole elements of every width.
const BLOCK: usize = 1 << 16;

/// Gives the data of an array from their beginning, each time that it is called.
pub(super) type OpenData<'a> = Box<dyn FnMut() -> io::Result<Box<dyn Read + 'a>> + 'a>;

/// The data of an array and how they are written.
pub(super) enum OutgoingData<'a> {
    Memory(Vec<u8>),
    /// As they come, so many bytes.
    Copied(OpenData<'a>, u64),
    /// As numbers, or as bits of truth values.
    Elements(OpenData<'a>, Elements),
}

/// Elements among which some may be missing.
#[derive(Debug, Clone)]
pub(super) struct Elements {
    pub(super) datatype: Datatype,
    pub(super) width: usize,
    pub(super) endian: Endian,
    pub(super) count: u64,
    /// The bits of what is missing.
    pub(super) fill: Option<u64>,
    /// How many are not missing.
    pub(super) present: u64,
    /// Whether they are truth values: 1 and 0.
    pub(super) is_truth: bool,
}

impl Elements {
    pub(super) fn is_missing(&self, bits: u64) -> bool {
        self.fill.is_some_and(|fill| is_same(fill, bits, &self.datatype))
    }

    /// Gives each element in bits and as its bytes.
    pub(super) fn each(
        &self,
        open: &mut OpenData<'_>,
        name: &str,
        mut one: impl FnMut(u64, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut plain = Vec::new();
        copy(open, name, self.count * self.width as u64, |bytes| {
            plain.clear();
            plain.extend_from_slice(bytes);
            reverse_each(&mut plain, if self.endian == Endian::Big { self.width } else { 1 });
            let mut elements = numbers(&plain, self.width).zip(bytes.chunks_exact(self.width));
            elements.try_for_each(|(bits, bytes)| one(bits, bytes))
        })
    }

    /// Writes the mask, if there is one, and then the elements that are there.
    fn write(
        &self,
        open: &mut OpenData<'_>,
        name: &str,
        out: &mut impl Write,
    ) -> Result<(), Error> {
        let (mut block, mut packer) = (Vec::with_capacity(BLOCK), BitPacker::default());
        if self.fill.is_some() {
            self.each(open, name, |bits, _| {
                packer.push(self.is_missing(bits), &mut block);
                write_full(&mut block, out)
            })?;
            packer.finish(&mut block);
        }
        let (mut place, mut present) = (0_u64, 0_u64);
        self.each(open, name, |bits, bytes| {
            place += 1;
            if self.is_missing(bits) {
                return Ok(());
            }
            present += 1;
            if !self.is_truth {
                block.extend_from_slice(bytes);
            } else if bits <= 1 {
                packer.push(bits == 1, &mut block);
            } else {
                let element = place - 1;
                return Err(Error::no_counterpart(
                    format!("element {element} of {name:?} is {bits}, neither false nor true"),
                    "describe it as `uint8`, or make it 0 or 1",
                ));
            }
            write_full(&mut block, out)
        })?;
        if present != self.present {
            let reason = format!("the data of {name:?} changed while they were written");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason).into());
        }
        packer.finish(&mut block);
        Ok(out.write_all(&block)?)
    }
}

impl OutgoingData<'_> {
    pub(super) fn write(self, name: &str, out: &mut impl Write) -> Result<(), Error> {
        match self {
            Self::Memory(bytes) => Ok(out.write_all(&bytes)?),
            Self::Copied(mut open, len) => {
                copy(&mut open, name, len, |bytes| Ok(out.write_all(bytes)?))
            }
            Self::Elements(mut open, elements) => elements.write(&mut open, name, out),
        }
    }
}

/// Gives so many bytes to `part`, in whole elements, and sees that there are no more and no less.
pub(super) fn copy(
    open: &mut OpenData<'_>,
    name: &str,
    len: u64,
    part: impl FnMut(&mut [u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    read_all(open()?, len, BLOCK, part, wrong_length(name, len))
}

/// Writes what has gathered, when it is much.
fn write_full(block: &mut Vec<u8>, out: &mut impl Write) -> Result<(), Error> {
    if block.len() >= BLOCK {
        out.write_all(block)?;
        block.clear();
    }
    Ok(())
}
