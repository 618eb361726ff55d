//! A place found in a long text whose records are in order, by halves: how long each record is, nobody knows
//! before it is read.

use std::ops::Range;

/// What a look into the text at some place shows of the first record that begins there or behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Probe {
    /// Where the record begins.
    pub(crate) start: u64,
    /// Whether it stands before what is looked for.
    pub(crate) is_before: bool,
}

/// Narrows `range`, which begins with a record, down to about `enough` bytes: gives where a record begins that
/// stands before what is looked for, or the beginning. `probe` looks at a place; `None` when no record is seen to
/// begin there or behind, then only what stands before is looked at, and whoever does not find it there has to look at all.
///
/// # Errors
///
/// As `probe`.
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
            // What is looked for is not far behind.
            let next = starts.get(wanted.min(starts.len() - 1)).unwrap();
            prop_assert!(next.saturating_sub(low) <= enough.max(1) + 2 * 50);
        }
    }

    #[test]
    fn what_nobody_sees_comes_to_an_end() {
        assert_eq!(narrow(0..u64::MAX, 0, |_| Ok::<_, ()>(None)), Ok(0));
        let odd = Probe { start: 0, is_before: true };
        assert!(narrow(0..u64::MAX, 0, |_| Ok::<_, ()>(Some(odd))).is_ok());
    }
}
