//! Brings elements from big-endian to little-endian while they are read, whatever they are made of.

#![expect(
    clippy::indexing_slicing,
    reason = "places in the buffer are counted here, and what the file says is only compared with them"
)]

use std::io::{self, Read};

use super::dtype::{ByteOrder, Descr};
use crate::ra::reverse_each;

/// Bytes that are swapped at a time.
const BUFFER: usize = 64 * 1024;

/// Which bytes of an element reverse together. It is as long as the dtype's text, however large the element is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SwapLayout {
    /// So many bytes, of which each `width` are reversed.
    Run { width: u64, len: u64 },
    /// Parts one after the other, each with the place of its end.
    Parts(Vec<(u64, Self)>),
    /// A part of so many bytes, again and again up to the length.
    Repeat { part: Box<Self>, size: u64, len: u64 },
}

impl SwapLayout {
    /// The layout of elements of a dtype; nothing when all bytes are in place.
    pub(super) fn new(descr: &Descr) -> Option<Self> {
        let layout = Self::of(descr);
        (!matches!(layout, Self::Run { width: 1, .. })).then_some(layout)
    }

    fn of(descr: &Descr) -> Self {
        match descr {
            Descr::Scalar(scalar) => {
                let is_big = scalar.order == ByteOrder::Big;
                let width = if is_big { scalar.swap_width().max(1) } else { 1 };
                Self::Run { width, len: scalar.size }
            }
            Descr::Struct(fields) => {
                let mut parts = Vec::new();
                for part in fields.iter().map(|field| Self::of(&field.descr)) {
                    Self::push(&mut parts, part);
                }
                match parts.len() {
                    0 => Self::Run { width: 1, len: 0 },
                    1 => parts.remove(0).1,
                    _ => Self::Parts(parts),
                }
            }
            Descr::Subarray { base, .. } => {
                let len = descr.checked_size();
                match Self::of(base) {
                    Self::Run { width, .. } => Self::Run { width, len },
                    part => Self::Repeat { size: part.len(), part: Box::new(part), len },
                }
            }
        }
    }

    /// Adds a part; runs of one width become one.
    fn push(parts: &mut Vec<(u64, Self)>, part: Self) {
        let end = parts.last().map_or(0, |(end, _)| *end) + part.len();
        match (parts.last_mut(), part) {
            (_, part) if part.len() == 0 => {}
            (Some((before, Self::Run { width, len })), Self::Run { width: same, len: more })
                if *width == same =>
            {
                (*before, *len) = (end, *len + more);
            }
            (_, part) => parts.push((end, part)),
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Run { len, .. } | Self::Repeat { len, .. } => *len,
            Self::Parts(parts) => parts.last().map_or(0, |(end, _)| *end),
        }
    }

    /// The width of the numbers at a place of the element, and how far their run goes from there.
    fn run_at(&self, at: u64) -> (u64, u64) {
        match self {
            Self::Run { width, len } => (*width, *len - at),
            Self::Parts(parts) => {
                let index = parts.partition_point(|(end, _)| *end <= at);
                let (end, part) = &parts[index];
                part.run_at(at - (*end - part.len()))
            }
            Self::Repeat { part, size, .. } => part.run_at(at % *size),
        }
    }
}

/// Swaps what a reader gives while it is read.
#[derive(Debug)]
pub(super) struct SwapReader {
    layout: SwapLayout,
    /// The place in an element of the first byte that was not swapped yet.
    place: u64,
    buffer: Vec<u8>,
    /// The first byte that was not handed out yet.
    begin: usize,
    /// The first byte that was not swapped yet.
    ready: usize,
}

impl SwapReader {
    pub(super) fn new(layout: SwapLayout) -> Self {
        Self { layout, place: 0, buffer: Vec::new(), begin: 0, ready: 0 }
    }

    /// Reads as [`Read::read`] does, bytes that `input` gives, in little-endian order.
    pub(super) fn read(&mut self, input: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
        while self.begin == self.ready && !out.is_empty() {
            if !self.refill(input)? {
                return Ok(0);
            }
            self.swap();
        }
        let given = (&self.buffer[self.begin..self.ready]).read(out)?;
        self.begin += given;
        Ok(given)
    }

    /// Puts more behind what could not be swapped yet; `false` at the end.
    fn refill(&mut self, input: &mut impl Read) -> io::Result<bool> {
        self.buffer.drain(..self.ready);
        (self.begin, self.ready) = (0, 0);
        let kept = self.buffer.len();
        self.buffer.resize(BUFFER, 0);
        let found = input.read(&mut self.buffer[kept..]);
        self.buffer.truncate(kept + *found.as_ref().unwrap_or(&0));
        found.map(|found| found > 0)
    }

    /// Swaps all that is there in whole.
    fn swap(&mut self) {
        let element = self.layout.len();
        loop {
            let unswapped = &mut self.buffer[self.ready..];
            let (width, run) = match &self.layout {
                // Elements that are one run go on in the next.
                SwapLayout::Run { width, .. } => (*width, unswapped.len() as u64),
                layout => layout.run_at(self.place),
            };
            let there = run.min(unswapped.len() as u64);
            let whole = there - there % width;
            if whole == 0 {
                return;
            }
            let small = |len| usize::try_from(len).expect("the buffer is not longer");
            reverse_each(&mut unswapped[..small(whole)], small(width));
            self.ready += small(whole);
            self.place = (self.place + whole) % element;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::interchange::npy::dtype::{Field, Kind, Scalar};
    use crate::interchange::npy::tests::any_descr;

    /// What an element is after swapping, by the dtype itself.
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

    /// Gives a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let end = out.len().min(self.1);
            self.0.read(&mut out[..end])
        }
    }

    fn read(descr: &Descr, bytes: &[u8], drop: usize) -> Vec<u8> {
        let mut swapper = SwapReader::new(SwapLayout::new(descr).unwrap());
        let mut input = Drops(bytes, drop);
        let mut found = Vec::new();
        loop {
            let mut out = [0; 7];
            match swapper.read(&mut input, &mut out).unwrap() {
                0 => return found,
                given => found.extend(&out[..given]),
            }
        }
    }

    #[test]
    fn a_layout_is_as_long_as_the_text_of_the_dtype() {
        let big = Scalar { kind: Kind::Int, order: ByteOrder::Big, size: 2 };
        let field = |descr| Field { title: None, name: String::new(), descr };
        let pair =
            Descr::Struct(vec![field(Descr::Scalar(big)), field(Descr::scalar(Kind::Int, 1))]);
        let many = Descr::Subarray { base: Box::new(pair), shape: vec![1000, 1000] };
        let layout =
            SwapLayout::of(&Descr::Struct(vec![field(many), field(Descr::scalar(Kind::Int, 8))]));
        let run = |width, len| SwapLayout::Run { width, len };
        let pair = SwapLayout::Parts(vec![(2, run(2, 2)), (3, run(1, 1))]);
        let repeat = SwapLayout::Repeat { part: Box::new(pair), size: 3, len: 3_000_000 };
        assert_eq!(layout, SwapLayout::Parts(vec![(3_000_000, repeat), (3_000_008, run(1, 8))]));
        assert_eq!(SwapLayout::new(&Descr::scalar(Kind::Float, 8)), None);
    }

    proptest! {
        #[test]
        fn swapping_a_stream_is_swapping_each_element(
            descr in any_descr(), count in 0..4_usize, drop in 1..40_usize,
        ) {
            let size = usize::try_from(descr.size().unwrap()).unwrap();
            let bytes: Vec<u8> = (0..=255).cycle().take(size * count).collect();
            let mut expected = bytes.clone();
            if size > 0 {
                expected.chunks_mut(size).for_each(|element| swapped(&descr, element));
            }
            if SwapLayout::new(&descr).is_none() {
                prop_assert_eq!(bytes, expected);
            } else {
                prop_assert_eq!(read(&descr, &bytes, drop), expected);
            }
        }
    }
}
