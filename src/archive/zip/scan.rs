//! A pass over every byte of a zip: the spans of its members tile it, and both headers of each agree.

use std::sync::Arc;

use super::super::data::Window;
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

/// Most members that one job takes at a time: enough to read many small ones at once.
const STEP: usize = 128;
/// How often a job comes back for more at the least, so that none is left alone with large members at the
/// end.
const TURNS: usize = 32;
/// How many stray bytes are searched for the header of a hidden member.
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
        // A record that cannot be read ends the directory.
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

        // The members' spans, from each local header to the next, tile the file up to the directory.
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
        let step = places.len().div_ceil((jobs * TURNS).max(1)).clamp(1, STEP);
        let found = pipeline::share(
            jobs,
            scanned.chunks_mut(step).zip(pipeline::ranges(places.len(), step)),
            || Window::new(Arc::clone(&zip.file)),
            |window, (scanned, range)| {
                window.limit = next(range.end - 1).min(zip.len);
                let mut findings = Vec::new();
                for (slot, position) in scanned.iter_mut().zip(range) {
                    let place = places.get(position).expect("there is a slot for each place");
                    let (_, record) = directory.split_at(place.record);
                    let (header, _) = CentralHeader::split(record).expect("it was read before");
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
        // Unlike what is flattened, what is filtered stays where it is: a copy of all of it would be the most that
        // there is in memory at any time.
        #[expect(clippy::filter_map_identity, reason = "to flatten them takes a copy")]
        let members = scanned.into_iter().filter_map(|scanned| scanned).collect();
        Ok(Scan { members, findings })
    }
}

/// Where a member stands: its record in the directory, by the bytes before it there, and its local
/// header in the file.
struct RecordPlace {
    record: usize,
    local: u64,
}

/// The `length` bytes that no record speaks of, at the front of the file.
fn before_the_first(zip: &ZipArchive, length: u64) -> Result<Finding> {
    let mut start = vec![0; usize::try_from(length).unwrap_or(SEARCHED).min(SEARCHED)];
    let filled = zip.file.read_at(&mut start, 0)?;
    Ok(match hidden_header(start.split_at(filled).0) {
        Some(at) => Finding::new(
            Code::HiddenMember,
            "a member that the directory does not list precedes the first one that it does",
        )
        .at_byte(at),
        None => {
            Finding::new(Code::PrependedBytes, format!("{length} bytes precede the first member"))
                .at_byte(0)
        }
    }
    .hint("keep only the archive's own bytes; it may have been glued to another file"))
}

/// Where the header of a member begins in bytes that should not be there.
fn hidden_header(bytes: &[u8]) -> Option<u64> {
    memchr::memmem::find(bytes, b"PK\x03\x04").and_then(|at| u64::try_from(at).ok())
}

/// What the end record says otherwise than the directory, which has `counted` records.
pub(super) fn other_count(zip: &ZipArchive, counted: usize) -> Finding {
    Finding::new(Code::BadDirectory, "the end record counts other members than there are")
        .at_byte(zip.end.directory_offset)
        .expected(format!("{} members", zip.end.entries), format!("{counted} members"))
        .hint("compare the archive with another copy; members may be hidden or lost")
}

/// The bytes from a member's local header to whatever comes next.
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

    /// Checks the span; gives where the packed bytes begin when they are those of a file that can be
    /// read.
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
                "the directory points outside of the members' part of the archive",
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
                self.finding(Code::Overlap, format!("the member reaches into {other}"))
                    .hint("make the archive anew; the member was not read"),
            );
            return Ok(None);
        };
        self.check_gap(self.end - after, after, has_zip64, window, findings)?;
        self.check_stored_end(data, window, findings)?;
        let member = &entry.member;
        if entry.member.kind == MemberKind::Directory && !self.is_empty(data, window)? {
            findings.push(self.finding(Code::DirectoryWithData, "the directory has data"));
        }
        // Others give up at a directory too.
        if let Some(finding) =
            unsupported(&entry.member.name, entry.header.facts.flags, member.method)
        {
            findings.push(finding);
            return Ok(None);
        }
        if entry.member.kind != MemberKind::File || !path::is_sound(&entry.member.name) {
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
                self.finding(Code::BadDirectory, "the sizes of the stored member differ")
                    .expected(member.size.to_string(), member.packed_size.to_string()),
            );
            return Ok(None);
        }
        Ok(Some(data))
    }

    /// Whether the member has no bytes; `jar` compresses even those, to the two that say so.
    fn is_empty(&self, data: u64, window: &mut Window) -> Result<bool> {
        const EMPTY_DEFLATE: [u8; 2] = [3, 0];
        let facts = &self.entry.header.facts;
        Ok(match (facts.size, facts.packed_size, facts.method) {
            (0, 0, _) => true,
            (0, 2, METHOD_DEFLATE) => window.get(data, 2)? == Some(&EMPTY_DEFLATE[..]),
            _ => false,
        })
    }

    /// What stands between the data and the next span: a data descriptor where the flags announce
    /// one, and nothing else.
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
                        "the record behind the data does not repeat its checksum and sizes",
                    )
                    .hint("make the archive anew; programs would read different things"),
                );
                return Ok(());
            };
            stray -= descriptor as u64;
            // The field says how wide they are (§4.3.9.2).
            if matches!(descriptor, 20 | 24) != has_zip64 {
                findings.push(odd(
                    self.entry,
                    "the sizes behind the data are not as wide as the member's header says",
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
                    "a member that the directory does not list follows this one".to_owned(),
                ),
                None => (
                    Code::StrayBytes,
                    at,
                    format!("{stray} bytes follow the member and belong to nothing"),
                ),
            };
            let finding = self.finding(code, message).at_byte(at);
            findings.push(finding.hint("make the archive anew; nobody checks what stands there"));
        }
        Ok(())
    }

    /// A program that reads from a pipe looks for the end of stored data of unknown size by the signature
    /// of the descriptor, wherever that is.
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
            "the member's sizes follow its data, which does not say to a reader of a pipe where it ends",
        ));
        let signature = DESCRIPTOR.to_le_bytes();
        let mut left = facts.packed_size;
        while left >= signature.len() as u64 {
            let at = data + facts.packed_size - left;
            let length = usize::try_from(left).unwrap_or(SEARCHED).min(SEARCHED);
            let Some(bytes) = window.get(at, length)? else { break };
            if let Some(found) = memchr::memmem::find(bytes, &signature) {
                let message =
                    "the stored content holds what ends it for a program that reads from a pipe";
                findings.push(
                    self.finding(Code::BadDescriptor, message)
                        .at_byte(at + found as u64)
                        .hint("make the archive anew; programs would read different things"),
                );
                break;
            }
            // One may begin in the last bytes.
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
