//! The extended headers before an entry: PAX records, and GNU long names.

use super::super::MemberKind;
use super::header::TarHeader;
use super::{Fault, OCTAL_END, TIME_END, TarEntry, printable};
use crate::finding::Code;

/// What the headers before an entry say about it.
#[derive(Debug, Default)]
pub(super) struct Extensions {
    offset: Option<u64>,
    pax: Option<PaxRecords>,
    long_name: Option<Vec<u8>>,
    long_link: Option<Vec<u8>>,
}

impl Extensions {
    /// Takes the extended header of type `typeflag`, whose first block is at `offset`, and gives the first record
    /// to be warned of.
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
                // It would give every entry after it the same name or size.
                Some(key) => Err(wrong(format!(
                    "expected a global PAX header to describe no single entry, found `{key}`"
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
            // Some readers apply the size to the long name instead, and then see other entries.
            let message = "expected a PAX header with a size just before its entry, found a GNU long name \
                           between";
            return Err((Code::HeadersDisagree, message.into()));
        }
        self.offset.get_or_insert(offset);
        Ok(odd)
    }

    /// Refuses `found` where an extended header still waits for its entry.
    pub(super) fn must_be_empty(&self, found: &str) -> Result<(), Fault> {
        match self.offset {
            Some(_) => {
                let expected = "the entry that the headers before it describe";
                Err((Code::BadExtendedHeader, format!("expected {expected}, found {found}")))
            }
            None => Ok(()),
        }
    }

    /// The entry that `header`, read at `offset`, begins; an error names it as far as it can.
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
        // Some readers pass over data of these and others take it for headers.
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
            "expected a link name only in the headers of a link, found one by which other readers make \
             this a link"
        } else if matches!(header.typeflag, b'0' | b'7') && is_named_directory {
            // Without a type, and only then, a directory may be known by its name: by some readers by the one in its
            // header.
            "expected the type of a directory with a name that ends in `/`, found that of a file, which \
             other readers believe"
        } else if header.typeflag != b'5' && is_short_directory != is_named_directory {
            "expected a `/` at the end of both names of an entry or of none, found it at the end of one, by \
             which other readers make it a directory"
        } else {
            let header_offset = self.offset.unwrap_or(offset);
            return Ok(TarEntry { name, kind, size, header_offset, data_offset });
        };
        Err(named((Code::BadTarHeader, message.into())))
    }
}

/// The name that holds: readers differ in which extension they believe, so both must agree.
fn one_name(pax: Option<Vec<u8>>, gnu: Option<Vec<u8>>, header: Vec<u8>) -> Result<Vec<u8>, Fault> {
    match (pax, gnu) {
        (Some(pax), Some(gnu)) if pax != gnu => {
            let (pax, gnu) = (printable(&pax), printable(&gnu));
            let found = format!("`{pax}` in the PAX header and `{gnu}` in the GNU long name");
            Err((Code::HeadersDisagree, format!("expected one name, found {found}")))
        }
        (Some(name), _) | (None, Some(name)) => Ok(name),
        (None, None) => Ok(header),
    }
}

/// The size that holds: below 8 GiB the header can say it, and not every reader looks further.
fn one_size(pax: Option<u64>, ustar: u64) -> Result<u64, Fault> {
    match pax {
        Some(pax) if pax != ustar && pax < OCTAL_END => {
            let expected = format!("the size {ustar} of the header in its PAX header too");
            Err((Code::HeadersDisagree, format!("expected {expected}, found {pax}")))
        }
        Some(pax) => Ok(pax),
        None => Ok(ustar),
    }
}

/// A GNU long name without the NUL that ends it. Any other NUL stays, for the caller to refuse.
fn without_nul(mut name: Vec<u8>) -> Vec<u8> {
    if name.last() == Some(&0) {
        name.pop();
    }
    name
}

/// The records of one extended header that change how the entry is read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PaxRecords {
    pub(super) path: Option<Vec<u8>>,
    pub(super) link_path: Option<Vec<u8>>,
    /// Length of the data in bytes.
    pub(super) size: Option<u64>,
    /// The family of a record by which the data is not the file.
    pub(super) sparse: Option<&'static str>,
    /// What is wrong with the first record to be warned of.
    pub(super) odd: Option<String>,
}

/// Records by which some readers take the data for parts of a file with holes, by how they begin.
const SPARSE: [&str; 3] = ["GNU.sparse", "SCHILY.realsize", "SUN.holesdata"];

/// Records that no reader takes a name, a kind or a content from, by how they begin.
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

/// The values of `hdrcharset` that all readers take for UTF-8, where the names are.
const UTF_8: [&[u8]; 2] = [b"ISO-IR 10646 2000 UTF-8", b"BINARY"];

const NO_LENGTH: &str = "does not begin with its length in decimal digits and a space";
const NO_END: &str = "does not end in a line feed where its length says";
const NO_SIZE: &str = "gives a `size` that is no decimal number of bytes";
const NO_KEY: &str = "has no `KEY=VALUE` with a UTF-8 key";

impl PaxRecords {
    /// Reads the whole extended header `payload`. An error says what is wrong with which record.
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

    /// The key of a record that says which bytes are the member, if there is one.
    pub(super) fn structural_key(&self) -> Option<&'static str> {
        match self {
            Self { path: Some(_), .. } => Some("path"),
            Self { link_path: Some(_), .. } => Some("linkpath"),
            Self { size: Some(_), .. } => Some("size"),
            Self { sparse, .. } => *sparse,
        }
    }

    /// Takes a record, and gives back why it is to be warned of.
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
                if sparse.is_none() && !HARMLESS.iter().any(|family| key.starts_with(family)) {
                    let key = printable(key.as_bytes());
                    return Ok(Some(format!(
                        "has the key `{key}`, which is not known and which other readers may obey"
                    )));
                }
                true
            }
        };
        Ok((!is_sound).then(|| format!("gives `{key}` a value with which other readers stop")))
    }
}

/// Whether it is a number of seconds that all readers take, with a sign or a fraction.
fn is_time(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"-").unwrap_or(value);
    let mut parts = value.splitn(2, |&byte| byte == b'.');
    let whole = parts.next().and_then(decimal).is_some_and(|whole| whole < TIME_END);
    whole && parts.next().is_none_or(|fraction| fraction.iter().all(u8::is_ascii_digit))
}

/// Takes a value, which is then sound. Readers disagree on which of two records holds, and on what an empty value undoes.
fn set_once<T>(
    slot: &mut Option<T>,
    key: &str,
    value: &[u8],
    read: impl FnOnce(&[u8]) -> Result<T, String>,
) -> Result<bool, String> {
    if slot.is_some() {
        return Err(format!("gives `{key}` a second time"));
    }
    if value.is_empty() {
        return Err(format!("gives `{key}` no value"));
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
        .ok_or_else(|| format!("claims {claimed} bytes, of which {} are there", bytes.len()))?;
    // A length that ends before its own space leaves nothing to take the body from.
    let body = record.get(space + 1..).ok_or(NO_END)?;
    let body = body.strip_suffix(b"\n").ok_or(NO_END)?;
    let equals = body.iter().position(|&byte| byte == b'=').ok_or(NO_KEY)?;
    let (key, value) = body.split_at_checked(equals).ok_or(NO_KEY)?;
    let key = std::str::from_utf8(key).map_err(|_| NO_KEY)?;
    let value = value.strip_prefix(b"=").ok_or(NO_KEY)?;
    // Readers that take a line end or a NUL for the end of something see other records.
    if key.is_empty() || key.contains(['\0', '\n']) {
        return Err(NO_KEY.into());
    }
    Ok((key, value, after))
}

/// Digits only: `parse` alone would take a sign.
fn decimal(digits: &[u8]) -> Option<u64> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Appends the record of `key` and `value`, whose length counts its own digits.
pub(super) fn push_record(payload: &mut Vec<u8>, key: &str, value: &[u8]) {
    let without_digits = key.len() + value.len() + " =\n".len();
    let mut length = without_digits;
    loop {
        let digits = length.to_string().len();
        let with_digits = without_digits + digits;
        if with_digits == length {
            break;
        }
        length = with_digits;
    }
    payload.extend_from_slice(format!("{length} {key}=").as_bytes());
    payload.extend_from_slice(value);
    payload.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with the only record of `payload` that is.
    fn fault(payload: &[u8]) -> String {
        let fault = PaxRecords::parse(payload).unwrap_err();
        fault.split_once(" of the PAX header ").unwrap().1.to_owned()
    }

    #[test]
    fn a_keyword_holds_no_end_of_a_line() {
        for key in ["a\nb", "\0", "%\0%\n\n"] {
            let mut payload = Vec::new();
            push_record(&mut payload, key, b"value");
            assert_eq!(fault(&payload), NO_KEY, "{key:?}");
        }
    }

    #[test]
    fn a_record_counts_the_digits_of_its_own_length() {
        for value in 0..1200 {
            let mut payload = Vec::new();
            push_record(&mut payload, "path", &vec![b'a'; value]);
            let digits = payload.split(|&byte| byte == b' ').next().unwrap();
            assert_eq!(decimal(digits), u64::try_from(payload.len()).ok());
        }
    }

    #[test]
    fn reads_what_changes_the_entry_and_ignores_the_rest() {
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
    fn refuses_every_lie_about_a_length() {
        assert_eq!(fault(b"path=a\n"), NO_LENGTH);
        assert_eq!(fault(b"+10 path=a\n"), NO_LENGTH);
        assert_eq!(fault(b" path=a\n"), NO_LENGTH);
        assert_eq!(fault(b"99999999999999999999999 path=a\n"), NO_LENGTH);
        assert_eq!(fault(b"11 path=a\n"), "claims 11 bytes, of which 10 are there");
        assert_eq!(fault(b"8 path=a\n"), NO_END);
        assert_eq!(fault(b"0 path=a\n"), NO_END);
        assert_eq!(fault(b"2 path=a\n"), NO_END);
        // The rest after the last record is not ignored either.
        let fault = PaxRecords::parse(b"10 path=a\n\0").unwrap_err();
        assert!(fault.starts_with("the record at byte 10 of the PAX header "), "{fault}");
    }

    #[test]
    fn refuses_records_that_readers_understand_differently() {
        assert_eq!(fault(b"8 path=\n"), "gives `path` no value");
        assert_eq!(fault(b"10 path=a\n10 path=b\n"), "gives `path` a second time");
        assert_eq!(fault(b"11 size=-1\n"), NO_SIZE);
        assert_eq!(fault(b"11 size=+1\n"), NO_SIZE);
        assert_eq!(fault(b"28 size=18446744073709551616\n"), NO_END);
        assert_eq!(fault(b"29 size=18446744073709551616\n"), NO_SIZE);
        assert_eq!(fault(b"5 =a\n"), NO_KEY);
        assert_eq!(fault(b"7 \xff\xff=a\n"), NO_KEY);
        assert_eq!(fault(b"5 ab\n"), NO_KEY);
    }
}
