//! Hand-written list of the bytes of an archive that have no effect, with reasons.

use std::io::Read;
use std::ops::Range;

use super::changes::{Change, Unit, tar_members};
use super::kinds::{Kind, Sound};
use crate::bytes::zip_entries;
use crate::raw_zip::DEFLATE;

const MADE_BY: &str = "zip, made by: the program and system that wrote the member; the name decides \
                       whether it is a directory";
const TEXT: &str = "zip, internal attribute: a hint that the content may be text";
const ATTRIBUTES: &str = "zip, external attributes: permissions and DOS flags, which `extract` \
                          ignores; links and devices are reported";
const DIRECTORY_ORDER: &str =
    "zip, order of the directory: the same records, each of its own member";
const TAR_ORDER: &str = "tar, order of the members: the same headers and the same contents";
const TAR_SUM: &str =
    "tar, checksum of a header: a space instead of a zero or NUL, the same number";
const TAR_END: &str = "tar, zeros after the end mark: a tar may have any number of them";
const GZIP_TIME: &str = "gzip, time: when the archive was compressed";
const GZIP_MAKER: &str =
    "gzip, compressor and system: the compression level and the operating system";
const ENCODING: &str = "deflate and Zstandard, unused bits: they decode to the same bytes";
const DIGIT: &str = "manifest, case of a digit: the same digest in hexadecimal";
const LINE_END: &str = "manifest, end of the last line: the line is complete";
const EMPTY: &str = "empty directory, dropped: a manifest lists only files, and no file is lost";

/// Returns the reason why an unreported change is harmless, or `None`.
pub(crate) fn why(kind: &Kind, sound: &Sound, change: &Change) -> Option<&'static str> {
    match (kind.ending, change) {
        (_, Change::Flip(_) | Change::Zero(_)) => bytes(kind, sound, change),
        ("", Change::Cut(at)) => cut(sound, *at),
        ("", Change::Drop(_, file)) => {
            let (name, _) = sound.files.iter().find(|(_, range)| range == file)?;
            name.ends_with('/').then_some(EMPTY)
        }
        (".zip", Change::Swap(Unit::Record, one, _)) => {
            let directory = zip_entries(&sound.bytes).iter().map(|entry| entry.central).min()?;
            (one.start >= directory).then_some(DIRECTORY_ORDER)
        }
        (".tar", Change::Swap(..)) => {
            let changed = change.apply(sound).remove(0).1;
            (members(&changed) == members(&sound.bytes)).then_some(TAR_ORDER)
        }
        (".tar", Change::Double(Unit::Block, block)) => {
            let (_, end) = tar_members(&sound.bytes);
            (block.start >= end).then_some(TAR_END)
        }
        (".tar", Change::Drop(_, dropped)) => {
            // A directory is a single block, its header.
            tar_members(&sound.bytes).0.contains(dropped).then_some(())?;
            let name = sound.bytes[dropped.clone()].split(|byte| *byte == 0).next()?;
            name.ends_with(b"/").then_some(EMPTY)
        }
        _ => None,
    }
}

/// Returns the members of a tar sorted by their bytes, and the bytes after them.
fn members(tar: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let (ranges, end) = tar_members(tar);
    let mut members: Vec<&[u8]> = ranges.into_iter().map(|range| &tar[range]).collect();
    members.sort_unstable();
    (members, tar.get(end..).unwrap_or_default())
}

/// Removes the top directory of a bag from a name.
fn in_pack(name: &str) -> &str {
    name.strip_prefix("x/").unwrap_or(name)
}

/// Recognizes a manifest without its last line end.
fn cut(sound: &Sound, at: usize) -> Option<&'static str> {
    let (name, range) = sound.files.iter().find(|(_, range)| range.contains(&at))?;
    let is_manifest =
        ["manifest-", "tagmanifest-"].iter().any(|start| in_pack(name).starts_with(start));
    (is_manifest && &sound.bytes[at..range.end] == b"\n").then_some(LINE_END)
}

/// Checks that every byte that differs has no effect.
fn bytes(kind: &Kind, sound: &Sound, change: &Change) -> Option<&'static str> {
    let changed: Vec<u8> =
        change.apply(sound).into_iter().flat_map(|(_, content)| content).collect();
    let differing = (0..sound.len()).filter(|at| sound.bytes[*at] != changed[*at]);
    let mut reasons: Vec<_> =
        differing.map(|at| byte(kind, &sound.bytes, &changed, at)).collect::<Option<_>>()?;
    reasons.pop()
}

fn byte(kind: &Kind, sound: &[u8], changed: &[u8], at: usize) -> Option<&'static str> {
    match kind.ending {
        ".zip" => zip_byte(sound, changed, at),
        ".tar" if is_blank_in_sum(sound, changed, at) => Some(TAR_SUM),
        ".tar" | "" => is_digit_case(sound, changed, at).then_some(DIGIT),
        ".tar.gz" => match at {
            4..8 => Some(GZIP_TIME),
            8 | 9 => Some(GZIP_MAKER),
            _ => (gunzip(sound)? == gunzip(changed)?).then_some(ENCODING),
        },
        ".tar.zst" => same_zstd(sound, changed).then_some(ENCODING),
        _ => None,
    }
}

/// Whether the first digit or the last byte of the checksum in a tar header became a space.
fn is_blank_in_sum(sound: &[u8], changed: &[u8], at: usize) -> bool {
    let is_header = || tar_members(sound).0.iter().any(|member| member.start == at / 512 * 512);
    let place = matches!((at % 512, sound[at]), (148, b'0') | (155, 0));
    place && changed[at] == b' ' && is_header()
}

fn zip_byte(sound: &[u8], changed: &[u8], at: usize) -> Option<&'static str> {
    for entry in zip_entries(sound) {
        let data: Range<usize> = entry.data..entry.data + entry.packed;
        if data.contains(&at) {
            let (sound, changed) = (&sound[data.clone()], &changed[data]);
            let same = match entry.method {
                DEFLATE => inflate(sound)? == inflate(changed)?,
                93 => same_zstd(sound, changed),
                _ => false,
            };
            return same.then_some(ENCODING);
        }
        match at.checked_sub(entry.central) {
            Some(4 | 5) => return Some(MADE_BY),
            Some(36) => return (sound[at] ^ changed[at] == 1).then_some(TEXT),
            Some(38..42) => return Some(ATTRIBUTES),
            _ => {}
        }
    }
    None
}

/// Whether a letter among the 64 digits of a digest became a capital.
fn is_digit_case(sound: &[u8], changed: &[u8], at: usize) -> bool {
    let is_digit = |byte: &&u8| byte.is_ascii_hexdigit();
    let before = sound[..at].iter().rev().take_while(is_digit).count();
    let after = sound[at..].iter().take_while(is_digit).count();
    before + after == 64 && changed[at] == sound[at].to_ascii_uppercase()
}

fn inflate(packed: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    flate2::read::DeflateDecoder::new(packed).read_to_end(&mut content).ok()?;
    Some(content)
}

fn gunzip(packed: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut content).ok()?;
    Some(content)
}

fn same_zstd(sound: &[u8], changed: &[u8]) -> bool {
    let decoded = zstd::decode_all(changed);
    decoded.is_ok_and(|content| content == zstd::decode_all(sound).unwrap())
}
