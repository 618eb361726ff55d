//! Members of a damaged zip: those with a local header anywhere in the file, and those that the directory still lists.

use std::sync::Arc;

use memchr::memmem;

use super::record::{CENTRAL, DESCRIPTOR, END, END64, LOCAL, LOCAL_LEN, LocalHeader, MemberFacts};
use super::{ZipArchive, has_descriptor, headers, method, text_name, unsupported};
use crate::archive::data::{ARCHIVE_BLOCK, Window};
use crate::archive::{Judged, Location, Member, MemberKind, Method, Take};
use crate::error::Result;
use crate::finding::{Code, Finding};
use crate::fs::File;

/// Times the length of the file that contents are read together. A hostile file can have many members that overlap;
/// intact ones are read once, damaged ones up to three times.
const MOST_READ: u64 = 8;

/// Maximum number of findings.
const MOST_FINDINGS: usize = 1000;

/// Visits every member that is found, some of them more than once. Returns the problems of those that are not shown.
pub(in crate::archive) fn each_remaining(
    file: &Arc<File>,
    zip: Option<&ZipArchive>,
    take: &mut Take<'_>,
) -> Result<Vec<Finding>> {
    let len = file.len()?;
    let mut window = Window::new(Arc::clone(file));
    window.limit = len;
    let mut walk =
        Walk { window, len, left: len.saturating_mul(MOST_READ), take, findings: Vec::new() };
    let mut at = 0;
    while let Some(start) = walk.next_signature(at)? {
        at = walk.local(start)?;
    }
    zip.map_or(Ok(()), |zip| walk.listed(zip))?;
    walk.findings.truncate(MOST_FINDINGS);
    Ok(walk.findings)
}

struct Walk<'t, 'v> {
    window: Window,
    len: u64,
    /// Bytes of contents that may still be read.
    left: u64,
    take: &'t mut Take<'v>,
    findings: Vec<Finding>,
}

impl Walk<'_, '_> {
    /// Returns the offset of the next signature of a local header.
    fn next_signature(&mut self, mut at: u64) -> Result<Option<u64>> {
        let signature = LOCAL.to_le_bytes();
        if self.window.get(at, signature.len())? == Some(&signature) {
            return Ok(Some(at));
        }
        loop {
            let left = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
            let Some(bytes) = self.window.get(at, left.min(ARCHIVE_BLOCK))? else {
                return Ok(None);
            };
            if let Some(found) = memmem::find(bytes, &signature) {
                return Ok(Some(at + found as u64));
            }
            if left <= ARCHIVE_BLOCK {
                return Ok(None);
            }
            // A signature may span two blocks.
            at += (ARCHIVE_BLOCK - signature.len() + 1) as u64;
        }
    }

    /// Visits the member with a local header at an offset. Returns where to look for the next one.
    fn local(&mut self, start: u64) -> Result<u64> {
        let Some((data, mut facts, name)) = self.header(start)? else { return Ok(start + 4) };
        if has_descriptor(facts.flags) && facts.packed_size == 0 {
            // The decoder finds the end.
            facts.packed_size = self.len.saturating_sub(data);
            facts.size = u64::MAX;
        }
        let end = data.saturating_add(facts.packed_size);
        let judged = self.show(&name, &facts, data)?;
        Ok(if judged == Judged::Confirmed || self.is_record(end)? { end } else { data })
    }

    /// Returns whether a record, or the end of the file, is at an offset.
    fn is_record(&mut self, at: u64) -> Result<bool> {
        let records = [LOCAL, CENTRAL, END, END64, DESCRIPTOR].map(u32::to_le_bytes);
        let found = self.window.get(at, 4)?;
        Ok(at == self.len || found.is_some_and(|found| records.iter().any(|one| found == one)))
    }

    /// Returns the offset of the data, the values and the name of the local header at an offset, if there is one.
    fn header(&mut self, start: u64) -> Result<Option<(u64, MemberFacts, Vec<u8>)>> {
        let fixed = self.window.get(start, LOCAL_LEN)?;
        let Some(len) = fixed.and_then(LocalHeader::full_len) else { return Ok(None) };
        let header = self.window.get(start, len)?.and_then(LocalHeader::read);
        Ok(header.map(|header| (start + len as u64, header.facts, header.name.to_vec())))
    }

    /// Visits the members in the directory that may have no local header.
    fn listed(&mut self, zip: &ZipArchive) -> Result<()> {
        let (directory, offset) = (zip.directory()?, zip.end.directory_offset);
        let mut starts = Vec::new();
        for header in headers(directory, offset) {
            match header {
                Ok((_, header)) => starts.push(header.local),
                Err(finding) => self.findings.push(finding),
            }
        }
        starts.sort_unstable();
        for (_, header) in headers(directory, offset).filter_map(Result::ok) {
            let next = starts.partition_point(|start| *start <= header.local);
            let next = starts.get(next).copied().unwrap_or(offset);
            let after_header = self.header(header.local)?.map(|(data, ..)| data);
            let before_next = next.checked_sub(header.facts.packed_size);
            let before_next = before_next.filter(|data| Some(*data) != after_header);
            for data in [after_header, before_next].into_iter().flatten() {
                if self.show(header.name, &header.facts, data)? != Judged::Unconfirmed {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Visits one member, unless it is a directory.
    fn show(&mut self, name: &[u8], facts: &MemberFacts, data: u64) -> Result<Judged> {
        if name.ends_with(b"/") {
            return Ok(Judged::Unread);
        }
        let member = Member {
            name: text_name(name).into(),
            kind: MemberKind::File,
            size: facts.size,
            packed_size: facts.packed_size,
            method: method(facts.method),
            location: Location::Packed { data, crc: facts.crc },
        };
        let unknown = member.method == Method::Stored && facts.size == u64::MAX;
        let problem = if unknown {
            let message = "the header has no size, and the directory is damaged";
            Some(Finding::new(Code::BadMemberData, message).in_member(&*member.name))
        } else if facts.packed_size > self.left {
            let message = "the content is not read: too many members overlap";
            Some(Finding::new(Code::Overlap, message).in_member(&*member.name))
        } else {
            unsupported(&member.name, facts.flags, member.method)
        };
        if let Some(problem) = problem {
            if self.findings.len() < MOST_FINDINGS {
                self.findings.push(problem);
            }
            return Ok(Judged::Unread);
        }
        let Self { window, take, left, .. } = self;
        let judged = window.show(&member, |content| take(&member, content))??;
        if judged != Judged::Unread {
            *left -= facts.packed_size;
        }
        Ok(judged)
    }
}
