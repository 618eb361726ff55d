//! The end records of a zip, which locate its directory, and other bytes that could be mistaken for them.

use super::record::{
    CENTRAL_LEN, CentralHeader, END_LEN, END64_LEN, EndRecord, EndRecord64, LOCAL, LOCATOR64_LEN,
    Locator64,
};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::File;
use crate::message::Message;

/// Maximum distance of an end record from the end: its length and the longest comment.
const MAX_TAIL: u64 = 22 + 65_535;
/// Number of last bytes that fast readers search. It contains the end records of a zip without a comment.
const SHORT_TAIL: u64 = 512;

/// The signature of an end record.
const END_SIGNATURE: &[u8] = b"PK\x05\x06";

/// Number of last bytes to search. Accidental additions are short.
const SEARCHED_FOR_END: u64 = 1 << 20;

/// The values of the end records, checked against each other and the length of the file.
#[derive(Debug)]
pub(super) struct EndOfArchive {
    pub(super) directory_offset: u64,
    pub(super) directory_len: u64,
    pub(super) entries: u64,
    /// Length of the archive's comment in bytes.
    pub(super) comment_len: u64,
    /// Warnings that leave no doubt about the location of the directory.
    pub(super) findings: Vec<Finding>,
}

impl EndOfArchive {
    /// Finds the end record. Any doubt about the location of the directory is an error.
    pub(super) fn find(file: &File, len: u64) -> Result<Self> {
        let two_ends = |tail: u64| {
            let message = "the archive has more than one end record, so programs can read it as two different archives";
            let finding =
                Finding::new(Code::SecondEndRecord, message).at_byte(len.saturating_sub(tail));
            let hint = "get it from its author, or unpack it with the program that made it and pack it again";
            Error::damaged(file.path(), finding.hint(hint))
        };
        let (start, tail) = read_tail(file, len, MAX_TAIL)?;
        let (ends, others) = match &*end_records(&tail) {
            [] => return Err(Error::damaged(file.path(), not_a_zip(file, len)?)),
            [others @ .., end] => (*end, others.to_vec()),
        };
        // Fast readers search only these bytes.
        let is_short = |(at, _): &(usize, EndRecord)| start + *at as u64 + SHORT_TAIL >= len;
        if others.iter().any(is_short) {
            return Err(two_ends(SHORT_TAIL));
        }
        let (at, end) = ends;
        let (before, comment) = tail.split_at(at);
        let found = Self::check(file, len, &end, start + at as u64, before, comment)?;
        if others.is_empty() { Ok(found) } else { Err(two_ends(MAX_TAIL)) }
    }

    fn check(
        file: &File,
        len: u64,
        end: &EndRecord,
        at: u64,
        before: &[u8],
        comment: &[u8],
    ) -> Result<Self> {
        let locator = before
            .len()
            .checked_sub(LOCATOR64_LEN)
            .and_then(|start| Locator64::read(before.get(start..)?));
        let mut this = Self {
            directory_offset: u64::from(end.directory_offset),
            directory_len: u64::from(end.directory_len),
            entries: u64::from(end.entries),
            comment_len: u64::from(end.comment_len),
            findings: Vec::new(),
        };
        let mut directory_end = at;
        let mut disks = [end.disk, end.directory_disk].map(u32::from);
        let mut disk_entries = u64::from(end.disk_entries);
        if let Some(locator) = locator {
            let locator_at = at - LOCATOR64_LEN as u64;
            let end64 = read_end64(file, end, &locator, locator_at)?;
            this.directory_offset = end64.directory_offset;
            this.directory_len = end64.directory_len;
            this.entries = end64.entries;
            directory_end = locator.end64_offset;
            disk_entries = end64.disk_entries;
            disks = [end64.disk, end64.directory_disk];
            if locator.disk != 0 || locator.disks > 1 {
                disks = [1, 1];
            }
        }
        if disks != [0, 0] || disk_entries != this.entries {
            let finding =
                Finding::new(Code::SplitArchive, "the archive is spread over several files")
                    .at_byte(at)
                    .hint("join its parts with the program that made it");
            return Err(Error::damaged(file.path(), finding));
        }
        let claimed_end = this.directory_offset.checked_add(this.directory_len);
        if claimed_end != Some(directory_end) {
            return Err(Error::damaged(file.path(), misplaced(file, &this, directory_end, at)?));
        }
        if this.entries.saturating_mul(CENTRAL_LEN as u64) > this.directory_len {
            return Err(bad(
                file,
                Code::BadDirectory,
                at,
                "the end record counts more members than fit in the directory",
            ));
        }
        let comment = comment.split_at(END_LEN).1;
        if memchr::memmem::find(comment, END_SIGNATURE).is_some() {
            return Err(bad(
                file,
                Code::SecondEndRecord,
                at,
                "the archive's comment contains another end record, which some programs \
                                would read instead",
            ));
        }
        if end.comment_len > 0 {
            this.findings.push(
                Finding::new(
                    Code::OddContainer,
                    "the archive has a comment, which no manifest covers",
                )
                .at_byte(len - this.comment_len),
            );
        }
        Ok(this)
    }
}

/// Reads the zip64 end record, which must precede its locator and agree with the end record.
fn read_end64(
    file: &File,
    end: &EndRecord,
    locator: &Locator64,
    locator_at: u64,
) -> Result<EndRecord64> {
    let mut record = [0; END64_LEN];
    let end64 = locator
        .end64_offset
        .checked_add(END64_LEN as u64)
        .filter(|end| *end <= locator_at)
        .map(|_| file.read_exact_at(&mut record, locator.end64_offset))
        .transpose()?
        .and_then(|()| EndRecord64::read(&record));
    let Some(end64) = end64 else {
        let message = "the zip64 locator does not point to a zip64 end record";
        return Err(bad(file, Code::Zip64Mismatch, locator_at, message));
    };
    let record_end = locator.end64_offset.saturating_add(12).saturating_add(end64.record_len);
    let narrow = |short: u16, long: u64| short == u16::MAX || u64::from(short) == long;
    let wide = |short: u32, long: u64| short == u32::MAX || u64::from(short) == long;
    let agree = narrow(end.entries, end64.entries)
        && narrow(end.disk, u64::from(end64.disk))
        && narrow(end.directory_disk, u64::from(end64.directory_disk))
        && narrow(end.disk_entries, end64.disk_entries)
        && wide(end.directory_len, end64.directory_len)
        && wide(end.directory_offset, end64.directory_offset);
    let message = if record_end != locator_at {
        "the zip64 end record does not end where its locator begins"
    } else if end64.record_len != END64_LEN as u64 - 12 {
        // Python and others look for the directory just before a record of the usual length.
        "the zip64 end record is longer than usual, so programs look for the directory in \
         different places"
    } else if !agree {
        "the end record and the zip64 end record differ"
    } else {
        return Ok(end64);
    };
    Err(bad(file, Code::Zip64Mismatch, locator.end64_offset, message))
}

fn bad(file: &File, code: Code, at: u64, message: &str) -> Error {
    Error::damaged(file.path(), Finding::new(code, message).at_byte(at))
}

/// Returns why the directory in `end` does not end at `directory_end`: bytes were inserted before the archive, or the
/// numbers are wrong.
fn misplaced(file: &File, claimed: &EndOfArchive, directory_end: u64, at: u64) -> Result<Finding> {
    if let Some(moved) = prepended(file, claimed, directory_end)? {
        let message = format!("{moved} bytes precede the archive");
        let hint = "remove the bytes before it; it may have been appended to another file";
        return Ok(Finding::new(Code::PrependedBytes, message).at_byte(0).hint(hint));
    }
    let EndOfArchive { directory_len, directory_offset, .. } = claimed;
    let message = "the directory does not end where the end record begins";
    Ok(Finding::new(Code::BadDirectory, message)
        .at_byte(at)
        .expected(
            format!("a directory that ends at byte {directory_end}"),
            format!("{directory_len} bytes from byte {directory_offset}"),
        )
        .hint("compare it with another copy; part of the archive may be missing"))
}

/// Returns by how many bytes the archive was moved, if its directory and a member are both that far after their
/// declared offsets.
fn prepended(file: &File, claimed: &EndOfArchive, directory_end: u64) -> Result<Option<u64>> {
    let end = claimed.directory_offset.saturating_add(claimed.directory_len);
    let Some(moved) = directory_end.checked_sub(end).filter(|moved| *moved > 0) else {
        return Ok(None);
    };
    // Enough for a record with the longest name of common systems. Longer ones are not recognized, which is acceptable.
    let mut record = vec![0; CENTRAL_LEN + 4096];
    let filled = file.read_at(&mut record, claimed.directory_offset.saturating_add(moved))?;
    let record = record.split_at(filled).0;
    let Some((header, _)) = CentralHeader::split(record) else { return Ok(None) };
    let mut signature = [0; 4];
    let filled = file.read_at(&mut signature, header.local.saturating_add(moved))?;
    Ok((filled == 4 && u32::from_le_bytes(signature) == LOCAL).then_some(moved))
}

/// Returns the last bytes of a file and their offset.
fn read_tail(file: &File, len: u64, most: u64) -> Result<(u64, Vec<u8>)> {
    let start = len.saturating_sub(most);
    let mut tail = vec![0; usize::try_from(len - start).expect("a tail is short")];
    file.read_exact_at(&mut tail, start)?;
    Ok((start, tail))
}

/// Returns the end records whose comment ends exactly at the end of the file.
fn end_records(tail: &[u8]) -> Vec<(usize, EndRecord)> {
    let ends = memchr::memmem::find_iter(tail, END_SIGNATURE);
    let ends = ends.filter_map(|at| Some((at, EndRecord::read(tail.get(at..)?)?)));
    ends.filter(|(at, end)| at + END_LEN + usize::from(end.comment_len) == tail.len()).collect()
}

/// Returns the number of end records that end with the file.
pub(in crate::archive) fn count_ends(file: &File, len: u64) -> Result<usize> {
    let (_, tail) = read_tail(file, len, MAX_TAIL)?;
    Ok(end_records(&tail).len())
}

fn not_a_zip(file: &File, len: u64) -> Result<Finding> {
    let mut start = [0; 4];
    let filled = file.read_at(&mut start, 0)?;
    let finding = if len == 0 {
        Finding::new(Code::NotAnArchive, "the file is empty")
    } else if start.get(..filled).is_some_and(|start| start.starts_with(b"PK")) {
        match trailing(file, len)? {
            Some(at) => Finding::new(
                Code::TrailingBytes,
                format!("{} bytes follow the end of the archive", len.saturating_sub(at)),
            )
            .at_byte(at)
            .hint(format!(
                "keep only its first {at} bytes, as `head -c {at}` prints them; `bsdtar` adds padding when \
                 it writes to a pipe"
            )),
            None => Finding::new(
                Code::NotAnArchive,
                "the zip has no end record at its end: it is cut off",
            )
            .at_byte(len)
            .hint(
                Message::from("restore it from another copy; without one, `ra-pack salvage ")
                    .file("")
                    .text(" -o salvaged.zip` keeps the files that a manifest confirms"),
            ),
        }
    } else {
        Finding::new(Code::NotAnArchive, "the file is neither a zip nor a tar")
            .at_byte(0)
            .hint("compare it with another copy")
    };
    Ok(finding)
}

/// Returns the end of a complete archive that is followed by other bytes.
fn trailing(file: &File, len: u64) -> Result<Option<u64>> {
    let (start, tail) = read_tail(file, len, SEARCHED_FOR_END)?;
    let mut ends = memchr::memmem::rfind_iter(&tail, END_SIGNATURE).filter_map(|at| {
        let end = EndRecord::read(tail.get(at..)?)?;
        let position = start.checked_add(at as u64)?;
        let directory_end =
            u64::from(end.directory_offset).checked_add(u64::from(end.directory_len))?;
        let length = (END_LEN as u64).checked_add(u64::from(end.comment_len))?;
        let after = position.checked_add(length).filter(|after| *after < len)?;
        let has_zip64 = at
            .checked_sub(LOCATOR64_LEN)
            .and_then(|before| Locator64::read(tail.get(before..at)?))
            .is_some();
        (has_zip64 || directory_end == position).then_some(after)
    });
    Ok(ends.next())
}
