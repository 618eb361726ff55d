//! A second look: the contents of members whose places a pass over the archive has found and checked.
//! Nothing but their bytes is read again.

use std::io::BufRead;
use std::ops::Range;
use std::sync::Arc;

use super::data::{Packed, Stretch, ZipData};
use super::window::Window;
use super::{Location, Member};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::parallel;

/// Members that one job takes at a time: enough that jobs seldom meet in one directory.
const MEMBERS: usize = 512;
/// Bytes of members that one job takes at a time, when it takes several.
const BYTES: u64 = 4 * 1024 * 1024;
/// Members up to this packed size are read whole, together with their neighbours.
const WHOLE: u64 = 1024 * 1024;

/// Looks at the content of one of the wanted members, by its number among them; every job has an `S`.
pub(crate) type Revisit<'a, S, T> = dyn Fn(&mut S, usize, &mut dyn BufRead) -> T + Sync + 'a;

/// Shows the contents of the `wanted` of `members`, which lie in `file`; gives the results in the order
/// of `wanted`.
pub(super) fn revisit<S, T: Send>(
    file: &Arc<File>,
    members: &[Member],
    wanted: &[usize],
    jobs: usize,
    state: &(dyn Fn() -> S + Sync),
    visit: &Revisit<'_, S, T>,
) -> Result<Vec<T>> {
    let member = |position: usize| members.get(*wanted.get(position)?);
    let begins = |position: &usize| member(*position).map_or(u64::MAX, begin);
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    if !order.is_sorted_by_key(begins) {
        order.sort_by_key(begins);
    }
    let sizes = order.iter().map(|position| member(*position).map_or(0, |m| m.packed_size));
    let portions = portions(sizes, jobs);
    let chunks = parallel::map_ranges(
        jobs,
        portions.len(),
        1,
        || (Window::new(Arc::clone(file)), state()),
        |(window, state), range| {
            let mut visited = Vec::new();
            for portion in portions.get(range).unwrap_or_default() {
                let positions = order.get(portion.clone()).unwrap_or_default();
                let last = positions.last().and_then(|position| member(*position));
                window.limit = last.map_or(0, |m| begin(m).saturating_add(m.packed_size));
                visited.reserve(positions.len());
                for position in positions {
                    let Some(member) = member(*position) else { continue };
                    let result =
                        show(member, window, &mut |content| visit(state, *position, content))?;
                    visited.push((*position, result));
                }
            }
            Ok::<_, Error>(visited)
        },
    )?;
    let mut results: Vec<(usize, T)> = chunks.into_iter().flatten().collect();
    results.sort_by_key(|(position, _)| *position);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Where the packed bytes begin.
fn begin(member: &Member) -> u64 {
    match member.location {
        Location::At { data } | Location::Packed { data, .. } => data,
        Location::Named | Location::Listed | Location::Stream => u64::MAX,
    }
}

fn show<T>(
    member: &Member,
    window: &mut Window,
    visit: &mut dyn FnMut(&mut dyn BufRead) -> T,
) -> Result<T> {
    let data = begin(member);
    let whole = match usize::try_from(member.packed_size) {
        Ok(length) if member.packed_size <= WHOLE => window.get(data, length)?,
        _ => None,
    };
    let mut packed = match whole {
        Some(bytes) => Packed::Slice(bytes),
        None => Packed::Stretch(Stretch::new(Arc::clone(&window.file), data, member.packed_size)),
    };
    let Location::Packed { crc, .. } = member.location else { return Ok(visit(&mut packed)) };
    match ZipData::new(packed, member.method, member.size, crc) {
        Ok(Some(mut content)) => Ok(visit(&mut content)),
        Ok(None) => Err(Error::Unsupported(format!("{} is not supported", member.method))),
        Err(error) => Err(Error::Unsupported(error.to_string())),
    }
}

/// Cuts members of these sizes into what one job takes at a time. The largest portions come first, so
/// that no job is left alone with one at the end; the others stay in their order.
fn portions(sizes: impl ExactSizeIterator<Item = u64>, jobs: usize) -> Vec<Range<usize>> {
    // Of few members, too, every job gets some.
    let most = sizes.len().div_ceil(jobs.saturating_mul(8).max(1)).clamp(1, MEMBERS);
    let mut portions: Vec<(Range<usize>, u64)> = Vec::new();
    for (index, size) in sizes.enumerate() {
        match portions.last_mut() {
            Some((portion, bytes))
                if portion.len() < most && bytes.saturating_add(size) <= BYTES =>
            {
                portion.end = index.saturating_add(1);
                *bytes = bytes.saturating_add(size);
            }
            _ => portions.push((index..index.saturating_add(1), size)),
        }
    }
    portions.sort_by_key(|(_, bytes)| std::cmp::Reverse((*bytes).max(BYTES)));
    portions.into_iter().map(|(portion, _)| portion).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::{Archive, ArchiveWriter, Compression, Container, MemberKind, NewMember};
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

    /// An archive of these contents, named by their numbers.
    fn archive(
        path: &Path,
        (container, compression): (Container, Compression),
        contents: &[Vec<u8>],
    ) -> Archive {
        let pending = PendingFile::create(path, true).unwrap();
        let mut writer = ArchiveWriter::new(container, compression, &pending, path, 1).unwrap();
        for (number, content) in contents.iter().enumerate() {
            let member = NewMember {
                path: named(number).into(),
                kind: MemberKind::File,
                size: u64::try_from(content.len()).unwrap(),
                modified: 0,
                align_at: None,
            };
            writer.write_bytes(&member, content).unwrap();
        }
        writer.finish(&|| Box::new(std::iter::empty())).unwrap();
        pending.persist().unwrap();
        Archive::open(path).unwrap()
    }

    /// The same as files.
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

    /// What a second look sees of every member whose bit in `mask` is set is what the first one saw.
    fn assert_same(archive: Archive, mask: u64, jobs: usize) {
        let scan = archive.scan(jobs, &|_, content| read(content)).unwrap();
        let (members, seen): (Vec<_>, Vec<_>) = scan.members.into_iter().unzip();
        let is_wanted =
            |number: &usize| mask.rotate_right(u32::try_from(number % 64).unwrap()) & 1 == 1;
        let wanted: Vec<usize> = (0..members.len()).filter(is_wanted).collect();
        let look =
            |(): &mut (), position: usize, content: &mut dyn BufRead| (position, read(content));
        let again =
            archive.into_contents().revisit(&members, &wanted, jobs, &|| (), &look).unwrap();
        let expected = wanted.iter().map(|number| seen[*number].clone().unwrap());
        assert!(again == expected.enumerate().collect::<Vec<_>>());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn a_second_look_sees_what_the_first_saw(
            mut contents in vec(vec(any::<u8>(), 0..400), 0..80),
            large in 0..3 * usize::try_from(WHOLE).unwrap(),
            mask in prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)],
            jobs in 1..4_usize,
        ) {
            contents.insert(contents.len() / 2, (0..=u8::MAX).cycle().take(large).collect());
            let scratch = tempfile::tempdir().unwrap();
            for way in WAYS {
                assert_same(archive(&scratch.path().join("x"), way, &contents), mask, jobs);
            }
            let files = tempfile::tempdir().unwrap();
            assert_same(directory(files.path(), &contents), mask, jobs);
        }
    }

    proptest! {
        #[test]
        fn every_member_is_in_one_portion(
            sizes in vec(
                prop_oneof![0..100_u64, 0..8 * BYTES, Just(u64::MAX)],
                0..2000,
            ),
            jobs in 0..9_usize,
        ) {
            let mut portions = portions(sizes.iter().copied(), jobs);
            let bytes = |portion: &Range<usize>| {
                sizes[portion.clone()].iter().fold(0_u64, |sum, size| sum.saturating_add(*size))
            };
            let large: Vec<u64> = portions.iter().map(bytes).filter(|b| *b > BYTES).collect();
            prop_assert!(large.is_sorted_by(|a, b| a >= b));
            prop_assert!(portions[..large.len()].iter().all(|portion| portion.len() == 1));
            prop_assert!(portions[large.len()..].is_sorted_by_key(|portion| portion.start));
            portions.sort_by_key(|portion| portion.start);
            let flat: Vec<usize> = portions.into_iter().flatten().collect();
            prop_assert_eq!(flat, (0..sizes.len()).collect::<Vec<_>>());
        }
    }
}
