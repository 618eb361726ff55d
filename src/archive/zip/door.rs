//! One member of a zip, found by its name and held to the rules that a pass over the whole zip holds it
//! to: the directory is in memory and is read once, of the file only that member's own header.

use std::sync::Arc;

use super::super::names::{file_and_directory, twice};
use super::super::{Location, Member, MemberKind};
use super::ZipArchive;
use super::agree::check_central;
use super::directory::{self, Entry, plain_name};
use super::record::{CentralHeader, LOCAL_LEN};
use super::scan::{Span, Window};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};

/// What of the directory lies around one member.
struct Around {
    /// The furthest byte that a member before it reaches, by what the directory says.
    reach: u64,
    /// Where the next member begins, or the directory.
    next: u64,
}

/// Finds the member called `name`. What forbids to trust it is an error.
pub(super) fn find(zip: &ZipArchive, name: &str) -> Result<Option<Member>> {
    let damaged = |finding: Finding| Error::damaged(zip.path(), finding);
    let mut found: Option<(usize, Entry, Around)> = None;
    let mut findings = Vec::new();
    let (mut count, mut reach, mut before) = (0_usize, 0_u64, None);
    let mut is_in_order = true;
    let mut in_it = false;
    for header in directory::headers(&zip.directory, zip.end.directory_offset) {
        let header = header.map_err(|finding| damaged(*finding))?;
        is_in_order &= before.is_none_or(|before| before < header.local);
        before = Some(header.local);
        if let Some((index, _, around)) = &mut found
            && count == index.saturating_add(1)
        {
            around.next = header.local;
        }
        in_it |= is_in(&header, name);
        if is_called(&header, name) {
            if found.is_some() {
                return Err(damaged(twice(name)));
            }
            let entry = Entry::new(&header);
            check_central(&header, &entry, &mut findings);
            found = Some((count, entry, Around { reach, next: zip.end.directory_offset }));
        }
        reach = reach.max(least_end(&header));
        count = count.saturating_add(1);
    }
    if u64::try_from(count).unwrap_or(u64::MAX) != zip.end.entries {
        return Err(damaged(super::scan::other_count(zip, count)));
    }
    let Some((index, entry, mut around)) = found else { return Ok(None) };
    if !is_in_order {
        around = look_around(zip, index, entry.local);
    }
    if in_it && entry.member.kind == MemberKind::File {
        return Err(damaged(file_and_directory(name)));
    }
    if around.reach > entry.local {
        findings.push(
            Finding::new(Code::Overlap, "another member reaches into this one")
                .in_member(name)
                .at_byte(entry.local)
                .hint("make the archive anew; the member was not read"),
        );
    }
    let end = around.next.min(zip.end.directory_offset);
    let span = Span { entry: &entry, end, directory: zip.end.directory_offset };
    let data = span.check(&mut Window::new(Arc::clone(&zip.file)), &mut findings)?;
    // Bytes that belong to nothing and follow the member are a fault of the zip, but none of the member.
    if let Some(finding) = findings.into_iter().find(Finding::forbids_reading) {
        return Err(damaged(finding));
    }
    let mut member = entry.member;
    if let Some(data) = data {
        member.location = Location::Packed { data, crc: entry.facts.crc };
    }
    Ok(Some(member))
}

/// The same for a directory that is not in the order of the file.
fn look_around(zip: &ZipArchive, index: usize, local: u64) -> Around {
    let mut around = Around { reach: 0, next: zip.end.directory_offset };
    let headers = directory::headers(&zip.directory, zip.end.directory_offset);
    for (_, header) in headers.flatten().enumerate().filter(|(other, _)| *other != index) {
        if header.local < local {
            around.reach = around.reach.max(least_end(&header));
        } else {
            around.next = around.next.min(header.local);
        }
    }
    around
}

/// The byte that a member reaches at least: how long the extra field of its own header is, only that
/// header says.
fn least_end(header: &CentralHeader<'_>) -> u64 {
    let wide = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
    header
        .local
        .saturating_add(wide(LOCAL_LEN))
        .saturating_add(wide(header.name.len()))
        .saturating_add(header.facts.packed_size)
}

fn is_called(header: &CentralHeader<'_>, name: &str) -> bool {
    let raw = plain_name(header.name);
    let raw = raw.strip_suffix(b"/").unwrap_or(raw);
    // A name in the old code page is longer as text, and never the same bytes.
    raw == name.as_bytes()
        || (raw.len() < name.len()
            && std::str::from_utf8(raw).is_err()
            && Entry::new(header).member.name == name)
}

/// Whether the member lies in one called `name`, as in a directory.
fn is_in(header: &CentralHeader<'_>, name: &str) -> bool {
    let raw = plain_name(header.name);
    raw.get(name.len()) == Some(&b'/')
        && raw.len() > name.len().saturating_add(1)
        && raw.starts_with(name.as_bytes())
}
