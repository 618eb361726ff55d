//! Writing of tar entries. The same entry always gives the same header. The length of the header is known before any
//! data is read, so several threads can write members at their final offsets.

use std::io::{self, Read};

use super::super::{MemberKind, NewMember};
use super::{BLOCK, OCTAL_END, TIME_END, padding_after};
use crate::path::first_bytes;

/// A time, in seconds since 1970, that not every reader of tars accepts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a tar needs times before the year 10000, found {0} seconds after 1970; give an \
     earlier timestamp (SOURCE_DATE_EPOCH), or correct the time of the file with `touch`"
)]
pub(crate) struct LateTime(u64);

/// Length of the end mark: two blocks of zeros.
pub(crate) const END_MARK_LEN: usize = 2 * BLOCK;

/// Returns the end mark of a tar.
pub(crate) fn end_mark() -> [u8; END_MARK_LEN] {
    [0; END_MARK_LEN]
}

static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// Returns the zeros after `size` bytes of data.
pub(crate) fn padding(size: u64) -> &'static [u8] {
    ZEROS.split_at(usize::try_from(padding_after(size)).expect("less than a block")).0
}

/// Returns the header of `member`: a ustar header, owned by user and group 0 without names.
///
/// A PAX header precedes it only where ustar is not enough: for a name that is not ASCII or does not fit, a size of 8
/// GiB or more, or a time after 2242.
///
/// # Errors
///
/// [`LateTime`] if the time is in the year 10000 or later.
pub(crate) fn entry_header(member: &NewMember<'_>) -> Result<Vec<u8>, LateTime> {
    let (size, modified) = (member.size, member.modified);
    let is_directory = member.kind == MemberKind::Directory;
    let mut path = (*member.path).to_owned();
    let is_name = !path.is_empty() && !path.contains('\0') && !path.ends_with('/');
    assert!(is_name, "a member has a name");
    assert!(size == 0 || member.kind == MemberKind::File, "a directory has no data");
    if modified >= TIME_END {
        return Err(LateTime(modified));
    }
    let (typeflag, mode) = if is_directory { (b'5', 0o755) } else { (b'0', 0o644) };
    if is_directory {
        path.push('/');
    }
    let mut records = Vec::new();
    let fields = if path.is_ascii() { split(&path) } else { None };
    let (prefix, name) = fields.unwrap_or_else(|| {
        push_record(&mut records, "path", path.as_bytes());
        ("", shortened(&path))
    });
    for (key, value) in [("size", size), ("mtime", modified)] {
        if value >= OCTAL_END {
            push_record(&mut records, key, value.to_string().as_bytes());
        }
    }

    let mut bytes = Vec::with_capacity(BLOCK);
    if !records.is_empty() {
        let size = records.len() as u64;
        // Python uses the same name. Readers without PAX support unpack the record as a file of this name.
        bytes.extend_from_slice(&ustar(b'x', "", "././@PaxHeader", size, modified, 0o644));
        bytes.append(&mut records);
        bytes.extend_from_slice(padding(size));
    }
    bytes.extend_from_slice(&ustar(typeflag, prefix, name, size, modified, mode));
    Ok(bytes)
}

const NAME_LEN: usize = 100;
const PREFIX_LEN: usize = 155;

/// Splits a path into the prefix and name of ustar. Returns `None` if they do not fit.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= NAME_LEN {
        return Some(("", path));
    }
    path.match_indices('/').find_map(|(at, _)| {
        let (prefix, name) = (path.get(..at)?, path.get(at.checked_add(1)?..)?);
        let fits = (1..=PREFIX_LEN).contains(&prefix.len()) && (1..=NAME_LEN).contains(&name.len());
        fits.then_some((prefix, name))
    })
}

/// Returns the shortened name that readers without PAX support show.
fn shortened(path: &str) -> &str {
    first_bytes(path, NAME_LEN).trim_end_matches('/')
}

fn ustar(
    typeflag: u8,
    prefix: &str,
    name: &str,
    size: u64,
    modified: u64,
    mode: u32,
) -> [u8; BLOCK] {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::new(typeflag));
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    // From 8 GiB on both are binary, a GNU extension for readers without PAX support.
    header.set_size(size);
    header.set_mtime(modified);
    if let Some(fields) = header.as_ustar_mut() {
        // `set_path` would normalize the name.
        copy_into(&mut fields.name, name);
        copy_into(&mut fields.prefix, prefix);
        fields.set_device_major(0);
        fields.set_device_minor(0);
    }
    header.set_cksum();
    *header.as_bytes()
}

fn copy_into(field: &mut [u8], text: &str) {
    for (slot, byte) in field.iter_mut().zip(text.bytes()) {
        *slot = byte;
    }
}

/// Reads the tar with the crate `tar`, an independent implementation. Calls `look` with the name, size and content of
/// each entry until it returns `false`.
pub(crate) fn each_entry(
    tar: impl Read,
    mut look: impl FnMut(&[u8], u64, &mut dyn Read) -> bool,
) -> io::Result<()> {
    for entry in tar::Archive::new(tar).entries()? {
        let mut entry = entry?;
        let (name, size) = (entry.path_bytes().into_owned(), entry.size());
        if !look(&name, size, &mut entry) {
            break;
        }
    }
    Ok(())
}

/// Appends the record of `key` and `value`. Its length includes its own digits.
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

    fn file(path: &str) -> NewMember<'_> {
        let (kind, modified) = (MemberKind::File, 315_532_800);
        NewMember { path: path.into(), kind, size: 3, modified, align: None }
    }

    #[test]
    fn an_ordinary_header_has_these_bytes() {
        let header = entry_header(&file("run1/a.ra")).unwrap();
        let mut expected = [0_u8; BLOCK];
        let fields: [(usize, &[u8]); 11] = [
            (0, b"run1/a.ra"),
            (100, b"0000644"),
            (108, b"0000000"),
            (116, b"0000000"),
            (124, b"00000000003"),
            (136, b"02263523000"),
            (148, b"0010656"),
            (156, b"0"),
            (257, b"ustar\x0000"),
            (329, b"0000000"),
            (337, b"0000000"),
        ];
        for (at, bytes) in fields {
            expected[at..at + bytes.len()].copy_from_slice(bytes);
        }
        assert_eq!(header, expected);
    }

    #[test]
    fn pax_is_used_only_where_ustar_is_not_enough() {
        let long = |parts: &[usize]| {
            parts.iter().map(|&len| "a".repeat(len)).collect::<Vec<_>>().join("/")
        };
        for path in [long(&[100]), long(&[155, 100]), long(&[50, 50, 50, 99])] {
            assert_eq!(entry_header(&file(&path)).unwrap().len(), BLOCK, "{path}");
        }
        for path in [long(&[101]), long(&[156, 2]), long(&[2, 101]), "é".to_owned()] {
            assert_eq!(entry_header(&file(&path)).unwrap().len(), 3 * BLOCK, "{path}");
        }
        let size = |size| entry_header(&NewMember { size, ..file("a") }).unwrap().len();
        assert_eq!((size(OCTAL_END - 1), size(OCTAL_END)), (BLOCK, 3 * BLOCK));
        let time = |modified| entry_header(&NewMember { modified, ..file("a") }).unwrap().len();
        assert_eq!((time(OCTAL_END - 1), time(OCTAL_END)), (BLOCK, 3 * BLOCK));
    }

    #[test]
    fn the_slash_after_a_directory_name_counts() {
        let directory = |path| NewMember { kind: MemberKind::Directory, size: 0, ..file(path) };
        assert!(entry_header(&directory("a")).unwrap().starts_with(b"a/\0"));
        let (fits, too_long) = ("a".repeat(99), "a".repeat(100));
        assert_eq!(entry_header(&directory(&fits)).unwrap().len(), BLOCK);
        assert_eq!(entry_header(&directory(&too_long)).unwrap().len(), 3 * BLOCK);
    }

    #[test]
    fn a_time_that_some_readers_reject_is_an_error() {
        let time = |modified| entry_header(&NewMember { modified, ..file("a") });
        assert!(time(TIME_END - 1).is_ok());
        for late in [TIME_END, u64::MAX] {
            assert_eq!(time(late), Err(LateTime(late)));
        }
    }

    #[test]
    fn padding_reaches_the_next_block() {
        let cases = [(0, 0), (1, 511), (511, 1), (512, 0), (513, 511), (u64::MAX, 1)];
        for (size, padding) in cases {
            assert_eq!(padding_after(size), padding);
        }
    }
}
