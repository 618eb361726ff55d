//! The elements of a variable, some thousand at a time.

use std::io::{self, Read, Seek};

use super::bits;
use super::body::{Body, count};
use crate::ndl::Endian;

/// Elements at a time: a multiple of 8, so that each part begins at a byte of the mask.
const ELEMENTS: u64 = 1 << 13;

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Numbers of so many bytes.
    Numbers { width: u64, endian: Endian },
    /// Packed bits, as bytes.
    Bools,
    /// The mask, as bytes.
    Mask,
}

/// How far a variable is read.
#[derive(Debug, Clone)]
pub(super) struct Chunks {
    pub(super) what: What,
    /// Where in the body its mask lies.
    pub(super) mask: Option<u64>,
    /// Where in the body its data lie.
    pub(super) data: u64,
    /// Elements left.
    pub(super) left: u64,
    /// Elements before, and how many of them are there.
    done: u64,
    present: u64,
}

/// A part of the elements.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// Which are missing; empty without a mask.
    pub(super) missing: Vec<bool>,
    /// Those that are there, little-endian.
    pub(super) values: Vec<u8>,
}

impl Chunks {
    pub(super) fn new(what: What, mask: Option<u64>, data: u64, elements: u64) -> Self {
        Self { what, mask, data, left: elements, done: 0, present: 0 }
    }

    /// Reads the next part; `false` at the end.
    pub(super) fn next<R: Read + Seek>(
        &mut self,
        body: &mut Body<R>,
        chunk: &mut Chunk,
    ) -> io::Result<bool> {
        let elements = self.left.min(ELEMENTS);
        if elements == 0 {
            return Ok(false);
        }
        chunk.missing.clear();
        let mut here = elements;
        if let Some(mask) = self.mask {
            let packed =
                read(body, mask.saturating_add(self.done / 8), bits::packed_len(elements))?;
            let elements = usize::try_from(elements).unwrap_or(usize::MAX);
            chunk.missing.extend(bits::unpack(&packed).take(elements));
            let missing = chunk.missing.iter().filter(|missing| **missing).count();
            here = here.saturating_sub(count(missing));
        }
        match self.what {
            What::Mask => {
                chunk.values.clear();
                chunk.values.extend(chunk.missing.drain(..).map(u8::from));
            }
            What::Numbers { width, endian } => {
                let at = self.data.saturating_add(self.present.saturating_mul(width));
                chunk.values = read(body, at, here.saturating_mul(width))?;
                if endian == Endian::Big {
                    swap(&mut chunk.values, width);
                }
            }
            What::Bools => {
                let before = self.present % 8;
                let at = self.data.saturating_add(self.present / 8);
                let packed = read(body, at, bits::packed_len(before.saturating_add(here)))?;
                let skipped = usize::try_from(before).unwrap_or(usize::MAX);
                let here = usize::try_from(here).unwrap_or(usize::MAX);
                chunk.values.clear();
                let found = bits::unpack(&packed).skip(skipped).take(here);
                chunk.values.extend(found.map(u8::from));
            }
        }
        self.left = self.left.saturating_sub(elements);
        self.done = self.done.saturating_add(elements);
        self.present = self.present.saturating_add(here);
        Ok(true)
    }

    /// Bytes of an element.
    pub(super) fn width(&self) -> usize {
        match self.what {
            What::Numbers { width, .. } => usize::try_from(width).unwrap_or(1),
            What::Bools | What::Mask => 1,
        }
    }
}

impl Chunk {
    /// Adds all elements to `out`, with `fill` for those that are missing.
    pub(super) fn expand(&self, width: usize, fill: &[u8], out: &mut Vec<u8>) {
        if self.missing.is_empty() {
            out.extend_from_slice(&self.values);
            return;
        }
        let mut values = self.values.chunks_exact(width);
        for missing in &self.missing {
            let next = if *missing { None } else { values.next() };
            out.extend_from_slice(next.unwrap_or(fill));
        }
    }
}

/// Reverses the bytes of each number.
pub(super) fn swap(bytes: &mut [u8], width: u64) {
    match width {
        2 => bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|number| number.reverse()),
        4 => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|number| number.reverse()),
        8 => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|number| number.reverse()),
        _ => {}
    }
}

/// The numbers of `width` little-endian bytes, in the lowest bytes of 64 bits.
pub(super) fn numbers(bytes: &[u8], width: usize) -> impl Iterator<Item = u64> {
    bytes
        .chunks_exact(width.max(1))
        .map(|number| number.iter().rev().fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte)))
}

/// So few bytes that the whole of them is asked for at once.
fn read<R: Read + Seek>(body: &mut Body<R>, at: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    body.read_at(at, &mut bytes)?;
    Ok(bytes)
}
