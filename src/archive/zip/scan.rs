//! Checks every byte of a zip: its members must cover the file without gaps or overlaps, and their headers must agree.

use std::sync::Arc;

use super::super::data::{START, Window};
use super::super::{Location, Scan, Visit};
use super::agree::{MemberSpan, SEARCHED, check_central, hidden_header};
use super::record::CentralHeader;
use super::{Entry, ZipArchive, headers};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
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

/// Reports that the end record does not match the directory, which has `counted` records.
pub(super) fn other_count(zip: &ZipArchive, counted: usize) -> Finding {
    Finding::new(Code::BadDirectory, "the end record counts a different number of members")
        .at_byte(zip.end.directory_offset)
        .expected(format!("{} members", zip.end.entries), format!("{counted} members"))
        .hint("compare the archive with another copy; members may be hidden or missing")
}
