//! Whether the headers of a member agree with each other and with themselves.

use super::super::MemberKind;
use super::directory::Entry;
use super::extra;
use super::has_descriptor;
use super::record::{CentralHeader, EXTRA_ZIP64, ExtraFields, LocalHeader, METHOD_ZSTD};
use crate::finding::{Code, Finding};

/// Internal attribute, bit 0: the content may be text. No other has a meaning outside of mainframes.
const TEXT: u16 = 1;
/// External attributes: set-user-id, set-group-id and sticky, in the upper half.
const SPECIAL: u32 = 0o7000 << 16;

/// Systems whose names Info-ZIP's `unzip` takes for code page 437, marked as UTF-8 or not: FAT, HPFS, NTFS.
const MISREAD: [u16; 3] = [0, 6, 11];
/// Highest "version needed" that every reader takes on: Info-ZIP's `unzip` leaves the member out above it.
const NEWEST: u16 = 46;
/// The same for the method that only newer readers know: Python refuses the member above it.
const NEWEST_ZSTD: u16 = 63;

/// Looks at a record of the directory by itself.
pub(super) fn check_central(
    header: &CentralHeader<'_>,
    entry: &Entry,
    findings: &mut Vec<Finding>,
) {
    let name = || &*entry.member.name;
    if header.disk == u16::MAX {
        findings.push(odd(entry, "the number of the member's disk is left to a zip64 field"));
    } else if header.disk != 0 {
        findings.push(
            Finding::new(Code::SplitArchive, "the member lies in another file of a split archive")
                .in_member(name()),
        );
    }
    let version = header.facts.version_needed;
    let newest = if header.facts.method == METHOD_ZSTD { NEWEST_ZSTD } else { NEWEST };
    if version > newest {
        findings.push(
            odd(
                entry,
                "the member asks for a newer reader than some programs are, which leave it out",
            )
            .expected(format!("at most version {newest}"), format!("version {version}")),
        );
    }
    if entry.has_legacy_name() {
        findings.push(
            Finding::new(Code::LegacyNameEncoding, "the name is not marked as UTF-8")
                .in_member(name())
                .hint("make the archive anew; programs disagree about the letters of the name"),
        );
    }
    if header.comment.windows(2).any(|pair| pair == b"PK") {
        findings.push(
            Finding::new(
                Code::SignatureInComment,
                "the member's comment looks like a part of a zip",
            )
            .in_member(name()),
        );
    } else if !header.comment.is_empty() {
        findings.push(odd(entry, "the member has a comment, which no manifest covers"));
    }
    let host = header.version_made_by >> 8;
    if MISREAD.contains(&host) && !entry.has_legacy_name() && !entry.member.name.is_ascii() {
        findings.push(
            Finding::new(
                Code::LegacyNameEncoding,
                "the member is from DOS, so that `unzip` takes the UTF-8 of its name for code page 437",
            )
            .in_member(name()),
        );
    }
    if !header.zip64_agrees {
        findings.push(zip64_differs(entry, "directory"));
    }
    if header.internal_attributes & !TEXT != 0 {
        findings.push(odd(entry, "the member has an internal attribute that means nothing"));
    }
    if entry.member.kind == MemberKind::File && header.external_attributes & SPECIAL != 0 {
        findings.push(odd(entry, "the member asks for another user's rights when it is run"));
    }
    extra::check(header.extra, header.name, &entry.member.name, findings);
}

pub(super) fn odd(entry: &Entry, message: &str) -> Finding {
    Finding::new(Code::OddContainer, message).in_member(&*entry.member.name)
}

fn zip64_differs(entry: &Entry, place: &str) -> Finding {
    Finding::new(
        Code::Zip64Mismatch,
        format!("the zip64 field in the {place} does not say what the ordinary fields say"),
    )
    .in_member(&*entry.member.name)
    .hint("make the archive anew; programs with and without zip64 would read different things")
}

/// Compares a local header with the directory; says, when it is one, whether it has a zip64 field.
pub(super) fn check_local(
    entry: &Entry,
    bytes: &[u8],
    findings: &mut Vec<Finding>,
) -> Option<bool> {
    let finding = |code, message: &str| {
        Finding::new(code, message).in_member(&*entry.member.name).at_byte(entry.local)
    };
    let Some(header) = LocalHeader::read(bytes) else {
        findings.push(finding(
            Code::BadDirectory,
            "the directory points to something that is not a member",
        ));
        return None;
    };
    let mut differ = |what: &str, central: String, local: String| {
        findings.push(
            finding(
                Code::HeadersDisagree,
                &format!("the member's header and the directory disagree about its {what}"),
            )
            .expected(format!("{central} as in the directory"), local)
            .hint("make the archive anew; programs would read different things"),
        );
    };
    let (central, local) = (&entry.facts, &header.facts);
    if !entry.is_named(header.name) {
        differ(
            "name",
            entry.member.name.to_string(),
            String::from_utf8_lossy(header.name).into_owned(),
        );
    }
    if central.flags != local.flags {
        differ("flags", format!("{:#06x}", central.flags), format!("{:#06x}", local.flags));
    }
    if central.method != local.method {
        differ("method", central.method.to_string(), local.method.to_string());
    }
    // With a descriptor the local header may leave these to it.
    let absent = has_descriptor(local.flags);
    if central.crc != local.crc && !(absent && local.crc == 0) {
        differ("CRC-32", format!("{:08x}", central.crc), format!("{:08x}", local.crc));
    }
    if central.packed_size != local.packed_size && !(absent && local.packed_size == 0) {
        differ("packed size", central.packed_size.to_string(), local.packed_size.to_string());
    }
    if central.size != local.size && !(absent && local.size == 0) {
        differ("size", central.size.to_string(), local.size.to_string());
    }
    let mut lesser = |what: &str, central: String, local: String| {
        findings.push(
            finding(
                Code::LesserFieldsDiffer,
                &format!("the member's header and the directory disagree about its {what}"),
            )
            .expected(format!("{central} as in the directory"), local)
            .hint("compare it with another copy; one was damaged or edited, the content is not affected"),
        );
    };
    if central.modified != local.modified {
        let shown = |time: u32| format!("{time:#010x}");
        lesser("time of modification", shown(central.modified), shown(local.modified));
    }
    // Of a member written to a pipe, Info-ZIP knows only afterwards that it needed no zip64.
    let has_zip64 = ExtraFields(header.extra).flatten().any(|(id, _)| id == EXTRA_ZIP64);
    let foresaw_zip64 = local.version_needed == 45 && has_zip64;
    if central.version_needed != local.version_needed && !foresaw_zip64 {
        let shown = |version: u16| format!("version {version}");
        lesser("reader", shown(central.version_needed), shown(local.version_needed));
    }
    // Behind the data of a member that was written to a pipe stands what could not be known before.
    if !header.zip64_agrees && !absent {
        findings.push(zip64_differs(entry, "member's header"));
    }
    extra::check(header.extra, header.name, &entry.member.name, findings);
    Some(has_zip64)
}
