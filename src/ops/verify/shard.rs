//! Shards of the work: of the files in a pack, or of several targets.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::archive::{Archive, Container, Member};
use crate::error::{Error, Result};
use crate::path::escape_path;

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
#[error("expected a shard such as 2/8, from 1/N to N/N, with N up to {MOST}")]
#[non_exhaustive]
pub struct InvalidShard;

/// Largest number of shards. More machines do not work on one list.
const MOST: u32 = 100_000;

impl Shard {
    /// All of the work.
    pub const WHOLE: Self = Self { count: 1, number: 1 };

    /// Returns the shard with this number, from 1, of `count`; `None` if there is no such shard.
    pub fn new(number: u32, count: u32) -> Option<Self> {
        let is_one = (1..=MOST).contains(&count) && (1..=count).contains(&number);
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
    pub(crate) fn of_items(self, bytes: &[u64]) -> Range<usize> {
        /// The work for an item of 0 bytes, in bytes: opening it takes as long as hashing this many.
        const EACH: u64 = 64 << 10;
        let weights = || bytes.iter().map(|bytes| bytes.saturating_add(EACH));
        let total = weights().fold(0, u64::saturating_add);
        let begins = weights().scan(0_u64, |end, weight| {
            let begin = *end;
            *end = begin.saturating_add(weight);
            Some(begin)
        });
        let begins: Vec<u64> = begins.collect();
        let part = self.part(total);
        let first = |offset: u64| begins.partition_point(|begin| *begin < offset);
        first(part.start)..first(part.end)
    }
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

/// The files of a pack whose contents a run reads.
pub(super) enum Chosen {
    All,
    /// The members of an archive that begin at these offsets.
    At(Range<u64>),
    /// The files of a directory from a name up to another one, which is not included.
    Named(Range<Arc<str>>),
    /// The files of a directory from a name on.
    From(Arc<str>),
    Nothing,
}

impl Chosen {
    /// Returns the files of a shard, or all of them.
    pub(super) fn of(archive: &Archive, shard: Option<Shard>) -> Result<Self> {
        let Some(shard) = shard.filter(|shard| *shard != Shard::WHOLE) else {
            return Ok(Self::All);
        };
        if archive.is_stream() {
            return Err(Error::Unsupported(format!(
                "`{}` is a {}, which can be read only from its beginning: a shard of it takes as long as the whole; verify it without shards",
                escape_path(archive.path()),
                archive.container()
            )));
        }
        if archive.container() != Container::Directory {
            return Ok(Self::At(shard.part(archive.bytes_to_read())));
        }
        let members = archive.members()?;
        let bytes: Vec<u64> = members.iter().map(|member| member.size).collect();
        let Range { start, end } = shard.of_items(&bytes);
        let name = |number: usize| members.get(number).map(|member| Arc::clone(&member.name));
        Ok(match (name(start), name(end)) {
            _ if start == end => Self::Nothing,
            (Some(first), Some(after)) => Self::Named(first..after),
            (Some(first), None) => Self::From(first),
            (None, _) => Self::Nothing,
        })
    }

    /// Returns whether the content of this member is read.
    pub(super) fn has(&self, member: &Member) -> bool {
        match self {
            Self::All => true,
            Self::At(offsets) => offsets.contains(&member.start()),
            Self::Named(names) => names.contains(&member.name),
            Self::From(first) => member.name >= *first,
            Self::Nothing => false,
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
    fn other_texts_are_not_shares() {
        for text in ["", "1", "0/4", "5/4", "1/0", "+1/4", "1/4/4", "a/b", "1/100001", "-1/4"] {
            assert_eq!(text.parse::<Shard>(), Err(InvalidShard), "{text}");
        }
        assert_eq!("4/4".parse::<Shard>().unwrap().to_string(), "4/4");
    }
}
