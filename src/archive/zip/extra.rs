//! The extra fields of a zip's headers (APPNOTE §4.5): which there are, and what they may hold.

use std::collections::BTreeSet;

use super::kind;
use super::record::{
    EXTRA_ALIGNMENT, EXTRA_ASI_UNIX, EXTRA_LIBARCHIVE, EXTRA_TIMES, EXTRA_UNICODE_PATH,
    ExtraFields, Fields,
};
use crate::archive::MemberKind;
use crate::finding::{Code, Finding};

/// The fields that the specification and Info-ZIP list, and those of Android, Java and libarchive, in
/// order. That of AES is not among them: no member that can be read has it.
const KNOWN: [u16; 52] = [
    0x0001, 0x0007, 0x0008, 0x0009, 0x000a, 0x000c, 0x000d, 0x000e, 0x000f, 0x0014, 0x0015, 0x0016,
    0x0017, 0x0018, 0x0019, 0x0020, 0x0021, 0x0022, 0x0023, 0x0065, 0x0066, 0x07c8, 0x1986, 0x2605,
    0x2705, 0x2805, 0x334d, 0x4154, 0x4341, 0x4453, 0x4690, 0x4704, 0x470f, 0x4b46, 0x4c41, 0x4d49,
    0x4f4c, 0x5356, 0x5455, 0x554e, 0x5855, 0x6375, 0x6542, 0x6c78, 0x7075, 0x7441, 0x756e, 0x7855,
    0x7875, 0xa220, 0xcafe, 0xd935,
];

/// Extra fields are whole, each there once, and give the member no second name.
pub(super) fn check(extra: &[u8], raw_name: &[u8], name: &str, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for field in ExtraFields(extra) {
        // Times begin with what they are; bsdtar gives up the whole archive where they do not.
        let whole = field.filter(|(id, content)| *id != EXTRA_TIMES || !content.is_empty());
        let Some((id, content)) = whole else {
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
        if id == EXTRA_ALIGNMENT && !is_clean_padding(content) {
            findings.push(
                Finding::new(
                    Code::DirtyPadding,
                    "expected the field that aligns the data to hold an alignment and zeros",
                )
                .in_member(name),
            );
        }
        let claimed = match id {
            EXTRA_ASI_UNIX => asi_attributes(content),
            EXTRA_LIBARCHIVE => libarchive_attributes(content),
            _ => None,
        };
        if let Some((version_made_by, external_attributes)) = claimed
            && let kind = kind(raw_name.ends_with(b"/"), version_made_by, external_attributes)
            && !matches!(kind, MemberKind::File | MemberKind::Directory)
        {
            findings.push(
                Finding::new(
                    Code::HeadersDisagree,
                    format!("the extra field {id:#06x} makes something else of the member"),
                )
                .in_member(name)
                .expected("a file or a directory, as the name says", "a mode of another kind"),
            );
        }
        if !KNOWN.contains(&id) {
            findings.push(
                Finding::new(
                    Code::UnknownExtraField,
                    format!("nobody knows what the extra field {id:#06x} is"),
                )
                .in_member(name),
            );
        }
    }
}

/// A system, and the attributes that a member of it has.
type Attributes = (u16, u32);

/// The Unix mode in the field 0x756e, behind a checksum.
fn asi_attributes(content: &[u8]) -> Option<Attributes> {
    let mode = Fields(content.get(4..)?).u16()?;
    Some((3 << 8, u32::from(mode) << 16))
}

/// The attributes that libarchive's field repeats from the directory; the first byte says which there are.
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

/// An alignment, which is a power of two, and nothing but zeros behind it.
fn is_clean_padding(content: &[u8]) -> bool {
    content.split_first_chunk().is_some_and(|(alignment, rest)| {
        u16::from_le_bytes(*alignment).is_power_of_two() && rest.iter().all(|byte| *byte == 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(extra: &[u8]) -> Vec<&'static str> {
        let mut findings = Vec::new();
        check(extra, b"a", "a", &mut findings);
        findings.iter().map(|finding| finding.code.id()).collect()
    }

    #[test]
    fn every_bit_of_an_alignment_field_is_looked_at() {
        let sound = [0x35, 0xd9, 6, 0, 64, 0, 0, 0, 0, 0];
        assert_eq!(codes(&sound), [""; 0]);
        for bit in 0..sound.len() * 8 {
            let mut flipped = sound;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(codes(&flipped), [""; 0], "bit {bit}");
        }
    }

    #[test]
    fn fields_that_make_something_else_of_a_member_are_refused() {
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
    fn the_fields_that_tools_write_are_known_and_in_order() {
        assert!(KNOWN.is_sorted());
        // Times and owners of Info-ZIP, times of NTFS, a jar.
        for id in [0x5455_u16, 0x7875, 0x000a, 0xcafe] {
            let [low, high] = id.to_le_bytes();
            assert_eq!(codes(&[low, high, 1, 0, 0]), [""; 0], "{id:#06x}");
        }
        for unknown in [[0x99, 0x99], [0x01, 0x99]] {
            assert_eq!(codes(&[unknown[0], unknown[1], 0, 0]), ["ARC029"], "{unknown:?}");
        }
        assert_eq!(codes(&[0x55, 0x54, 0, 0]), ["ARC021"], "without what times there are");
    }
}
