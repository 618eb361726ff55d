//! Reads back the zip that was just written, with an implementation that is not ours, before it gets
//! its name. There is no way to skip this: an archive that only its writer can read is lost.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use super::super::data::{Stretch, ZipData};
use super::super::write::AllRecords;
use super::super::write::read_back::{failed, unread};
use super::headers;
use super::record::LOCAL_LEN;
use super::write::{Record, WrittenZip};
use crate::error::Result;
use crate::fs::File;

/// Bytes that are read around a header: many headers of small members, little of a large one.
const WINDOW: usize = 16 * 1024;

/// Compares every member, as the other implementation reads it from the file, with what was meant:
/// name, sizes, checksum, offset; and that its local header says the same as the directory, which has to lie in the file
/// byte for byte.
pub(in crate::archive) fn check(
    file: &File,
    written: &WrittenZip,
    records: AllRecords<'_, '_>,
) -> Result<()> {
    let failed = |what: String| failed(file, what);
    let refused = |error: ZipError| match error {
        ZipError::Io(error) => unread(file, error),
        other => failed(other.to_string()),
    };
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let archive = ZipIterable::try_new(Windows::new(file, written.end), config).map_err(refused)?;
    let found = archive.len();
    if found as u64 != written.entries {
        return Err(failed(format!("expected {} members, found {found}", written.entries)));
    }
    let mut archive = archive.enforce_header_consistency(true);
    let read = archive.files().map_err(refused)?;
    let (mut in_file, mut at) = (Vec::new(), written.directory_at);
    for (block, _) in written.layout.blocks(records) {
        in_file.resize(block.len(), 0);
        file.read_exact_at(&mut in_file, at)?;
        if in_file != block {
            return Err(failed("the directory is not as it was written".to_owned()));
        }
        at += block.len() as u64;
        for meant in headers(&block, written.directory_at) {
            let meant = meant.map_err(|finding| failed(finding.to_string()))?;
            let name = || String::from_utf8_lossy(meant.name).into_owned();
            let entry = match read.next() {
                Some(Ok(entry)) => entry,
                Some(Err(error @ ZipError::Io(_))) => return Err(refused(error)),
                Some(Err(error)) => return Err(failed(format!("`{}`: {error}", name()))),
                None => return Err(failed(format!("`{}` is not there", name()))),
            };
            let same = entry.name_raw() == meant.name
                && entry.size() == meant.facts.size
                && entry.compressed_size() == meant.facts.packed_size
                && entry.crc32() == meant.facts.crc
                && entry.header_start() == meant.local;
            if !same {
                return Err(failed(format!("`{}` is not as it was written", name())));
            }
        }
    }
    Ok(())
}

/// The content of a file at the place where its header was written; nothing where there is no header of that name.
pub(in crate::archive) fn content(
    file: &Arc<File>,
    name: &str,
    record: &Record,
    size: u64,
) -> Result<Option<ZipData>> {
    let mut header = [0; LOCAL_LEN];
    file.read_exact_at(&mut header, record.at)?;
    let [.., a, b, c, d] = header;
    let (name_len, extra_len) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
    let name_at = record.at.saturating_add(LOCAL_LEN as u64);
    let mut found = vec![0; usize::from(name_len)];
    file.read_exact_at(&mut found, name_at)?;
    if found != name.as_bytes() {
        return Ok(None);
    }
    let data = name_at.saturating_add(u64::from(name_len)).saturating_add(u64::from(extra_len));
    let packed = Stretch::new(Arc::clone(file), data, record.packed_size);
    ZipData::new(packed, None, record.method, size, record.crc).map(Some)
}

/// A file seen through two windows, since the reader goes to and fro between two places that both
/// move forward: the directory and the members' headers.
struct Windows<'a> {
    file: &'a File,
    len: u64,
    position: u64,
    blocks: [(u64, Vec<u8>); 2],
}

impl<'a> Windows<'a> {
    fn new(file: &'a File, len: u64) -> Self {
        Self { file, len, position: 0, blocks: [(0, Vec::new()), (0, Vec::new())] }
    }

    fn ready(&self) -> Option<&[u8]> {
        self.blocks.iter().find_map(|(start, bytes)| {
            let skip = usize::try_from(self.position.checked_sub(*start)?).ok()?;
            bytes.get(skip..).filter(|ready| !ready.is_empty())
        })
    }
}

impl Read for Windows<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ready().is_none() {
            // The window used last becomes the first; the other one is refilled.
            self.blocks.swap(0, 1);
            let [(start, bytes), _] = &mut self.blocks;
            *start = self.position;
            bytes.resize(WINDOW, 0);
            let count = self.file.read_at(bytes, self.position)?;
            bytes.truncate(count);
        }
        let count = self.ready().map_or(Ok(0), |mut ready| ready.read(out))?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Windows<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.len.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::super::write::{self, ZipLayout};
    use super::*;
    use crate::archive::{MemberKind, NewMember, Records};
    use crate::fs::PendingFile;

    const COUNT: usize = 5000;

    fn named(number: usize) -> NewMember<'static> {
        NewMember {
            path: format!("{number:05}").into(),
            kind: MemberKind::File,
            size: 0,
            modified: 0,
            align_at: None,
        }
    }

    fn record(number: usize) -> Record {
        // Each header has the same length.
        let mut header = Vec::new();
        write::header(&mut header, &named(number), &Record::stored(&named(number), 0, 0));
        let at = (header.len() * number) as u64;
        Record::stored(&named(number), at, 0)
    }

    fn wide(number: usize) -> u64 {
        u64::try_from(number).unwrap()
    }

    fn records(range: Range<usize>) -> Records<'static, 'static> {
        Box::new(range.map(|number| (named(number), record(number))))
    }

    #[test]
    fn whatever_is_wrong_in_any_block_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let pending = PendingFile::create(&directory.path().join("x.zip"), true).unwrap();
        let file = pending.file();
        let mut headers = Vec::new();
        for number in 0..COUNT {
            write::header(&mut headers, &named(number), &record(number));
        }
        file.write_all_at(&headers, 0).unwrap();
        let all = AllRecords { count: COUNT, of: &records };
        let at = wide(headers.len());
        let written = ZipLayout::default().finish(file, at, all).unwrap();
        pending.set_len(written.end).unwrap();
        check(file, &written, all).unwrap();
        let record_len = wide(51);
        // The name of a member in its header, its name in the directory and the length of its comment, the number of
        // members.
        for number in [0, 1023, 1024, 4999].map(wide) {
            for place in [
                at / wide(COUNT) * number + 30,
                at + record_len * number + 46,
                at + record_len * number + 32,
                written.end - 12,
            ] {
                let mut byte = [0];
                assert_eq!(file.read_at(&mut byte, place).unwrap(), 1);
                file.write_all_at(&[byte[0] ^ 1], place).unwrap();
                let error = check(file, &written, all).unwrap_err().to_string();
                assert!(error.contains("read back"), "{error}");
                file.write_all_at(&byte, place).unwrap();
            }
        }
        check(file, &written, all).unwrap();
    }
}
