//! A long stored text in a zip, read by several threads at once, each from the beginning of a line on.

use std::iter;
use std::ops::Range;

use crc32fast::Hasher;

use super::super::{Location, Member, Method};
use super::ZipArchive;
use crate::error::Result;
use crate::parallel;

/// What of a text is worth a thread.
const SHARE: u64 = 768 * 1024;

/// Bytes that are read at once: larger blocks are no faster, and fresh memory costs more than the calls.
const BLOCK: usize = 64 * 1024;

/// Shows the content of `member` to `take` in blocks, from first to last within each part, each part with a
/// `state` of its own; gives the states in the order of the parts. `None` when it is not worth it or not
/// possible, or when anything is wrong with the content: whoever reads it from the beginning says what.
pub(super) fn by_lines<T: Send>(
    zip: &ZipArchive,
    member: &Member,
    state: impl Fn() -> T + Sync,
    take: impl Fn(&mut T, &[u8]) + Sync,
) -> Option<Vec<T>> {
    let jobs = parallel::jobs_for(member.size, SHARE);
    if jobs <= 1 {
        return None;
    }
    let starts = starts(zip, member, parallel::parts_for(jobs))?;
    in_parts(zip, member, jobs, &starts, state, take)
}

/// Where lines begin that cut a text into `parts` of about the same length.
fn starts(zip: &ZipArchive, member: &Member, parts: u64) -> Option<Vec<u64>> {
    /// Nearly all lines are shorter.
    const WINDOW: u64 = 4 * 1024;
    let data = member.data_offset()?;
    let end = data.saturating_add(member.size);
    let mut starts = Vec::new();
    for part in 1..parts {
        let from = data.saturating_add((member.size / parts).saturating_mul(part));
        let length = usize::try_from(end.saturating_sub(from).min(WINDOW)).unwrap_or(0);
        let mut window = vec![0; length];
        zip.file.read_exact_at(&mut window, from).ok()?;
        let line_end = memchr::memchr(b'\n', &window).and_then(|at| u64::try_from(at).ok());
        starts.extend(line_end.map(|at| from.saturating_add(at).saturating_add(1)));
    }
    Some(starts)
}

fn in_parts<T: Send>(
    zip: &ZipArchive,
    member: &Member,
    jobs: usize,
    starts: &[u64],
    state: impl Fn() -> T + Sync,
    take: impl Fn(&mut T, &[u8]) + Sync,
) -> Option<Vec<T>> {
    let Location::Packed { data, crc } = member.location else { return None };
    if member.method != Method::Stored || member.packed_size != member.size || starts.is_empty() {
        return None;
    }
    let end = data.checked_add(member.size)?;
    let edges: Vec<u64> =
        iter::once(data).chain(starts.iter().copied()).chain(iter::once(end)).collect();
    if !edges.is_sorted() {
        return None;
    }
    let parts = edges.len().saturating_sub(1);
    let work = |block: &mut Vec<u8>, part: Range<usize>| -> Result<_> {
        let edge = |at: usize| edges.get(at).copied().unwrap_or(end);
        let (mut at, until) = (edge(part.start), edge(part.end));
        let (mut state, mut checksum) = (state(), Hasher::new());
        block.resize(BLOCK, 0);
        while at < until {
            let left = until.saturating_sub(at);
            let length = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
            let block = block.get_mut(..length).unwrap_or_default();
            zip.file.read_exact_at(block, at)?;
            checksum.update(block);
            take(&mut state, block);
            at = at.saturating_add(u64::try_from(length).unwrap_or(left));
        }
        Ok((state, checksum))
    };
    let parts = parallel::map_ranges(jobs, parts, 1, Vec::new, work).ok()?;
    let mut checksum = Hasher::new();
    let take = |(state, part): (T, Hasher)| {
        checksum.combine(&part);
        state
    };
    let states = parts.into_iter().map(take).collect();
    (checksum.finalize() == crc).then_some(states)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::by_hand::{Odd, zip_of};
    use super::*;
    use crate::archive::Archive;
    use crate::fs::File;

    fn zip_of_text(text: &[u8], is_damaged: bool) -> Vec<u8> {
        zip_of(&[Odd { is_damaged, ..Odd::new("a.txt", text) }], 0, None)
    }

    fn opened(zip: &[u8]) -> (tempfile::TempPath, Box<ZipArchive>, Member) {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        std::fs::write(&path, zip).unwrap();
        let zip = ZipArchive::open(File::open(path.to_path_buf()).unwrap()).unwrap();
        let member = zip.find("a.txt", &[]).unwrap().unwrap();
        (path, Box::new(zip), member)
    }

    fn append(text: &mut Vec<u8>, block: &[u8]) {
        text.extend_from_slice(block);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn parts_are_the_whole(
            lines in proptest::collection::vec("[a-z]{0,9}", 0..200),
            long in 0_usize..200_000,
            parts in 1_u64..5,
            flipped in any::<bool>(),
        ) {
            let text = [lines.join("\n").as_bytes(), &vec![b'x'; long], lines.join("\n").as_bytes()].concat();
            let (_path, zip, member) = opened(&zip_of_text(&text, flipped));
            let starts = starts(&zip, &member, parts).unwrap();
            let shown = in_parts(&zip, &member, 2, &starts, Vec::new, append);
            prop_assert_eq!(shown.is_some(), !flipped && !starts.is_empty());
            if let Some(shown) = shown {
                let (last, others) = shown.split_last().unwrap();
                prop_assert!(others.iter().all(|part| part.is_empty() || part.ends_with(b"\n")));
                prop_assert_eq!([others.concat(), last.clone()].concat(), text);
            }
        }
    }

    #[test]
    fn a_long_text_is_worth_it() {
        let text = b"a line\n".repeat(400_000);
        let (path, zip, member) = opened(&zip_of_text(&text, false));
        let shown = by_lines(&zip, &member, Vec::new, append);
        assert_eq!(shown.is_some(), parallel::default_jobs() > 1);
        assert_eq!(shown.unwrap_or_else(|| vec![text.clone()]).concat(), text);
        let archive = Archive::open(&path).unwrap();
        // Not what it was when it was found.
        std::fs::write(&path, vec![b'\n'; text.len() / 2]).unwrap();
        assert!(archive.by_lines(&member, Vec::new, append).is_none());
    }
}
