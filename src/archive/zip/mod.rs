//! Zip files: directory, lookup, byte-by-byte checks, and writing.

mod agree;
pub(super) mod end;
mod lookup;
mod record;
#[cfg(feature = "full")]
mod remains;
mod scan;
#[cfg(feature = "full")]
pub(super) mod write;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use self::end::EndOfArchive;
pub(super) use self::lookup::NameLookup;
use self::record::{
    CentralHeader, FLAG_DESCRIPTOR, FLAG_ENCRYPTED, FLAG_STRONG_ENCRYPTION, FLAG_UTF8,
    METHOD_DEFLATE, METHOD_STORED, METHOD_ZSTD, MemberFacts,
};
#[cfg(feature = "full")]
pub(super) use self::remains::each_remaining;
use super::{Location, Member, MemberKind, Method};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::File;

/// Length of a directory that is requested at once. The parts of a longer one are requested while it is read.
const SHORT_DIRECTORY: u64 = 24 * 1024 * 1024;

/// Number of bytes before a remote directory that are requested with it: the end of the manifest, where its last lines
/// are checked.
const READ_BEFORE_DIRECTORY: u64 = 16 * 1024;

/// A zip opened for reading, with its end record.
#[derive(Debug)]
pub(crate) struct ZipArchive {
    file: Arc<File>,
    len: u64,
    end: EndOfArchive,
    /// The complete directory, once it was needed.
    pub(super) directory: OnceLock<Vec<u8>>,
    pub(super) lookup: NameLookup,
}

impl ZipArchive {
    /// Opens a zip and reads only its end record.
    pub(super) fn open(file: File) -> Result<Self> {
        let len = file.len()?;
        let end = EndOfArchive::find(&file, len)?;
        let file = Arc::new(file);
        Ok(Self { file, len, end, directory: OnceLock::new(), lookup: NameLookup::default() })
    }

    /// Returns the bytes of the directory.
    fn directory(&self) -> Result<&[u8]> {
        if let Some(directory) = self.directory.get() {
            return Ok(directory);
        }
        let length = usize::try_from(self.end.directory_len).map_err(|_| {
            Error::Limit("the directory of the zip does not fit into memory".into())
        })?;
        // The end record follows the directory, so the file is at least this long.
        let mut directory = vec![0; length];
        let start = self.end.directory_offset;
        if self.end.directory_len > SHORT_DIRECTORY {
            self.file.announce(start..self.len);
        } else if !self.file.is_at_hand(start..self.len) {
            let range = start.saturating_sub(READ_BEFORE_DIRECTORY)..self.len;
            self.file.fetch(std::slice::from_ref(&range), 0)?;
        }
        self.file.read_exact_at(&mut directory, self.end.directory_offset)?;
        Ok(self.directory.get_or_init(|| directory))
    }

    pub(super) fn file(&self) -> &Arc<File> {
        &self.file
    }

    fn damaged(&self, finding: Finding) -> Error {
        Error::damaged(self.file.path(), finding)
    }

    pub(super) fn members(&self) -> Result<Vec<Member>> {
        let members = self.headers()?.map(|header| {
            let entry = Entry::new(header?.1);
            Ok((!entry.is_root()).then_some(entry.member))
        });
        members.filter_map(Result::transpose).collect()
    }

    /// Iterates over the records of the directory, with their offsets in it.
    fn headers(&self) -> Result<impl Iterator<Item = Result<(usize, CentralHeader<'_>)>>> {
        let headers = headers(self.directory()?, self.end.directory_offset);
        Ok(headers.map(|header| header.map_err(|finding| self.damaged(finding))))
    }

    pub(super) fn each_name(&self, take: &mut dyn FnMut(&str)) -> Result<()> {
        self.headers()?.try_for_each(|header| {
            take(&text_name(header?.1.name));
            Ok(())
        })
    }

    /// Finds a member like [`Self::find`], but reads little of a large sorted directory. If the name is not found there
    /// and `must_be_sure` is set, it reads all records.
    pub(super) fn find_by_order(&self, name: &str, must_be_sure: bool) -> Result<Option<Member>> {
        match self.find_bisecting(name)? {
            Some(found) if found.is_some() || !must_be_sure => Ok(found),
            _ => self.find(name),
        }
    }
}

/// Returns the problem that makes a member unreadable, if there is one.
fn unsupported(name: &str, flags: u16, method: Method) -> Option<Finding> {
    let (code, what) = if flags & (FLAG_ENCRYPTED | FLAG_STRONG_ENCRYPTION) != 0 {
        (Code::Encrypted, "the member is encrypted, which is not supported".to_owned())
    } else if let Method::Other(number) = method {
        (Code::UnknownMethod, format!("compression method {number} is not supported"))
    } else {
        return None;
    };
    Some(Finding::new(code, what).in_member(name).hint(
        "unpack the archive with the program that made it, then pack it with `ra-pack create`",
    ))
}

fn method(number: u16) -> Method {
    match number {
        METHOD_STORED => Method::Stored,
        METHOD_DEFLATE => Method::Deflate,
        METHOD_ZSTD => Method::Zstd,
        other => Method::Other(other),
    }
}

/// Returns the kind of a member from its name and attributes (§4.4.15). Readers differ in which systems' attributes
/// they use, so an attribute counts for all systems.
fn kind(name_is_directory: bool, version_made_by: u16, external_attributes: u32) -> MemberKind {
    /// DOS attribute of a volume label, which `unzip` skips. 0x10 is a directory.
    const DOS_LABEL: u32 = 0x08;
    const DOS_DIRECTORY: u32 = 0x10;
    /// NTFS attribute of a link.
    const REPARSE_POINT: u32 = 0x400;
    const TYPE_MASK: u32 = 0o170_000;
    const AMIGA: u16 = 1;
    const AMIGA_MASK: u32 = 0o6_000;
    const AMIGA_DIRECTORY: u32 = 0o4_000;
    let has = |bit: u32| external_attributes & bit != 0;
    let mode = external_attributes >> 16;
    let is_on_amiga = version_made_by >> 8 == AMIGA && mode & AMIGA_MASK == AMIGA_DIRECTORY;
    let claims_directory = has(DOS_DIRECTORY) || is_on_amiga;
    match mode & TYPE_MASK {
        0o120_000 => MemberKind::Link,
        _ if has(REPARSE_POINT) => MemberKind::Link,
        _ if has(DOS_LABEL) || (claims_directory && !name_is_directory) => MemberKind::Special,
        0 | 0o100_000 if !name_is_directory => MemberKind::File,
        0 | 0o040_000 | 0o100_000 if name_is_directory => MemberKind::Directory,
        _ => MemberKind::Special,
    }
}

/// Returns whether sizes and checksum follow the data.
fn has_descriptor(flags: u16) -> bool {
    flags & FLAG_DESCRIPTOR != 0
}

/// The directory record of one member.
#[derive(Debug)]
struct Entry<'h> {
    /// The member. Its decoded name has no `/` at the end and no `./` at the beginning.
    member: Member,
    /// Whether the name is in code page 437.
    is_cp437: bool,
    header: CentralHeader<'h>,
}

impl<'h> Entry<'h> {
    fn new(header: CentralHeader<'h>) -> Self {
        let (name, is_cp437) = decode_name(plain_name(header.name));
        let ends_in_slash = name.ends_with('/');
        let MemberFacts { size, packed_size, .. } = header.facts;
        let member = Member {
            name: without_slash(name).into(),
            kind: kind(ends_in_slash, header.version_made_by, header.external_attributes),
            size,
            packed_size,
            method: method(header.facts.method),
            location: Location::Listed,
        };
        Self { member, is_cp437, header }
    }

    /// Returns whether the name needs a flag that is not set.
    fn has_legacy_name(&self) -> bool {
        self.is_cp437 || (!self.member.name.is_ascii() && self.header.facts.flags & FLAG_UTF8 == 0)
    }

    /// Returns whether the entry is the packed directory itself, which is not a member.
    fn is_root(&self) -> bool {
        self.member.kind == MemberKind::Directory && self.header.name == b"./"
    }
}

/// Iterates over the records of a directory at `offset` in the file, with their offsets in the directory. An unreadable
/// record is the last item.
fn headers(
    directory: &[u8],
    offset: u64,
) -> impl Iterator<Item = Result<(usize, CentralHeader<'_>), Finding>> {
    let mut rest = directory;
    std::iter::from_fn(move || {
        let at = directory.len() - rest.len();
        if rest.is_empty() {
            return None;
        }
        let header;
        (header, rest) = match CentralHeader::split(rest) {
            Some((header, rest)) => (Ok((at, header)), rest),
            None => (Err(no_record(offset + at as u64)), &[][..]),
        };
        Some(header)
    })
}

fn no_record(at: u64) -> Finding {
    Finding::new(Code::BadDirectory, "expected a record of the directory").at_byte(at)
}

/// Removes a leading `./` from a name. Archives made from `.` may have it in every name.
fn plain_name(raw: &[u8]) -> &[u8] {
    raw.strip_prefix(b"./").filter(|name| !name.is_empty()).unwrap_or(raw)
}

/// Returns the name of a member as text, without a `/` at the end and a `./` at the beginning.
fn text_name(raw: &[u8]) -> Cow<'_, str> {
    without_slash(decode_name(plain_name(raw)).0)
}

fn without_slash(name: Cow<'_, str>) -> Cow<'_, str> {
    match name {
        Cow::Borrowed(name) => Cow::Borrowed(name.strip_suffix('/').unwrap_or(name)),
        Cow::Owned(mut name) => {
            if name.ends_with('/') {
                name.pop();
            }
            Cow::Owned(name)
        }
    }
}

/// Decodes a name: as UTF-8 if it is valid, regardless of the flag, otherwise as code page 437, the default of the
/// format. The second value is true for code page 437.
fn decode_name(raw: &[u8]) -> (Cow<'_, str>, bool) {
    /// Code page 437 from 0x80 on.
    const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨\
                         ╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
    match std::str::from_utf8(raw) {
        Ok(name) => (Cow::Borrowed(name), false),
        Err(_) => {
            let name = raw.iter().map(|byte| match byte.checked_sub(0x80) {
                None => char::from(*byte),
                Some(high) => CP437.chars().nth(usize::from(high)).unwrap_or('\u{fffd}'),
            });
            (Cow::Owned(name.collect()), true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_code_page_437_are_read() {
        assert_eq!(decode_name(b"M\x81ller"), (Cow::Borrowed("Müller"), true));
        assert_eq!(decode_name("Müller".as_bytes()), (Cow::Borrowed("Müller"), false));
        assert_eq!(decode_name(b"\xff").0, "\u{a0}");
    }
}
