//! Checks of one member: whether its headers agree, and what is between it and the next one.

use std::collections::BTreeSet;

use super::super::MemberKind;
use super::super::data::Window;
use super::record::{
    DESCRIPTOR, EXTRA_ALIGNMENT, EXTRA_ASI_UNIX, EXTRA_LIBARCHIVE, EXTRA_TIMES, EXTRA_UNICODE_PATH,
    EXTRA_ZIP64, ExtraFields, FLAG_MASKED, FLAG_PATCH, Fields, LOCAL_LEN, LocalHeader,
    METHOD_DEFLATE, METHOD_STORED, METHOD_ZSTD,
};
use super::{Entry, has_descriptor, kind, unsupported};
use crate::error::Result;
use crate::finding::{Code, Finding};
use crate::path;

/// Number of stray bytes searched for the header of a hidden member.
pub(super) const SEARCHED: usize = 64 * 1024;

/// Internal attribute, bit 0: the content may be text. Other bits have a meaning only on mainframes.
const TEXT: u16 = 1;
/// External attributes: set-user-id, set-group-id and sticky, in the upper half.
const SPECIAL: u32 = 0o7000 << 16;

/// Systems for which Info-ZIP's `unzip` reads names in code page 437, even if marked as UTF-8: FAT, HPFS, NTFS.
const MISREAD: [u16; 3] = [0, 6, 11];
/// Highest "version needed" that every reader accepts. Info-ZIP's `unzip` skips members above it.
const NEWEST: u16 = 46;
/// Highest "version needed" for Zstandard, which only newer readers support. Python rejects members above it.
const NEWEST_ZSTD: u16 = 63;

/// Checks a record of the directory.
pub(super) fn check_central(entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let (header, name) = (&entry.header, &*entry.member.name);
    let about = |code, message: &str| Finding::new(code, message).in_member(name);
    if header.disk == u16::MAX {
        findings.push(odd(entry, "the number of the member's disk is in a zip64 field"));
    } else if header.disk != 0 {
        let message = "the member is in another file of a split archive";
        findings.push(about(Code::SplitArchive, message));
    }
    let version = header.facts.version_needed;
    let newest = if header.facts.method == METHOD_ZSTD { NEWEST_ZSTD } else { NEWEST };
    if version > newest {
        let message =
            "the member needs a newer version than some programs support, so they skip it";
        findings.push(
            odd(entry, message)
                .expected(format!("at most version {newest}"), format!("version {version}")),
        );
    }
    if entry.has_legacy_name() {
        findings.push(
            about(Code::LegacyNameEncoding, "the name is not marked as UTF-8")
                .hint("make the archive again; programs decode the name differently"),
        );
    }
    if header.comment.windows(2).any(|pair| pair == b"PK") {
        let message = "the member's comment looks like part of a zip";
        findings.push(about(Code::SignatureInComment, message));
    } else if !header.comment.is_empty() {
        findings.push(odd(entry, "the member has a comment, which no manifest covers"));
    }
    let host = header.version_made_by >> 8;
    if MISREAD.contains(&host) && !entry.has_legacy_name() && !name.is_ascii() {
        let message =
            "the member is marked as from DOS, so `unzip` decodes its UTF-8 name as code page 437";
        findings.push(about(Code::LegacyNameEncoding, message));
    }
    if !header.zip64_agrees {
        findings.push(zip64_differs(entry, "directory"));
    }
    if header.internal_attributes & !TEXT != 0 {
        findings.push(odd(entry, "the member has an internal attribute without a meaning"));
    }
    if entry.member.kind == MemberKind::File && header.external_attributes & SPECIAL != 0 {
        findings.push(odd(entry, "the member has a set-user-id, set-group-id or sticky bit"));
    }
    check_extra(header.extra, header.name, name, findings);
}

fn odd(entry: &Entry<'_>, message: &str) -> Finding {
    Finding::new(Code::OddContainer, message).in_member(&*entry.member.name)
}

fn zip64_differs(entry: &Entry<'_>, place: &str) -> Finding {
    Finding::new(
        Code::Zip64Mismatch,
        format!("the zip64 field in the {place} differs from the ordinary fields"),
    )
    .in_member(&*entry.member.name)
    .hint("make the archive again; programs with and without zip64 support read different values")
}

/// A number of both headers: its name, its values in the directory and in the local header, whether a descriptor may
/// replace the local one, and its display.
type BothNumbers = (&'static str, u64, u64, bool, fn(u64) -> String);

/// Compares a local header with the directory. Returns whether it has a zip64 field, or `None` if it is not a local
/// header.
fn check_local(entry: &Entry<'_>, bytes: &[u8], findings: &mut Vec<Finding>) -> Option<bool> {
    let finding = |code, message: &str| {
        Finding::new(code, message).in_member(&*entry.member.name).at_byte(entry.header.local)
    };
    let Some(header) = LocalHeader::read(bytes) else {
        findings.push(finding(
            Code::BadDirectory,
            "the directory points to bytes that are not a member",
        ));
        return None;
    };
    let mut differ = |code, what: &str, central: String, local: String| {
        let message = format!("the {what} differs between the member's header and the directory");
        let hint = if code == Code::HeadersDisagree {
            "make the archive again; programs read different values"
        } else {
            "compare it with another copy; one of the two was damaged or edited; the content is not affected"
        };
        let expected = format!("{central} as in the directory");
        findings.push(finding(code, &message).expected(expected, local).hint(hint));
    };
    let (central, local) = (&entry.header.facts, &header.facts);
    if entry.header.name != header.name {
        let found = String::from_utf8_lossy(header.name).into_owned();
        differ(Code::HeadersDisagree, "name", entry.member.name.to_string(), found);
    }
    // With a descriptor, the local header may omit these values.
    let absent = has_descriptor(local.flags);
    let numbers: [BothNumbers; 5] = [
        ("flags", central.flags.into(), local.flags.into(), false, |it| format!("{it:#06x}")),
        ("method", central.method.into(), local.method.into(), false, |it| it.to_string()),
        ("CRC-32", central.crc.into(), local.crc.into(), true, |it| format!("{it:08x}")),
        ("packed size", central.packed_size, local.packed_size, true, |it| it.to_string()),
        ("size", central.size, local.size, true, |it| it.to_string()),
    ];
    for (what, central, local, may_be_left, shown) in numbers {
        if central != local && !(may_be_left && absent && local == 0) {
            differ(Code::HeadersDisagree, what, shown(central), shown(local));
        }
    }
    let lesser = Code::LesserFieldsDiffer;
    if central.modified != local.modified {
        let shown = |time: u32| format!("{time:#010x}");
        differ(lesser, "time of modification", shown(central.modified), shown(local.modified));
    }
    // For a member written to a pipe, Info-ZIP learns only later that it does not need zip64.
    let has_zip64 = ExtraFields(header.extra).flatten().any(|(id, _)| id == EXTRA_ZIP64);
    let foresaw_zip64 = local.version_needed == 45 && has_zip64;
    if central.version_needed != local.version_needed && !foresaw_zip64 {
        let shown = |version: u16| format!("version {version}");
        differ(lesser, "reader", shown(central.version_needed), shown(local.version_needed));
    }
    // For a member written to a pipe, these values follow the data.
    if !header.zip64_agrees && !absent {
        findings.push(zip64_differs(entry, "member's header"));
    }
    check_extra(header.extra, header.name, &entry.member.name, findings);
    Some(has_zip64)
}

/// The extra fields of the specification, Info-ZIP, Android, Java and libarchive, in ascending order. The field of AES
/// is not included, because encrypted members are not read.
const KNOWN: [u16; 52] = [
    0x0001, 0x0007, 0x0008, 0x0009, 0x000a, 0x000c, 0x000d, 0x000e, 0x000f, 0x0014, 0x0015, 0x0016,
    0x0017, 0x0018, 0x0019, 0x0020, 0x0021, 0x0022, 0x0023, 0x0065, 0x0066, 0x07c8, 0x1986, 0x2605,
    0x2705, 0x2805, 0x334d, 0x4154, 0x4341, 0x4453, 0x4690, 0x4704, 0x470f, 0x4b46, 0x4c41, 0x4d49,
    0x4f4c, 0x5356, 0x5455, 0x554e, 0x5855, 0x6375, 0x6542, 0x6c78, 0x7075, 0x7441, 0x756e, 0x7855,
    0x7875, 0xa220, 0xcafe, 0xd935,
];

/// Checks that extra fields are complete and unique, and do not give the member a second name.
fn check_extra(extra: &[u8], raw_name: &[u8], name: &str, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    let about = |code, message: String| Finding::new(code, message).in_member(name);
    for field in ExtraFields(extra) {
        // A field of times begins with its flags. bsdtar rejects the complete archive if they are missing.
        let whole = field.filter(|(id, content)| *id != EXTRA_TIMES || !content.is_empty());
        let Some((id, content)) = whole else {
            findings.push(about(
                Code::BadExtraField,
                "the extra field of the header is cut off".to_owned(),
            ));
            continue;
        };
        if !seen.insert(id) {
            let message = format!("the extra field {id:#06x} is repeated");
            // One report is enough; there can be sixteen thousand.
            return findings.push(about(Code::BadExtraField, message));
        }
        // Version and checksum, then the name (Info-ZIP's Unicode Path).
        if id == EXTRA_UNICODE_PATH && content.get(5..) != Some(raw_name) {
            let message = "the extra field gives the member another name".to_owned();
            findings.push(about(Code::HeadersDisagree, message));
        }
        if id == EXTRA_ALIGNMENT && !is_clean_padding(content) {
            let message = "expected an alignment and zeros in the field that aligns the data";
            findings.push(about(Code::DirtyPadding, message.to_owned()));
        }
        let claimed = match id {
            EXTRA_ASI_UNIX => asi_attributes(content),
            EXTRA_LIBARCHIVE => libarchive_attributes(content),
            _ => None,
        };
        let kind =
            claimed.map(|(made_by, external)| kind(raw_name.ends_with(b"/"), made_by, external));
        if matches!(kind, Some(MemberKind::Link | MemberKind::Special)) {
            findings.push(
                about(
                    Code::HeadersDisagree,
                    format!("the extra field {id:#06x} gives the member another type"),
                )
                .expected("a file or a directory, as in the name", "a mode of another type"),
            );
        }
        if !KNOWN.contains(&id) {
            findings.push(about(
                Code::UnknownExtraField,
                format!("the extra field {id:#06x} is unknown"),
            ));
        }
    }
}

/// A system, and the attributes of a member on it.
type Attributes = (u16, u32);

/// Returns the Unix mode in the field 0x756e, after a checksum.
fn asi_attributes(content: &[u8]) -> Option<Attributes> {
    let mode = Fields(content.get(4..)?).u16()?;
    Some((3 << 8, u32::from(mode) << 16))
}

/// Returns the attributes that libarchive's field repeats from the directory. The first byte lists them.
fn libarchive_attributes(content: &[u8]) -> Option<Attributes> {
    let (present, mut rest) = content.split_first()?;
    let mut last = *present;
    while last & 0x80 != 0 {
        (last, rest) = rest.split_first().map(|(byte, rest)| (*byte, rest))?;
    }
    let mut fields = Fields(rest);
    let version_made_by = if present & 1 != 0 { fields.u16()? } else { 0 };
    if present & 2 != 0 {
        fields.u16()?;
    }
    if present & 4 == 0 {
        return None;
    }
    Some((version_made_by, fields.u32()?))
}

/// Returns whether the field is an alignment, which is a power of two, followed only by zeros.
fn is_clean_padding(content: &[u8]) -> bool {
    content.split_first_chunk().is_some_and(|(alignment, rest)| {
        u16::from_le_bytes(*alignment).is_power_of_two() && rest.iter().all(|byte| *byte == 0)
    })
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

/// Returns the offset of a member's header in stray bytes.
pub(super) fn hidden_header(bytes: &[u8]) -> Option<u64> {
    memchr::memmem::find(bytes, b"PK\x03\x04").and_then(|at| u64::try_from(at).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(extra: &[u8]) -> Vec<&'static str> {
        let mut findings = Vec::new();
        check_extra(extra, b"a", "a", &mut findings);
        findings.iter().map(|finding| finding.code.id()).collect()
    }

    #[test]
    fn every_bit_of_an_alignment_field_is_checked() {
        let sound = [0x35, 0xd9, 6, 0, 64, 0, 0, 0, 0, 0];
        assert_eq!(codes(&sound), [""; 0]);
        for bit in 0..sound.len() * 8 {
            let mut flipped = sound;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(codes(&flipped), [""; 0], "bit {bit}");
        }
    }

    #[test]
    fn fields_that_change_the_type_of_a_member_are_rejected() {
        let field = |id: u16, content: &[u8]| {
            [&id.to_le_bytes()[..], &[u8::try_from(content.len()).unwrap(), 0], content].concat()
        };
        let asi = |mode: u16| field(0x756e, &[&[0; 4], &mode.to_le_bytes()[..]].concat());
        let libarchive = |mode: u16| {
            field(0x6c78, &[&[0x87, 0, 20, 3, 0, 0, 0, 0][..], &mode.to_le_bytes()].concat())
        };
        assert_eq!(
            [asi(0o100_644), libarchive(0o100_644)].map(|extra| codes(&extra)),
            [[""; 0]; 2]
        );
        for mode in [0o120_777, 0o040_755, 0o060_644, 0o010_644, 0o020_644, 0o140_644] {
            for extra in [asi(mode), libarchive(mode)] {
                assert_eq!(codes(&extra), ["ARC004"], "{mode:o} {extra:?}");
            }
        }
    }

    #[test]
    fn the_fields_of_common_tools_are_known_and_sorted() {
        assert!(KNOWN.is_sorted());
        // Times and owners of Info-ZIP, times of NTFS, a jar.
        for id in [0x5455_u16, 0x7875, 0x000a, 0xcafe] {
            let [low, high] = id.to_le_bytes();
            assert_eq!(codes(&[low, high, 1, 0, 0]), [""; 0], "{id:#06x}");
        }
        for unknown in [[0x99, 0x99], [0x01, 0x99]] {
            assert_eq!(codes(&[unknown[0], unknown[1], 0, 0]), ["ARC029"], "{unknown:?}");
        }
        assert_eq!(codes(&[0x55, 0x54, 0, 0]), ["ARC021"], "without the flags of the times");
    }
}
