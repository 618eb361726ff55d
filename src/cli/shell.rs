//! Shell commands that read an array without ra-pack.

use std::path::Path;

use ra_pack::archive::Method;
use ra_pack::inspect::ArrayInfo;
use ra_pack::path::escape;
use ra_pack::ra::{ElementKind, ElementType, Flags};

/// Number of bytes that the `od` command shows.
const SHOWN: u64 = 64;
/// Bytes per line of `od` by default.
const USUAL_WIDTH: u64 = 16;
/// Largest element that gets a line of its own, in bytes.
const WIDEST: u64 = 64;

/// Quotes a path as a word of the shell.
pub(super) fn path(path: &Path) -> String {
    let text = path.as_os_str().as_encoded_bytes();
    // A word with a leading dash would be an option.
    if text.starts_with(b"-") { word(&[b"./", text].concat()) } else { word(text) }
}

/// Quotes bytes as one word of any POSIX shell. Control characters are written in octal.
pub(super) fn word(bytes: &[u8]) -> String {
    let text = std::str::from_utf8(bytes).ok();
    let is_shown = |text: &&str| escape(text).to_string() == **text;
    let Some(text) = text.filter(is_shown) else {
        let letters = bytes.iter().map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                char::from(*byte).to_string()
            }
            other => format!("\\{other:03o}"),
        });
        return format!("\"$(printf '{}')\"", letters.collect::<String>());
    };
    let is_plain = |character: char| {
        character.is_alphanumeric() || matches!(character, '/' | '.' | '_' | '-' | '+' | ',' | ':')
    };
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Formats the arguments of a command that reads an array, or a part of it.
pub(super) fn array(target: &Path, member: Option<&str>, slice: Option<&str>) -> String {
    let mut words = vec![path(target)];
    words.extend(member.map(|member| word(member.as_bytes())));
    words.extend(slice.map(|slice| format!("--slice {}", word(slice.as_bytes()))));
    words.join(" ")
}

/// Returns the `-t` of `od` for an element type, and whether it shows their numeric values.
fn od_type(element: ElementType) -> (String, bool) {
    let letter = match (element.kind(), element.elbyte()) {
        (ElementKind::Int, 1 | 2 | 4 | 8) => 'd',
        (ElementKind::UInt, 1 | 2 | 4 | 8) | (ElementKind::BFloat, 1) => 'u',
        (ElementKind::Float, 4 | 8) | (ElementKind::Complex, 8 | 16) => 'f',
        (ElementKind::Float | ElementKind::BFloat, 2) | (ElementKind::Complex, 4) => {
            return ("x2".to_owned(), false);
        }
        _ => return ("x1".to_owned(), false),
    };
    (format!("{letter}{}", element.swap_width().unwrap_or(1)), true)
}

/// Returns a comment and the `od` command, without the file, that shows the first elements after byte `at`. `None` if
/// there are no elements.
fn od(info: &ArrayInfo, at: u64) -> Option<(String, String)> {
    let element = info.header.element();
    let (kind, is_number) = od_type(element);
    let elements = info.header.elements();
    let shown = SHOWN.checked_div(info.elbyte).unwrap_or(0).max(1).min(elements);
    if shown == 0 || info.elbyte == 0 {
        return None;
    }
    let endian = match (&*kind, info.header.flags().contains(Flags::BIG_ENDIAN)) {
        ("d1" | "u1" | "x1", _) => "",
        (_, true) => " --endian=big",
        (_, false) => " --endian=little",
    };
    let width = match info.elbyte {
        wide if !USUAL_WIDTH.is_multiple_of(wide) && wide <= WIDEST => format!(" -w{wide}"),
        _ => String::new(),
    };
    let bytes = shown.saturating_mul(info.elbyte);
    let mut what = match shown {
        1 => "the first element".to_owned(),
        many if many == elements => format!("all {many} elements"),
        many => format!("the first {many} elements"),
    };
    if element.kind() == ElementKind::Complex {
        what.push_str(", real part before imaginary");
    }
    if !is_number {
        what.push_str(match (element.kind(), &*kind) {
            (ElementKind::BFloat, "x2") => ", as bits: only od of coreutils 9.5 or newer has -t fB",
            (_, "x2") => ", as bits: only od of coreutils 9.5 or newer has -t fH",
            _ => ", as bytes: od does not support this type",
        });
    }
    Some((what, format!("od -v -A d -t {kind}{endian}{width} -j {at} -N {bytes}")))
}

/// Returns shell commands that read the array, with comments. `member` is its archive and name, if it is in one.
pub(super) fn lines(info: &ArrayInfo, member: Option<(&Path, &str)>) -> Vec<String> {
    let get = |(target, member): (&Path, &str)| {
        let member = word(member.as_bytes());
        format!("ra-pack get {} {member} --format raw", path(target))
    };
    if info.header.is_encoded() {
        return match (member, &info.location) {
            (Some(member), _) => {
                vec!["# the decoded elements".to_owned(), get(member)]
            }
            (None, Some((file, _))) => vec![
                "# decode the elements into a new file".to_owned(),
                format!("ra-pack convert {} decoded.ra", path(file)),
            ],
            (None, None) => Vec::new(),
        };
    }
    let Some((file, start)) = &info.location else {
        return member.map(|member| packed(info, member, &get(member))).unwrap_or_default();
    };
    let at = start.saturating_add(info.data_offset);
    let mut lines = Vec::new();
    if let Some((what, od)) = od(info, at) {
        lines.extend([format!("# {what}"), format!("{od} {}", path(file))]);
    }
    let stem = info.name.rsplit('/').next().unwrap_or_default();
    let stem = stem.strip_suffix(".ra").unwrap_or(stem);
    let raw = path(Path::new(&format!("{stem}.raw")));
    lines.push("# the data alone, as a file".to_owned());
    lines.push(format!(
        "dd if={} of={raw} conv=excl bs=1M iflag=skip_bytes,count_bytes skip={at} count={}",
        path(file),
        info.size,
    ));
    lines
}

/// Returns shell commands that read a compressed member through a program that unpacks it.
fn packed(info: &ArrayInfo, (target, _): (&Path, &str), get: &str) -> Vec<String> {
    let name = info.archive_name.as_deref().unwrap_or_default();
    // `unzip` and `tar` treat some names as patterns, options or escapes.
    let is_plain = !name.starts_with('-') && !name.contains(['*', '?', '[', ']', '\\', '^', '!']);
    let file = path(target);
    let member = word(name.as_bytes());
    let unpack = match (info.method, target.extension().and_then(|end| end.to_str())) {
        (Some(Method::Deflate), _) if is_plain => format!("unzip -p {file} {member}"),
        (Some(Method::Solid), Some("gz" | "tgz")) if is_plain => {
            format!("tar -xzOf {file} {member}")
        }
        _ => return vec!["# the data alone".to_owned(), format!("{get} > data.raw")],
    };
    let mut lines = Vec::new();
    if let Some((what, od)) = od(info, info.data_offset) {
        lines.extend([format!("# {what}"), format!("{unpack} | {od}")]);
    }
    lines.push("# the data alone, as a file".to_owned());
    lines.push(format!("{get} > data.raw"));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_if_necessary() {
        for (bytes, expected) in [
            (&b"run1/a.ra"[..], "run1/a.ra"),
            (b"a b", "'a b'"),
            (b"it's", r"'it'\''s'"),
            (b"$(rm)", "'$(rm)'"),
            (b"", "''"),
            ("Größe".as_bytes(), "Größe"),
            (b"a\x1b[2J%", "\"$(printf 'a\\033\\1332J\\045')\""),
            (b"\xff", "\"$(printf '\\377')\""),
        ] {
            assert_eq!(word(bytes), expected);
        }
        assert_eq!(path(Path::new("-x.zip")), "./-x.zip");
    }
}
