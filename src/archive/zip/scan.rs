//! Checks every byte of a zip: its members must cover the file without gaps or overlaps, and their headers must agree.

use std::sync::Arc;

use super::super::data::{START, Window};
use super::super::{Location, MemberKind, Scan, Visit};
use super::agree::{check_central, check_local, odd};
use super::record::{
    CentralHeader, DESCRIPTOR, FLAG_MASKED, FLAG_PATCH, Fields, LOCAL_LEN, LocalHeader,
    METHOD_DEFLATE, METHOD_STORED,
};
use super::{Entry, ZipArchive, has_descriptor, headers, unsupported};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::path;
use crate::pipeline;

/// Maximum number of members that one job takes at a time: enough to read many small ones at once.
const STEP: usize = 128;
/// Minimum number of turns per job, so that no job is left alone with large members at the end.
const TURNS: usize = 32;
/// Maximum distance of the beginnings of two members of a remote archive that are requested together.
const GAP: u64 = 128 * 1024;
/// Average size of the members of a remote archive up to which all of it is read, because their beginnings are close
/// together.
const DENSE: u64 = 16 * 1024;
/// Number of bytes in one turn from which a remote archive is not read beyond them.
const LONG: u64 = 4 * 1024 * 1024;
/// Number of stray bytes searched for the header of a hidden member.
const SEARCHED: usize = 64 * 1024;

impl ZipArchive {
    pub(in crate::archive) fn scan<K: Send>(
        &self,
        jobs: usize,
        visit: &Visit<'_, K>,
    ) -> Result<Scan<K>> {
        let zip = self;
        let mut findings = zip.end.findings.clone();
        let directory = zip.directory()?;
        let mut places = Vec::new();
        // An unreadable record ends the directory.
        for header in headers(directory, zip.end.directory_offset) {
            match header {
                Ok((record, header)) => places.push(RecordPlace { record, local: header.local }),
                Err(finding) => findings.push(finding),
            }
        }
        if places.len() as u64 != zip.end.entries {
            findings.push(other_count(zip, places.len()));
        }
        zip.file.progress().expect_files(places.len());
        let is_in_order = places.is_sorted_by_key(|place| place.local);
        if !is_in_order {
            places.sort_by_key(|place| place.local);
        }

        // The members, each from its local header to the next one, must cover the file up to the directory.
        let first = places.first().map_or(zip.end.directory_offset, |place| place.local);
        if first > 0 {
            findings.push(before_the_first(zip, first)?);
        }
        let next = |position: usize| match places.get(position + 1) {
            Some(place) => place.local.min(zip.end.directory_offset),
            None => zip.end.directory_offset,
        };
        let mut scanned: Vec<Option<K>> = Vec::new();
        scanned.resize_with(places.len(), || None);
        if zip.end.directory_offset < DENSE.saturating_mul(places.len() as u64) {
            zip.file.announce(0..zip.len);
        }
        let is_read_whole = zip.file.is_read_whole();
        // The beginnings of the members of one turn are requested at once.
        let step = if is_read_whole { places.len().div_ceil((jobs * TURNS).max(1)) } else { STEP };
        let step = step.clamp(1, STEP);
        let found = pipeline::share(
            jobs,
            scanned.chunks_mut(step).zip(pipeline::ranges(places.len(), step)),
            || Window::new(Arc::clone(&zip.file)),
            |window, (scanned, range)| {
                window.limit = next(range.end - 1).min(zip.len);
                let mut findings = Vec::new();
                let start = places.get(range.start).map_or(window.limit, |place| place.local);
                if is_read_whole && window.limit.saturating_sub(start) > LONG {
                    zip.file.announce(start..window.limit);
                }
                if !is_read_whole {
                    let starts = range.clone().filter_map(|position| {
                        let start = places.get(position)?.local;
                        Some(start..next(position).min(start.saturating_add(START as u64)))
                    });
                    zip.file.fetch(&starts.collect::<Vec<_>>(), GAP)?;
                }
                for (slot, position) in scanned.iter_mut().zip(range) {
                    let place = places.get(position).expect("each place has a slot");
                    let (_, record) = directory.split_at(place.record);
                    let (header, _) = CentralHeader::split(record).expect("it was parsed before");
                    let mut entry = Entry::new(header);
                    check_central(&entry, &mut findings);
                    let (end, directory) = (next(position), zip.end.directory_offset);
                    let data = MemberSpan { entry: &entry, end, directory }
                        .check(window, &mut findings)?;
                    if entry.is_root() {
                        continue;
                    }
                    let member = &mut entry.member;
                    *slot = Some(match data {
                        Some(data) => {
                            member.location =
                                Location::Packed { data, crc: entry.header.facts.crc };
                            window.show(member, |content| visit(member, Some(content)))?
                        }
                        None => visit(member, None),
                    });
                }
                Ok::<_, Error>(findings)
            },
        )?;
        findings.extend(found.into_iter().flatten());
        if !is_in_order {
            let records = places.iter().map(|place| place.record);
            let mut by_record: Vec<_> = records.zip(scanned).collect();
            by_record.sort_by_key(|(record, _)| *record);
            scanned = by_record.into_iter().map(|(_, scanned)| scanned).collect();
        }
        drop(places);
        // `filter_map` works in place. Flattening would copy everything and double the memory.
        #[expect(clippy::filter_map_identity, reason = "flattening would copy")]
        let members = scanned.into_iter().filter_map(|scanned| scanned).collect();
        Ok(Scan { members, findings })
    }
}

/// The location of a member: its record's offset in the directory, and its local header's offset in the file.
struct RecordPlace {
    record: usize,
    local: u64,
}

/// Reports the first `length` bytes of the file, which belong to no record.
fn before_the_first(zip: &ZipArchive, length: u64) -> Result<Finding> {
    let mut start = vec![0; usize::try_from(length).unwrap_or(SEARCHED).min(SEARCHED)];
    let filled = zip.file.read_at(&mut start, 0)?;
    Ok(match hidden_header(start.split_at(filled).0) {
        Some(at) => Finding::new(
            Code::HiddenMember,
            "a member that is not in the directory precedes the first one",
        )
        .at_byte(at),
        None => {
            Finding::new(Code::PrependedBytes, format!("{length} bytes precede the first member"))
                .at_byte(0)
        }
    }
    .hint("remove the bytes before it; it may have been appended to another file"))
}

/// Returns the offset of a member's header in stray bytes.
fn hidden_header(bytes: &[u8]) -> Option<u64> {
    memchr::memmem::find(bytes, b"PK\x03\x04").and_then(|at| u64::try_from(at).ok())
}

/// Reports that the end record does not match the directory, which has `counted` records.
pub(super) fn other_count(zip: &ZipArchive, counted: usize) -> Finding {
    Finding::new(Code::BadDirectory, "the end record counts a different number of members")
        .at_byte(zip.end.directory_offset)
        .expected(format!("{} members", zip.end.entries), format!("{counted} members"))
        .hint("compare the archive with another copy; members may be hidden or missing")
}

/// The bytes from a member's local header to the next one or the directory.
pub(super) struct MemberSpan<'a> {
    pub(super) entry: &'a Entry<'a>,
    pub(super) end: u64,
    pub(super) directory: u64,
}

impl MemberSpan<'_> {
    fn finding(&self, code: Code, message: impl Into<String>) -> Finding {
        Finding::new(code, message)
            .in_member(&*self.entry.member.name)
            .at_byte(self.entry.header.local)
    }

    /// Checks the span. Returns the offset of the packed bytes if the member is a readable file.
    pub(super) fn check(
        &self,
        window: &mut Window,
        findings: &mut Vec<Finding>,
    ) -> Result<Option<u64>> {
        let entry = self.entry;
        let fixed = window.get(entry.header.local, LOCAL_LEN)?;
        let header_len = fixed.and_then(LocalHeader::full_len).unwrap_or(LOCAL_LEN);
        let header = window.get(entry.header.local, header_len)?;
        let Some(bytes) = header.filter(|_| entry.header.local < self.directory) else {
            findings.push(self.finding(
                Code::BadDirectory,
                "the directory points outside the members of the archive",
            ));
            return Ok(None);
        };
        let Some(has_zip64) = check_local(entry, bytes, findings) else { return Ok(None) };
        let data = entry.header.local + header_len as u64;
        let Some(after) = data
            .checked_add(entry.header.facts.packed_size)
            .and_then(|end| self.end.checked_sub(end))
        else {
            let other = if self.end == self.directory { "the directory" } else { "another member" };
            findings.push(
                self.finding(Code::Overlap, format!("the member overlaps {other}"))
                    .hint("make the archive again; the member was not read"),
            );
            return Ok(None);
        };
        self.check_gap(self.end - after, after, has_zip64, window, findings)?;
        self.check_stored_end(data, window, findings)?;
        let member = &entry.member;
        if entry.member.kind == MemberKind::Directory && !self.is_empty(data, window)? {
            findings.push(self.finding(Code::DirectoryWithData, "the directory has data"));
        }
        // Other programs also stop at a directory.
        if let Some(finding) =
            unsupported(&entry.member.name, entry.header.facts.flags, member.method)
        {
            findings.push(finding);
            return Ok(None);
        }
        if entry.member.kind != MemberKind::File || !path::is_valid(&entry.member.name) {
            return Ok(None);
        }
        if entry.header.facts.flags & (FLAG_MASKED | FLAG_PATCH) != 0 {
            findings.push(
                self.finding(
                    Code::Unsupported,
                    "the member is masked, or a patch for another file",
                ),
            );
            return Ok(None);
        }
        if entry.header.facts.method == METHOD_STORED && member.size != member.packed_size {
            findings.push(
                self.finding(
                    Code::BadDirectory,
                    "the packed and unpacked sizes of the stored member differ",
                )
                .expected(member.size.to_string(), member.packed_size.to_string()),
            );
            return Ok(None);
        }
        Ok(Some(data))
    }

    /// Returns whether the member has no content. `jar` compresses even empty members, to two bytes.
    fn is_empty(&self, data: u64, window: &mut Window) -> Result<bool> {
        const EMPTY_DEFLATE: [u8; 2] = [3, 0];
        let facts = &self.entry.header.facts;
        Ok(match (facts.size, facts.packed_size, facts.method) {
            (0, 0, _) => true,
            (0, 2, METHOD_DEFLATE) => window.get(data, 2)? == Some(&EMPTY_DEFLATE[..]),
            _ => false,
        })
    }

    /// Checks the bytes between the data and the next span: a data descriptor if the flags declare one, and nothing
    /// else.
    fn check_gap(
        &self,
        start: u64,
        length: u64,
        has_zip64: bool,
        window: &mut Window,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        let mut stray = length;
        if has_descriptor(self.entry.header.facts.flags) {
            let most = usize::try_from(length.min(24)).expect("a few bytes");
            let ready = window.get(start, most)?.unwrap_or_default();
            // With or without its signature, with 32-bit or 64-bit sizes.
            let is_there =
                |len: &usize| ready.get(..*len).is_some_and(|start| self.is_descriptor(start));
            let Some(descriptor) = [24, 16, 20, 12].into_iter().find(is_there) else {
                findings.push(
                    self.finding(
                        Code::BadDescriptor,
                        "the record after the data differs from the checksum and sizes in the directory",
                    )
                    .hint("make the archive again; programs read different values"),
                );
                return Ok(());
            };
            stray -= descriptor as u64;
            // The zip64 field determines their width (§4.3.9.2).
            if matches!(descriptor, 20 | 24) != has_zip64 {
                findings.push(odd(
                    self.entry,
                    "the width of the sizes after the data differs from the member's header",
                ));
            }
        }
        if stray > 0 {
            let at = self.end - stray;
            let searched = usize::try_from(stray).unwrap_or(SEARCHED).min(SEARCHED);
            let hidden = window.get(at, searched)?.and_then(hidden_header);
            let (code, at, message) = match hidden {
                Some(header) => (
                    Code::HiddenMember,
                    at + header,
                    "a member that is not in the directory follows this one".to_owned(),
                ),
                None => (
                    Code::StrayBytes,
                    at,
                    format!("{stray} bytes after the member belong to no member"),
                ),
            };
            let finding = self.finding(code, message).at_byte(at);
            findings.push(finding.hint("make the archive again; nothing checks these bytes"));
        }
        Ok(())
    }

    /// Reports stored data of unknown size. Programs that read from a pipe find its end by searching for the signature
    /// of the descriptor.
    fn check_stored_end(
        &self,
        data: u64,
        window: &mut Window,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        let facts = &self.entry.header.facts;
        let ends_itself = facts.method != METHOD_STORED && facts.packed_size > 0;
        if ends_itself || !has_descriptor(facts.flags) {
            return Ok(());
        }
        findings.push(odd(
            self.entry,
            "the sizes follow the stored data, so a program that reads from a pipe cannot find its end",
        ));
        let signature = DESCRIPTOR.to_le_bytes();
        let mut left = facts.packed_size;
        while left >= signature.len() as u64 {
            let at = data + facts.packed_size - left;
            let length = usize::try_from(left).unwrap_or(SEARCHED).min(SEARCHED);
            let Some(bytes) = window.get(at, length)? else { break };
            if let Some(found) = memchr::memmem::find(bytes, &signature) {
                let message = "the stored content contains a signature that ends it for a program that reads from a pipe";
                findings.push(
                    self.finding(Code::BadDescriptor, message)
                        .at_byte(at + found as u64)
                        .hint("make the archive again; programs read different content"),
                );
                break;
            }
            // A signature may begin in the last bytes.
            left -= (length - signature.len() + 1) as u64;
        }
        Ok(())
    }

    fn is_descriptor(&self, bytes: &[u8]) -> bool {
        let mut fields = Fields(bytes);
        if matches!(bytes.len(), 16 | 24) && fields.u32() != Some(DESCRIPTOR) {
            return false;
        }
        let crc = fields.u32();
        let sizes = if matches!(bytes.len(), 20 | 24) {
            (fields.u64(), fields.u64())
        } else {
            (fields.u32().map(u64::from), fields.u32().map(u64::from))
        };
        let facts = &self.entry.header.facts;
        crc == Some(facts.crc) && sizes == (Some(facts.packed_size), Some(facts.size))
    }
}
