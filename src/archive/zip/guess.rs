//! A member among the last ones of a zip, looked at before the directory is read: a guess, by which work may
//! begin early, and which counts for nothing until the directory confirms it.

use std::sync::Arc;

use memchr::memmem;

use super::super::window::Window;
use super::super::{Location, Member};
use super::ZipArchive;
use super::directory::Entry;
use super::end::EndOfArchive;
use super::record::{CENTRAL_LEN, CentralHeader, Fields};
use super::scan::Span;

/// Bytes at the end of the directory that are looked at.
const TAIL: u64 = 8 * 1024;

/// The last member called `name`, when it is near the end and nothing is wrong with it.
pub(super) fn guess(zip: &ZipArchive, name: &str) -> Option<Member> {
    let EndOfArchive { directory_offset, directory_len, .. } = zip.end;
    let length = directory_len.min(TAIL);
    let mut tail = vec![0; usize::try_from(length).ok()?];
    let start = directory_offset.saturating_add(directory_len).saturating_sub(length);
    zip.file.read_exact_at(&mut tail, start).ok()?;
    let at = memmem::rfind(&tail, name.as_bytes())?.checked_sub(CENTRAL_LEN)?;
    let header = CentralHeader::read(&mut Fields(tail.get(at..)?))?;
    if header.name != name.as_bytes() {
        return None;
    }
    let mut entry = Entry::new(&header);
    let span = Span { entry: &entry, end: directory_offset, directory: directory_offset };
    let data = span.check(&mut Window::new(Arc::clone(&zip.file)), &mut Vec::new()).ok()??;
    entry.member.location = Location::Packed { data, crc: entry.facts.crc };
    Some(entry.member)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{Archive, ArchiveWriter, Compression, Container, MemberKind, NewMember};
    use crate::fs::PendingFile;

    #[test]
    fn the_last_member_of_a_sound_zip_is_guessed() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("x.zip");
        for count in [0, 1, 500] {
            let pending = PendingFile::create(&path, true).unwrap();
            let (container, compression) = (Container::Zip, Compression::Stored);
            let mut writer =
                ArchiveWriter::new(container, compression, &pending, &path, 1).unwrap();
            let names = (0..count).map(|number| format!("{number:03}.bin"));
            for name in names.chain(["the-list.txt".to_owned()]) {
                let member = NewMember {
                    path: name.into(),
                    kind: MemberKind::File,
                    size: 3,
                    modified: 0,
                    align_at: None,
                };
                writer.write_bytes(&member, b"abc").unwrap();
            }
            writer.finish(&|| Box::new(std::iter::empty())).unwrap();
            pending.persist().unwrap();
            let Archive::Zip(zip) = Archive::open(&path).unwrap() else { unreachable!() };
            assert_eq!(guess(&zip, "the-list.txt"), zip.find("the-list.txt", &[]).unwrap());
            assert_eq!(guess(&zip, "list.txt"), None);
            assert_eq!(guess(&zip, "another.txt"), None);
        }
    }
}
