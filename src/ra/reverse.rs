//! Reverses the dimensions of an array: converts row-major data to column-major, or the other way round.
//!
//! Files larger than memory are reversed in tiles. A tile is a box of the array with long runs in both orders: each run
//! is read and written with one call. Within a tile, elements are moved in blocks that fit the first-level cache.

#![expect(
    clippy::indexing_slicing,
    reason = "the header limits the dimensions, and the buffers limit the bytes"
)]

use std::io;
use std::sync::{Mutex, PoisonError};

use super::header::{Header, count};
use crate::pipeline;

/// Largest tile in bytes, of which each thread holds two. With smaller tiles, the runs of a large cube become short.
const MAX_TILE: u64 = 8 << 20;

/// Smallest tile in bytes, however many threads share the memory.
const MIN_TILE: u64 = 1 << 20;

/// Memory for the tiles of all threads in bytes, for up to 24 threads.
const ALL_TILES: u64 = 48 << 20;

/// Largest block in bytes: with its target it takes half of a first-level cache of 32 KiB.
const MAX_BLOCK: u64 = 8 << 10;

/// Length of a cache line in bytes. Runs are separated by one more line, because lines at distances of a power of two
/// would evict each other.
const CACHE_LINE: usize = 64;

/// A plan to reverse the dimensions of one array.
///
/// Each element keeps its indices: `a[i, j, k]` in an array stored with `k` fastest is `a[i, j, k]` in the reversed
/// array, which is stored with `i` fastest.
///
/// ```
/// use ra_pack::ra::{ElementType, Header, Reversal};
///
/// // A 2 by 3 matrix row by row: its header lists the columns first.
/// let rows = Header::new(ElementType::UINT8, vec![3, 2])?;
/// let mut columns = [0; 6];
/// Reversal::new(&rows).reverse(&[11, 12, 13, 21, 22, 23], &mut columns)?;
/// assert_eq!(columns, [11, 21, 12, 22, 13, 23]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Reversal {
    /// The lengths of the dimensions of the source, fastest first, without those of length 1, which do not matter.
    dims: Vec<u64>,
    elbyte: u64,
    data_len: u64,
}

impl Reversal {
    /// Plans to reverse an array with the header `source`.
    pub fn new(source: &Header) -> Self {
        let dims = source.dims().iter().copied().filter(|extent| *extent != 1).collect();
        Self { dims, elbyte: source.element().elbyte(), data_len: source.data_len() }
    }

    /// Returns whether all bytes keep their offsets: at most one dimension is longer than 1.
    pub fn is_identity(&self) -> bool {
        self.dims.len() <= 1 || self.data_len == 0
    }

    /// Reverses an array in memory.
    ///
    /// # Errors
    ///
    /// An error of kind `InvalidInput` if `source` or `target` does not have the length of the data.
    pub fn reverse(&self, source: &[u8], target: &mut [u8]) -> io::Result<()> {
        if count(source.len()) != self.data_len || count(target.len()) != self.data_len {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "expected {} bytes of source and target, found {} and {}",
                    self.data_len,
                    source.len(),
                    target.len()
                ),
            ));
        }
        if self.is_identity() {
            target.copy_from_slice(source);
            return Ok(());
        }
        let target = Mutex::new(target);
        self.reverse_at(
            1,
            |bytes, at| {
                bytes.copy_from_slice(&source[size(at)?..][..bytes.len()]);
                Ok(())
            },
            |bytes, at| {
                let mut target = target.lock().unwrap_or_else(PoisonError::into_inner);
                target[size(at)?..][..bytes.len()].copy_from_slice(bytes);
                Ok(())
            },
        )
    }

    /// Reverses an array through `read_at` and `write_at`, which take offsets in the data section, on `jobs` threads.
    /// Each thread takes 16 MiB of memory, or less if there are many.
    ///
    /// # Errors
    ///
    /// Any error of `read_at` and `write_at`, or an error if there is no memory for two elements.
    pub fn reverse_at(
        &self,
        jobs: usize,
        read_at: impl Fn(&mut [u8], u64) -> io::Result<()> + Sync,
        write_at: impl Fn(&[u8], u64) -> io::Result<()> + Sync,
    ) -> io::Result<()> {
        if self.data_len == 0 {
            return Ok(());
        }
        let per_tile = ALL_TILES.checked_div(count(jobs).saturating_mul(2)).unwrap_or(0);
        let largest = per_tile.clamp(MIN_TILE, MAX_TILE);
        let tile = cut(&self.dims, self.elbyte, largest);
        let grid = TileGrid { dims: &self.dims, tile: &tile };
        let (tiles, elbyte) = (size(grid.count())?, size(self.elbyte)?);
        let work = |(read, written): &mut (Vec<u8>, Vec<u8>), number: usize| {
            let shape = grid.get(count(number))?;
            let from = Runs::new(&shape, &self.dims, elbyte, false)?;
            from.each(read, |run, at| read_at(run, at))?;
            let to = Runs::new(&shape, &self.dims, elbyte, true)?;
            reserve(written, to.buffer_len)?;
            copy(read, &from.strides, written, &to.strides, &shape.lens, elbyte);
            to.each(written, |run, at| write_at(run, at))
        };
        pipeline::share(jobs, 0..tiles, <(Vec<u8>, Vec<u8>)>::default, work).map(drop)
    }
}

/// Sets the length of a buffer; its content does not matter.
fn reserve(buffer: &mut Vec<u8>, len: usize) -> io::Result<()> {
    let more = len.saturating_sub(buffer.len());
    buffer.try_reserve(more).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    buffer.resize(buffer.len().max(len), 0);
    Ok(())
}

fn size(number: u64) -> io::Result<usize> {
    usize::try_from(number).map_err(|_| io::ErrorKind::OutOfMemory.into())
}

fn product<'a>(extents: impl IntoIterator<Item = &'a u64>) -> u64 {
    extents.into_iter().fold(1, |product, extent| product.saturating_mul(*extent))
}

/// Cuts a box of at most `largest` bytes, but at least one element, with long runs in both orders: the first dimensions
/// are contiguous in one order, the last dimensions in the other.
fn cut(dims: &[u64], elbyte: u64, largest: u64) -> Vec<u64> {
    let mut tile = vec![1; dims.len()];
    let (mut low, mut high) = (0, dims.len().saturating_sub(1));
    while low < dims.len() && low <= high {
        if product(&tile).saturating_mul(elbyte).saturating_mul(2) > largest {
            break;
        }
        let axis = if product(&tile[..=low]) <= product(&tile[high..]) { low } else { high };
        tile[axis] = (tile[axis] * 2).min(dims[axis]);
        if tile[axis] < dims[axis] {
            continue;
        }
        if axis == low {
            low += 1;
        } else {
            high -= 1;
        }
    }
    tile
}

/// A box of the array: its start and length in each dimension.
struct TileBox {
    starts: Vec<u64>,
    lens: Vec<usize>,
}

/// The boxes that tile the array.
struct TileGrid<'a> {
    dims: &'a [u64],
    tile: &'a [u64],
}

impl TileGrid<'_> {
    fn extents(&self) -> impl Iterator<Item = u64> {
        self.dims.iter().zip(self.tile).map(|(extent, len)| extent.div_ceil((*len).max(1)))
    }

    fn count(&self) -> u64 {
        self.extents().fold(1, u64::saturating_mul)
    }

    /// Returns a box by its number; the first dimension counts fastest.
    fn get(&self, number: u64) -> io::Result<TileBox> {
        let mut left = number;
        let mut shape = TileBox { starts: Vec::new(), lens: Vec::new() };
        for (extents, (extent, len)) in self.extents().zip(self.dims.iter().zip(self.tile)) {
            let step = left.checked_rem(extents).unwrap_or(0);
            left = left.checked_div(extents).unwrap_or(0);
            let start = step.saturating_mul(*len);
            shape.starts.push(start);
            shape.lens.push(size((extent - start).min(*len))?);
        }
        Ok(shape)
    }
}

/// Returns the dimensions, fastest first: in the order of the source, or reversed.
fn axes(count: usize, is_reversed: bool) -> impl Iterator<Item = usize> {
    (0..count).map(move |axis| if is_reversed { count - axis - 1 } else { axis })
}

/// The runs of a box in one order, and their offsets in a buffer.
struct Runs {
    /// Length of a run in bytes.
    run_len: usize,
    /// Distance from one element to the next in the buffer, in bytes, for each dimension.
    strides: Vec<usize>,
    buffer_len: usize,
    /// Offset of the first run in the file.
    start: u64,
    /// The dimensions that the runs iterate over, fastest first: the length, and the distances in the file and in the
    /// buffer in bytes.
    steps: Vec<(u64, [u64; 2])>,
}

impl Runs {
    fn new(shape: &TileBox, dims: &[u64], elbyte: usize, is_reversed: bool) -> io::Result<Self> {
        let mut runs = Self {
            run_len: elbyte,
            strides: vec![0; dims.len()],
            buffer_len: elbyte,
            start: 0,
            steps: Vec::new(),
        };
        let mut in_file = count(elbyte);
        let mut is_run = true;
        for axis in axes(dims.len(), is_reversed) {
            let (len, extent) = (shape.lens[axis], dims[axis]);
            runs.strides[axis] = runs.buffer_len;
            let too_long = || io::Error::from(io::ErrorKind::OutOfMemory);
            if is_run {
                runs.run_len = runs.run_len.checked_mul(len).ok_or_else(too_long)?;
                runs.buffer_len = runs.run_len;
            } else {
                runs.steps.push((count(len), [in_file, count(runs.buffer_len)]));
                runs.buffer_len = runs.buffer_len.checked_mul(len).ok_or_else(too_long)?;
            }
            if is_run && count(len) < extent {
                is_run = false;
                let lines = runs.run_len.div_ceil(CACHE_LINE).saturating_add(1);
                runs.buffer_len = lines.saturating_mul(CACHE_LINE);
            }
            runs.start = runs.start.saturating_add(shape.starts[axis].saturating_mul(in_file));
            in_file = in_file.saturating_mul(extent);
        }
        Ok(runs)
    }

    /// Calls `work` with each run of `buffer` and its offset in the file.
    fn each(
        &self,
        buffer: &mut Vec<u8>,
        work: impl Fn(&mut [u8], u64) -> io::Result<()>,
    ) -> io::Result<()> {
        reserve(buffer, self.buffer_len)?;
        for [in_file, in_buffer] in Odometer::new([self.start, 0], self.steps.clone()) {
            let at = size(in_buffer)?;
            work(&mut buffer[at..at + self.run_len], in_file)?;
        }
        Ok(())
    }
}

/// Copies a box of elements between two buffers with different strides.
fn copy(
    source: &[u8],
    from: &[usize],
    target: &mut [u8],
    to: &[usize],
    lens: &[usize],
    elbyte: usize,
) {
    match elbyte {
        1 => copy_blocks::<1>(source, from, target, to, lens),
        2 => copy_blocks::<2>(source, from, target, to, lens),
        4 => copy_blocks::<4>(source, from, target, to, lens),
        8 => copy_blocks::<8>(source, from, target, to, lens),
        16 => copy_blocks::<16>(source, from, target, to, lens),
        // Other widths are copied byte by byte, as one more innermost dimension.
        _ => {
            let with = |first: usize, rest: &[usize]| {
                std::iter::once(first).chain(rest.iter().copied()).collect::<Vec<_>>()
            };
            copy_blocks::<1>(source, &with(1, from), target, &with(1, to), &with(elbyte, lens));
        }
    }
}

fn copy_blocks<const W: usize>(
    source: &[u8],
    from: &[usize],
    target: &mut [u8],
    to: &[usize],
    lens: &[usize],
) {
    let wide: Vec<u64> = lens.iter().map(|len| count(*len)).collect();
    let block = cut(&wide, count(W), MAX_BLOCK);
    let grid = TileGrid { dims: &wide, tile: &block };
    // The longest line of a block is the inner loop; of two equal ones, the one that is contiguous in the target.
    let inner = (0..lens.len()).max_by_key(|axis| block[*axis]).unwrap_or(0);
    let stride = |strides: &[usize]| strides.get(inner).copied().unwrap_or(W);
    let (from_step, to_step) = (stride(from), stride(to));
    for number in 0..grid.count() {
        let shape = grid.get(number).expect("the array is in memory");
        let offset = |strides: &[usize]| {
            let axes = shape.starts.iter().zip(strides);
            axes.map(|(start, stride)| start * count(*stride)).sum()
        };
        let others = (0..lens.len()).filter(|axis| *axis != inner);
        let step = |axis| (count(shape.lens[axis]), [count(from[axis]), count(to[axis])]);
        let line = shape.lens.get(inner).copied().unwrap_or(1);
        for at in Odometer::new([offset(from), offset(to)], others.map(step).collect()) {
            let [read, written] = at.map(|at| size(at).expect("the array is in memory"));
            copy_line::<W>(&source[read..], from_step, &mut target[written..], to_step, line);
        }
    }
}

/// Copies `len` elements with the strides `from` in the source and `to` in the target, in bytes.
fn copy_line<const W: usize>(source: &[u8], from: usize, target: &mut [u8], to: usize, len: usize) {
    if from == W && to == W {
        target[..len * W].copy_from_slice(&source[..len * W]);
    } else if to == W {
        let (elements, _) = target.as_chunks_mut::<W>();
        for (here, there) in elements.iter_mut().zip(source.chunks(from.max(1))).take(len) {
            if let Some(element) = there.first_chunk::<W>() {
                *here = *element;
            }
        }
    } else {
        let lines = target.chunks_mut(to.max(1)).zip(source.chunks(from.max(1)));
        for (here, there) in lines.take(len) {
            if let (Some(here), Some(element)) = (here.first_chunk_mut::<W>(), there.first_chunk())
            {
                *here = *element;
            }
        }
    }
}

/// Iterates over the offsets of nested loops in `N` buffers at once, the first loop fastest. Steps may be negative:
/// offsets wrap around.
#[derive(Debug)]
pub(super) struct Odometer<const N: usize> {
    /// The count of each loop, and its steps.
    loops: Vec<(u64, [u64; N])>,
    turned: Vec<u64>,
    next: Option<[u64; N]>,
}

impl<const N: usize> Odometer<N> {
    pub(super) fn new(start: [u64; N], loops: Vec<(u64, [u64; N])>) -> Self {
        Self { turned: vec![0; loops.len()], loops, next: Some(start) }
    }
}

impl<const N: usize> Iterator for Odometer<N> {
    type Item = [u64; N];

    fn next(&mut self) -> Option<[u64; N]> {
        let current = self.next.take()?;
        let mut next = current;
        for ((count, steps), turned) in self.loops.iter().zip(&mut self.turned) {
            *turned += 1;
            let is_round = *turned == *count;
            let steps_on = if is_round { 1_u64.wrapping_sub(*count) } else { 1 };
            for (at, step) in next.iter_mut().zip(steps) {
                *at = at.wrapping_add(step.wrapping_mul(steps_on));
            }
            if !is_round {
                self.next = Some(next);
                break;
            }
            *turned = 0;
        }
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::*;
    use crate::ra::ElementType;

    /// Reverses element by element, straight from the definition.
    fn expected(dims: &[u64], elbyte: usize, source: &[u8]) -> Vec<u8> {
        let lens: Vec<usize> =
            dims.iter().map(|extent| usize::try_from(*extent).unwrap()).collect();
        let mut target = vec![0; source.len()];
        for (number, element) in source.chunks(elbyte).enumerate() {
            let mut left = number;
            let mut at = 0;
            for (axis, len) in lens.iter().enumerate() {
                let slower: usize = lens[axis + 1..].iter().product();
                at += left % len * slower;
                left /= len;
            }
            target[at * elbyte..][..elbyte].copy_from_slice(element);
        }
        target
    }

    fn bytes(len: u64) -> Vec<u8> {
        // Neighbours differ, and so do elements at distances of powers of two.
        (0..len).map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect()
    }

    fn header(elbyte: u64, dims: &[u64]) -> Header {
        Header::new(ElementType::new(0, elbyte).unwrap(), dims.to_vec()).unwrap()
    }

    fn reversed_at(reversal: &Reversal, jobs: usize, source: &[u8]) -> Vec<u8> {
        let target = Mutex::new(vec![0xee; source.len()]);
        let read = |run: &mut [u8], at: u64| {
            let at = usize::try_from(at).unwrap();
            run.copy_from_slice(&source[at..at + run.len()]);
            Ok(())
        };
        let write = |run: &[u8], at: u64| {
            let at = usize::try_from(at).unwrap();
            target.lock().unwrap()[at..at + run.len()].copy_from_slice(run);
            Ok(())
        };
        reversal.reverse_at(jobs, read, write).unwrap();
        target.into_inner().unwrap()
    }

    proptest! {
        #[test]
        fn every_element_keeps_its_index(
            dims in prop::collection::vec(0_u64..9, 0..5),
            elbyte in prop::sample::select(vec![1_u64, 2, 3, 4, 7, 8, 12, 16, 33]),
            jobs in 1_usize..4,
        ) {
            let header = header(elbyte, &dims);
            let source = bytes(header.data_len());
            let wanted = expected(&dims, usize::try_from(elbyte).unwrap(), &source);
            let reversal = Reversal::new(&header);
            let mut target = vec![0xee; source.len()];
            reversal.reverse(&source, &mut target).unwrap();
            prop_assert_eq!(&target, &wanted);
            prop_assert_eq!(&reversed_at(&reversal, jobs, &source), &wanted);
            let back = Reversal::new(&header.reversed());
            prop_assert_eq!(reversed_at(&back, jobs, &wanted), source);
        }

    }

    #[test]
    fn tiles_and_blocks_cover_arrays_larger_than_one_tile() {
        let dims: [&[u64]; 6] = [
            &[1500, 1100],
            &[3, 800, 700],
            &[700, 800, 3],
            &[3, 600_000],
            &[7, 6, 5, 4, 3, 2, 400],
            &[1, 2048, 1, 1024],
        ];
        for (dims, elbyte) in dims.into_iter().zip([1, 4, 8, 1, 2, 1]) {
            let header = header(elbyte, dims);
            let source = bytes(header.data_len());
            let wanted = expected(dims, usize::try_from(elbyte).unwrap(), &source);
            // So many threads that each gets a small tile.
            assert!(reversed_at(&Reversal::new(&header), 40, &source) == wanted, "{dims:?}");
        }
    }

    #[test]
    fn a_tile_has_long_runs_at_both_ends() {
        assert_eq!(cut(&[1024, 1024, 1024], 4, 8 << 20), [1024, 2, 1024]);
        assert_eq!(cut(&[32768, 32768], 4, 8 << 20), [2048, 1024]);
        assert_eq!(cut(&[3, 1000, 1000], 1, 1 << 20), [3, 256, 1000]);
        assert_eq!(cut(&[5, 4], 8, 1 << 20), [5, 4]);
        assert_eq!(cut(&[], 8, 1 << 20), [0_u64; 0]);
        assert_eq!(cut(&[9, 9], 1 << 30, 1 << 20), [1, 1]);
    }

    #[test]
    fn a_buffer_of_another_length_is_refused() {
        let reversal = Reversal::new(&header(2, &[2, 3]));
        let error = reversal.reverse(&[0; 12], &mut [0; 11]).unwrap_err();
        assert_eq!(error.to_string(), "expected 12 bytes of source and target, found 12 and 11");
    }

    #[test]
    fn an_error_in_reading_or_writing_is_returned() {
        let reversal = Reversal::new(&header(1, &[2, 3]));
        let refuse = || Err(io::Error::other("no"));
        assert!(reversal.reverse_at(2, |_, _| refuse(), |_, _| Ok(())).is_err());
        assert!(reversal.reverse_at(2, |_, _| Ok(()), |_, _| refuse()).is_err());
    }
}
