//! Other readers of archives.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

use ra_pack::Container;

use crate::verified::Members;

/// Reads a zip with the crate zip.
pub(crate) fn zip(bytes: &[u8]) -> Members {
    let mut bytes = bytes.to_vec();
    // A disk number may be in the zip64 record instead (APPNOTE §4.4.1.4). The crate compares both first.
    let end = bytes.windows(4).rposition(|window| window == b"PK\x05\x06").unwrap();
    for disk in [end + 4..end + 6, end + 6..end + 8] {
        if bytes[disk.clone()] == [0xff, 0xff] {
            bytes[disk].fill(0);
        }
    }
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut members = Members::new();
    for index in 0..zip.len() {
        let mut member = zip.by_index(index).unwrap();
        let name = zip_name(member.name_raw());
        let mut content = Vec::new();
        // A directory has no content, and no reader reads it.
        if name.ends_with('/') {
            assert_eq!(member.size(), 0);
        } else {
            member.read_to_end(&mut content).unwrap();
        }
        insert(&mut members, &name, name.ends_with('/'), content);
    }
    members
}

/// Reads a zip with rawzip, calling the decoders directly.
pub(crate) fn rawzip(bytes: &[u8]) -> Members {
    let zip = rawzip::ZipArchive::from_slice(bytes).unwrap();
    let mut members = Members::new();
    let mut entries = zip.entries();
    while let Some(entry) = entries.next_entry().unwrap() {
        let name = zip_name(entry.file_path().as_bytes());
        let data = zip.get_entry(entry.wayfinder()).unwrap().data().to_vec();
        let content = match entry.compression_method() {
            _ if name.ends_with('/') => Vec::new(),
            rawzip::CompressionMethod::STORE => data,
            rawzip::CompressionMethod::DEFLATE => {
                let mut content = Vec::new();
                flate2::read::DeflateDecoder::new(&*data).read_to_end(&mut content).unwrap();
                content
            }
            rawzip::CompressionMethod::ZSTD => zstd::decode_all(&*data).unwrap(),
            other => panic!("{other:?} was called valid"),
        };
        insert(&mut members, &name, name.ends_with('/'), content);
    }
    members
}

/// Returns the bytes of a name. The crates decode names without the UTF-8 flag differently, which `verify` warns about
/// (NAME007).
fn zip_name(raw: &[u8]) -> String {
    const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨\
                         ╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
    let letter = |byte: &u8| match byte.checked_sub(0x80) {
        None => char::from(*byte),
        Some(high) => CP437.chars().nth(high.into()).unwrap(),
    };
    String::from_utf8(raw.to_vec()).unwrap_or_else(|_| raw.iter().map(letter).collect())
}

/// Decompresses a tar.
pub(crate) fn unpacked(bytes: &[u8], container: Container) -> Vec<u8> {
    let mut plain = Vec::new();
    match container {
        Container::TarGz => {
            flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
        }
        Container::TarZst => plain = zstd::decode_all(bytes).unwrap(),
        _ => plain = bytes.to_vec(),
    }
    plain
}

/// Reads a tar with the crate tar.
pub(crate) fn tar(bytes: &[u8]) -> Members {
    let mut archive = tar::Archive::new(bytes);
    let mut members = Members::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        // The crate returns a global header as an entry, which the caller applies or skips.
        if entry.header().entry_type().is_pax_global_extensions() {
            continue;
        }
        let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        // An old file whose name ends in a slash is a directory, as when the crate unpacks it, unless the header is a
        // ustar header.
        let header = entry.header();
        let is_old_directory = header.as_old().linkflag == [0] && name.ends_with('/');
        let is_directory = header.entry_type().is_dir()
            || is_old_directory
            || (header.as_ustar().is_none() && name.ends_with('/'));
        insert(&mut members, &name, is_directory, content);
    }
    members
}

fn insert(members: &mut Members, name: &str, is_directory: bool, content: Vec<u8>) {
    let name = name.strip_prefix("./").unwrap_or(name).trim_end_matches('/');
    if name.is_empty() || name == "." {
        return;
    }
    let name = if is_directory { format!("{name}/") } else { name.to_owned() };
    assert!(members.insert(name.clone(), content).is_none(), "{name:?} twice");
}

/// Reads a tar with a few lines that know ustar, GNU's long names, and the PAX records `path` and `size`. Also returns
/// whether the value of a record contains a line end, because the crate tar splits records at line ends.
pub(crate) fn ustar(bytes: &[u8]) -> (Members, bool) {
    let mut members = Members::new();
    let mut has_line_end = false;
    let mut at = 0;
    let mut long_name = None;
    let mut pax: BTreeMap<String, String> = BTreeMap::new();
    while let Some(header) = bytes.get(at..at + 512) {
        if header.iter().all(|byte| *byte == 0) {
            break;
        }
        let text = |range: std::ops::Range<usize>| {
            let field = header[range].split(|byte| *byte == 0).next().unwrap_or_default();
            String::from_utf8_lossy(field).into_owned()
        };
        let mut size = number(&header[124..136]);
        let kind = header[156];
        let is_extension = matches!(kind, b'x' | b'g' | b'L' | b'K');
        if let Some(wide) = pax.get("size").filter(|_| !is_extension) {
            size = wide.parse::<usize>().unwrap();
        }
        let content = &bytes[at + 512..at + 512 + size];
        at += 512 + size.next_multiple_of(512);
        match kind {
            b'L' => {
                let name = content.strip_suffix(&[0]).unwrap_or(content);
                long_name = Some(String::from_utf8(name.to_vec()).unwrap());
            }
            b'x' | b'g' => {
                let records = records(content);
                has_line_end |= records.iter().any(|(_, value)| value.contains('\n'));
                if kind == b'x' {
                    pax = records.into_iter().collect();
                }
            }
            b'K' => {}
            _ => {
                let prefix =
                    if &header[257..263] == b"ustar\0" { text(345..500) } else { String::new() };
                let slash = if prefix.is_empty() { "" } else { "/" };
                let short = format!("{prefix}{slash}{}", text(0..100));
                let name = pax.remove("path").or(long_name.take()).unwrap_or(short);
                let is_directory = kind == b'5' || name.ends_with('/');
                insert(&mut members, &name, is_directory, content.to_vec());
                pax.clear();
            }
        }
    }
    (members, has_line_end)
}

/// Reads octal digits, or a binary number after a byte of 0x80.
fn number(field: &[u8]) -> usize {
    if field[0] & 0x80 != 0 {
        return field[1..].iter().fold(0, |number, byte| number << 8 | usize::from(*byte));
    }
    let text = String::from_utf8_lossy(field);
    usize::from_str_radix(text.trim_matches(['\0', ' ']), 8).unwrap_or(0)
}

/// Reads records `length key=value\n`.
fn records(mut content: &[u8]) -> Vec<(String, String)> {
    let mut records = Vec::new();
    while let Some(space) = content.iter().position(|byte| *byte == b' ') {
        let length: usize = std::str::from_utf8(&content[..space]).unwrap().parse().unwrap();
        let record = String::from_utf8_lossy(&content[space + 1..length - 1]).into_owned();
        let (key, value) = record.split_once('=').unwrap();
        records.push((key.to_owned(), value.to_owned()));
        content = &content[length..];
    }
    records
}
