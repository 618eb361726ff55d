//! Manifests that are malformed or do not match, rows 80 to 105.

use super::{
    Accept, Case, MANIFEST, NOTES, Reject, Warn, YAML, array, case, sha256, with_file,
    with_manifest, zip,
};
use crate::raw_zip::Entry;

pub(super) fn cases() -> Vec<Case> {
    let appended = |line: &'static str| with_manifest(|text| (text + line).into_bytes());
    let prefixed = |bytes: &'static [u8]| with_manifest(|text| [bytes, text.as_bytes()].concat());
    let bad_line = |name, bytes| case(name, "a.zip", bytes, Reject("MAN002"));
    let digest = sha256(b"content");
    let elsewhere = |path: &str| {
        let line = format!("{digest}  {path}\n");
        with_manifest(|text| (text + &line).into_bytes())
    };
    vec![
        case(
            "80 a bit of the data flipped, the CRC corrected",
            "a.zip",
            zip(|zip| {
                let mut data = array();
                data[60] ^= 1;
                *zip.entry("a.ra") = Entry::stored("a.ra", &data);
            }),
            Reject("MAN003"),
        )
        .never(&["a.ra"]),
        case(
            "80 a bit of the data flipped",
            "a.zip",
            zip(|zip| zip.entry("a.ra").data[60] ^= 1),
            Reject("ARC006"),
        )
        .never(&["a.ra"]),
        case(
            "81 a description edited",
            "a.zip",
            zip(|zip| {
                let text = YAML.replace('3', "4");
                *zip.entry("a.yaml") = Entry::stored("a.yaml", text.as_bytes());
            }),
            Reject("MAN003"),
        )
        .never(&["a.yaml"]),
        case(
            "82 digests swapped",
            "a.zip",
            with_manifest(|text| {
                text.replace("a.ra", "x").replace("a.yaml", "a.ra").replace('x', "a.yaml").into()
            }),
            Reject("MAN003"),
        )
        .never(&["a.ra", "a.yaml"]),
        case(
            "83 a second manifest is wrong",
            "a.zip",
            with_file("manifest-md5.txt", b"00000000000000000000000000000000  a.ra\n"),
            Reject("MAN003"),
        ),
        case(
            "84 listed and missing",
            "a.zip",
            zip(|zip| zip.entries.retain(|entry| entry.central.name != NOTES.as_bytes())),
            Reject("MAN004"),
        ),
        case(
            "85 present and not listed",
            "a.zip",
            zip(|zip| zip.entries.push(Entry::stored("extra.txt", b"extra"))),
            Reject("MAN005"),
        ),
        case("86 lists a directory", "a.zip", elsewhere("dir"), Reject("MAN004")),
        case("86 lists itself", "a.zip", elsewhere(MANIFEST), Reject("MAN003")),
        bad_line("87 a line of garbage", appended("garbage\n")),
        bad_line("88 63 digits", with_manifest(|text| text[1..].into())),
        bad_line("89 not hexadecimal", with_manifest(|text| ["g", &text[1..]].concat().into())),
        bad_line("90 cut in a line", with_manifest(|text| text[..text.len() - 40].into())),
        bad_line("91 MD5", appended("00000000000000000000000000000000  a.ra\n")),
        bad_line("92 a byte order mark", prefixed(b"\xef\xbb\xbf")),
        bad_line(
            "93 UTF-16",
            with_manifest(|text| text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ),
        bad_line("94 NUL", appended("\0\n")),
        bad_line(
            "95 a line of 8 MiB",
            with_manifest(|text| [text.into_bytes(), vec![b'x'; 8 << 20]].concat()),
        ),
        bad_line(
            "95 four million bad lines",
            with_manifest(|text| [text.into_bytes(), b"x\n".repeat(4 << 20)].concat()),
        ),
        bad_line("96 climbs", elsewhere("../../etc/hostname")),
        bad_line("97 absolute", elsewhere("/etc/hostname")),
        case("98 a home", "a.zip", elsewhere("~/.ssh/id_rsa"), Reject("MAN004")),
        bad_line("99 backslashes", elsewhere("..\\..\\etc\\hostname")),
        bad_line("100 a path with two digests", elsewhere("a.ra")),
        case(
            "100b a path twice with one digest",
            "a.zip",
            with_manifest(|text| {
                let first = text.lines().next().unwrap().to_owned();
                (text + &first + "\n").into_bytes()
            }),
            Warn("MAN002"),
        ),
        case(
            "101 upper-case digits",
            "a.zip",
            with_manifest(|text| {
                let line = |line: &str| format!("{}{}\n", line[..64].to_uppercase(), &line[64..]);
                text.lines().map(line).collect::<String>().into_bytes()
            }),
            Accept,
        ),
        case("102 CRLF", "a.zip", with_manifest(|text| text.replace('\n', "\r\n").into()), Accept),
        case(
            "103 binary mode",
            "a.zip",
            with_manifest(|text| text.replace("  ", " *").into()),
            Accept,
        ),
        case("104 no last line end", "a.zip", with_manifest(|text| text.trim_end().into()), Accept),
        case(
            "105 the format of BSD",
            "a.zip",
            with_manifest(|text| {
                let line = |line: &str| format!("SHA256 ({}) = {}\n", &line[66..], &line[..64]);
                text.lines().map(line).collect::<String>().into_bytes()
            }),
            Accept,
        ),
        case("105 a comment", "a.zip", prefixed(b"# by hand\n"), Accept),
    ]
}
