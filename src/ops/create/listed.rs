//! The payload as it was written: what the manifests list.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::Range;

use super::members::Members;
use super::wide;
use crate::archive::{MemberKind, Records, Sampled};
use crate::digest::{Algorithm, Digest, Digests};
use crate::error::Result;
use crate::manifest::{NameEncoding, line_len, push_line};
use crate::ops::survey::{SourceEntry, State};
use crate::pipeline;

/// The members of the payload in the order of their names.
#[derive(Clone, Copy)]
pub(super) struct Payload<'p> {
    pub(super) entries: &'p [SourceEntry],
    pub(super) members: Members<'p>,
}

impl<'p> Payload<'p> {
    /// The files, by their names in the archive: their lengths and digests.
    pub(super) fn files(self) -> impl Iterator<Item = (Cow<'p, str>, u64, &'p Digests)> {
        self.files_of(self.entries)
    }

    fn files_of(
        self,
        entries: &'p [SourceEntry],
    ) -> impl Iterator<Item = (Cow<'p, str>, u64, &'p Digests)> {
        entries.iter().filter_map(move |entry| {
            let State::Written(MemberKind::File, size, _, placed) = &entry.state else {
                return None;
            };
            let name = self.members.placement.placed(entry.path.as_str());
            Some((name, *size, &placed.digests))
        })
    }

    /// Files whose contents are read back: few enough to take next to no time, and from all places of the
    /// archive; of a stream from its beginning, since all before each has to be read.
    pub(super) fn sample(self, is_stream: bool) -> Vec<Sampled<'p>> {
        /// Most files.
        const MOST: usize = 32;
        /// Bytes of them, where the archive is small.
        const BYTES: u64 = 256 * 1024;
        /// Of a large archive this part is read: a thousandth of the time that hashing it took, and less than ten
        /// of them where sixteen jobs shared it.
        const PART: u64 = 1024;
        let sizes = || self.files().map(|(_, size, _)| size);
        let mut left = sizes().fold(0, u64::saturating_add).div_euclid(PART).max(BYTES);
        let ends = sizes().scan(0_u64, |end, size| {
            *end = end.saturating_add(size);
            Some(*end)
        });
        let count =
            if is_stream { ends.take_while(|end| *end <= left).count() } else { ends.count() };
        let written = self.entries.iter().filter_map(|entry| match &entry.state {
            State::Written(MemberKind::File, size, _, placed) => Some((entry, *size, placed)),
            _ => None,
        });
        let some = written.take(count).step_by(count.div_ceil(MOST).max(1));
        let sampled = some.filter_map(|(entry, size, placed)| {
            // One that is too large takes nothing from those behind it.
            left = left.checked_sub(size)?;
            Some(Sampled {
                name: self.members.placement.placed(entry.path.as_str()),
                record: placed.record,
                size,
                sha256: placed.digests.made_by(Algorithm::Sha256),
            })
        });
        sampled.collect()
    }

    /// What the directory of the archive says of those of a range that are members.
    pub(super) fn records(self, range: Range<usize>) -> Records<'p, 'p> {
        let entries = self.entries.get(range).unwrap_or_default();
        Box::new(entries.iter().filter_map(move |entry| {
            let State::Written(_, _, _, placed) = &entry.state else { return None };
            Some((self.members.of(entry)?, placed.record))
        }))
    }
}

/// Files whose lines are made at once.
const STEP: usize = 512;

/// The manifests of the payload, made as they are written.
pub(super) struct Lists<'p> {
    payload: Payload<'p>,
    names: NameEncoding,
    /// A file beside the payload that has a line among the others.
    pub(super) own: Option<(&'p str, Digests)>,
    /// Bytes of all files of the payload.
    pub(super) bytes: u64,
    /// How many there are.
    pub(super) files: u64,
}

impl<'p> Lists<'p> {
    pub(super) fn new(payload: Payload<'p>, names: NameEncoding) -> Self {
        let count = |(bytes, files): (u64, u64), size: u64| {
            (bytes.saturating_add(size), files.saturating_add(1))
        };
        let (bytes, files) = payload.files().map(|(_, size, _)| size).fold((0, 0), count);
        Self { payload, names, own: None, bytes, files }
    }

    /// The length of the manifest by one algorithm.
    pub(super) fn len_of(&self, algorithm: Algorithm, jobs: usize) -> u64 {
        let len_of = |(): &mut (), step| {
            let mut len = 0_u64;
            self.each(algorithm, step, |name, digest| {
                len = len.saturating_add(wide(line_len(self.names, name, digest)));
            });
            Ok::<_, Infallible>(len)
        };
        let Ok(lens) = pipeline::share(jobs, 0..self.steps(), || (), len_of);
        lens.into_iter().fold(0, u64::saturating_add)
    }

    /// Gives the manifest by one algorithm in blocks, which several jobs make.
    pub(super) fn each_block(
        &self,
        algorithm: Algorithm,
        jobs: usize,
        mut sink: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let make = |(): &mut (), step| {
            let mut block = Vec::new();
            let push = |name: &str, digest: &Digest| {
                push_line(&mut block, self.names, name, digest);
            };
            self.each(algorithm, step, push);
            Ok(block)
        };
        let steps = 0..self.steps();
        pipeline::ordered(pipeline::workers(jobs), steps, || (), make, |block| sink(&block))
    }

    /// How many steps there are: one at least, for a file beside the payload.
    fn steps(&self) -> usize {
        self.payload.entries.len().div_ceil(STEP).max(1)
    }

    /// Gives each file that is listed in one step, in the order of their names.
    fn each(&self, algorithm: Algorithm, step: usize, mut take: impl FnMut(&str, &Digest)) {
        let entries = self.payload.entries;
        let start = step.saturating_mul(STEP);
        let end = start.saturating_add(STEP).min(entries.len());
        let is_last = end == entries.len();
        let place = |name: &str| entries.partition_point(|entry| entry.path.as_str() < name);
        let own = self.own.as_ref().map(|(name, digests)| (place(name), *name, digests));
        let own = own.filter(|(at, ..)| (start..end).contains(at) || (is_last && *at == end));
        let at = own.map_or(end, |(at, ..)| at);
        let own = own.map(|(_, name, digests)| (Cow::Borrowed(name), digests));
        let files = |range| {
            let files = self.payload.files_of(entries.get(range).unwrap_or_default());
            files.map(|(name, _, digests)| (name, digests))
        };
        for (name, digests) in files(start..at).chain(own).chain(files(at..end)) {
            // In a bag, manifests name files relative to its own directory.
            let name = self.payload.members.placement.relative(&name).unwrap_or(&name);
            take(name, &digests.made_by(algorithm));
        }
    }
}
