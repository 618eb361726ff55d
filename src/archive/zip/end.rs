//! The end of a zip: the records that say where its directory is, and what else could be taken for it.

use super::record::{
    CENTRAL_LEN, CentralHeader, END_LEN, END64_LEN, EndRecord, EndRecord64, Fields, LOCAL,
    LOCATOR64_LEN, Locator64,
};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::File;

/// Longest tail in which an end record can lie: the record and the longest comment.
const MAX_TAIL: u64 = 22 + 65_535;
/// A tail that holds the end records of a zip without a comment.
const SHORT_TAIL: u64 = 512;

/// The bytes that begin an end record.
const END_SIGNATURE: &[u8] = b"PK\x05\x06";

/// What the end records say, checked against each other and against the length of the file.
#[derive(Debug)]
pub(super) struct EndOfArchive {
    pub(super) directory_offset: u64,
    pub(super) directory_len: u64,
    pub(super) entries: u64,
    /// Length of the archive's comment.
    pub(super) comment_len: u64,
    /// What is odd about the records, but leaves no doubt where the directory is.
    pub(super) findings: Vec<Finding>,
}

impl EndOfArchive {
    /// Finds the end record. What leaves doubt about the directory is an error.
    pub(super) fn find(file: &File, len: u64) -> Result<Self> {
        let damaged = |finding| Error::damaged(file.path(), finding);
        for tail_len in [SHORT_TAIL.min(len), MAX_TAIL.min(len)] {
            let start = len.saturating_sub(tail_len);
            let mut tail = vec![0; usize::try_from(tail_len).unwrap_or(0)];
            file.read_exact_at(&mut tail, start)?;
            let ends = end_records(&tail, wide(tail.len()));
            if let [(at, end)] = ends[..] {
                let before = tail.get(..at).unwrap_or_default();
                let comment = tail.get(at..).unwrap_or_default();
                let at = start.saturating_add(wide(at));
                return Self::check(file, len, &end, at, before, comment).map_err(
                    |error| match error {
                        Trouble::Finding(finding) => damaged(*finding),
                        Trouble::Error(error) => *error,
                    },
                );
            }
            if ends.len() > 1 {
                return Err(damaged(two_ends(start)));
            }
        }
        Err(damaged(not_a_zip(file, len)?))
    }

    fn check(
        file: &File,
        len: u64,
        end: &EndRecord,
        at: u64,
        before: &[u8],
        comment: &[u8],
    ) -> Result<Self, Trouble> {
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
            let locator_at = at.saturating_sub(wide(LOCATOR64_LEN));
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
            return Err(Trouble::Finding(Box::new(
                Finding::new(Code::SplitArchive, "the archive is spread over several files")
                    .at_byte(at)
                    .hint("join its parts with the tool that made it"),
            )));
        }
        let claimed_end = this.directory_offset.checked_add(this.directory_len);
        if claimed_end != Some(directory_end) {
            return Err(misplaced(file, &this, directory_end, at)?);
        }
        if this.entries.saturating_mul(wide(CENTRAL_LEN)) > this.directory_len {
            return Err(bad(
                Code::BadDirectory,
                at,
                "the end record counts more members than the directory can hold",
            ));
        }
        let comment = comment.get(END_LEN..).unwrap_or_default();
        if memchr::memmem::find(comment, END_SIGNATURE).is_some() {
            return Err(bad(
                Code::SecondEndRecord,
                at,
                "the archive's comment holds another end record, which some programs \
                                would read instead",
            ));
        }
        if end.comment_len > 0 {
            this.findings.push(
                Finding::new(
                    Code::OddContainer,
                    "the archive has a comment, which no manifest covers",
                )
                .at_byte(len.saturating_sub(this.comment_len)),
            );
        }
        Ok(this)
    }
}

/// The zip64 end record, which must lie just before its locator and say what the end record says.
fn read_end64(
    file: &File,
    end: &EndRecord,
    locator: &Locator64,
    locator_at: u64,
) -> Result<EndRecord64, Trouble> {
    let mut record = [0; END64_LEN];
    let end64 = locator
        .end64_offset
        .checked_add(wide(END64_LEN))
        .filter(|end| *end <= locator_at)
        .map(|_| file.read_exact_at(&mut record, locator.end64_offset))
        .transpose()
        .map_err(|error| Trouble::Error(Box::new(error)))?
        .and_then(|()| EndRecord64::read(&record));
    let Some(end64) = end64 else {
        return Err(lie(locator_at, "the zip64 locator does not point to a zip64 end record"));
    };
    let record_end = locator.end64_offset.saturating_add(12).saturating_add(end64.record_len);
    if record_end != locator_at {
        return Err(lie(
            locator.end64_offset,
            "the zip64 end record does not end where its locator begins",
        ));
    }
    // Python and others look for the directory just before a record of the usual length.
    if end64.record_len != wide(END64_LEN) - 12 {
        return Err(lie(
            locator.end64_offset,
            "the zip64 end record is longer than usual, so that programs look for the directory in \
             different places",
        ));
    }
    let narrow = |short: u16, long: u64| short == u16::MAX || u64::from(short) == long;
    let wide = |short: u32, long: u64| short == u32::MAX || u64::from(short) == long;
    let agree = narrow(end.entries, end64.entries)
        && narrow(end.disk, u64::from(end64.disk))
        && narrow(end.directory_disk, u64::from(end64.directory_disk))
        && narrow(end.disk_entries, end64.disk_entries)
        && wide(end.directory_len, end64.directory_len)
        && wide(end.directory_offset, end64.directory_offset);
    if !agree {
        return Err(lie(locator.end64_offset, "the end record and the zip64 end record disagree"));
    }
    Ok(end64)
}

/// Why there is no directory: what the file says, or what the system says.
enum Trouble {
    Finding(Box<Finding>),
    Error(Box<Error>),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Error(Box::new(error))
    }
}

fn bad(code: Code, at: u64, message: &str) -> Trouble {
    Trouble::Finding(Box::new(Finding::new(code, message).at_byte(at)))
}

fn lie(at: u64, message: &str) -> Trouble {
    bad(Code::Zip64Mismatch, at, message)
}

/// Why the directory, which `end` claims, does not end at `directory_end`: the whole archive was moved
/// by what was put before it, or the numbers are wrong.
fn misplaced(
    file: &File,
    claimed: &EndOfArchive,
    directory_end: u64,
    at: u64,
) -> Result<Trouble, Trouble> {
    if let Some(moved) = prepended(file, claimed, directory_end)? {
        return Ok(Trouble::Finding(Box::new(
            Finding::new(Code::PrependedBytes, format!("{moved} bytes precede the archive"))
                .at_byte(0)
                .hint("keep only its own bytes; it may have been glued to another file"),
        )));
    }
    Ok(Trouble::Finding(Box::new(
        Finding::new(Code::BadDirectory, "the directory does not end where the end record begins")
            .at_byte(at)
            .expected(
                format!("a directory that ends at byte {directory_end}"),
                format!(
                    "one of {} bytes from byte {} on",
                    claimed.directory_len, claimed.directory_offset
                ),
            )
            .hint("compare it with another copy; a part of the archive may be missing"),
    )))
}

/// How far the archive was moved, when its directory and a member lie that much further back than they
/// claim.
fn prepended(
    file: &File,
    claimed: &EndOfArchive,
    directory_end: u64,
) -> Result<Option<u64>, Trouble> {
    let end = claimed.directory_offset.saturating_add(claimed.directory_len);
    let Some(moved) = directory_end.checked_sub(end).filter(|moved| *moved > 0) else {
        return Ok(None);
    };
    // Enough for a record with the longest name that systems have; a longer one is no loss.
    let mut record = vec![0; CENTRAL_LEN + 4096];
    let filled = file.read_at(&mut record, claimed.directory_offset.saturating_add(moved))?;
    let record = record.get(..filled).unwrap_or_default();
    let Some(header) = CentralHeader::read(&mut Fields(record)) else { return Ok(None) };
    let mut signature = [0; 4];
    let filled = file.read_at(&mut signature, header.local.saturating_add(moved))?;
    Ok((filled == 4 && u32::from_le_bytes(signature) == LOCAL).then_some(moved))
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The end records among some bytes, from which on `left` remain of the file, whose comment ends exactly with it.
fn end_records(bytes: &[u8], left: u64) -> Vec<(usize, EndRecord)> {
    memchr::memmem::find_iter(bytes, END_SIGNATURE)
        .filter_map(|at| {
            let end = EndRecord::read(bytes.get(at..)?)?;
            let length = END_LEN.saturating_add(usize::from(end.comment_len));
            (wide(at.saturating_add(length)) == left).then_some((at, end))
        })
        .collect()
}

/// A second end record that also ends with the file, further back than a reader in a hurry looks.
pub(super) fn rival_end(file: &File, len: u64) -> Result<Option<Finding>> {
    let count = count_ends(file, len)?;
    Ok((count > 1).then(|| two_ends(len.saturating_sub(MAX_TAIL))))
}

/// How many end records end with the file.
pub(in crate::archive) fn count_ends(file: &File, len: u64) -> Result<usize> {
    /// A piece of memory that is at hand; fresh memory for all of it costs more than the calls.
    const PIECE: usize = 8 * 1024;
    let mut piece = [0; PIECE];
    let (mut at, mut count) = (len.saturating_sub(MAX_TAIL), 0_usize);
    while at < len {
        let left = len.saturating_sub(at);
        let length = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        let bytes = piece.get_mut(..length).unwrap_or_default();
        file.read_exact_at(bytes, at)?;
        count = count.saturating_add(end_records(bytes, left).len());
        // A record that is cut here is whole in the next piece.
        let step = if wide(length) < left { length.saturating_sub(END_LEN - 1) } else { length };
        at = at.saturating_add(wide(step));
    }
    Ok(count)
}

fn two_ends(start: u64) -> Finding {
    Finding::new(
        Code::SecondEndRecord,
        "the archive has more than one end record, so it can be read as two different archives",
    )
    .at_byte(start)
    .hint("take it from whoever made it, or unpack it with the tool that made it and pack it anew")
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
                "keep its first {at} bytes only; `bsdtar` pads what it writes to a pipe, not to a file"
            )),
            None => Finding::new(
                Code::NotAnArchive,
                "the zip has no end record that ends with the file: it is cut off",
            )
            .at_byte(len)
            .hint(
                "take it from another copy; without one, `bsdtar -xf - < ARCHIVE` reads the members \
                 before the cut, and the manifest beside the archive says which of them are whole",
            ),
        }
    } else {
        Finding::new(Code::NotAnArchive, "the file is neither a zip nor a tar")
            .at_byte(0)
            .hint("compare it with another copy")
    };
    Ok(finding)
}

/// Where an archive ends that is whole and has something behind it.
fn trailing(file: &File, len: u64) -> Result<Option<u64>> {
    /// How far back its end is looked for: what is appended by accident is short.
    const SEARCHED: u64 = 1 << 20;
    let start = len.saturating_sub(SEARCHED);
    let mut tail = vec![0; usize::try_from(len.saturating_sub(start)).unwrap_or(0)];
    file.read_exact_at(&mut tail, start)?;
    let mut ends = memchr::memmem::rfind_iter(&tail, END_SIGNATURE).filter_map(|at| {
        let end = EndRecord::read(tail.get(at..)?)?;
        let position = start.checked_add(wide(at))?;
        let directory_end =
            u64::from(end.directory_offset).checked_add(u64::from(end.directory_len))?;
        let length = wide(END_LEN).checked_add(u64::from(end.comment_len))?;
        let after = position.checked_add(length).filter(|after| *after < len)?;
        let has_zip64 = at
            .checked_sub(LOCATOR64_LEN)
            .and_then(|before| Locator64::read(tail.get(before..at)?))
            .is_some();
        (has_zip64 || directory_end == position).then_some(after)
    });
    Ok(ends.next())
}
