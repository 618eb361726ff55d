//! The directory of a zip: where it is, and what it says of each member.

use super::super::MemberKind;
use super::kind;
use super::record::{
    CENTRAL_LEN, CentralHeader, END_LEN, END64_LEN, EndRecord, EndRecord64, FLAG_UTF8, Facts,
    Fields, LOCATOR64_LEN, Locator64,
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
            let ends = end_records(&tail);
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
                Finding::new(Code::Unsupported, "the archive is spread over several files")
                    .at_byte(at)
                    .hint("join its parts with the tool that made it"),
            )));
        }
        let claimed_end = this.directory_offset.checked_add(this.directory_len);
        if claimed_end != Some(directory_end) {
            return Err(Trouble::Finding(Box::new(
                Finding::new(
                    Code::BadDirectory,
                    "the directory does not end where the end record begins",
                )
                .at_byte(at)
                .expected(
                    format!("a directory that ends at byte {directory_end}"),
                    format!(
                        "one of {} bytes from byte {} on",
                        this.directory_len, this.directory_offset
                    ),
                )
                .hint(
                    "bytes may have been put before the archive, or a part of it is missing; \
                     compare it with another copy",
                ),
            )));
        }
        if this.entries.saturating_mul(wide(CENTRAL_LEN)) > this.directory_len {
            return Err(bad(at, "the end record counts more members than the directory can hold"));
        }
        let comment = comment.get(END_LEN..).unwrap_or_default();
        if memchr::memmem::find(comment, END_SIGNATURE).is_some() {
            return Err(bad(
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
        return Err(bad(locator_at, "the zip64 locator does not point to a zip64 end record"));
    };
    let record_end = locator.end64_offset.saturating_add(12).saturating_add(end64.record_len);
    if record_end != locator_at {
        return Err(bad(
            locator.end64_offset,
            "the zip64 end record does not end where its locator begins",
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
        return Err(bad(locator.end64_offset, "the end record and the zip64 end record disagree"));
    }
    Ok(end64)
}

/// Why there is no directory: what the file says, or what the system says.
enum Trouble {
    Finding(Box<Finding>),
    Error(Box<Error>),
}

fn bad(at: u64, message: &str) -> Trouble {
    Trouble::Finding(Box::new(Finding::new(Code::BadDirectory, message).at_byte(at)))
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The end records of a tail whose comment ends exactly with the file.
fn end_records(tail: &[u8]) -> Vec<(usize, EndRecord)> {
    memchr::memmem::find_iter(tail, END_SIGNATURE)
        .filter_map(|at| {
            let end = EndRecord::read(tail.get(at..)?)?;
            let length = END_LEN.saturating_add(usize::from(end.comment_len));
            (at.saturating_add(length) == tail.len()).then_some((at, end))
        })
        .collect()
}

/// A second end record that also ends with the file, further back than a reader in a hurry looks.
pub(super) fn rival_end(file: &File, len: u64) -> Result<Option<Finding>> {
    let tail_len = MAX_TAIL.min(len);
    let start = len.saturating_sub(tail_len);
    let mut tail = vec![0; usize::try_from(tail_len).unwrap_or(0)];
    file.read_exact_at(&mut tail, start)?;
    Ok((end_records(&tail).len() > 1).then(|| two_ends(start)))
}

fn two_ends(start: u64) -> Finding {
    Finding::new(
        Code::BadDirectory,
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
        Finding::new(
            Code::NotAnArchive,
            "the zip has no end record that ends with the file: it is cut off, or something was \
             appended",
        )
        .at_byte(len)
    } else {
        Finding::new(Code::NotAnArchive, "the file is neither a zip nor a tar").at_byte(0)
    };
    Ok(finding.hint("compare it with another copy"))
}

/// What the directory says of one member.
#[derive(Debug)]
pub(super) struct Entry {
    /// The name, decoded, without the slash that ends a directory's.
    pub(super) name: String,
    /// The name's bytes where they are not the UTF-8 of `name` and its slash.
    pub(super) raw_name: Option<Vec<u8>>,
    pub(super) kind: MemberKind,
    pub(super) facts: Facts,
    /// Where the local header begins.
    pub(super) local: u64,
}

impl Entry {
    pub(super) fn new(header: &CentralHeader<'_>) -> Self {
        let (mut name, legacy) = decode_name(header.name);
        let ends_in_slash = name.ends_with('/');
        if ends_in_slash {
            name.pop();
        }
        Self {
            name,
            raw_name: legacy.then(|| header.name.to_vec()),
            kind: kind(ends_in_slash, header.version_made_by, header.external_attributes),
            facts: header.facts,
            local: header.local,
        }
    }

    /// Whether the name was not marked as what it is.
    pub(super) fn has_legacy_name(&self) -> bool {
        self.raw_name.is_some() || (!self.name.is_ascii() && self.facts.flags & FLAG_UTF8 == 0)
    }

    /// Whether the bytes of a local header's name are this member's.
    pub(super) fn is_named(&self, raw: &[u8]) -> bool {
        match &self.raw_name {
            Some(name) => name == raw,
            None if self.kind == MemberKind::Directory => {
                raw.strip_suffix(b"/") == Some(self.name.as_bytes())
            }
            None => raw == self.name.as_bytes(),
        }
    }
}

/// The records of a directory that begins at `offset` in the file; a record that cannot be read
/// ends them.
pub(super) fn entries(
    directory: &[u8],
    offset: u64,
) -> impl Iterator<Item = Result<Entry, Box<Finding>>> + '_ {
    headers(directory, offset).map(|header| header.map(|header| Entry::new(&header)))
}

/// The same, undecoded.
pub(super) fn headers(
    directory: &[u8],
    offset: u64,
) -> impl Iterator<Item = Result<CentralHeader<'_>, Box<Finding>>> {
    let mut fields = Fields(directory);
    std::iter::from_fn(move || {
        if fields.0.is_empty() {
            return None;
        }
        let position = directory.len().saturating_sub(fields.0.len());
        let header = CentralHeader::read(&mut fields).ok_or_else(|| {
            fields = Fields(&[]);
            let finding = Finding::new(Code::BadDirectory, "expected a record of the directory");
            Box::new(finding.at_byte(offset.saturating_add(wide(position))))
        });
        Some(header)
    })
}

/// The records of one name. The directory is searched for the bytes of the name, and only records
/// that hold them are decoded; the walk from record to record is exact.
pub(super) fn named<'a>(
    directory: &'a [u8],
    offset: u64,
    name: &'a str,
) -> impl Iterator<Item = Result<Entry, Box<Finding>>> + 'a {
    headers(directory, offset).filter_map(move |header| match header {
        Ok(header) => {
            let stripped = header.name.strip_suffix(b"/").unwrap_or(header.name);
            let hit = if std::str::from_utf8(stripped).is_ok() {
                stripped == name.as_bytes()
            } else {
                decode_name(stripped).0 == name
            };
            hit.then(|| Ok(Entry::new(&header)))
        }
        Err(finding) => Some(Err(finding)),
    })
}

/// A name as text: UTF-8 whatever the flag says, else the original PC's code page 437, which is what
/// the format prescribes without the flag; the second value says that it was that.
fn decode_name(raw: &[u8]) -> (String, bool) {
    /// Code page 437 from 0x80 on.
    const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨\
                         ╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
    match std::str::from_utf8(raw) {
        Ok(name) => (name.to_owned(), false),
        Err(_) => {
            let name = raw.iter().map(|byte| match byte.checked_sub(0x80) {
                None => char::from(*byte),
                Some(high) => CP437.chars().nth(usize::from(high)).unwrap_or('\u{fffd}'),
            });
            (name.collect(), true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_old_code_page_are_read() {
        assert_eq!(decode_name(b"M\x81ller"), ("Müller".to_owned(), true));
        assert_eq!(decode_name("Müller".as_bytes()), ("Müller".to_owned(), false));
        assert_eq!(decode_name(b"\xff").0, "\u{a0}");
    }
}
