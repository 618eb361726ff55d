//! The layout of a zip that is being written: headers before the members, the directory at the end.

use super::super::write::AllRecords;
use super::super::{MemberKind, NewMember};
use super::method_number;
use super::record::{
    FLAG_UTF8, Facts, LocalHeader, METHOD_ZSTD, NewHeader, dos_time, write_central, write_end,
    write_local,
};
use crate::archive::Method;
use crate::error::Result;
use crate::fs::File;

/// What the headers of a member say that is known when it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    /// Where its header begins.
    pub(crate) at: u64,
    pub(in crate::archive) crc: u32,
    pub(in crate::archive) packed_size: u64,
    pub(in crate::archive) method: Method,
}

impl Record {
    /// Of a member that is stored as it is.
    pub(in crate::archive) fn stored(member: &NewMember<'_>, at: u64, crc: u32) -> Self {
        Self { at, crc, packed_size: member.size, method: Method::Stored }
    }
}

/// Bytes of the directory that are written at once.
const BLOCK: usize = 64 * 1024;

/// The end of the directory: the members that are written behind those of the payload.
#[derive(Debug, Default)]
pub(in crate::archive) struct ZipLayout {
    directory: Vec<u8>,
    entries: u64,
}

impl ZipLayout {
    /// Adds what was written.
    pub(in crate::archive) fn add(&mut self, member: &NewMember<'_>, record: &Record) {
        with_header(member, record, |header| {
            write_central(&mut self.directory, header, record.at);
        });
        self.entries = self.entries.saturating_add(1);
    }

    /// Writes the directory at `at` and gives the length of the archive.
    pub(in crate::archive) fn finish(
        &self,
        file: &File,
        at: u64,
        records: &AllRecords<'_, '_>,
    ) -> Result<u64> {
        let mut end_at = at;
        let entries = self.each_block(records, |block| {
            file.write_all_at(block, end_at)?;
            end_at = end_at.saturating_add(wide(block.len()));
            Ok(())
        })?;
        let mut end = Vec::new();
        write_end(&mut end, entries, at, end_at.saturating_sub(at));
        file.write_all_at(&end, end_at)?;
        Ok(end_at.saturating_add(wide(end.len())))
    }

    /// Gives the whole directory to `sink` in blocks, each of whole records, and counts these.
    pub(super) fn each_block(
        &self,
        records: &AllRecords<'_, '_>,
        mut sink: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<u64> {
        let mut entries = self.entries;
        let mut block = Vec::new();
        for (member, record) in records() {
            with_header(&member, &record, |header| write_central(&mut block, header, record.at));
            entries = entries.saturating_add(1);
            if block.len() >= BLOCK {
                sink(&block)?;
                block.clear();
            }
        }
        block.extend_from_slice(&self.directory);
        sink(&block)?;
        Ok(entries)
    }
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
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
    let facts = Facts {
        // What a reader must know: version 4.5 for zip64, 6.3 for Zstandard, 2.0 for the rest.
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
        // The mode of Unix in the upper half, the directory bit of DOS in the lower.
        external_attributes: if directory { (0o040_755 << 16) | 0x10 } else { 0o100_644 << 16 },
    })
}

/// Appends the header of a member.
pub(in crate::archive) fn header(out: &mut Vec<u8>, member: &NewMember<'_>, record: &Record) {
    with_header(member, record, |header| write_local(out, header, record.at));
}

/// Where the next member begins.
pub(in crate::archive) fn end_of(member: &NewMember<'_>, record: &Record) -> u64 {
    with_header(member, record, |header| LocalHeader::written_len(header, record.at))
        .saturating_add(record.at)
        .saturating_add(record.packed_size)
}

/// Where the member after a stored one begins, which needs no look at its content.
pub(in crate::archive) fn end_of_stored(member: &NewMember<'_>, at: u64) -> u64 {
    end_of(member, &Record::stored(member, at, 0))
}

/// Appends the header of a member that is stored as it is.
pub(in crate::archive) fn stored_header(
    out: &mut Vec<u8>,
    member: &NewMember<'_>,
    at: u64,
    crc: u32,
) {
    header(out, member, &Record::stored(member, at, crc));
}
