//! Writing of the records of a zip file.

use super::super::Method;
use super::record::{
    CENTRAL, END, END64, END64_LEN, ESCAPE32, EXTRA_ALIGNMENT, EXTRA_ZIP64, LOCAL, LOCAL_LEN,
    LOCATOR64, METHOD_DEFLATE, METHOD_STORED, METHOD_ZSTD, MemberFacts,
};

const ESCAPE16: u16 = u16::MAX;

/// Returns the value for a 32-bit field, or the escape if it does not fit.
fn narrow32(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(ESCAPE32)
}

fn is_wide(value: u64) -> bool {
    value >= u64::from(ESCAPE32)
}

fn narrow16(value: usize) -> u16 {
    u16::try_from(value).unwrap_or(ESCAPE16)
}

/// The values of a member to write.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewHeader<'a> {
    pub(super) name: &'a [u8],
    pub(super) facts: MemberFacts,
    /// The offset within the data to align to [`ALIGNMENT`].
    pub(super) align_at: Option<u64>,
    pub(super) external_attributes: u32,
}

/// Alignment of stored array data in bytes. In a memory map of the archive, it aligns any element type and vector
/// register.
pub(super) const ALIGNMENT: u64 = 64;

impl NewHeader<'_> {
    fn is_wide(&self) -> bool {
        is_wide(self.facts.size) || is_wide(self.facts.packed_size)
    }
}

/// Returns the length of the alignment field of a header at `at` that has `fixed` bytes without it.
fn alignment_padding(member: &NewHeader<'_>, at: u64, fixed: usize) -> usize {
    /// Identifier, length, and the alignment itself.
    const SMALLEST: u64 = 6;
    let Some(align_at) = member.align_at else { return 0 };
    let data = at.wrapping_add(fixed as u64).wrapping_add(align_at);
    if data.is_multiple_of(ALIGNMENT) {
        return 0;
    }
    let short = ALIGNMENT - data.wrapping_add(SMALLEST) % ALIGNMENT;
    usize::try_from(SMALLEST + short % ALIGNMENT).unwrap_or(0)
}

/// Appends the local header of a member at offset `at`.
pub(super) fn write_local(out: &mut Vec<u8>, member: &NewHeader<'_>, at: u64) {
    let fixed = LOCAL_LEN + member.name.len();
    let zip64: usize = if member.is_wide() { 20 } else { 0 };
    let padding = alignment_padding(member, at, fixed + zip64);
    out.extend(LOCAL.to_le_bytes());
    if member.is_wide() {
        // A local header must have either both sizes in the zip64 field or none (§4.5.3).
        let escaped = u64::from(ESCAPE32);
        MemberFacts { packed_size: escaped, size: escaped, ..member.facts }.write(out);
    } else {
        member.facts.write(out);
    }
    out.extend(narrow16(member.name.len()).to_le_bytes());
    out.extend(narrow16(zip64 + padding).to_le_bytes());
    out.extend_from_slice(member.name);
    if member.is_wide() {
        out.extend(EXTRA_ZIP64.to_le_bytes());
        out.extend(16_u16.to_le_bytes());
        out.extend(member.facts.size.to_le_bytes());
        out.extend(member.facts.packed_size.to_le_bytes());
    }
    if let Some(zeros) = padding.checked_sub(6) {
        out.extend(EXTRA_ALIGNMENT.to_le_bytes());
        out.extend(narrow16(zeros + 2).to_le_bytes());
        out.extend(u16::try_from(ALIGNMENT).unwrap_or(0).to_le_bytes());
        out.resize(out.len() + zeros, 0);
    }
}

impl MemberFacts {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.version_needed.to_le_bytes());
        out.extend(self.flags.to_le_bytes());
        out.extend(self.method.to_le_bytes());
        out.extend(self.modified.to_le_bytes());
        out.extend(self.crc.to_le_bytes());
        out.extend(narrow32(self.packed_size).to_le_bytes());
        out.extend(narrow32(self.size).to_le_bytes());
    }
}

/// "Version made by": version 4.5 of the specification, on Unix. Constant on all systems.
const VERSION_MADE_BY: u16 = (3 << 8) + 45;

/// Appends the directory record of a member whose local header is at offset `at`.
pub(super) fn write_central(out: &mut Vec<u8>, member: &NewHeader<'_>, at: u64) {
    let (size, packed_size) = (member.facts.size, member.facts.packed_size);
    let wide: Vec<u64> =
        [size, packed_size, at].into_iter().filter(|value| is_wide(*value)).collect();
    out.extend(CENTRAL.to_le_bytes());
    out.extend(VERSION_MADE_BY.to_le_bytes());
    member.facts.write(out);
    out.extend(narrow16(member.name.len()).to_le_bytes());
    let extra = if wide.is_empty() { 0 } else { wide.len() * 8 + 4 };
    out.extend(narrow16(extra).to_le_bytes());
    out.extend(0_u16.to_le_bytes()); // comment
    out.extend(0_u16.to_le_bytes()); // disk
    out.extend(0_u16.to_le_bytes()); // internal attributes
    out.extend(member.external_attributes.to_le_bytes());
    out.extend(narrow32(at).to_le_bytes());
    out.extend_from_slice(member.name);
    if !wide.is_empty() {
        out.extend(EXTRA_ZIP64.to_le_bytes());
        out.extend(narrow16(wide.len() * 8).to_le_bytes());
        for value in wide {
            out.extend(value.to_le_bytes());
        }
    }
}

/// Appends the end of an archive with `entries` members and a directory of `len` bytes at `offset`: the end record,
/// after zip64 records if a number needs them.
pub(super) fn write_end(out: &mut Vec<u8>, entries: u64, offset: u64, len: u64) {
    if entries >= u64::from(ESCAPE16) || is_wide(offset) || is_wide(len) {
        out.extend(END64.to_le_bytes());
        out.extend((END64_LEN as u64 - 12).to_le_bytes());
        out.extend(VERSION_MADE_BY.to_le_bytes());
        out.extend(45_u16.to_le_bytes()); // version needed
        out.extend([0; 8]); // disks
        for number in [entries, entries, len, offset] {
            out.extend(number.to_le_bytes());
        }
        out.extend(LOCATOR64.to_le_bytes());
        out.extend([0; 4]); // disk
        out.extend((offset + len).to_le_bytes());
        out.extend(1_u32.to_le_bytes()); // number of disks
    }
    let entries = u16::try_from(entries).unwrap_or(ESCAPE16);
    out.extend(END.to_le_bytes());
    out.extend([0; 4]); // disks
    out.extend(entries.to_le_bytes());
    out.extend(entries.to_le_bytes());
    out.extend(narrow32(len).to_le_bytes());
    out.extend(narrow32(offset).to_le_bytes());
    out.extend([0; 2]); // comment
}

/// Returns the number of a method.
pub(super) fn method_number(method: Method) -> u16 {
    match method {
        Method::Stored | Method::Solid => METHOD_STORED,
        Method::Deflate => METHOD_DEFLATE,
        Method::Zstd => METHOD_ZSTD,
        Method::Other(number) => number,
    }
}
