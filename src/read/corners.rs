//! The elements at the corners of an array, for a summary.

use crate::error::{Error, Result};
use crate::message::Message;
use crate::ndl::{Ndarray, Order};
use crate::ra::{ElementType, Header, ReadError, SliceError};
use crate::read::open::{PackedArray, ReadElements};
use crate::read::values::{ArrayPart, Taken};

/// Maximum number of elements in the corners.
const MAX_CORNERS: u64 = 1 << 24;

/// Options for [`PackedArray::corners`]: the part of the array, and how much of each end to read.
#[derive(Debug, Clone, Default)]
pub struct CornersOptions {
    /// Part of the array, such as `0:10,:,3`, in the order of its indices.
    pub slice: Option<String>,
    /// Number of elements to read at each end of each dimension, if the array has more elements than `threshold`; all
    /// if `None`.
    pub edge: Option<u64>,
    /// Maximum number of elements of arrays that are read whole.
    pub threshold: u64,
}

/// The elements of an array, or those at the ends of each dimension.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Corners {
    /// The type of the decoded elements: packed bits are `uint8`.
    pub element: ElementType,
    /// The description of the array, if there is one.
    pub description: Option<Ndarray>,
    /// The lengths of the requested part, in the order of the indices.
    pub shape: Vec<u64>,
    /// Number of elements at the beginning of each dimension. If it is less than the length, the same number of
    /// elements at the end follows.
    pub leading: Vec<u64>,
    /// The bytes of the elements, last index fastest, in the byte order of this machine.
    pub bytes: Vec<u8>,
    /// Whether the elements were checked: the whole array against a manifest, or its blocks against their digests.
    pub verified: bool,
}

impl PackedArray {
    /// Reads all elements of a part of the array, or those at the ends of each dimension. For a stored array, nothing
    /// else is read, so the array is checked against the manifest only if all of it is read.
    ///
    /// ```
    /// # fn main() -> ra_pack::Result<()> {
    /// use ra_pack::Pack;
    /// use ra_pack::read::CornersOptions;
    ///
    /// let pack = Pack::open("examples/experiment")?;
    /// let temperature = pack.array("thermistors/temperature.ra")?;
    /// let options = CornersOptions { edge: Some(3), ..CornersOptions::default() };
    /// let corners = temperature.corners(&options)?;
    /// assert_eq!((corners.shape, corners.leading), (vec![10, 149], vec![3, 3]));
    /// assert_eq!(corners.bytes.len(), 6 * 6 * 4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`]; [`Error::Slice`] or [`Error::SliceText`] if the slice does not fit; [`Error::Limit`]
    /// for more than 16 million elements.
    pub fn corners(&self, options: &CornersOptions) -> Result<Corners> {
        let part = ArrayPart::new(self, options.slice.as_deref())?;
        let summarized = part.selection.elements() > options.threshold;
        let edge = options.edge.filter(|_| summarized).unwrap_or(u64::MAX);
        let lead = |axis: &Taken| {
            if axis.count.div_ceil(2) > edge { edge } else { axis.count }
        };
        let axes = part.selection.axes();
        let shown = |axis: &Taken| axis.count.min(lead(axis).saturating_mul(2));
        let is_empty = axes.iter().any(|axis| axis.count == 0);
        let count = axes
            .iter()
            .try_fold(u64::from(!is_empty), |product, axis| product.checked_mul(shown(axis)));
        let Some(count) = count.filter(|count| *count <= MAX_CORNERS) else {
            let few = Message::from("too many elements to show; choose a part with ");
            return Err(Error::Limit(few.option("slice")));
        };
        let kept = part.kept();
        let (shape, leading) = kept.iter().map(|(_, axis)| (axis.count, lead(axis))).unzip();
        let numbers = if count == 0 { Vec::new() } else { numbers(&part, lead) };
        let mut in_file: Vec<(u64, usize)> = numbers.into_iter().zip(0..).collect();
        in_file.sort_unstable();
        let whole = part.selection.is_whole() && count == part.header.elements();
        let mut bytes = Vec::new();
        let (element, verified) = self.with_data(whole, |header: &Header, read_at| {
            read(header, &in_file, &mut bytes, read_at)?;
            Ok(header.element())
        })?;
        Ok(Corners { element, description: part.description, shape, leading, bytes, verified })
    }
}

/// Reads elements, given by their increasing positions in the file and their places in `bytes`.
fn read(
    header: &Header,
    in_file: &[(u64, usize)],
    bytes: &mut Vec<u8>,
    read_at: &mut ReadElements<'_>,
) -> Result<(), ReadError> {
    let width = header.element().elbyte();
    let elbyte = usize::try_from(width).map_err(|_| SliceError::TooLarge)?;
    bytes.resize(in_file.len() * elbyte, 0);
    let mut places: Vec<_> = bytes.chunks_exact_mut(elbyte).collect();
    let mut run = Vec::new();
    for together in in_file.chunk_by(|one, next| one.0 + 1 == next.0) {
        let [(first, _), ..] = *together else { continue };
        run.resize(together.len() * elbyte, 0);
        read_at(first * width, &mut run)?;
        header.swap_to_native(&mut run)?;
        for ((_, place), element) in together.iter().zip(run.chunks_exact(elbyte)) {
            places
                .get_mut(*place)
                .expect("each element has a place in the buffer")
                .copy_from_slice(element);
        }
    }
    Ok(())
}

/// Returns the positions in the file of the elements that are shown, in the order of the corners.
fn numbers(part: &ArrayPart<'_>, lead: impl Fn(&Taken) -> u64) -> Vec<u64> {
    // The distances in the file that the shown indices of each dimension contribute.
    let mut stride = 1;
    let mut axes: Vec<Vec<u64>> = Vec::new();
    for (axis, extent) in part.selection.axes().iter().zip(part.header.dims()) {
        let leading = lead(axis);
        let trailing = if leading < axis.count { axis.count - leading } else { axis.count };
        let shown = (0..leading).chain(trailing..axis.count);
        let mut numbers: Vec<u64> = shown.map(|nth| axis.nth(nth) * stride).collect();
        if axis.is_flipped {
            numbers.reverse();
        }
        stride *= *extent;
        axes.push(numbers);
    }
    // The last index of the shape is the fastest in the corners, so it comes first here.
    if part.order != Order::Row {
        axes.reverse();
    }
    axes.iter().fold(vec![0], |numbers, axis| {
        axis.iter().flat_map(|add| numbers.iter().map(move |number| number + add)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Pack;

    #[test]
    fn corners_equal_the_elements_of_the_whole_array_in_either_order() {
        let pack = Pack::open("examples/experiment").unwrap();
        for (member, slice) in [
            ("thermistors/counts.ra", None),
            ("thermistors/temperature.ra", None),
            ("currents/velocity.ra", None),
            ("currents/velocity.ra", Some("::-1,1:,3::2")),
            ("currents/velocity.ra", Some("0,:,10")),
        ] {
            let array = pack.array(member).unwrap().in_shape_order().unwrap();
            let read = |edge| {
                let slice = slice.map(str::to_owned);
                array.corners(&CornersOptions { slice, edge, threshold: 0 }).unwrap()
            };
            let (all, corners) = (read(None), read(Some(2)));
            assert_eq!(all.leading, all.shape);
            let width = usize::try_from(all.element.elbyte()).unwrap();
            let axes = |corners: &Corners| -> Vec<Vec<u64>> {
                let extents = corners.shape.iter().zip(&corners.leading);
                extents
                    .map(|(count, lead)| {
                        let tail = if lead < count { count - lead..*count } else { 0..0 };
                        (0..*lead).chain(tail).collect()
                    })
                    .collect()
            };
            let mut wanted = vec![0_u64];
            for (axis, extent) in axes(&corners).iter().zip(&all.shape) {
                wanted =
                    wanted.iter().flat_map(|w| axis.iter().map(move |a| w * extent + a)).collect();
            }
            let expected: Vec<u8> = wanted
                .iter()
                .flat_map(|nth| {
                    let at = usize::try_from(*nth).unwrap() * width;
                    all.bytes[at..at + width].to_vec()
                })
                .collect();
            assert_eq!(corners.bytes, expected, "{member} {slice:?}");
        }
    }
}
