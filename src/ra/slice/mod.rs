//! Slices: their text, such as `0:10,:,3`, and the byte ranges of a data section that a slice needs.

mod reader;

use std::io;
use std::ops::Range;

use ndarray::{ArrayD, ArrayViewD, IxDyn, SliceInfo, SliceInfoElem};

use super::reverse::Odometer;

/// Longest gap in bytes between two pieces that are read together. Below the size of a memory page, the system fetches
/// the gap anyway, and another read costs more than the copy.
const MAX_GAP: i64 = 4096;

/// Number of bytes that are read at once to pick pieces from.
const SPAN: i64 = 1 << 20;

/// The byte ranges of a slice of a column-major array.
///
/// The slice has the same meaning as in ndarray: ranges with a step, where a negative step reverses the range; negative
/// positions, which count from the end; indices, which remove their dimension; and new dimensions of length 1.
///
/// ```
/// use ndarray::s;
/// use ra_pack::ra::SlicePlan;
///
/// // Rows 1 and 2 of each of the columns 0 and 2, of a 3×4 array of 8-byte elements.
/// let plan = SlicePlan::new(&[3, 4], 8, s![1..3, ..3;2].as_ref())?;
/// assert_eq!(plan.dims(), [2, 2]);
/// assert_eq!(plan.runs().collect::<Vec<_>>(), [8..24, 56..72]);
/// # Ok::<(), ra_pack::ra::SliceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlicePlan {
    dims: Vec<u64>,
    data_len: u64,
    /// Offset of the first run in bytes.
    first: i64,
    /// Length of each run in bytes.
    run: i64,
    /// The loops over the runs, fastest first.
    loops: Vec<Loop>,
}

/// A loop of `count` iterations, `step` bytes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Loop {
    count: i64,
    step: i64,
}

/// The positions of a slice in one dimension: `first`, `first + step`, …
#[derive(Debug, Clone, Copy)]
pub(crate) struct Picked {
    pub(crate) first: i128,
    pub(crate) count: i128,
    pub(crate) step: i128,
}

impl SlicePlan {
    /// Plans to read `slice` of an array with the dimensions `dims`, fastest first, and elements of `elbyte` bytes.
    ///
    /// # Errors
    ///
    /// - [`SliceError::Axes`] if `slice` does not have one entry for each dimension.
    /// - [`SliceError::Outside`] if a position is out of range.
    /// - [`SliceError::ZeroStep`] if a step is 0.
    /// - [`SliceError::TooLarge`] if the array is larger than a file can be.
    pub fn new(dims: &[u64], elbyte: u64, slice: &[SliceInfoElem]) -> Result<Self, SliceError> {
        let picked = resolve(dims, slice)?;
        let mut result = Vec::with_capacity(slice.len());
        let mut axes = picked.iter();
        for entry in slice {
            match entry {
                SliceInfoElem::NewAxis => result.push(1),
                SliceInfoElem::Index(_) => {
                    axes.next();
                }
                SliceInfoElem::Slice { .. } => {
                    let length = axes.next().map_or(0, |axis| axis.count);
                    result.push(u64::try_from(length).unwrap_or(u64::MAX));
                }
            }
        }
        Self::of_picked(dims, elbyte, &picked, result)
    }

    /// Returns the plan for these positions, with a result of the dimensions `result`.
    pub(crate) fn of_picked(
        dims: &[u64],
        elbyte: u64,
        picked: &[Picked],
        result: Vec<u64>,
    ) -> Result<Self, SliceError> {
        let mut plan = Self { dims: result, data_len: 0, first: 0, run: 0, loops: Vec::new() };
        if dims.contains(&0) || plan.dims.contains(&0) {
            return Ok(plan);
        }
        plan.lay_out(dims, elbyte, picked).ok_or(SliceError::TooLarge)?;
        Ok(plan)
    }

    /// Converts positions to offsets, and joins adjacent pieces. `None` if an offset overflows.
    fn lay_out(&mut self, dims: &[u64], elbyte: u64, picked: &[Picked]) -> Option<()> {
        let mut stride = i64::try_from(elbyte).ok()?;
        self.run = stride;
        for (axis, &dim) in picked.iter().zip(dims) {
            let first = i64::try_from(axis.first).ok()?.checked_mul(stride)?;
            self.first = self.first.checked_add(first)?;
            if axis.count > 1 {
                let count = i64::try_from(axis.count).ok()?;
                let step = i64::try_from(axis.step).ok()?.checked_mul(stride)?;
                self.append(Loop { count, step })?;
            }
            stride = stride.checked_mul(i64::try_from(dim).ok()?)?;
        }
        let pieces = self.loops.iter().try_fold(1_i64, |all, next| all.checked_mul(next.count))?;
        self.data_len = u64::try_from(self.run.checked_mul(pieces)?).ok()?;
        Some(())
    }

    fn append(&mut self, next: Loop) -> Option<()> {
        match self.loops.last_mut() {
            None if next.step == self.run => self.run = self.run.checked_mul(next.count)?,
            Some(last) if next.step == last.step.checked_mul(last.count)? => {
                last.count = last.count.checked_mul(next.count)?;
            }
            _ => self.loops.push(next),
        }
        Some(())
    }

    /// Returns the lengths of the dimensions of the result.
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// Returns the length of the result in bytes, which is at most that of the array.
    pub fn data_len(&self) -> u64 {
        self.data_len
    }

    /// Returns whether the ranges of [`Self::runs`] ascend.
    pub(crate) fn is_rising(&self) -> bool {
        self.loops.iter().all(|each| each.step > 0)
    }

    /// Returns the byte ranges of the data section that make up the result, in column-major order. Adjacent ranges are
    /// joined.
    pub fn runs(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.starts(&self.loops).map(|start| start..start + self.run.cast_unsigned())
    }

    /// Reads the result into `out`. `read_at` fills a buffer from an offset in the data section. The offsets rise from
    /// call to call, and pieces that are close together are read at once.
    ///
    /// # Errors
    ///
    /// Any error of `read_at`, or an error if the length of `out` is not that of the result.
    pub fn read_into(
        &self,
        out: &mut [u8],
        mut read_at: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        if out.len() as u64 != self.data_len {
            let message =
                format!("expected a buffer of {} bytes, found {}", self.data_len, out.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        // Negative steps are read forwards, so that offsets rise, and their pieces are reversed afterwards.
        let mut rising = self.clone();
        for each in rising.loops.iter_mut().filter(|each| each.step < 0) {
            rising.first += each.step * (each.count - 1);
            each.step = -each.step;
        }
        rising.reader().fill(out, &mut read_at)?;
        let small = |len: i64| usize::try_from(len).map_err(io::Error::other);
        let mut piece = small(self.run)?;
        for Loop { count, step } in &self.loops {
            let whole = piece * small(*count)?;
            if *step < 0 {
                for block in out.chunks_mut(whole) {
                    block.reverse();
                    block.chunks_mut(piece).for_each(<[u8]>::reverse);
                }
            }
            piece = whole;
        }
        Ok(())
    }

    /// Returns the offsets of the pieces in these loops.
    fn starts(&self, loops: &[Loop]) -> impl Iterator<Item = u64> + use<> {
        let step = |each: &Loop| (each.count.cast_unsigned(), [each.step.cast_unsigned()]);
        let loops = loops.iter().map(step).collect();
        let odometer = Odometer::new([self.first.cast_unsigned()], loops);
        odometer.map(|[at]| at).take(if self.data_len > 0 { usize::MAX } else { 0 })
    }
}

/// Checks that `slice` fits `dims`, and returns its positions in each dimension.
pub(crate) fn resolve(dims: &[u64], slice: &[SliceInfoElem]) -> Result<Vec<Picked>, SliceError> {
    let entries = slice.iter().filter(|entry| !entry.is_new_axis());
    let found = entries.clone().count();
    if found != dims.len() {
        return Err(SliceError::Axes { expected: dims.len(), found });
    }
    entries.zip(dims).enumerate().map(|(axis, (entry, &dim))| pick(axis, dim, *entry)).collect()
}

/// Slices a view like ndarray's `slice`, but returns an error where that panics.
///
/// # Errors
///
/// - [`SliceError::Axes`] if `slice` does not have one entry for each dimension.
/// - [`SliceError::Outside`] if an index is out of range.
/// - [`SliceError::ZeroStep`] if a step is 0.
pub fn checked_slice<'a, T>(
    array: &'a ArrayD<T>,
    slice: &[SliceInfoElem],
) -> Result<ArrayViewD<'a, T>, SliceError> {
    let dims: Vec<u64> = array.shape().iter().map(|&dim| dim as u64).collect();
    resolve(&dims, slice)?;
    let found = slice.len();
    let info: SliceInfo<_, IxDyn, IxDyn> =
        SliceInfo::try_from(slice).map_err(|_| SliceError::Axes { expected: dims.len(), found })?;
    Ok(array.slice(info))
}

fn pick(axis: usize, extent: u64, entry: SliceInfoElem) -> Result<Picked, SliceError> {
    let length = i128::from(extent);
    let outside = |index: isize| SliceError::Outside { axis, index, extent };
    let position = |index: isize| {
        let position = index as i128;
        if position < 0 { position + length } else { position }
    };
    match entry {
        SliceInfoElem::NewAxis => Ok(Picked { first: 0, count: 1, step: 1 }),
        SliceInfoElem::Index(index) => match position(index) {
            first if (0..length).contains(&first) => Ok(Picked { first, count: 1, step: 1 }),
            _ => Err(outside(index)),
        },
        SliceInfoElem::Slice { step: 0, .. } => Err(SliceError::ZeroStep { axis }),
        SliceInfoElem::Slice { start, end, step } => {
            let low = position(start);
            if !(0..=length).contains(&low) {
                return Err(outside(start));
            }
            let high = match end {
                None => length,
                Some(end) => match position(end) {
                    high if (0..=length).contains(&high) => high.max(low),
                    _ => return Err(outside(end)),
                },
            };
            let step = step as i128;
            let taken = high.saturating_sub(low);
            let count = taken.unsigned_abs().div_ceil(step.unsigned_abs());
            let first = if step < 0 { high.saturating_sub(1) } else { low };
            Ok(Picked { first, count: i128::try_from(count).unwrap_or(0), step })
        }
    }
}

/// Parses a slice in NumPy's notation, with or without the brackets, for an array with the dimensions `dims`.
///
/// Each part is for one dimension: an index, or `start:stop:step` with any of the three left out. One `...` takes the
/// remaining dimensions whole, and dimensions at the end may be left out. Negative positions count from the end.
///
/// As in NumPy, an index out of range is an error, and a range ends at the ends of the dimension: `0:999` takes all 240
/// positions of a dimension of length 240.
///
/// The parts are in the order of `dims`. If `dims` is a row-major shape, reverse the result to slice the array as
/// stored.
///
/// ```
/// use ndarray::s;
/// use ra_pack::ra::parse_slice;
///
/// let slice = parse_slice("0:10,...,-1", &[20, 5, 3])?;
/// assert_eq!(slice, s![0..10, .., -1].as_ref());
/// # Ok::<(), ra_pack::ra::SliceError>(())
/// ```
///
/// # Errors
///
/// - [`SliceError::Part`] if a part is neither an index nor a range.
/// - [`SliceError::TwoEllipses`] if there is more than one `...`.
/// - [`SliceError::Axes`] if there are more parts than dimensions.
/// - [`SliceError::Outside`] if an index is out of range.
/// - [`SliceError::ZeroStep`] if a step is 0.
pub fn parse_slice(text: &str, dims: &[u64]) -> Result<Vec<SliceInfoElem>, SliceError> {
    let mut slice = Vec::with_capacity(dims.len());
    for (part, extent) in split_slice(text, dims.len())?.into_iter().zip(dims) {
        slice.push(parse_part(part, *extent)?);
    }
    resolve(dims, &slice)?;
    Ok(slice)
}

/// Splits a slice, as [`parse_slice`] reads it, into one part for each of `ndims` dimensions; `:` for a dimension
/// without a part.
///
/// ```
/// use ra_pack::ra::split_slice;
///
/// assert_eq!(split_slice("0:10, ..., -1", 4)?, ["0:10", ":", ":", "-1"]);
/// # Ok::<(), ra_pack::ra::SliceError>(())
/// ```
///
/// # Errors
///
/// - [`SliceError::Axes`] if there are more parts than dimensions.
/// - [`SliceError::TwoEllipses`] if there is more than one `...`.
pub fn split_slice(text: &str, ndims: usize) -> Result<Vec<&str>, SliceError> {
    const WHOLE: &str = ":";
    let text = text.trim();
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let parts: Vec<&str> = match inside.trim() {
        "" => Vec::new(),
        text => text.split(',').map(str::trim).collect(),
    };
    let ellipses = parts.iter().filter(|part| **part == "...").count();
    if ellipses > 1 {
        return Err(SliceError::TwoEllipses);
    }
    let named = parts.len().saturating_sub(ellipses);
    let Some(unnamed) = ndims.checked_sub(named) else {
        return Err(SliceError::Axes { expected: ndims, found: named });
    };
    let mut split = Vec::with_capacity(ndims);
    for part in parts {
        match part {
            "..." => split.extend(std::iter::repeat_n(WHOLE, unnamed)),
            part => split.push(part),
        }
    }
    split.resize(ndims, WHOLE);
    Ok(split)
}

fn parse_part(part: &str, extent: u64) -> Result<SliceInfoElem, SliceError> {
    let fault = || SliceError::Part { part: part.to_owned() };
    let fields: Vec<&str> = part.split(':').map(str::trim).collect();
    let number = |text: &str| text.parse::<i128>().map_err(|_| fault());
    let bound = |text: &str| (!text.is_empty()).then(|| number(text)).transpose();
    let narrow = |number: i128| isize::try_from(number).map_err(|_| SliceError::TooLarge);
    let (start, end, step) = match *fields.as_slice() {
        [index] => return index.parse().map(SliceInfoElem::Index).map_err(|_| fault()),
        [start, end] => (bound(start)?, bound(end)?, 1),
        [start, end, step] => (bound(start)?, bound(end)?, bound(step)?.unwrap_or(1)),
        _ => return Err(fault()),
    };
    let step = narrow(step)?;
    let extent = i128::from(extent);
    if step >= 0 {
        let clamp = |bound: i128| narrow(bound.clamp(-extent, extent));
        let start = start.map(clamp).transpose()?.unwrap_or(0);
        return Ok(SliceInfoElem::Slice { start, end: end.map(clamp).transpose()?, step });
    }
    // NumPy walks from `start` down to above `stop`; ndarray reverses a range. Both ends move by one, which must not
    // turn -1 (the last position) into 0 (the first).
    let above = |bound: i128| {
        let position = if bound < 0 { bound.saturating_add(extent) } else { bound };
        narrow(position.clamp(-1, extent - 1) + 1)
    };
    let low = end.map(above).transpose()?.unwrap_or(0);
    Ok(SliceInfoElem::Slice { start: low, end: start.map(above).transpose()?, step })
}

/// The reason why a slice does not fit its array, or a text is not a slice. Dimensions count from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SliceError {
    /// There are too few or too many entries.
    #[error("expected {expected} parts in the slice, found {found}")]
    Axes {
        /// The number of dimensions of the array.
        expected: usize,
        /// The number of entries of the slice, without new dimensions.
        found: usize,
    },
    /// A position is out of range.
    #[error("index {index} is out of range for dimension {axis} of length {extent}")]
    Outside {
        /// The dimension.
        axis: usize,
        /// The position as given.
        index: isize,
        /// The length of the dimension.
        extent: u64,
    },
    /// A step is 0.
    #[error("the step of dimension {axis} is 0")]
    ZeroStep {
        /// The dimension.
        axis: usize,
    },
    /// The array has more bytes than a file can have.
    #[error("the array is too large to slice")]
    TooLarge,
    /// A part is neither an index nor a range.
    #[error("expected an index, `start:stop:step` or `...`, found `{}`", crate::path::escape(part))]
    Part {
        /// The part between two commas.
        part: String,
    },
    /// There is more than one `...`.
    #[error("expected `...` at most once")]
    TwoEllipses,
}

#[cfg(test)]
mod tests {
    use ndarray::{NewAxis, ShapeBuilder, s};
    use proptest::prelude::*;

    use super::*;

    fn plan(dims: &[u64], slice: &[SliceInfoElem]) -> Result<SlicePlan, SliceError> {
        SlicePlan::new(dims, 2, slice)
    }

    fn runs(dims: &[u64], slice: &[SliceInfoElem]) -> Vec<[u64; 2]> {
        plan(dims, slice).unwrap().runs().map(|run| [run.start, run.end]).collect()
    }

    #[test]
    fn adjacent_pieces_are_one_run() {
        assert_eq!(runs(&[3, 4, 5], s![.., .., ..].as_ref()), [[0, 120]]);
        assert_eq!(runs(&[3, 4, 5], s![.., .., 1..3].as_ref()), [[24, 72]]);
        assert_eq!(runs(&[3, 4, 5], s![.., .., -1].as_ref()), [[96, 120]]);
        assert_eq!(runs(&[3, 4, 5], s![.., 1, 2..4].as_ref()), [[54, 60], [78, 84]]);
        assert_eq!(runs(&[3, 4], s![..;-1, 0].as_ref()), [[4, 6], [2, 4], [0, 2]]);
        assert_eq!(runs(&[], &[]), [[0, 2]]);
        assert!(runs(&[3], s![3..].as_ref()).is_empty());
        assert!(runs(&[0, u64::MAX], s![.., ..].as_ref()).is_empty());
    }

    #[test]
    fn a_large_slice_is_not_listed() {
        let all = SlicePlan::new(&[1 << 40, 1 << 20], 1, s![..;2, ..].as_ref()).unwrap();
        assert_eq!(all.dims(), [1 << 39, 1 << 20]);
        assert_eq!(all.data_len(), 1 << 59);
        assert_eq!(all.runs().nth(1), Some(2..3));
        assert_eq!(all.loops.len(), 1);
    }

    #[test]
    fn a_position_out_of_range_is_reported() {
        let fault = |slice: &[SliceInfoElem]| plan(&[3, 4], slice).unwrap_err().to_string();
        assert_eq!(
            fault(s![.., 4].as_ref()),
            "index 4 is out of range for dimension 1 of length 4"
        );
        assert_eq!(
            fault(s![-4, ..].as_ref()),
            "index -4 is out of range for dimension 0 of length 3"
        );
        assert_eq!(
            fault(s![..4, ..].as_ref()),
            "index 4 is out of range for dimension 0 of length 3"
        );
        assert_eq!(
            fault(s![4.., ..].as_ref()),
            "index 4 is out of range for dimension 0 of length 3"
        );
        assert_eq!(
            fault(s![..-4, ..].as_ref()),
            "index -4 is out of range for dimension 0 of length 3"
        );
        assert_eq!(fault(s![..].as_ref()), "expected 2 parts in the slice, found 1");
        assert_eq!(
            fault(s![.., .., NewAxis, ..].as_ref()),
            "expected 2 parts in the slice, found 3"
        );
        let zero = SliceInfoElem::Slice { start: 0, end: None, step: 0 };
        assert_eq!(fault(&[SliceInfoElem::Index(0), zero]), "the step of dimension 1 is 0");
        assert_eq!(plan(&[u64::MAX], s![0].as_ref()), Err(SliceError::TooLarge));
        assert_eq!(
            plan(&[0, 3], s![0, ..].as_ref()).unwrap_err().to_string(),
            "index 0 is out of range for dimension 0 of length 0"
        );
    }

    #[test]
    fn extreme_numbers_do_no_harm() {
        let extremes = [isize::MIN, isize::MIN + 1, -1, 0, 1, isize::MAX - 1, isize::MAX];
        for dims in [[0], [1], [5], [u64::MAX >> 2], [u64::MAX]] {
            for start in extremes {
                for end in extremes.map(Some).into_iter().chain([None]) {
                    for step in extremes {
                        let entry = SliceInfoElem::Slice { start, end, step };
                        let short =
                            ArrayD::<u8>::zeros(vec![usize::try_from(dims[0]).unwrap().min(5)]);
                        assert_eq!(
                            checked_slice(&short, &[entry]).is_ok(),
                            plan(&[short.len().try_into().unwrap()], &[entry]).is_ok()
                        );
                        if let Ok(plan) = plan(&dims, &[entry]) {
                            plan.runs().take(3).for_each(drop);
                            assert!(plan.data_len() <= dims[0].saturating_mul(2));
                        }
                    }
                }
                let _ = plan(&dims, &[SliceInfoElem::Index(start)]);
            }
        }
    }

    #[test]
    fn adjacent_pieces_are_read_at_once() {
        let plan = SlicePlan::new(&[1000, 1000], 1, s![7, ..].as_ref()).unwrap();
        let mut reads = 0;
        let mut out = vec![0; 1000];
        plan.read_into(&mut out, |_, buffer| {
            reads += 1;
            assert!(buffer.len() <= usize::try_from(SPAN).unwrap());
            Ok(())
        })
        .unwrap();
        assert_eq!(reads, 1);
        assert!(plan.read_into(&mut out[..9], |_, _| Ok(())).is_err());
    }

    /// Returns any slice that ndarray accepts for a dimension of this length.
    fn entry(dim: usize) -> BoxedStrategy<SliceInfoElem> {
        let dim = isize::try_from(dim).unwrap();
        let range = (-dim..=dim, -dim..=dim, 1..4_isize, any::<bool>(), any::<bool>()).prop_map(
            |(start, end, step, open, back)| SliceInfoElem::Slice {
                start,
                end: (!open).then_some(end),
                step: if back { -step } else { step },
            },
        );
        if dim == 0 {
            return range.boxed();
        }
        prop_oneof![4 => range, 1 => (-dim..dim).prop_map(SliceInfoElem::Index)].boxed()
    }

    fn case() -> impl Strategy<Value = (Vec<usize>, Vec<SliceInfoElem>)> {
        prop::collection::vec(0..6_usize, 0..5).prop_flat_map(|dims| {
            let entries: Vec<_> = dims.iter().map(|&dim| entry(dim)).collect();
            let with_new_axis =
                (entries, prop::option::of(0..=dims.len())).prop_map(|(mut all, at)| {
                    all.extend(at.map(|_| SliceInfoElem::NewAxis));
                    if let Some(at) = at {
                        all.rotate_right(1);
                        all[..=at].rotate_left(1);
                    }
                    all
                });
            (Just(dims), with_new_axis)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn runs_give_what_ndarray_gives((dims, slice) in case()) {
            let len: usize = dims.iter().product();
            let elements: Vec<u16> = (0..).take(len).collect();
            let full = ArrayD::from_shape_vec(IxDyn(&dims).f(), elements.clone()).unwrap();
            let expected = checked_slice(&full, &slice).unwrap();
            let expected_data: Vec<u16> = expected.t().iter().copied().collect();
            let expected_dims: Vec<u64> = expected.shape().iter().map(|&d| d.try_into().unwrap()).collect();

            let dims: Vec<u64> = dims.iter().map(|&d| d.try_into().unwrap()).collect();
            let plan = plan(&dims, &slice).unwrap();
            prop_assert_eq!(plan.dims(), expected_dims);
            let bytes: &[u8] = bytemuck::cast_slice(&elements);
            let at = |offset: u64| usize::try_from(offset).unwrap();
            let joined: Vec<u8> =
                plan.runs().flat_map(|run| bytes[at(run.start)..at(run.end)].to_vec()).collect();
            prop_assert_eq!(&joined, bytemuck::cast_slice::<_, u8>(&expected_data));

            let mut read = vec![0; at(plan.data_len())];
            let mut end = 0;
            plan.read_into(&mut read, |offset, buffer| {
                assert!(at(offset) >= end, "{offset} after {end}");
                end = at(offset) + buffer.len();
                buffer.copy_from_slice(&bytes[at(offset)..end]);
                Ok(())
            }).unwrap();
            prop_assert_eq!(read, joined);
        }
    }

    proptest! {
        #[test]
        fn a_negative_step_walks_down_as_numpy_does(
            len in 1..20_u64, start in 0..20_isize, stop in 0..20_isize, step in 1..5_usize,
        ) {
            let end = isize::try_from(len).unwrap();
            prop_assume!(start < end && stop < end);
            let slice = parse_slice(&format!("{start}:{stop}:-{step}"), &[len]).unwrap();
            let plan = SlicePlan::new(&[len], 1, &slice).unwrap();
            let visited: Vec<u64> = plan.runs().flat_map(Iterator::rev).collect();
            let expected: Vec<u64> =
                (stop + 1..=start).rev().step_by(step).map(|i| i.try_into().unwrap()).collect();
            prop_assert_eq!(visited, expected);
        }

        #[test]
        fn no_text_panics(text in "[-0-9:., \\[\\]]{0,12}", dims in prop::collection::vec(0..9_u64, 0..4)) {
            if let Ok(slice) = parse_slice(&text, &dims) {
                prop_assert!(SlicePlan::new(&dims, 1, &slice).is_ok());
            }
        }
    }
}
