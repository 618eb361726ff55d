//! Whether the headers of a member agree with each other and with themselves.

use std::collections::BTreeSet;

use super::directory::Entry;
use super::has_descriptor;
use super::record::{CentralHeader, EXTRA_UNICODE_PATH, ExtraFields, LocalHeader};
use crate::finding::{Code, Finding};

pub(super) fn check_central(
    header: &CentralHeader<'_>,
    entry: &Entry,
    findings: &mut Vec<Finding>,
) {
    let name = || entry.name.clone();
    if header.disk != 0 && header.disk != u16::MAX {
        findings.push(
            Finding::new(Code::SplitArchive, "the member lies in another file of a split archive")
                .in_member(name()),
        );
    }
    if entry.has_legacy_name() {
        findings.push(
            Finding::new(Code::LegacyNameEncoding, "the name is not marked as UTF-8")
                .in_member(name())
                .hint("tools will disagree about its letters; make the archive anew"),
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
    }
    check_extra(header.extra, header.name, &entry.name, findings);
}

/// Extra fields are whole, each there once, and give the member no second name.
fn check_extra(extra: &[u8], raw_name: &[u8], name: &str, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for field in ExtraFields(extra) {
        let Some((id, content)) = field else {
            findings.push(
                Finding::new(Code::BadExtraField, "the extra field of the header is cut off")
                    .in_member(name),
            );
            continue;
        };
        if !seen.insert(id) {
            findings.push(
                Finding::new(
                    Code::BadExtraField,
                    format!("the extra field {id:#06x} is there twice"),
                )
                .in_member(name),
            );
            // One of them says enough, and there can be sixteen thousand.
            return;
        }
        // Version and checksum, then the name (Info-ZIP's Unicode Path).
        if id == EXTRA_UNICODE_PATH && content.get(5..) != Some(raw_name) {
            findings.push(
                Finding::new(
                    Code::HeadersDisagree,
                    "the extra field gives the member another name",
                )
                .in_member(name),
            );
        }
    }
}

/// Compares a local header with the directory; gives the header's length when it is one.
pub(super) fn check_local(entry: &Entry, bytes: &[u8], findings: &mut Vec<Finding>) -> Option<u64> {
    let finding = |code, message: &str| {
        Finding::new(code, message).in_member(entry.name.clone()).at_byte(entry.local)
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
            .hint("programs would read different things; make the archive anew"),
        );
    };
    let (central, local) = (&entry.facts, &header.facts);
    if !entry.is_named(header.name) {
        differ("name", entry.name.clone(), String::from_utf8_lossy(header.name).into_owned());
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
    check_extra(header.extra, header.name, &entry.name, findings);
    u64::try_from(bytes.len()).ok()
}
