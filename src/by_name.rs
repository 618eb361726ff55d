//! Where names stand in a text of many names, without a copy of any.

use std::hash::{BuildHasher, RandomState};

/// How many places are looked at for one name before the table is given up: with distinct names at
/// most half of it is full, and a run of this length does not come about.
const MAX_RUN: usize = 1024;

/// Places in a text by the names that stand there.
///
/// A name leads to every place that was noted for it, and now and then to another's, so that whoever
/// asks must look. The hash is keyed: nobody can choose names that all come to lie together.
#[derive(Debug)]
pub(crate) struct ByName {
    key: RandomState,
    /// The upper half of a name's hash and its place, counted from 1; 0 where there is none. The first
    /// bits of the hash say where a slot belongs; there are 2 to the power of `bits` of them.
    slots: Vec<u64>,
    bits: u32,
    count: usize,
}

impl ByName {
    /// An empty table for about as many names.
    pub(crate) fn with_room(names: usize) -> Self {
        let bits = names.saturating_mul(2).max(16).next_power_of_two().trailing_zeros().min(32);
        Self { key: RandomState::new(), slots: empty(bits), bits, count: 0 }
    }

    /// Notes that `name` stands at `place`. False when the table cannot take it: the same name is there
    /// too often, or the text is too long.
    #[must_use]
    pub(crate) fn note(&mut self, name: &[u8], place: usize) -> bool {
        let Some(place) = u32::try_from(place).ok().and_then(|place| place.checked_add(1)) else {
            return false;
        };
        if self.count.saturating_mul(2) >= self.slots.len() && !self.grow() {
            return false;
        }
        self.count = self.count.saturating_add(1);
        let tag = self.key.hash_one(name) >> 32;
        self.put(tag << 32 | u64::from(place))
    }

    /// Where `name` may stand, in no order.
    pub(crate) fn find(&self, name: &[u8]) -> impl Iterator<Item = usize> + '_ {
        let tag = self.key.hash_one(name) >> 32;
        let mut slots = self.run(tag);
        std::iter::from_fn(move || {
            loop {
                let slot = slots.next().filter(|slot| *slot != 0)?;
                if slot >> 32 == tag {
                    let place = slot & u64::from(u32::MAX);
                    return place.checked_sub(1).and_then(|place| usize::try_from(place).ok());
                }
            }
        })
    }

    /// Where a hash belongs first.
    fn home(&self, tag: u64) -> usize {
        usize::try_from(tag.checked_shr(32_u32.saturating_sub(self.bits)).unwrap_or(0)).unwrap_or(0)
    }

    /// The slots in the order in which they are tried.
    fn run(&self, tag: u64) -> impl Iterator<Item = u64> + '_ {
        let (before, from) = self.slots.split_at_checked(self.home(tag)).unwrap_or_default();
        from.iter().chain(before).copied().take(MAX_RUN)
    }

    fn put(&mut self, slot: u64) -> bool {
        let home = self.home(slot >> 32);
        let (before, from) = self.slots.split_at_mut_checked(home).unwrap_or_default();
        match from.iter_mut().chain(before).take(MAX_RUN).find(|slot| **slot == 0) {
            Some(free) => {
                *free = slot;
                true
            }
            None => false,
        }
    }

    fn grow(&mut self) -> bool {
        if self.bits >= 32 {
            return false;
        }
        self.bits = self.bits.saturating_add(1);
        let old = std::mem::replace(&mut self.slots, empty(self.bits));
        old.into_iter().filter(|slot| *slot != 0).all(|slot| self.put(slot))
    }
}

fn empty(bits: u32) -> Vec<u64> {
    vec![0; 1_usize.checked_shl(bits).unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_a_name_is_found_however_the_table_grew() {
        let mut table = ByName::with_room(0);
        let name = |number: usize| format!("run{}/a{number}.ra", number % 7).into_bytes();
        for place in 0..5000 {
            assert!(table.note(&name(place % 4000), place));
        }
        for number in 0..4000 {
            let mut found: Vec<usize> =
                table.find(&name(number)).filter(|place| place % 4000 == number).collect();
            found.sort_unstable();
            let expected = if number < 1000 { vec![number, number + 4000] } else { vec![number] };
            assert_eq!(found, expected);
        }
        assert!(table.find(b"another").count() < 5);
    }

    #[test]
    fn one_name_again_and_again_is_refused_and_costs_little() {
        let mut table = ByName::with_room(1 << 20);
        let taken = (0..1 << 20).take_while(|place| table.note(b"a", *place)).count();
        assert_eq!(taken, MAX_RUN);
    }

    #[test]
    fn a_place_beyond_the_table_is_refused() {
        let mut table = ByName::with_room(1);
        assert!(table.note(b"a", 0));
        assert_eq!(table.find(b"a").collect::<Vec<_>>(), [0]);
        assert!(usize::BITS < 64 || !table.note(b"b", usize::MAX));
    }
}
