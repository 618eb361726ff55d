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
use super::super::write::failed::{failed, unread};
use super::super::write::{Alignment, AllRecords, NewMember, Record};
use super::super::{MemberKind, Method};
use super::headers;
use super::record::{
    CENTRAL, END, END64, END64_LEN, ESCAPE32, EXTRA_ALIGNMENT, EXTRA_ZIP64, FLAG_UTF8, LOCAL,
    LOCAL_LEN, LOCATOR64, METHOD_DEFLATE, METHOD_STORED, METHOD_ZSTD, MemberFacts,
};
use crate::error::Result;
use crate::fs::File;
use crate::time::Calendar;

/// The shortest alignment field in bytes: identifier, length, and the alignment itself.
const MIN_ALIGNMENT_FIELD: u64 = 6;

/// Number of members per block of the directory.
const STEP: usize = 1024;

/// The location of the parts of a written archive.
#[derive(Debug)]
pub(in crate::archive) struct WrittenZip {
    /// Offset of the directory.
    directory_at: u64,
    /// Number of members in the directory.
    entries: u64,
    /// Offset of the end of the archive.
    pub(in crate::archive) end: u64,
}

/// Writes the directory at an offset, and the end records.
pub(in crate::archive) fn write_directory(
    file: &File,
    directory_at: u64,
    records: AllRecords<'_, '_>,
) -> Result<WrittenZip> {
    let (mut end, mut entries) = (directory_at, 0);
    for (block, of_block) in blocks(records) {
        file.write_all_at(&block, end)?;
        end += block.len() as u64;
        entries += of_block;
    }
    let mut last = Vec::new();
    write_end(&mut last, entries, directory_at, end - directory_at);
    file.write_all_at(&last, end)?;
    let end = end + last.len() as u64;
    Ok(WrittenZip { directory_at, entries, end })
}

/// Returns the blocks of the directory with their numbers of members.
fn blocks(records: AllRecords<'_, '_>) -> impl Iterator<Item = (Vec<u8>, u64)> {
    let mut records = records();
    iter::from_fn(move || {
        let (mut block, mut entries) = (Vec::new(), 0);
        for (member, record) in records.by_ref().take(STEP) {
            with_header(&member, &record, |header| write_central(&mut block, header, record.at));
            entries += 1;
        }
        (entries > 0).then_some((block, entries))
    })
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
        align: member.align.filter(|_| record.method == Method::Stored),
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

const ESCAPE16: u16 = u16::MAX;

/// Returns the value for a 32-bit field, or the escape if it does not fit.
fn narrow32(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(ESCAPE32)
}

fn is_wide(value: u64) -> bool {
    value >= u64::from(ESCAPE32)
}

fn narrow16(value: usize) -> u16 {
    u16::try_from(value).unwrap_or(ESCAPE16)
}

/// The values of a member's headers.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewHeader<'a> {
    pub(super) name: &'a [u8],
    pub(super) facts: MemberFacts,
    pub(super) align: Option<Alignment>,
    pub(super) external_attributes: u32,
}

impl NewHeader<'_> {
    fn is_wide(&self) -> bool {
        is_wide(self.facts.size) || is_wide(self.facts.packed_size)
    }
}

/// Returns the alignment of a header at `at` that has `fixed` bytes without a field for it, and the length of that field.
fn alignment_padding(member: &NewHeader<'_>, at: u64, fixed: usize) -> Option<(u16, usize)> {
    let Alignment { at: aligned, to } = member.align?;
    let data = at.wrapping_add(fixed as u64).wrapping_add(aligned);
    if data.is_multiple_of(to) {
        return None;
    }
    let short = to - data.wrapping_add(MIN_ALIGNMENT_FIELD) % to;
    let padding = usize::try_from(MIN_ALIGNMENT_FIELD + short % to);
    let to = u16::try_from(to).expect("an alignment has at most 4,096 bytes");
    Some((to, padding.expect("less than two alignments")))
}

/// Appends the local header of a member at offset `at`.
pub(super) fn write_local(out: &mut Vec<u8>, member: &NewHeader<'_>, at: u64) {
    let fixed = LOCAL_LEN + member.name.len();
    let zip64: usize = if member.is_wide() { 20 } else { 0 };
    let alignment = alignment_padding(member, at, fixed + zip64);
    let padding = alignment.map_or(0, |(_, len)| len);
    out.extend(LOCAL.to_le_bytes());
    if member.is_wide() {
        // A local header must have either both sizes in the zip64 field or none (§4.5.3).
        let escaped = u64::from(ESCAPE32);
        MemberFacts { packed_size: escaped, size: escaped, ..member.facts }.write(out);
    } else {
        member.facts.write(out);
    }
    out.extend(narrow16(member.name.len()).to_le_bytes());
    out.extend(narrow16(zip64 + padding).to_le_bytes());
    out.extend_from_slice(member.name);
    if member.is_wide() {
        out.extend(EXTRA_ZIP64.to_le_bytes());
        out.extend(16_u16.to_le_bytes());
        out.extend(member.facts.size.to_le_bytes());
        out.extend(member.facts.packed_size.to_le_bytes());
    }
    if let Some((to, len)) = alignment {
        let end = out.len() + len;
        out.extend(EXTRA_ALIGNMENT.to_le_bytes());
        out.extend(narrow16(len - 4).to_le_bytes());
        out.extend(to.to_le_bytes());
        out.resize(end, 0);
    }
}

impl MemberFacts {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.version_needed.to_le_bytes());
        out.extend(self.flags.to_le_bytes());
        out.extend(self.method.to_le_bytes());
        out.extend(self.modified.to_le_bytes());
        out.extend(self.crc.to_le_bytes());
        out.extend(narrow32(self.packed_size).to_le_bytes());
        out.extend(narrow32(self.size).to_le_bytes());
    }
}

/// "Version made by": version 4.5 of the specification, on Unix. Constant on all systems.
const VERSION_MADE_BY: u16 = (3 << 8) + 45;

/// Appends the directory record of a member whose local header is at offset `at`.
pub(super) fn write_central(out: &mut Vec<u8>, member: &NewHeader<'_>, at: u64) {
    let (size, packed_size) = (member.facts.size, member.facts.packed_size);
    let wide: Vec<u64> =
        [size, packed_size, at].into_iter().filter(|value| is_wide(*value)).collect();
    out.extend(CENTRAL.to_le_bytes());
    out.extend(VERSION_MADE_BY.to_le_bytes());
    member.facts.write(out);
    out.extend(narrow16(member.name.len()).to_le_bytes());
    let extra = if wide.is_empty() { 0 } else { wide.len() * 8 + 4 };
    out.extend(narrow16(extra).to_le_bytes());
    out.extend(0_u16.to_le_bytes()); // comment
    out.extend(0_u16.to_le_bytes()); // disk
    out.extend(0_u16.to_le_bytes()); // internal attributes
    out.extend(member.external_attributes.to_le_bytes());
    out.extend(narrow32(at).to_le_bytes());
    out.extend_from_slice(member.name);
    if !wide.is_empty() {
        out.extend(EXTRA_ZIP64.to_le_bytes());
        out.extend(narrow16(wide.len() * 8).to_le_bytes());
        for value in wide {
            out.extend(value.to_le_bytes());
        }
    }
}

/// Appends the end of an archive with `entries` members and a directory of `len` bytes at `offset`: the end record,
/// after zip64 records if a number needs them.
pub(super) fn write_end(out: &mut Vec<u8>, entries: u64, offset: u64, len: u64) {
    if entries >= u64::from(ESCAPE16) || is_wide(offset) || is_wide(len) {
        out.extend(END64.to_le_bytes());
        out.extend((END64_LEN as u64 - 12).to_le_bytes());
        out.extend(VERSION_MADE_BY.to_le_bytes());
        out.extend(45_u16.to_le_bytes()); // version needed
        out.extend([0; 8]); // disks
        for number in [entries, entries, len, offset] {
            out.extend(number.to_le_bytes());
        }
        out.extend(LOCATOR64.to_le_bytes());
        out.extend([0; 4]); // disk
        out.extend((offset + len).to_le_bytes());
        out.extend(1_u32.to_le_bytes()); // number of disks
    }
    let entries = u16::try_from(entries).unwrap_or(ESCAPE16);
    out.extend(END.to_le_bytes());
    out.extend([0; 4]); // disks
    out.extend(entries.to_le_bytes());
    out.extend(entries.to_le_bytes());
    out.extend(narrow32(len).to_le_bytes());
    out.extend(narrow32(offset).to_le_bytes());
    out.extend([0; 2]); // comment
}

/// Returns the number of a method.
pub(super) fn method_number(method: Method) -> u16 {
    match method {
        Method::Stored | Method::Solid => METHOD_STORED,
        Method::Deflate => METHOD_DEFLATE,
        Method::Zstd => METHOD_ZSTD,
        Method::Other(number) => number,
    }
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
    for (block, _) in blocks(records) {
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
            align: None,
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
        let written = write_directory(file, at, all).unwrap();
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
