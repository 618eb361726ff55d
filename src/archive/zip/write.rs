//! The layout of a zip during writing: headers before the members, the directory at the end.
//!
//! Before the zip is renamed, an independent implementation reads it back. This cannot be disabled, because an archive
//! that only its writer can read is lost.

use std::io::{self, Read, Seek, SeekFrom};
use std::iter;
use std::sync::Arc;

use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use super::super::data::{Stretch, ZipData};
use super::super::write::AllRecords;
use super::super::write::read_back::{failed, unread};
use super::super::{MemberKind, Method, NewMember};
use super::headers;
use super::new_record::{NewHeader, method_number, write_central, write_end, write_local};
use super::record::{FLAG_UTF8, LOCAL_LEN, METHOD_ZSTD, MemberFacts};
use crate::error::Result;
use crate::fs::File;
use crate::time::Calendar;

/// The values of a member's headers that become known when it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    /// Offset of its header.
    pub(crate) at: u64,
    pub(in crate::archive) crc: u32,
    pub(in crate::archive) packed_size: u64,
    pub(in crate::archive) method: Method,
}

impl Record {
    /// Creates the record of a stored member.
    pub(in crate::archive) fn stored(member: &NewMember<'_>, at: u64, crc: u32) -> Self {
        Self { at, crc, packed_size: member.size, method: Method::Stored }
    }
}

/// Number of members per block of the directory.
const STEP: usize = 1024;

/// The end of the directory: the members written after the payload.
#[derive(Debug, Default)]
pub(in crate::archive) struct ZipLayout {
    directory: Vec<u8>,
    entries: u64,
}

/// The location of the parts of a written archive.
#[derive(Debug)]
pub(in crate::archive) struct WrittenZip {
    layout: ZipLayout,
    /// Offset of the directory.
    directory_at: u64,
    /// Number of members in the directory.
    entries: u64,
    /// Offset of the end of the archive.
    pub(in crate::archive) end: u64,
}

impl ZipLayout {
    /// Adds a written member.
    pub(in crate::archive) fn add(&mut self, member: &NewMember<'_>, record: &Record) {
        push_record(&mut self.directory, member, record);
        self.entries += 1;
    }

    /// Writes the directory at `at`, and the end records.
    pub(in crate::archive) fn finish(
        self,
        file: &File,
        at: u64,
        records: AllRecords<'_, '_>,
    ) -> Result<WrittenZip> {
        let (mut end, mut entries) = (at, 0);
        for (block, of_block) in self.blocks(records) {
            file.write_all_at(&block, end)?;
            end += block.len() as u64;
            entries += of_block;
        }
        let mut last = Vec::new();
        write_end(&mut last, entries, at, end - at);
        file.write_all_at(&last, end)?;
        let end = end + last.len() as u64;
        Ok(WrittenZip { layout: self, directory_at: at, entries, end })
    }

    /// Returns the blocks of the directory with their numbers of members. The last block contains the members added
    /// here.
    fn blocks(&self, records: AllRecords<'_, '_>) -> impl Iterator<Item = (Vec<u8>, u64)> {
        let mut records = records();
        let of_records = iter::from_fn(move || {
            let (mut block, mut entries) = (Vec::new(), 0);
            for (member, record) in records.by_ref().take(STEP) {
                push_record(&mut block, &member, &record);
                entries += 1;
            }
            (entries > 0).then_some((block, entries))
        });
        of_records.chain([(self.directory.clone(), self.entries)])
    }
}

fn push_record(directory: &mut Vec<u8>, member: &NewMember<'_>, record: &Record) {
    with_header(member, record, |header| write_central(directory, header, record.at));
}

fn with_header<T>(
    member: &NewMember<'_>,
    record: &Record,
    use_header: impl FnOnce(&NewHeader<'_>) -> T,
) -> T {
    let path = &*member.path;
    let directory = member.kind == MemberKind::Directory;
    let slashed;
    let name = if directory {
        slashed = format!("{path}/");
        slashed.as_bytes()
    } else {
        path.as_bytes()
    };
    let method = method_number(record.method);
    let is_wide = member.size.max(record.packed_size) >= u64::from(u32::MAX);
    let facts = MemberFacts {
        // The version that a reader needs: 4.5 for zip64, 6.3 for Zstandard, 2.0 for others.
        version_needed: match method {
            METHOD_ZSTD => 63,
            _ if is_wide => 45,
            _ => 20,
        },
        flags: if path.is_ascii() { 0 } else { FLAG_UTF8 },
        method,
        modified: dos_time(member.modified),
        crc: record.crc,
        packed_size: record.packed_size,
        size: member.size,
    };
    use_header(&NewHeader {
        name,
        facts,
        align_at: member.align_at.filter(|_| record.method == Method::Stored),
        // The Unix mode is in the upper half, the DOS directory bit in the lower half.
        external_attributes: if directory { (0o040_755 << 16) | 0x10 } else { 0o100_644 << 16 },
    })
}

/// Appends the header of a member.
pub(in crate::archive) fn header(out: &mut Vec<u8>, member: &NewMember<'_>, record: &Record) {
    with_header(member, record, |header| write_local(out, header, record.at));
}

/// Converts seconds since 1970 UTC to DOS format: steps of two seconds, 1980 to 2107.
fn dos_time(seconds: u64) -> u32 {
    /// 1980-01-01 00:00:00 and 2107-12-31 23:59:58.
    const RANGE: std::ops::RangeInclusive<u64> = 315_532_800..=4_354_819_198;
    let seconds = seconds.clamp(*RANGE.start(), *RANGE.end());
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    let days = i32::try_from(days).expect("the year is in range");
    let (year, month, day) = Calendar::ProlepticGregorian.date(days);
    let date = ((year - 1980) << 9) | (month << 5) | day;
    let time = ((time / 3600) << 11) | (((time / 60) % 60) << 5) | ((time % 60) / 2);
    (date.cast_unsigned() << 16) | u32::try_from(time).expect("less than a day")
}

/// Bytes read around a header: many headers of small members, little of a large one.
const WINDOW: usize = 16 * 1024;

/// Compares the name, sizes, checksum and offset of every member, read by the other implementation, with the intended
/// values. Also checks that its local header agrees with the directory, which must equal the written one byte for byte.
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
            return Err(failed("the directory differs from the written one".to_owned()));
        }
        at += block.len() as u64;
        for meant in headers(&block, written.directory_at) {
            let (_, meant) = meant.map_err(|finding| failed(finding.to_string()))?;
            let name = || String::from_utf8_lossy(meant.name).into_owned();
            let entry = match read.next() {
                Some(Ok(entry)) => entry,
                Some(Err(error @ ZipError::Io(_))) => return Err(refused(error)),
                Some(Err(error)) => return Err(failed(format!("`{}`: {error}", name()))),
                None => return Err(failed(format!("`{}` is missing", name()))),
            };
            let same = entry.name_raw() == meant.name
                && entry.size() == meant.facts.size
                && entry.compressed_size() == meant.facts.packed_size
                && entry.crc32() == meant.facts.crc
                && entry.header_start() == meant.local;
            if !same {
                return Err(failed(format!("`{}` differs from the written one", name())));
            }
        }
    }
    Ok(())
}

/// Returns the content of a file whose header was written at an offset. `None` if there is no header with that name.
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
    let name_at = record.at + LOCAL_LEN as u64;
    let mut found = vec![0; usize::from(name_len)];
    file.read_exact_at(&mut found, name_at)?;
    if found != name.as_bytes() {
        return Ok(None);
    }
    let data = name_at + u64::from(name_len) + u64::from(extra_len);
    let packed = Stretch::new(Arc::clone(file), data, record.packed_size);
    ZipData::new(packed, None, record.method, size, record.crc).map(Some)
}

/// Two read windows on a file, because the reader alternates between two positions that both move forward: the
/// directory and the members' headers.
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
            // The most recently used window becomes the first; the other is refilled.
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
    use super::*;
    use crate::archive::Records;
    use crate::fs::PendingFile;

    #[test]
    fn dos_times_of_known_dates() {
        // 1980-01-01, 2000-02-29 12:34:56, 2107-12-31 23:59:58
        assert_eq!(dos_time(0), 0x0021_0000);
        assert_eq!(
            dos_time(951_827_696),
            (20 << 25) | (2 << 21) | (29 << 16) | (12 << 11) | ((34 << 5) + 28)
        );
        assert_eq!(
            dos_time(u64::MAX),
            (127 << 25) | (12 << 21) | (31 << 16) | (23 << 11) | ((59 << 5) + 29)
        );
    }

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
        // All headers have the same length.
        let mut bytes = Vec::new();
        header(&mut bytes, &named(number), &Record::stored(&named(number), 0, 0));
        let at = (bytes.len() * number) as u64;
        Record::stored(&named(number), at, 0)
    }

    fn wide(number: usize) -> u64 {
        u64::try_from(number).unwrap()
    }

    fn records() -> Records<'static, 'static> {
        Box::new((0..COUNT).map(|number| (named(number), record(number))))
    }

    #[test]
    fn errors_in_any_block_are_detected() {
        let directory = tempfile::tempdir().unwrap();
        let pending = PendingFile::create(&directory.path().join("x.zip"), true).unwrap();
        let file = pending.file();
        let mut bytes = Vec::new();
        for number in 0..COUNT {
            header(&mut bytes, &named(number), &record(number));
        }
        file.write_all_at(&bytes, 0).unwrap();
        let all: AllRecords<'_, '_> = &records;
        let at = wide(bytes.len());
        let written = ZipLayout::default().finish(file, at, all).unwrap();
        pending.set_len(written.end).unwrap();
        check(file, &written, all).unwrap();
        let record_len = wide(51);
        // The name of a member in its header, its name in the directory, the length of its comment, and the number of
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
