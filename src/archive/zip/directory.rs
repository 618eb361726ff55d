//! The directory of a zip: what it says of each member.

use std::borrow::Cow;

use super::super::{Location, Member, MemberKind};
use super::record::{CentralHeader, FLAG_UTF8, Facts, Fields};
use super::{kind, method};
use crate::finding::{Code, Finding};

/// What the directory says of one member.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its name decoded, without the slash that ends a directory's and a `./` before it.
    pub(super) member: Member,
    /// The name's bytes where they are not the UTF-8 of the member's name and its slash.
    raw_name: Option<Vec<u8>>,
    /// Whether the name is in the old code page.
    is_cp437: bool,
    pub(super) facts: Facts,
    /// Where the local header begins.
    pub(super) local: u64,
}

impl Entry {
    pub(super) fn new(header: &CentralHeader<'_>) -> Self {
        let (name, is_cp437) = decode_name(plain_name(header.name));
        let ends_in_slash = name.ends_with('/');
        let Facts { size, packed_size, .. } = header.facts;
        let member = Member {
            name: without_slash(name).into(),
            kind: kind(ends_in_slash, header.version_made_by, header.external_attributes),
            size,
            packed_size,
            method: method(header.facts.method),
            location: Location::Listed,
        };
        Self {
            member,
            raw_name: (is_cp437 || header.name.starts_with(b"./")).then(|| header.name.to_vec()),
            is_cp437,
            facts: header.facts,
            local: header.local,
        }
    }

    /// Whether the name was not marked as what it is.
    pub(super) fn has_legacy_name(&self) -> bool {
        self.is_cp437 || (!self.member.name.is_ascii() && self.facts.flags & FLAG_UTF8 == 0)
    }

    /// Whether it is the directory that was packed itself, which is no member.
    pub(super) fn is_root(&self) -> bool {
        self.member.kind == MemberKind::Directory && self.raw_name.as_deref() == Some(b"./")
    }

    /// Whether the bytes of a local header's name are this member's.
    pub(super) fn is_named(&self, raw: &[u8]) -> bool {
        match &self.raw_name {
            Some(name) => name == raw,
            None if self.member.kind == MemberKind::Directory => {
                raw.strip_suffix(b"/") == Some(self.member.name.as_bytes())
            }
            None => raw == self.member.name.as_bytes(),
        }
    }
}

/// The records of a directory that begins at `offset` in the file; a record that cannot be read
/// ends them.
pub(super) fn entries(
    directory: &[u8],
    offset: u64,
) -> impl Iterator<Item = Result<Entry, Box<Finding>>> + '_ {
    headers(directory, offset).map(|header| header.map(|header| Entry::new(&header)))
}

/// The same, undecoded.
pub(super) fn headers(
    directory: &[u8],
    offset: u64,
) -> impl Iterator<Item = Result<CentralHeader<'_>, Box<Finding>>> {
    let mut fields = Fields(directory);
    std::iter::from_fn(move || {
        if fields.0.is_empty() {
            return None;
        }
        let position = directory.len().saturating_sub(fields.0.len());
        let header = CentralHeader::read(&mut fields).ok_or_else(|| {
            fields = Fields(&[]);
            Box::new(no_record(offset.saturating_add(position as u64)))
        });
        Some(header)
    })
}

pub(super) fn no_record(at: u64) -> Finding {
    Finding::new(Code::BadDirectory, "expected a record of the directory").at_byte(at)
}

/// A name as it is meant: archives that are made from `.` may name everything below `./`.
pub(super) fn plain_name(raw: &[u8]) -> &[u8] {
    raw.strip_prefix(b"./").filter(|name| !name.is_empty()).unwrap_or(raw)
}

/// The name of a member as text, without the slash that ends a directory's and a `./` before it.
pub(super) fn text_name(raw: &[u8]) -> Cow<'_, str> {
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

/// A name as text: UTF-8 whatever the flag says, else the original PC's code page 437, which is what
/// the format prescribes without the flag; the second value says that it was that.
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
    fn names_in_the_old_code_page_are_read() {
        assert_eq!(decode_name(b"M\x81ller"), (Cow::Borrowed("Müller"), true));
        assert_eq!(decode_name("Müller".as_bytes()), (Cow::Borrowed("Müller"), false));
        assert_eq!(decode_name(b"\xff").0, "\u{a0}");
    }
}
