//! The layout of a zip that is being written: headers before the members, the directory at the end.

use super::super::write::AllRecords;
use super::super::{MemberKind, NewMember};
use super::method_number;
use super::record::{
    FLAG_UTF8, METHOD_ZSTD, MemberFacts, NewHeader, write_central, write_end, write_local,
};
use crate::archive::Method;
use crate::error::Result;
use crate::fs::File;
use crate::pipeline;

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

/// Members of which the directory is made at once.
const STEP: usize = 1024;

/// The end of the directory: the members that are written behind those of the payload.
#[derive(Debug, Default)]
pub(in crate::archive) struct ZipLayout {
    directory: Vec<u8>,
    entries: u64,
}

/// An archive to its end, as it was meant.
#[derive(Debug)]
pub(in crate::archive) struct WrittenZip {
    pub(super) layout: ZipLayout,
    /// Where the directory begins.
    pub(super) directory_at: u64,
    /// How many members it lists.
    pub(super) entries: u64,
    /// Where the archive ends.
    pub(in crate::archive) end: u64,
}

impl ZipLayout {
    /// Adds what was written.
    pub(in crate::archive) fn add(&mut self, member: &NewMember<'_>, record: &Record) {
        push_record(&mut self.directory, member, record);
        self.entries += 1;
    }

    /// Writes the directory at `at`, and what ends the archive.
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

    /// The blocks of the directory, and how many members each is of. The last one is of those that were added here.
    pub(super) fn blocks(
        &self,
        records: AllRecords<'_, '_>,
    ) -> impl Iterator<Item = (Vec<u8>, u64)> {
        let of_records = pipeline::ranges(records.count, STEP).map(move |range| {
            let (mut block, mut entries) = (Vec::new(), 0);
            for (member, record) in (records.of)(range) {
                push_record(&mut block, &member, &record);
                entries += 1;
            }
            (block, entries)
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

/// A time in seconds since 1970 UTC in DOS form: two-second steps, 1980 to 2107.
fn dos_time(seconds: u64) -> u32 {
    /// 1980-01-01 00:00:00 and 2107-12-31 23:59:58.
    const RANGE: std::ops::RangeInclusive<u64> = 315_532_800..=4_354_819_198;
    let seconds = seconds.clamp(*RANGE.start(), *RANGE.end());
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    // Years counted from March 1 end with their leap day; 719_468 days lie before 1970-03-01 - 59.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let date = ((year - 1980) << 9) | (month << 5) | day;
    let time = ((time / 3600) << 11) | (((time / 60) % 60) << 5) | ((time % 60) / 2);
    u32::try_from((date << 16) | time).expect("a year of the range")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dos_times_of_known_days() {
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
}
