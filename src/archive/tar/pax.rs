//! The extended headers before an entry: PAX records and GNU long names.

use super::super::MemberKind;
use super::header::TarHeader;
use super::{Fault, OCTAL_END, TIME_END, TarEntry, printable};
use crate::finding::Code;

/// The values of the extended headers before an entry.
#[derive(Debug, Default)]
pub(super) struct Extensions {
    offset: Option<u64>,
    pax: Option<PaxRecords>,
    long_name: Option<Vec<u8>>,
    long_link: Option<Vec<u8>>,
}

impl Extensions {
    /// Adds the extended header of type `typeflag`, whose first block is at `offset`. Returns the first warning about
    /// its records.
    pub(super) fn add(
        &mut self,
        typeflag: u8,
        offset: u64,
        payload: Vec<u8>,
    ) -> Result<Option<String>, Fault> {
        let wrong = |message| (Code::BadExtendedHeader, message);
        if typeflag == b'g' {
            self.must_be_empty("a global PAX header")?;
            let records = PaxRecords::parse(&payload).map_err(wrong)?;
            return match records.structural_key() {
                // The record would give every later entry the same name or size.
                Some(key) => Err(wrong(format!(
                    "expected no `{key}` in a global PAX header, which applies to all later entries"
                ))),
                None => Ok(records.odd),
            };
        }
        let mut odd = None;
        let repeated = match typeflag {
            b'x' => {
                let mut records = PaxRecords::parse(&payload).map_err(wrong)?;
                odd = records.odd.take();
                self.pax.replace(records).is_some()
            }
            b'L' => self.long_name.replace(without_nul(payload)).is_some(),
            _ => self.long_link.replace(without_nul(payload)).is_some(),
        };
        if repeated {
            let typeflag = char::from(typeflag);
            return Err(wrong(format!(
                "expected one header of type `{typeflag}` before an entry, found a second"
            )));
        }
        let sized = self.pax.as_ref().is_some_and(|pax| pax.size.is_some());
        if typeflag != b'x' && sized {
            // Some readers apply the size to the long name and then see other entries.
            let message = "expected a PAX header with a size just before its entry, found a GNU long name \
                           between";
            return Err((Code::HeadersDisagree, message.into()));
        }
        self.offset.get_or_insert(offset);
        Ok(odd)
    }

    /// Rejects `found` if extended headers have no entry.
    pub(super) fn must_be_empty(&self, found: &str) -> Result<(), Fault> {
        match self.offset {
            Some(_) => {
                let expected = "an entry after its extended headers";
                Err((Code::BadExtendedHeader, format!("expected {expected}, found {found}")))
            }
            None => Ok(()),
        }
    }

    /// Resolves the entry of `header` at `offset`. An error contains as much of the name as is known.
    pub(super) fn resolve(
        self,
        header: TarHeader,
        offset: u64,
        data_offset: u64,
    ) -> Result<TarEntry, (Option<String>, Fault)> {
        let pax = self.pax.unwrap_or_default();
        let is_short_directory = header.name.ends_with(b"/");
        let name = one_name(pax.path, self.long_name, header.name).map_err(|why| (None, why))?;
        let named = |fault| (Some(String::from_utf8_lossy(&name).into_owned()), fault);
        let target = one_name(pax.link_path, self.long_link, header.link).map_err(&named)?;
        if header.typeflag == b'S' || pax.sparse.is_some() {
            return Err(named((Code::Unsupported, "a sparse file is not supported".into())));
        }
        let size = one_size(pax.size, header.size).map_err(&named)?;
        let is_named_directory = name.ends_with(b"/");
        // Readers disagree whether these types have data.
        let (kind, without_data) = match header.typeflag {
            b'0' | b'7' | 0 if !is_named_directory => (MemberKind::File, None),
            b'0' | b'7' | 0 | b'5' => (MemberKind::Directory, Some("directory")),
            b'1' | b'2' => (MemberKind::Link, Some("link")),
            b'3' | b'4' | b'6' => (MemberKind::Special, Some("device or FIFO")),
            _ => (MemberKind::Special, None),
        };
        if let Some(kind) = without_data.filter(|_| size > 0) {
            let message = format!("expected a {kind} without data, found a size of {size} bytes");
            return Err(named((Code::DirectoryWithData, message)));
        }
        let message = if !target.is_empty()
            && matches!(kind, MemberKind::File | MemberKind::Directory)
        {
            "expected a link name only in the headers of a link, found one, which makes this a link \
             for other readers"
        } else if matches!(header.typeflag, b'0' | b'7') && is_named_directory {
            // Only a header without a type may be a directory because of its name. Some readers check the name in the
            // header itself.
            "expected the type of a directory with a name that ends in `/`, found the type of a file, which \
             other readers follow"
        } else if header.typeflag != b'5' && is_short_directory != is_named_directory {
            "expected a `/` at the end of both names of an entry or of none, found it at the end of one, which \
             makes it a directory for other readers"
        } else {
            let header_offset = self.offset.unwrap_or(offset);
            return Ok(TarEntry { name, kind, size, header_offset, data_offset });
        };
        Err(named((Code::BadTarHeader, message.into())))
    }
}

/// Returns the name. The extensions must agree, because readers differ in which one they use.
fn one_name(pax: Option<Vec<u8>>, gnu: Option<Vec<u8>>, header: Vec<u8>) -> Result<Vec<u8>, Fault> {
    match (pax, gnu) {
        (Some(pax), Some(gnu)) if pax != gnu => {
            let (pax, gnu) = (printable(&pax), printable(&gnu));
            let found = format!("`{pax}` in the PAX header and `{gnu}` in the GNU long name");
            Err((Code::HeadersDisagree, format!("expected the same name, found {found}")))
        }
        (Some(name), _) | (None, Some(name)) => Ok(name),
        (None, None) => Ok(header),
    }
}

/// Returns the size. Below 8 GiB it must also be in the header, because some readers only look there.
fn one_size(pax: Option<u64>, ustar: u64) -> Result<u64, Fault> {
    match pax {
        Some(pax) if pax != ustar && pax < OCTAL_END => {
            let expected = format!("the size {ustar} of the header also in its PAX header");
            Err((Code::HeadersDisagree, format!("expected {expected}, found {pax}")))
        }
        Some(pax) => Ok(pax),
        None => Ok(ustar),
    }
}

/// Removes the final NUL of a GNU long name. The caller rejects any other NUL.
fn without_nul(mut name: Vec<u8>) -> Vec<u8> {
    if name.last() == Some(&0) {
        name.pop();
    }
    name
}

/// The records of one extended header that affect how the entry is read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PaxRecords {
    pub(super) path: Option<Vec<u8>>,
    pub(super) link_path: Option<Vec<u8>>,
    /// Length of the data in bytes.
    pub(super) size: Option<u64>,
    /// The prefix of a record that marks the entry as a sparse file.
    pub(super) sparse: Option<&'static str>,
    /// The first warning about a record.
    pub(super) odd: Option<String>,
}

/// Prefixes of records that make some readers treat the data as a sparse file.
const SPARSE: [&str; 3] = ["GNU.sparse", "SCHILY.realsize", "SUN.holesdata"];

/// Prefixes of records that affect neither name, kind nor content.
const HARMLESS: [&str; 10] = [
    "LIBARCHIVE.creationtime",
    "LIBARCHIVE.xattr.",
    "RHT.security.selinux",
    "SCHILY.acl.",
    "SCHILY.dev",
    "SCHILY.fflags",
    "SCHILY.ino",
    "SCHILY.nlink",
    "SCHILY.xattr.",
    "comment",
];

/// The values of `hdrcharset` that all readers take for UTF-8 in names.
const UTF_8: [&[u8]; 2] = [b"ISO-IR 10646 2000 UTF-8", b"BINARY"];

const NO_LENGTH: &str = "does not begin with its length in decimal digits and a space";
const NO_END: &str = "does not end in a line feed at its declared length";
const NO_SIZE: &str = "has a `size` that is not a decimal number";
const NO_KEY: &str = "is not `KEY=VALUE` with a UTF-8 key";

impl PaxRecords {
    /// Parses the payload of an extended header. The error names the invalid record.
    pub(super) fn parse(payload: &[u8]) -> Result<Self, String> {
        let mut records = Self::default();
        let mut rest = payload;
        while !rest.is_empty() {
            let at = payload.len() - rest.len();
            let of = |what| format!("the record at byte {at} of the PAX header {what}");
            let (key, value, after) = split_record(rest).map_err(of)?;
            let odd = records.set(key, value).map_err(of)?;
            records.odd = records.odd.take().or(odd.map(of));
            rest = after;
        }
        Ok(records)
    }

    /// Returns the key of a record that affects which bytes are the member, if there is one.
    pub(super) fn structural_key(&self) -> Option<&'static str> {
        match self {
            Self { path: Some(_), .. } => Some("path"),
            Self { link_path: Some(_), .. } => Some("linkpath"),
            Self { size: Some(_), .. } => Some("size"),
            Self { sparse, .. } => *sparse,
        }
    }

    /// Applies a record. Returns a warning about it, if any.
    fn set(&mut self, key: &str, value: &[u8]) -> Result<Option<String>, String> {
        let is_sound = match key {
            "path" => set_once(&mut self.path, "path", value, |value| Ok(value.to_vec()))?,
            "linkpath" => {
                set_once(&mut self.link_path, "linkpath", value, |value| Ok(value.to_vec()))?
            }
            "size" => {
                let read = |value: &_| decimal(value).ok_or_else(|| NO_SIZE.into());
                set_once(&mut self.size, "size", value, read)?
            }
            "atime" | "ctime" | "mtime" => is_time(value),
            "uid" | "gid" => decimal(value).is_some_and(|value| u32::try_from(value).is_ok()),
            "uname" | "gname" => std::str::from_utf8(value).is_ok(),
            "hdrcharset" => UTF_8.contains(&value),
            _ => {
                let sparse = SPARSE.into_iter().find(|family| key.starts_with(family));
                self.sparse = self.sparse.or(sparse);
                // Only the first warning is kept, and there can be millions.
                if sparse.is_none()
                    && self.odd.is_none()
                    && !HARMLESS.iter().any(|family| key.starts_with(family))
                {
                    let key = printable(key.as_bytes());
                    return Ok(Some(format!(
                        "has the unknown key `{key}`, which other readers may interpret"
                    )));
                }
                true
            }
        };
        let is_odd = !is_sound && self.odd.is_none();
        Ok(is_odd.then(|| format!("has a value of `{key}` that makes some readers stop")))
    }
}

/// Returns whether the value is a number of seconds that all readers accept, with an optional sign and fraction.
fn is_time(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"-").unwrap_or(value);
    let mut parts = value.splitn(2, |&byte| byte == b'.');
    let whole = parts.next().and_then(decimal).is_some_and(|whole| whole < TIME_END);
    whole && parts.next().is_none_or(|fraction| fraction.iter().all(u8::is_ascii_digit))
}

/// Sets a value once. Readers disagree on which of two records counts, and on the effect of an empty value.
fn set_once<T>(
    slot: &mut Option<T>,
    key: &str,
    value: &[u8],
    read: impl FnOnce(&[u8]) -> Result<T, String>,
) -> Result<bool, String> {
    if slot.is_some() {
        return Err(format!("repeats `{key}`"));
    }
    if value.is_empty() {
        return Err(format!("has an empty `{key}`"));
    }
    *slot = Some(read(value)?);
    Ok(true)
}

type PaxRecord<'a> = (&'a str, &'a [u8], &'a [u8]);

fn split_record(bytes: &[u8]) -> Result<PaxRecord<'_>, String> {
    let space = bytes.iter().position(|&byte| byte == b' ').ok_or(NO_LENGTH)?;
    let (digits, _) = bytes.split_at_checked(space).ok_or(NO_LENGTH)?;
    let length = decimal(digits).ok_or(NO_LENGTH)?;
    let claimed = usize::try_from(length).unwrap_or(usize::MAX);
    let (record, after) = bytes
        .split_at_checked(claimed)
        .ok_or_else(|| format!("declares {claimed} bytes, found {}", bytes.len()))?;
    // The length may end before the space after it.
    let body = record.get(space + 1..).ok_or(NO_END)?;
    let body = body.strip_suffix(b"\n").ok_or(NO_END)?;
    let equals = body.iter().position(|&byte| byte == b'=').ok_or(NO_KEY)?;
    let (key, value) = body.split_at_checked(equals).ok_or(NO_KEY)?;
    let key = std::str::from_utf8(key).map_err(|_| NO_KEY)?;
    let value = value.strip_prefix(b"=").ok_or(NO_KEY)?;
    // Readers that end the key at a line feed or NUL see other records.
    if key.is_empty() || key.contains(['\0', '\n']) {
        return Err(NO_KEY.into());
    }
    Ok((key, value, after))
}

/// Parses digits only. `parse` alone would accept a sign.
fn decimal(digits: &[u8]) -> Option<u64> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::write::push_record;
    use super::*;

    /// Returns the problem of the only record in `payload`.
    fn fault(payload: &[u8]) -> String {
        let fault = PaxRecords::parse(payload).unwrap_err();
        fault.split_once(" of the PAX header ").unwrap().1.to_owned()
    }

    #[test]
    fn a_keyword_contains_no_line_feed() {
        for key in ["a\nb", "\0", "%\0%\n\n"] {
            let mut payload = Vec::new();
            push_record(&mut payload, key, b"value");
            assert_eq!(fault(&payload), NO_KEY, "{key:?}");
        }
    }

    #[test]
    fn the_length_of_a_record_includes_its_own_digits() {
        for value in 0..1200 {
            let mut payload = Vec::new();
            push_record(&mut payload, "path", &vec![b'a'; value]);
            let digits = payload.split(|&byte| byte == b' ').next().unwrap();
            assert_eq!(decimal(digits), u64::try_from(payload.len()).ok());
        }
    }

    #[test]
    fn records_that_change_the_entry_are_read_and_others_ignored() {
        let mut payload = Vec::new();
        push_record(&mut payload, "comment", b"a=b\nc");
        push_record(&mut payload, "path", "größe/a=b\n.ra".as_bytes());
        push_record(&mut payload, "size", b"18446744073709551615");
        let records = PaxRecords::parse(&payload).unwrap();
        assert_eq!(records.path.as_deref(), Some("größe/a=b\n.ra".as_bytes()));
        assert_eq!(records.size, Some(u64::MAX));
        assert_eq!((records.sparse, records.odd), (None, None));
    }

    #[test]
    fn wrong_lengths_are_rejected() {
        assert_eq!(fault(b"path=a\n"), NO_LENGTH);
        assert_eq!(fault(b"+10 path=a\n"), NO_LENGTH);
        assert_eq!(fault(b" path=a\n"), NO_LENGTH);
        assert_eq!(fault(b"99999999999999999999999 path=a\n"), NO_LENGTH);
        assert_eq!(fault(b"11 path=a\n"), "declares 11 bytes, found 10");
        assert_eq!(fault(b"8 path=a\n"), NO_END);
        assert_eq!(fault(b"0 path=a\n"), NO_END);
        assert_eq!(fault(b"2 path=a\n"), NO_END);
        // Bytes after the last record are not ignored.
        let fault = PaxRecords::parse(b"10 path=a\n\0").unwrap_err();
        assert!(fault.starts_with("the record at byte 10 of the PAX header "), "{fault}");
    }

    #[test]
    fn ambiguous_records_are_rejected() {
        assert_eq!(fault(b"8 path=\n"), "has an empty `path`");
        assert_eq!(fault(b"10 path=a\n10 path=b\n"), "repeats `path`");
        assert_eq!(fault(b"11 size=-1\n"), NO_SIZE);
        assert_eq!(fault(b"11 size=+1\n"), NO_SIZE);
        assert_eq!(fault(b"28 size=18446744073709551616\n"), NO_END);
        assert_eq!(fault(b"29 size=18446744073709551616\n"), NO_SIZE);
        assert_eq!(fault(b"5 =a\n"), NO_KEY);
        assert_eq!(fault(b"7 \xff\xff=a\n"), NO_KEY);
        assert_eq!(fault(b"5 ab\n"), NO_KEY);
    }
}
