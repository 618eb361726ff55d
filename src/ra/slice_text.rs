//! The slices of the command line: `0:10,:,3`.

use ndarray::SliceInfoElem;

use super::slice::{SliceError, check};

/// Reads a slice as NumPy writes it, with or without the brackets, for an array of `dims`: one part per axis,
/// which is an index, `start:stop:step` with any of the three left out, or `...` once for all axes
/// that no part names. Axes at the end may be left out. Negative positions count from the end.
///
/// Other than in NumPy, a position outside the axis is an error and never moved to its end: the
/// result always has the length that the text says.
///
/// The parts are in the order of `dims`. When `dims` is a shape with the slowest index first, reverse
/// the result to slice the array as stored.
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
/// When a part cannot be read, there are more parts than axes, a position is outside its axis, or a
/// step is 0.
pub fn parse_slice(text: &str, dims: &[u64]) -> Result<Vec<SliceInfoElem>, SliceError> {
    let mut slice = Vec::with_capacity(dims.len());
    for (axis, (part, extent)) in split_slice(text, dims.len())?.into_iter().zip(dims).enumerate() {
        slice.push(parse_part(part, axis, *extent)?);
    }
    check(dims, &slice)?;
    Ok(slice)
}

/// The part of a slice for each axis of an array with `ndims` of them, as [`parse_slice`] takes it: `:` for an axis
/// that no part names.
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
/// When there are more parts than axes, or `...` stands there twice.
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

fn parse_part(part: &str, axis: usize, extent: u64) -> Result<SliceInfoElem, SliceError> {
    let fault = || SliceError::Part { part: part.to_owned() };
    let fields: Vec<&str> = part.split(':').map(str::trim).collect();
    let bound = |text: &str| match text {
        "" => Ok(None),
        text => text.parse::<isize>().map(Some).map_err(|_| fault()),
    };
    let (start, end, step) = match *fields.as_slice() {
        [index] => return index.parse().map(SliceInfoElem::Index).map_err(|_| fault()),
        [start, end] => (bound(start)?, bound(end)?, 1),
        [start, end, step] => (bound(start)?, bound(end)?, bound(step)?.unwrap_or(1)),
        _ => return Err(fault()),
    };
    if step >= 0 {
        return Ok(SliceInfoElem::Slice { start: start.unwrap_or(0), end, step });
    }
    // NumPy walks from `start` down to above `stop`; ndarray takes a range and walks it backwards.
    // Both ends move by one, which must not carry -1 (the last position) to 0 (the first).
    let above = |index: isize| {
        let outside = || SliceError::Outside { axis, index, extent };
        let extent = isize::try_from(extent).map_err(|_| outside())?;
        let position = if index < 0 { index.checked_add(extent) } else { Some(index) };
        position
            .filter(|position| (0..extent).contains(position))
            .and_then(|position| position.checked_add(1))
            .ok_or_else(outside)
    };
    let low = end.map(above).transpose()?.unwrap_or(0);
    let high = start.map(above).transpose()?;
    Ok(SliceInfoElem::Slice { start: low, end: high, step })
}

#[cfg(test)]
mod tests {
    use ndarray::s;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_are_indices_ranges_and_one_ellipsis() {
        let dims = [20, 5, 3];
        let cases = [
            ("0:10,:,2", s![0..10, .., 2].as_ref().to_vec()),
            ("...", s![.., .., ..].as_ref().to_vec()),
            ("", s![.., .., ..].as_ref().to_vec()),
            ("-1", s![-1, .., ..].as_ref().to_vec()),
            ("...,1", s![.., .., 1].as_ref().to_vec()),
            ("1,...,1", s![1, .., 1].as_ref().to_vec()),
            ("1,2,...,0", s![1, 2, 0].as_ref().to_vec()),
            (" -9 : -1 : 3 , ::2 ", s![-9..-1;3, ..;2, ..].as_ref().to_vec()),
            ("::-1", s![..;-1, .., ..].as_ref().to_vec()),
            ("10:5:-2", s![6..11;-2, .., ..].as_ref().to_vec()),
            ("-1:0:-1", s![1..20;-1, .., ..].as_ref().to_vec()),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_slice(text, &dims), Ok(expected), "{text}");
        }
        assert_eq!(parse_slice("", &[]), Ok(vec![]));
        assert_eq!(parse_slice("[]", &[]), Ok(vec![]));
        assert_eq!(parse_slice("[0, 1:3]", &[4, 3]), parse_slice("0,1:3", &[4, 3]));
        assert!(parse_slice("[0", &[4]).is_err());
    }

    #[test]
    fn errors_name_the_part() {
        let fault = |text| parse_slice(text, &[20, 5]).unwrap_err().to_string();
        let expected = "expected an index, `start:stop:step` or `...`, found";
        assert_eq!(fault("1,x"), format!("{expected} `x`"));
        assert_eq!(fault("1:2:3:4"), format!("{expected} `1:2:3:4`"));
        assert_eq!(fault("1,"), format!("{expected} ``"));
        assert_eq!(fault("99999999999999999999"), format!("{expected} `99999999999999999999`"));
        assert_eq!(fault("\u{1b}[2J"), format!("{expected} `\\u{{1b}}[2J`"));
        assert_eq!(fault("1,2,3"), "expected 2 axes in the slice, found 3");
        assert_eq!(fault("...,..."), "expected `...` at most once");
        assert_eq!(fault("...,7"), "index 7 is outside axis 1, which has 5 elements");
        assert_eq!(fault("0:21"), "index 21 is outside axis 0, which has 20 elements");
        assert_eq!(fault("20:0:-1"), "index 20 is outside axis 0, which has 20 elements");
        assert_eq!(fault("::0"), "the step of axis 0 is 0");
    }

    proptest! {
        #[test]
        fn a_negative_step_walks_down_as_numpy_does(
            len in 1..20_u64, start in 0..20_isize, stop in 0..20_isize, step in 1..5_usize,
        ) {
            let end = isize::try_from(len).unwrap();
            prop_assume!(start < end && stop < end);
            let slice = parse_slice(&format!("{start}:{stop}:-{step}"), &[len]).unwrap();
            let plan = super::super::SlicePlan::new(&[len], 1, &slice).unwrap();
            let visited: Vec<u64> = plan.runs().flat_map(Iterator::rev).collect();
            let expected: Vec<u64> =
                (stop + 1..=start).rev().step_by(step).map(|i| i.try_into().unwrap()).collect();
            prop_assert_eq!(visited, expected);
        }

        #[test]
        fn no_text_panics(text in "[-0-9:., \\[\\]]{0,12}", dims in prop::collection::vec(0..9_u64, 0..4)) {
            if let Ok(slice) = parse_slice(&text, &dims) {
                prop_assert!(super::super::SlicePlan::new(&dims, 1, &slice).is_ok());
            }
        }
    }
}
