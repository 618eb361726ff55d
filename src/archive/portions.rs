//! Contents of members that are read again after a scan: divided among jobs in portions.

use std::cmp::Reverse;
use std::io::BufRead;
use std::ops::Range;
use std::sync::Arc;

use super::data::{OPENED_FROM, SMALL_BLOCK, Stretch, Window, open};
use super::revisit::{BYTES, Revisit, Shown};
use super::{Archive, Member, Method};
use crate::digest::{Hashing, width};
use crate::error::{Error, Result};
use crate::pipeline::{self, Queue};

/// Maximum number of members per portion: enough that jobs seldom work in the same directory.
const MEMBERS: usize = 512;

/// Maximum number of members that are hashed by a thread of their own. Each needs memory for its blocks.
const MOST_BESIDE: usize = 16;

impl Archive {
    /// Visits the contents of some `members` of an earlier [`Archive::scan`], on `jobs` threads if the container allows
    /// it. `wanted` are the numbers of readable files among the members, ascending; the results are in the same order.
    ///
    /// The container is not checked again, because the locations of the members are known. Content that is read to
    /// its end is checked as in a scan.
    pub(crate) fn revisit_by<R: Revisit>(
        &self,
        members: &[Member],
        wanted: &[usize],
        jobs: usize,
        visit: &R,
    ) -> Result<Vec<R::Output>> {
        let jobs = self.jobs(jobs);
        match self {
            Self::Tar(tarball) if self.is_stream() => tarball.revisit(members, wanted, jobs, visit),
            _ => revisit(self, members, wanted, jobs, visit),
        }
    }
}

/// Visits the `wanted` ones of `members` and returns the results in the order of `wanted`.
fn revisit<R: Revisit>(
    archive: &Archive,
    members: &[Member],
    wanted: &[usize],
    jobs: usize,
    visit: &R,
) -> Result<Vec<R::Output>> {
    let member = |position: usize| {
        let number = wanted.get(position).expect("a position among the wanted");
        members.get(*number).expect("the number of a member")
    };
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|position| member(*position).start());
    let at = |place: usize| {
        let position = *order.get(place).expect("a place in the order");
        (position, member(position))
    };
    let sizes: Vec<u64> = (0..order.len()).map(|place| at(place).1.packed_size).collect();
    let is_stored = |place| at(place).1.method == Method::Stored;
    // Members to read at once. A job takes the next one whenever it has room.
    let (beside, portions) = if archive.costly_seek() {
        // Bytes that follow each other are received together.
        let runs = runs(sizes.iter().copied().enumerate(), sizes.len(), jobs);
        (Vec::new(), runs.map(|run| Portion::Run(run, Hashing::Here)).collect())
    } else {
        portions(&sizes, jobs, visit.at_once(), is_stored)
    };
    let beside = Queue::new(beside.into_iter());
    let chunks = pipeline::share(
        jobs,
        &portions,
        || (archive.file().map(|file| Window::new(Arc::clone(file))), visit.worker()),
        |(window, state), portion| {
            let mut visited = Vec::new();
            match portion {
                Portion::Run(run, hashing) => {
                    let ((_, first), (_, last)) = (at(run.start), at(run.end - 1));
                    if let Some(file) = archive.file() {
                        file.announce(first.start()..last.start().saturating_add(last.packed_size));
                    }
                    visited.reserve(run.len());
                    for (position, member) in run.clone().map(at) {
                        let hashing = *hashing;
                        let mut show = |content: &mut dyn BufRead| {
                            visit.one(state, Shown { position, content, hashing })
                        };
                        let result = match window {
                            Some(window) => {
                                window.limit = last.start().saturating_add(last.packed_size);
                                window.show(member, show)?
                            }
                            None => show(&mut *archive.read(member)?),
                        };
                        visited.push((position, result?));
                    }
                }
                Portion::SideBySide(width) => {
                    let open = |place| {
                        let (position, member) = at(place);
                        let Some(file) = archive.file().filter(|_| *width > 2) else {
                            return Ok((position, archive.read(member)?));
                        };
                        let packed = Stretch::of(file, member).in_blocks_of(SMALL_BLOCK);
                        Ok((position, open(member, packed)?))
                    };
                    let several = |places: &mut dyn Iterator<Item = usize>| {
                        visit.several(state, *width, &mut places.map(open))
                    };
                    visited.extend(beside.work(several)?);
                }
            }
            Ok::<_, Error>(visited)
        },
    )?;
    let mut results: Vec<(usize, R::Output)> = chunks.into_iter().flatten().collect();
    results.sort_by_key(|(position, _)| *position);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// The work that one job takes at a time, as positions in the order of the file.
#[derive(Debug)]
enum Portion {
    /// Adjacent members, or one large member.
    Run(Range<usize>, Hashing),
    /// Large members, this many at once. When one is done, the next takes its lane.
    SideBySide(usize),
}

/// Divides members of these sizes into portions, and returns the positions of those to read at once. Large members come
/// first, the largest before the others, so that no job is left with one at the end. The others keep their order.
fn portions(
    sizes: &[u64],
    jobs: usize,
    at_once: &[usize],
    is_stored: impl Fn(usize) -> bool,
) -> (Vec<usize>, Vec<Portion>) {
    let total = sizes.iter().copied().fold(0, u64::saturating_add);
    let (mut large, small): (Vec<_>, Vec<_>) =
        sizes.iter().copied().enumerate().partition(|(_, size)| *size > OPENED_FROM);
    // Decompression takes longest. Members below the limit keep their order.
    large.sort_by_key(|(place, size)| (is_stored(*place), Reverse((*size).max(BYTES))));
    let stored = large.partition_point(|(place, _)| !is_stored(*place));
    // Decompression takes longer than hashing, and more memory.
    let width = width(at_once, large.len() - stored, jobs);
    let beside = large.split_off(if width > 1 { stored } else { large.len() });
    let mut hashed_beside = 0..if jobs > 1 { MOST_BESIDE } else { 0 };
    let large = large.into_iter().map(|(place, size)| {
        // Larger than one job's share of all members.
        let is_longest = size > BYTES && size.saturating_mul(jobs as u64) > total;
        let is_beside = is_longest && hashed_beside.next().is_some();
        let hashing = if is_beside { Hashing::Beside } else { Hashing::Here };
        Portion::Run(place..place + 1, hashing)
    });
    let mut portions: Vec<_> = large.collect();
    if !beside.is_empty() {
        portions.extend((0..jobs.max(1)).map(|_| Portion::SideBySide(width)));
    }
    let runs = runs(small.into_iter(), sizes.len(), jobs);
    portions.extend(runs.map(|run| Portion::Run(run, Hashing::Here)));
    (beside.into_iter().map(|(place, _)| place).collect(), portions)
}

/// Joins adjacent members, given by their places and sizes, to runs of a few megabytes. `count` is the number of all
/// members.
fn runs(
    members: impl Iterator<Item = (usize, u64)>,
    count: usize,
    jobs: usize,
) -> impl Iterator<Item = Range<usize>> {
    // With few members, every job should still get some.
    let most = count.div_ceil(jobs.max(1) * 8).clamp(1, MEMBERS);
    let mut runs: Vec<(Range<usize>, u64)> = Vec::new();
    for (place, size) in members {
        match runs.last_mut() {
            Some((run, bytes))
                if run.end == place && run.len() < most && bytes.saturating_add(size) <= BYTES =>
            {
                run.end += 1;
                *bytes += size;
            }
            _ => runs.push((place..place + 1, size)),
        }
    }
    runs.into_iter().map(|(run, _)| run)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::{
        Archive, ArchiveWriter, Compression, Container, MemberKind, NewContent, NewMember,
    };
    use super::*;
    use crate::fs::PendingFile;

    const DEFLATE: Compression = Compression::Deflate { level: None };
    const ZSTD: Compression = Compression::Zstd { level: None };
    const WAYS: [(Container, Compression); 6] = [
        (Container::Zip, Compression::Stored),
        (Container::Zip, DEFLATE),
        (Container::Zip, ZSTD),
        (Container::Tar, Compression::Stored),
        (Container::TarGz, Compression::Stored),
        (Container::TarZst, Compression::Stored),
    ];

    fn named(number: usize) -> String {
        format!("{number:04}")
    }

    /// Creates an archive of these contents, named by their numbers.
    fn archive(
        path: &Path,
        (container, compression): (Container, Compression),
        contents: &[Vec<u8>],
    ) -> Archive {
        let pending = PendingFile::create(path, true).unwrap();
        let mut writer = ArchiveWriter::new(container, compression, &pending, &[], 1).unwrap();
        let mut written = Vec::new();
        for (number, content) in contents.iter().enumerate() {
            let member = NewMember {
                path: named(number).into(),
                kind: MemberKind::File,
                size: u64::try_from(content.len()).unwrap(),
                modified: 0,
                align: None,
            };
            let placed = writer.write(&member, NewContent::Bytes(content)).unwrap();
            written.push((member, placed.record));
        }
        writer.finish(&|| Box::new(written.iter().cloned()), &[]).unwrap();
        pending.persist().unwrap();
        Archive::open(path).unwrap()
    }

    /// Creates a directory with these contents.
    fn directory(path: &Path, contents: &[Vec<u8>]) -> Archive {
        for (number, content) in contents.iter().enumerate() {
            std::fs::write(path.join(named(number)), content).unwrap();
        }
        Archive::open(path).unwrap()
    }

    fn read(content: &mut dyn BufRead) -> Vec<u8> {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes).unwrap();
        bytes
    }

    /// Checks that a second visit of the members in `mask` sees the same as the first.
    fn assert_same(archive: &Archive, mask: u64, jobs: usize) {
        let scan = archive.scan(jobs, |_, content| read(content)).unwrap();
        let (members, seen): (Vec<_>, Vec<_>) = scan.members.into_iter().unzip();
        let is_wanted =
            |number: &usize| mask.rotate_right(u32::try_from(number % 64).unwrap()) & 1 == 1;
        let wanted: Vec<usize> = (0..members.len()).filter(is_wanted).collect();
        let look = |(): &mut (), shown: Shown<'_>| Ok((shown.position, read(shown.content)));
        let again = archive.revisit(&members, &wanted, jobs, || (), look).unwrap();
        let expected = wanted.iter().map(|number| seen[*number].clone().unwrap());
        assert!(again == expected.enumerate().collect::<Vec<_>>());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn a_second_visit_sees_the_same(
            mut contents in vec(vec(any::<u8>(), 0..400), 0..80),
            large in 0..3 * usize::try_from(OPENED_FROM).unwrap(),
            mask in prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)],
            jobs in 1..4_usize,
        ) {
            contents.insert(contents.len() / 2, (0..=u8::MAX).cycle().take(large).collect());
            let scratch = tempfile::tempdir().unwrap();
            for way in WAYS {
                assert_same(&archive(&scratch.path().join("x"), way, &contents), mask, jobs);
            }
            let files = tempfile::tempdir().unwrap();
            assert_same(&directory(files.path(), &contents), mask, jobs);
        }
    }

    proptest! {
        #[test]
        fn every_member_is_in_one_portion(
            sizes in vec(
                prop_oneof![20 => 0..100_u64, 20 => 0..8 * BYTES, 1 => Just(u64::MAX)],
                0..2000,
            ),
            jobs in 0..9_usize,
            // Some members are stored, or all, or none.
            stored_from in prop_oneof![Just(0), 0..2000_usize, Just(2000)],
        ) {
            let is_stored = |place: usize| place >= stored_from;
            let (beside, portions) = portions(&sizes, jobs, &[16, 2], is_stored);
            prop_assert!(beside.iter().all(|place| is_stored(*place)));
            let is_large = |portion: &Portion| match portion {
                Portion::Run(run, _) => sizes[run.start] > OPENED_FROM,
                Portion::SideBySide(_) => true,
            };
            let (of_large, runs) = portions.split_at(portions.partition_point(is_large));
            let mut packed = Vec::new();
            for portion in of_large {
                match portion {
                    Portion::Run(run, _) => packed.extend(run.clone()),
                    Portion::SideBySide(width) => prop_assert!(*width <= 16),
                }
            }
            let (packed, stored) = packed.split_at(packed.partition_point(|place| !is_stored(*place)));
            for alike in [packed, stored, &beside] {
                let largest = alike.partition_point(|place| sizes[*place] > BYTES);
                let (largest, others) = alike.split_at(largest);
                prop_assert!(largest.is_sorted_by(|one, next| sizes[*one] >= sizes[*next]));
                prop_assert!(others.is_sorted());
            }
            let large = [packed, stored, &beside].concat();
            prop_assert!(large.iter().all(|place| sizes[*place] > OPENED_FROM));
            let mut small = Vec::new();
            for portion in runs {
                let Portion::Run(run, _) = portion else { unreachable!() };
                prop_assert!(sizes[run.clone()].iter().sum::<u64>() <= BYTES);
                small.extend(run.clone());
            }
            prop_assert!(small.is_sorted());
            let mut all = [large, small].concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..sizes.len()).collect::<Vec<_>>());
        }
    }
}
