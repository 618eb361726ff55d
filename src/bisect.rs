//! Binary search in a long text with sorted records whose lengths are not known before they are read.

use std::ops::Range;

/// The first record that begins at or after an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Probe {
    /// The offset of the record.
    pub(crate) start: u64,
    /// Whether the record sorts before the one that is searched.
    pub(crate) is_before: bool,
}

/// Narrows `range`, which begins with a record, to about `enough` bytes. Returns the offset of a record that sorts
/// before the one that is searched, or the beginning of the range.
///
/// `probe` finds the first record at or after an offset. If it returns `None`, the search continues before that offset,
/// and the caller must read the whole text if it does not find the record there.
///
/// # Errors
///
/// Errors of `probe`.
pub(crate) fn narrow<E>(
    range: Range<u64>,
    enough: u64,
    mut probe: impl FnMut(u64) -> Result<Option<Probe>, E>,
) -> Result<u64, E> {
    let Range { start: mut low, end: mut high } = range;
    while high.saturating_sub(low) > enough.max(1) {
        let middle = low.saturating_add(high.saturating_sub(low) / 2);
        match probe(middle)? {
            Some(Probe { start, is_before: true }) if (middle..high).contains(&start) => {
                low = start;
            }
            _ => high = middle,
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_record_before_is_found(
            lengths in proptest::collection::vec(1_u64..50, 1..200),
            wanted in 0_usize..200,
            enough in 0_u64..200,
        ) {
            let mut starts = vec![0];
            starts.extend(lengths.iter().scan(0, |at, length| { *at += length; Some(*at) }));
            let end = starts.pop().unwrap();
            let probe = |at: u64| {
                let number = starts.partition_point(|start| *start < at);
                let probe = |start: &u64| Probe { start: *start, is_before: number < wanted };
                Ok::<_, ()>(starts.get(number).map(probe))
            };
            let low = narrow(0..end, enough, probe).unwrap();
            let number = starts.iter().position(|start| *start == low).unwrap();
            prop_assert!(number == 0 || number < wanted);
            // The record follows within `enough` bytes and two records.
            let next = starts.get(wanted.min(starts.len() - 1)).unwrap();
            prop_assert!(next.saturating_sub(low) <= enough.max(1) + 2 * 50);
        }
    }

    #[test]
    fn a_search_without_visible_records_ends() {
        assert_eq!(narrow(0..u64::MAX, 0, |_| Ok::<_, ()>(None)), Ok(0));
        let odd = Probe { start: 0, is_before: true };
        assert!(narrow(0..u64::MAX, 0, |_| Ok::<_, ()>(Some(odd))).is_ok());
    }
}
