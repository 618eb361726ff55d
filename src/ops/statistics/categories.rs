//! How often each member of an enum occurs.

use serde::Serialize;

use crate::ra::ElementType;

/// A member of an enum, or a truth value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Category {
    /// The name.
    pub name: String,
    /// The number that is stored for it.
    pub value: i128,
    /// Elements that are it.
    pub count: u64,
}

/// Counts the elements of one enum.
pub(super) struct Counter {
    integer: fn(&[u8]) -> i128,
    width: usize,
    members: Vec<(String, i128)>,
    /// Numbers with the places of their members.
    sorted: Vec<(i128, usize)>,
}

impl Counter {
    /// For elements of that type; nothing when they are no integers.
    pub(super) fn new(element: ElementType, members: &[(String, i128)]) -> Option<Self> {
        fn read<T: bytemuck::Pod + Into<i128>>(bytes: &[u8]) -> i128 {
            bytemuck::try_pod_read_unaligned::<T>(bytes).map_or(0, Into::into)
        }
        let integer = match element {
            ElementType::INT8 => read::<i8>,
            ElementType::INT16 => read::<i16>,
            ElementType::INT32 => read::<i32>,
            ElementType::INT64 => read::<i64>,
            ElementType::UINT16 => read::<u16>,
            ElementType::UINT32 => read::<u32>,
            ElementType::UINT64 => read::<u64>,
            _ if element.reads_as::<u8>() => read::<u8>,
            _ => return None,
        };
        let mut sorted: Vec<_> =
            members.iter().enumerate().map(|(nth, (_, value))| (*value, nth)).collect();
        // Of two names for a number, the first gets the count.
        sorted.sort_unstable();
        sorted.dedup_by_key(|(value, _)| *value);
        let width = if element == ElementType::BITS { 1 } else { element.elbyte() };
        Some(Self {
            integer,
            width: usize::try_from(width).unwrap_or(usize::MAX).max(1),
            members: members.to_vec(),
            sorted,
        })
    }

    /// A count for each member, and one for all others.
    pub(super) fn none(&self) -> Vec<u64> {
        vec![0; self.members.len().saturating_add(1)]
    }

    pub(super) fn count(&self, block: &[u8]) -> Vec<u64> {
        let mut counts = self.none();
        let mut add = |number: i128, times: u64| {
            let found = self.sorted.binary_search_by_key(&number, |(value, _)| *value).ok();
            let nth = found.and_then(|at| self.sorted.get(at));
            let nth = nth.map_or(self.members.len(), |(_, nth)| *nth);
            if let Some(count) = counts.get_mut(nth) {
                *count = count.saturating_add(times);
            }
        };
        if self.width == 1 {
            let mut bytes = [0_u64; 256];
            for byte in block {
                if let Some(count) = bytes.get_mut(usize::from(*byte)) {
                    *count = count.saturating_add(1);
                }
            }
            for (byte, times) in (0..=u8::MAX).zip(bytes) {
                add((self.integer)(&[byte]), times);
            }
        } else {
            block.chunks_exact(self.width).for_each(|bytes| add((self.integer)(bytes), 1));
        }
        counts
    }

    pub(super) fn finish(&self, counts: &[u64]) -> (Vec<Category>, u64) {
        let category = |((name, value), count): (&(String, i128), &u64)| Category {
            name: name.clone(),
            value: *value,
            count: *count,
        };
        let categories = self.members.iter().zip(counts).map(category).collect();
        (categories, counts.last().copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_counted_and_others_too() {
        let members = [("a".to_owned(), -1), ("b".to_owned(), 3), ("again".to_owned(), 3)];
        let counter = Counter::new(ElementType::INT8, &members).unwrap();
        let (categories, unnamed) = counter.finish(&counter.count(&[255, 3, 3, 7]));
        let counts: Vec<_> = categories.iter().map(|category| category.count).collect();
        assert_eq!((counts, unnamed), (vec![1, 2, 0], 1));
        let wide = Counter::new(ElementType::INT16, &members).unwrap();
        let bytes: Vec<u8> = [-1_i16, 3, 300].into_iter().flat_map(i16::to_ne_bytes).collect();
        let (categories, unnamed) = wide.finish(&wide.count(&bytes));
        assert_eq!((categories[0].count, categories[1].count, unnamed), (1, 1, 1));
        assert!(Counter::new(ElementType::FLOAT32, &members).is_none());
    }
}
