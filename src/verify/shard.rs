//! Shards of the work: of the files in a pack, or of several targets.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::archive::{Archive, Container, Member};
use crate::error::{Error, Result};

/// The work for an item of 0 bytes, in bytes: opening it takes as long as hashing this many.
const ITEM_COST: u64 = 64 << 10;

/// One of several shards of some work, such as `2/8`. The same work has the same shards on every machine.
///
/// ```
/// use ra_pack::verify::Shard;
///
/// let shard: Shard = "2/8".parse()?;
/// assert_eq!((shard.number(), shard.count()), (2, 8));
/// assert!("9/8".parse::<Shard>().is_err());
/// # Ok::<(), ra_pack::verify::InvalidShard>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    count: u32,
    number: u32,
}

/// The error of a text that is not a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a shard such as 2/8, from 1/N to N/N, with N up to {}", Shard::MAX_COUNT)]
#[non_exhaustive]
pub struct InvalidShard;

impl Shard {
    /// All of the work.
    pub const WHOLE: Self = Self { count: 1, number: 1 };

    /// Largest number of shards. More machines do not work on one list.
    pub const MAX_COUNT: u32 = 100_000;

    /// Returns the shard with this number, from 1, of `count`; `None` if there is no such shard.
    pub fn new(number: u32, count: u32) -> Option<Self> {
        let is_one = (1..=Self::MAX_COUNT).contains(&count) && (1..=count).contains(&number);
        is_one.then_some(Self { count, number })
    }

    /// Returns the number of the shard, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Returns the number of shards.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Returns the part of `0..total` that belongs to the shard. The parts of all shards cover it once.
    pub(crate) fn part(self, total: u64) -> Range<u64> {
        let end = |number: u32| {
            let end = u128::from(total) * u128::from(number) / u128::from(self.count);
            u64::try_from(end).expect("at most the total")
        };
        end(self.number - 1)..end(self.number)
    }

    /// Returns the numbers of the items in the shard: those that begin in its part of all bytes. An item with several
    /// times the bytes of a shard leaves other shards empty.
    #[cfg(any(test, feature = "full"))]
    pub(crate) fn of_items(self, bytes: &[u64]) -> Range<usize> {
        let (begins, total) = begins(bytes.iter().copied());
        let part = self.part(total);
        let first = |offset: u64| begins.partition_point(|begin| *begin < offset);
        first(part.start)..first(part.end)
    }
}

/// Returns where each of several items begins if they are one after the other, and where the last one ends.
fn begins(bytes: impl Iterator<Item = u64>) -> (Vec<u64>, u64) {
    let mut end = 0_u64;
    let begins = bytes.map(|bytes| {
        let begin = end;
        end = end.saturating_add(bytes).saturating_add(ITEM_COST);
        begin
    });
    let begins = begins.collect();
    (begins, end)
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = InvalidShard;

    fn from_str(text: &str) -> std::result::Result<Self, InvalidShard> {
        let numbers = text.split_once('/').and_then(|(number, count)| {
            let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            let parse = |text: &str| text.parse().ok().filter(|_| is_digits(text));
            Some((parse(number)?, parse(count)?))
        });
        numbers.and_then(|(number, count)| Self::new(number, count)).ok_or(InvalidShard)
    }
}

impl Serialize for Shard {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// The bytes of a pack that a run reads. A file belongs to the part in which it begins, and so does each block of a file
/// that is divided.
pub(super) enum Chosen {
    All,
    /// Bytes of an archive.
    At(Range<u64>),
    /// Bytes of the files of a directory, one after the other: their names, sorted, and where each begins.
    Files(Range<u64>, Vec<(Arc<str>, u64)>),
}

/// How much of the content of a file a run reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The header or the description.
    Header,
    /// Some blocks if the file can be divided, otherwise the header.
    Blocks,
    All,
}

impl Chosen {
    /// Returns the files of a shard, or all of them.
    pub(super) fn of(archive: &Archive, shard: Option<Shard>) -> Result<Self> {
        let Some(shard) = shard.filter(|shard| *shard != Shard::WHOLE) else {
            return Ok(Self::All);
        };
        if archive.is_stream() {
            return Err(Error::wrong_target(
                archive.path(),
                format!(
                    "is a {}, which can be read only from its beginning: a shard of it takes as long as the whole; verify it without shards",
                    archive.container()
                ),
            ));
        }
        if archive.container() != Container::Directory {
            return Ok(Self::At(shard.part(archive.bytes_to_read())));
        }
        let mut members = archive.members()?;
        members.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let (begins, total) = begins(members.iter().map(|member| member.size));
        let names = members.into_iter().map(|member| member.name);
        Ok(Self::Files(shard.part(total), names.zip(begins).collect()))
    }

    /// Returns the bytes that are read of an archive with `len` bytes.
    pub(super) fn range(&self, len: u64) -> Range<u64> {
        match self {
            Self::At(part) => part.clone(),
            Self::All | Self::Files(..) => 0..len,
        }
    }

    /// Returns how much of the content of this member is read.
    pub(super) fn extent(&self, member: &Member) -> Extent {
        match self.place(member) {
            None => Extent::All,
            Some((part, begin)) if part.contains(&begin) => Extent::All,
            Some((part, begin)) => {
                let end = begin.saturating_add(member.size);
                let touches = begin < part.start && part.start < end && !part.is_empty();
                if touches { Extent::Blocks } else { Extent::Header }
            }
        }
    }

    /// Returns whether the whole content of this member is read if it is not divided.
    pub(super) fn has(&self, member: &Member) -> bool {
        self.extent(member) == Extent::All
    }

    /// Returns the numbers of the blocks that are read of a member with `count` blocks that is divided.
    pub(super) fn blocks(&self, member: &Member, block_size: u64, count: usize) -> Range<usize> {
        let Some((part, begin)) = self.place(member) else { return 0..count };
        let before = |offset: u64| {
            let blocks = offset.saturating_sub(begin).div_ceil(block_size);
            usize::try_from(blocks).map_or(count, |blocks| blocks.min(count))
        };
        before(part.start)..before(part.end)
    }

    /// Returns the bytes that are read, and where the member begins; `None` if everything is read.
    fn place(&self, member: &Member) -> Option<(&Range<u64>, u64)> {
        match self {
            Self::All => None,
            Self::At(part) => Some((part, member.start())),
            Self::Files(part, files) => {
                // A file that is new since the list was made counts to the one before it.
                let after = files.partition_point(|(name, _)| *name <= member.name);
                let before = after.checked_sub(1).and_then(|at| files.get(at));
                Some((part, before.map_or(0, |(_, begin)| *begin)))
            }
        }
    }

    /// Returns whether the contents of all files are read.
    pub(super) fn is_all(&self) -> bool {
        matches!(self, Self::All)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(count: u32) -> impl Iterator<Item = Shard> {
        (1..=count).map(move |number| Shard::new(number, count).unwrap())
    }

    proptest! {
        #[test]
        fn shards_cover_everything_once(
            bytes in proptest::collection::vec(0..1_u64 << 40, 0..60),
            total: u64,
            count in 1..40_u32,
        ) {
            let (mut next, mut next_item) = (0, 0);
            for shard in all(count) {
                let part = shard.part(total);
                prop_assert_eq!(part.start, next);
                next = part.end;
                let items = shard.of_items(&bytes);
                prop_assert_eq!(items.start, next_item);
                next_item = items.end;
            }
            prop_assert_eq!((next, next_item), (total, bytes.len()));
        }
    }

    #[test]
    fn shards_are_equal_by_bytes() {
        let mebibyte = 1 << 20;
        let bytes: Vec<u64> = [8, 1, 1, 1, 1, 1, 1, 1, 1].map(|size| size * mebibyte).into();
        let shards: Vec<_> = all(2).map(|shard| shard.of_items(&bytes)).collect();
        assert_eq!(shards, [0..2, 2..9]);
        assert_eq!(all(4).map(|shard| shard.of_items(&[0; 4]).len()).collect::<Vec<_>>(), [1; 4]);
    }

    #[test]
    fn other_texts_are_not_shards() {
        for text in ["", "1", "0/4", "5/4", "1/0", "+1/4", "1/4/4", "a/b", "1/100001", "-1/4"] {
            assert_eq!(text.parse::<Shard>(), Err(InvalidShard), "{text}");
        }
        assert_eq!("4/4".parse::<Shard>().unwrap().to_string(), "4/4");
    }
}
