//! Divides the elements of an array into chunks, which are ranges of bytes in the file.
//!
//! All chunks of a Zarr array have the same shape. The last chunk along a dimension may be longer than the rest of the
//! dimension; readers then ignore its end. Such a chunk is followed by other bytes of the file, but it must not extend
//! past the end of the file.

/// Size of a chunk in bytes. Smaller ones cost a request each, larger ones make slices slow.
const TARGET: u64 = 4 << 20;

/// Approximate limit for the number of chunks of an array. Readers keep every reference in memory, so the chunks of
/// larger arrays are longer.
const MAX_CHUNKS: u64 = 1 << 16;

/// How much shorter than [`TARGET`] chunks may be to fit into the file.
const MAX_FACTOR: u64 = 16;

/// The chunks of one array, which are consecutive in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunks {
    /// Lengths of a chunk, the slowest index first. At least 1 each.
    pub(super) shape: Vec<u64>,
    /// Number of chunks along each dimension.
    counts: Vec<u64>,
    /// The dimension that is divided. All before it have chunks of length 1, all after it are whole.
    axis: usize,
    /// Number of bytes of one index of the dimensions up to `axis`.
    inner: u64,
    /// Number of bytes of one index of the dimensions before `axis`.
    row: u64,
}

impl Chunks {
    /// Divides an array of `shape`, the slowest index first, with elements of `width` bytes. `room` is the number of
    /// bytes in the file after the array. The product of the shape and the width must fit 64 bits.
    pub(super) fn new(shape: &[u64], width: u64, room: u64) -> Self {
        if shape.contains(&0) {
            let shape: Vec<_> = shape.iter().map(|extent| (*extent).max(1)).collect();
            return Self { counts: vec![0; shape.len()], shape, axis: 0, inner: 0, row: 0 };
        }
        let total = shape.iter().product::<u64>() * width;
        let target = TARGET.max(total.div_ceil(MAX_CHUNKS));
        // The first dimension of which one index is short enough.
        let mut inner = total;
        let mut axis = 0;
        for (nth, extent) in shape.iter().enumerate() {
            axis = nth;
            inner /= (*extent).max(1);
            if inner <= target {
                break;
            }
        }
        let extent = shape.get(axis).copied().unwrap_or(1);
        let length = length(extent, (target / inner.max(1)).max(1), room / inner.max(1));
        let chunk = |(nth, whole): (usize, &u64)| match nth.cmp(&axis) {
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => length,
            std::cmp::Ordering::Greater => *whole,
        };
        let chunked: Vec<_> = shape.iter().enumerate().map(chunk).collect();
        let counts = shape.iter().zip(&chunked).map(|(whole, part)| whole.div_ceil(*part));
        Self { counts: counts.collect(), shape: chunked, axis, inner, row: inner * extent }
    }

    /// Returns the number of chunks.
    pub(super) fn count(&self) -> u64 {
        self.counts.iter().product()
    }

    /// Returns the number of bytes of each chunk.
    pub(super) fn len(&self) -> u64 {
        self.inner * self.shape.get(self.axis).copied().unwrap_or(1)
    }

    /// Calls `each` with the index of every chunk and its offset from the first element, in the order of the file.
    pub(super) fn try_for_each<E>(
        &self,
        mut each: impl FnMut(&[u64], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let along = self.counts.get(self.axis).copied().unwrap_or(1).max(1);
        let mut index = vec![0; self.counts.len()];
        for number in 0..self.count() {
            let (row, nth) = (number / along, number % along);
            each(&index, row * self.row + nth * self.len())?;
            for (place, count) in index.iter_mut().zip(&self.counts).rev() {
                *place += 1;
                if *place < *count {
                    break;
                }
                *place = 0;
            }
        }
        Ok(())
    }
}

/// Returns the length of chunks along a dimension of `extent` indices: at most `most` if possible, so that the last one
/// exceeds the dimension by at most `room`.
fn length(extent: u64, most: u64, room: u64) -> u64 {
    let fewest = extent.div_ceil(most);
    // This is the length with the smallest excess for a number of chunks.
    let of_number = |number: u64| extent.div_ceil(number);
    let fits = |length: &u64| extent.div_ceil(*length) * length - extent <= room;
    let shorter = (fewest..=extent.min(fewest.saturating_mul(MAX_FACTOR))).map(of_number);
    let longer = (1..fewest).rev().map(of_number);
    // A single chunk always fits.
    shorter.chain(longer).find(fits).unwrap_or(extent)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn shape(shape: &[u64], width: u64, room: u64) -> Vec<u64> {
        Chunks::new(shape, width, room).shape
    }

    #[test]
    fn small_arrays_are_one_chunk() {
        assert_eq!(shape(&[], 8, 0), [0; 0]);
        assert_eq!(Chunks::new(&[], 8, 0).count(), 1);
        assert_eq!(Chunks::new(&[], 8, 0).len(), 8);
        assert_eq!(shape(&[3, 5], 4, 0), [3, 5]);
        assert_eq!(shape(&[MIB], 4, 0), [MIB]);
    }

    #[test]
    fn empty_arrays_have_no_chunk() {
        assert_eq!(shape(&[4, 0, 2], 4, 0), [4, 1, 2]);
        assert_eq!(Chunks::new(&[4, 0, 2], 4, 0).count(), 0);
        assert_eq!(shape(&[u64::MAX, 0, u64::MAX], 4, 0), [u64::MAX, 1, u64::MAX]);
    }

    #[test]
    fn the_slowest_dimension_with_short_indices_is_divided() {
        assert_eq!(shape(&[100, MIB], 1, MIB * 4), [4, MIB]);
        assert_eq!(shape(&[1, 100, MIB], 1, 0), [1, 4, MIB]);
        assert_eq!(shape(&[3, 5, MIB], 8, 0), [1, 1, MIB / 2]);
    }

    #[test]
    fn the_last_chunk_does_not_extend_past_the_end_of_the_file() {
        // Three chunks of 3 MiB exceed 8 MiB by one.
        assert_eq!(shape(&[8], MIB, MIB), [4]);
        assert_eq!(shape(&[9], MIB, 0), [3]);
        assert_eq!(shape(&[10], MIB, 2 * MIB), [4]);
        assert_eq!(shape(&[10], MIB, 2 * MIB - 1), [2]);
        // A prime number of indices: one chunk for each, or a single one.
        assert_eq!(shape(&[11], MIB, 0), [1]);
        assert_eq!(shape(&[5_000_011], 1, 0), [5_000_011]);
        assert_eq!(shape(&[5_000_011], 1, 1), [2_500_006]);
    }

    #[test]
    fn the_number_of_chunks_is_limited() {
        let huge = Chunks::new(&[15 << 40], 1, 0);
        assert!(huge.count() <= 2 * MAX_CHUNKS, "{}", huge.count());
        let mut last = 0;
        huge.try_for_each(|_, offset| -> Result<(), ()> {
            last = offset + huge.len();
            Ok(())
        })
        .unwrap();
        assert_eq!(last, 15 << 40);
    }

    proptest! {
        #[test]
        fn chunks_cover_the_array_and_stay_in_the_file(
            extents in proptest::collection::vec(1_u64..40, 0..4),
            // Large elements make several chunks of few indices.
            width in prop_oneof![Just(1_u64), Just(8), Just(MIB / 3), Just(MIB), Just(5 * MIB)],
            room in prop_oneof![Just(0_u64), 0_u64..10 * MIB],
        ) {
            let chunks = Chunks::new(&extents, width, room);
            let total = extents.iter().product::<u64>() * width;
            prop_assert_eq!(chunks.len(), chunks.shape.iter().product::<u64>() * width);
            prop_assert!(chunks.count() <= 4 * MAX_CHUNKS * MAX_FACTOR);
            let mut seen = std::collections::BTreeSet::new();
            chunks.try_for_each(|index, offset| {
                // The offset of the chunk's first element, in row-major order.
                let mut first = 0;
                for ((nth, part), extent) in index.iter().zip(&chunks.shape).zip(&extents) {
                    prop_assert!(nth * part < *extent);
                    first = first * extent + nth * part;
                }
                prop_assert_eq!(offset, first * width);
                prop_assert!(offset + chunks.len() <= total + room, "{:?} {}", chunks, offset);
                prop_assert!(seen.insert(index.to_vec()));
                Ok(())
            })?;
            let counts = extents.iter().zip(&chunks.shape).map(|(all, part)| all.div_ceil(*part));
            prop_assert_eq!(seen.len() as u64, counts.product::<u64>());
        }
    }
}
