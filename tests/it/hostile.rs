//! Archives that lie: each is a sound pack with one thing made wrong, and the answer is known.
//!
//! The numbers are those of the catalogue of bad inputs that the design was judged by. `verify` has
//! to give the answer in bounded time and memory, and `extract` must never write beside its target,
//! through a link, or a member that is not to be trusted.

#![expect(clippy::too_many_lines, reason = "a table is as long as it has rows")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::experiment::{FLOAT32, le, ra_pack, raw_array, read_tree};
use crate::raw_tar::{self, pax_record};
use crate::raw_zip::{
    DEFLATE, End64, Entry, Header, STORED, Zip, crc32, deflate_stored, extra_field,
};

/// Longest time for one archive; all of them are small, so this is generous.
const TIME: Duration = Duration::from_secs(30);
/// Address space that a run may take, in KiB, where the shell can limit it.
const MEMORY_KIB: u32 = 2 << 20;

/// What `verify` has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Exit status 1, and an error whose code begins so.
    Reject(&'static str),
    /// Exit status 0, and a warning of this code.
    Warn(&'static str),
    /// Exit status 0, and neither.
    Accept,
}

use Answer::{Accept, Reject, Warn};

struct Case {
    /// Its row of the catalogue, and what is wrong.
    name: &'static str,
    /// The name of the file.
    file: &'static str,
    bytes: Vec<u8>,
    answer: Answer,
    /// Names that `extract` must not make.
    never: &'static [&'static str],
}

fn case(name: &'static str, file: &'static str, bytes: Vec<u8>, answer: Answer) -> Case {
    Case { name, file, bytes, answer, never: &[] }
}

impl Case {
    fn never(self, never: &'static [&'static str]) -> Self {
        Self { never, ..self }
    }
}

type Files = Vec<(String, Vec<u8>)>;

const MANIFEST: &str = "manifest-sha256.txt";
const YAML: &str = "ndarrays:\n  a:\n    shape: [3]\n    type: float32\n";

fn array() -> Vec<u8> {
    raw_array(FLOAT32, &[3], &le(f32::to_le_bytes, [1.0, 2.0, 3.0]))
}

/// The files of a sound pack, without its manifest.
fn files() -> Files {
    [
        ("a.ra", array()),
        ("a.yaml", YAML.into()),
        ("dir/notes.txt", b"What was measured, and how.\n".to_vec()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .into()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

fn manifest_of(files: &Files) -> String {
    let line = |(name, bytes): &(String, Vec<u8>)| format!("{}  {name}\n", sha256(bytes));
    files.iter().map(line).collect()
}

/// The files and their manifest.
fn listed(mut files: Files) -> Files {
    let manifest = manifest_of(&files);
    files.push((MANIFEST.to_owned(), manifest.into_bytes()));
    files
}

fn replace(files: &mut Files, name: &str, bytes: impl AsRef<[u8]>) {
    files.iter_mut().find(|(file, _)| file == name).unwrap().1 = bytes.as_ref().to_vec();
}

/// A zip whose structure is changed, with everything in it as it was.
fn zip(change: impl FnOnce(&mut Zip)) -> Vec<u8> {
    let mut zip = Zip::of(&listed(files()));
    change(&mut zip);
    zip.to_bytes()
}

/// A zip of files that are changed before the manifest is made.
fn with_files(change: impl FnOnce(&mut Files)) -> Vec<u8> {
    let mut files = files();
    change(&mut files);
    Zip::of(&listed(files)).to_bytes()
}

/// A zip of files with one more.
fn with_file(name: &str, bytes: &[u8]) -> Vec<u8> {
    with_files(|files| files.push((name.to_owned(), bytes.to_vec())))
}

/// A zip whose manifest is another text.
fn with_manifest(change: impl FnOnce(String) -> Vec<u8>) -> Vec<u8> {
    let mut files = files();
    let manifest = change(manifest_of(&files));
    files.push((MANIFEST.to_owned(), manifest));
    Zip::of(&files).to_bytes()
}

fn with_array(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    with_files(|files| replace(files, "a.ra", bytes))
}

/// An array whose header has these fields before its dims, and the data that it should have.
fn with_header(fields: [u64; 5], dims: &[u64]) -> Vec<u8> {
    let mut bytes = b"rawarray".to_vec();
    for field in fields.iter().chain(dims) {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend([0; 12]);
    with_array(bytes)
}

fn with_yaml(text: impl AsRef<[u8]>) -> Vec<u8> {
    with_files(|files| replace(files, "a.yaml", text))
}

fn described(shape: &str, datatype: &str) -> Vec<u8> {
    with_yaml(format!("ndarrays:\n  a:\n    shape: {shape}\n    type: {datatype}\n"))
}

fn tar(change: impl FnOnce(&mut Vec<raw_tar::Entry>)) -> Vec<u8> {
    let mut entries = raw_tar::files(&listed(files()));
    change(&mut entries);
    raw_tar::tar(&entries)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate_zeros(length: usize) -> Vec<u8> {
    let mut encoder =
        flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    let block = vec![0; 1 << 16];
    for _ in 0..length.div_ceil(block.len()) {
        encoder.write_all(&block).unwrap();
    }
    encoder.finish().unwrap()
}

const NOTES: &str = "dir/notes.txt";
const NOTE: &[u8] = b"What was measured, and how.\n";

/// `notes.txt` compressed, and changed.
fn deflated(change: impl FnOnce(&mut Entry)) -> Vec<u8> {
    zip(|zip| {
        *zip.entry(NOTES) = Entry::packed(NOTES, DEFLATE, deflate_stored(NOTE), NOTE);
        change(zip.entry(NOTES));
    })
}

/// A file of another name, listed under it.
fn named(name: &str) -> Vec<u8> {
    with_file(name, b"content")
}

fn containers() -> Vec<Case> {
    let whole = zip(|_| {});
    let cut = |keep: usize| whole[..keep].to_vec();
    let half = whole.len() / 2;
    vec![
        case("0 a sound zip", "a.zip", whole.clone(), Accept),
        case("1 cut in the middle", "a.zip", cut(half), Reject("ARC001")),
        case("1 cut by one byte", "a.zip", cut(whole.len() - 1), Reject("ARC001")),
        case("2 zero bytes", "a.zip", Vec::new(), Reject("ARC001")),
        case("2 a tar of zero bytes", "a.tar", Vec::new(), Reject("")),
        case("2 a tar.gz of zero bytes", "a.tar.gz", Vec::new(), Reject("ARC001")),
        case("3 not an archive", "a.zip", b"hello, world\n".repeat(99), Reject("ARC001")),
        case(
            "4 comment length past the end",
            "a.zip",
            zip(|zip| zip.end.comment_len = Some(9)),
            Reject("ARC001"),
        ),
        case("5 empty zip", "a.zip", Zip::default().to_bytes(), Reject("MAN001")),
        case("6 no manifest", "a.zip", Zip::of(&files()).to_bytes(), Reject("MAN001")),
        case("7 empty manifest", "a.zip", with_manifest(|_| Vec::new()), Reject("MAN009")),
        case("8 count too high", "a.zip", zip(|zip| zip.end.entries = Some(5)), Reject("ARC003")),
        case("9 count too low", "a.zip", zip(|zip| zip.end.entries = Some(3)), Reject("ARC003")),
        case(
            "10 directory offset wrong",
            "a.zip",
            zip(|zip| zip.end.directory_offset = Some(7)),
            Reject("ARC003"),
        ),
        case(
            "11 directory size wrong",
            "a.zip",
            zip(|zip| zip.end.directory_len = Some(46)),
            Reject("ARC003"),
        ),
        case(
            "12 another name in the local header",
            "a.zip",
            zip(|zip| zip.entry("a.ra").local.name = b"b.ra".to_vec()),
            Reject("ARC004"),
        ),
        case(
            "13 another size in the local header",
            "a.zip",
            zip(|zip| zip.entry("a.ra").local.size += 1),
            Reject("ARC004"),
        ),
        case(
            "14 another CRC in the local header",
            "a.zip",
            zip(|zip| zip.entry("a.ra").local.crc ^= 1),
            Reject("ARC004"),
        ),
        case(
            "15 another method in the local header",
            "a.zip",
            zip(|zip| zip.entry("a.ra").local.method = DEFLATE),
            Reject("ARC004"),
        ),
        case(
            "16 other flags in the local header",
            "a.zip",
            zip(|zip| zip.entry("a.ra").local.flags = 2),
            Reject("ARC004"),
        ),
        case(
            "17 a member twice, identical",
            "a.zip",
            zip(|zip| {
                let twin = zip.entry(NOTES).clone();
                zip.entries.push(twin);
            }),
            Reject("NAME002"),
        )
        .never(&[NOTES]),
        case(
            "18 a member twice, the first good",
            "a.zip",
            zip(|zip| zip.entries.push(Entry::stored(NOTES, b"evil"))),
            Reject("NAME002"),
        )
        .never(&[NOTES]),
        case(
            "19 a member twice, the last good",
            "a.zip",
            zip(|zip| zip.entries.insert(0, Entry::stored(NOTES, b"evil"))),
            Reject("NAME002"),
        )
        .never(&[NOTES]),
        case(
            "20 two manifests of one name",
            "a.zip",
            zip(|zip| {
                let twin = zip.entry(MANIFEST).clone();
                zip.entries.push(twin);
            }),
            Reject("NAME002"),
        ),
        case(
            "21 a hidden member between two others",
            "a.zip",
            zip(|zip| zip.entry("a.yaml").gap = Entry::stored("evil", b"evil").local_bytes()),
            Reject("ARC002"),
        )
        .never(&["evil"]),
        case(
            "21 a hidden member before the directory",
            "a.zip",
            zip(|zip| zip.before_directory = Entry::stored("evil", b"evil").local_bytes()),
            Reject("ARC002"),
        )
        .never(&["evil"]),
        case(
            "22 bytes between two members",
            "a.zip",
            zip(|zip| zip.entry("a.yaml").gap = vec![0; 3]),
            Reject("ARC002"),
        ),
        case(
            "23 a record of the directory without a member",
            "a.zip",
            zip(|zip| {
                let mut ghost = Entry::stored("ghost", b"boo");
                ghost.has_local = false;
                zip.entries.push(ghost);
            }),
            Reject("ARC"),
        )
        .never(&["ghost"]),
        case(
            "24 the zip64 end record counts otherwise",
            "a.zip",
            zip(|zip| zip.end.zip64 = Some(End64 { entries: Some(3), ..End64::default() })),
            Reject("ARC003"),
        ),
        case(
            "24 the zip64 end record has another directory",
            "a.zip",
            zip(|zip| {
                zip.end.zip64 = Some(End64 { directory_offset: Some(0), ..End64::default() });
            }),
            Reject("ARC003"),
        ),
        case(
            "0 zip64 records that agree",
            "a.zip",
            zip(|zip| zip.end.zip64 = Some(End64::default())),
            Accept,
        ),
        case(
            "25 bytes after the end",
            "a.zip",
            zip(|zip| zip.suffix = b"trailing".to_vec()),
            Reject("ARC001"),
        ),
        case(
            "26 a line end after the end",
            "a.zip",
            zip(|zip| zip.suffix = b"\n".to_vec()),
            Reject("ARC001"),
        ),
        case(
            "27 junk before the start, offsets as before",
            "a.zip",
            [b"junk".to_vec(), whole.clone()].concat(),
            Reject("ARC003"),
        ),
        case(
            "27 junk before the start, offsets adjusted",
            "a.zip",
            zip(|zip| zip.prefix = b"junk".to_vec()),
            Reject("ARC002"),
        ),
        case(
            "28 two zips glued together",
            "a.zip",
            [whole.clone(), whole.clone()].concat(),
            Reject("ARC003"),
        ),
        case(
            "29 a second end record in the comment",
            "a.zip",
            zip(|zip| zip.end.comment = Zip::default().to_bytes()),
            Reject("ARC003"),
        ),
        case(
            "29 a second end record in the comment, not at its end",
            "a.zip",
            zip(|zip| zip.end.comment = [Zip::default().to_bytes(), vec![b' '; 9]].concat()),
            Reject("ARC003"),
        ),
        case(
            "29 an end record that is the end of a far longer comment",
            "a.zip",
            far_end_record(),
            Reject("ARC003"),
        ),
        case(
            "0 a comment",
            "a.zip",
            zip(|zip| zip.end.comment = b"measured at night".to_vec()),
            Warn("ARC011"),
        ),
        case(
            "30 two members of the same bytes",
            "a.zip",
            zip(|zip| {
                let mut twin = Entry::stored("twin.txt", NOTE);
                twin.has_local = false;
                twin.offset = Some(0);
                zip.entries.push(twin);
            }),
            Reject("ARC"),
        )
        .never(&["twin.txt"]),
        case("31 a member within another", "a.zip", quoted_overlap(), Reject("ARC005"))
            .never(&["outer"]),
    ]
}

/// A zip whose comment is a whole zip of its own that reaches to the end of the file, further back
/// than the few bytes in which an end record usually lies.
fn far_end_record() -> Vec<u8> {
    let inner = zip(|_| {});
    let outer = zip(|zip| zip.end.comment = vec![b' '; 2000 + inner.len()]);
    let at = u32::try_from(outer.len() - inner.len()).unwrap();
    let mut zip = Zip::of(&listed(files()));
    // The inner zip is whole in itself, its offsets counted from the start of the file.
    zip.prefix = outer[..outer.len() - inner.len()].to_vec();
    assert_eq!(zip.prefix.len(), usize::try_from(at).unwrap());
    zip.to_bytes()
}

/// The data of `outer` begins with the whole of the member after it, as in a quine or Fifield's bomb.
fn quoted_overlap() -> Vec<u8> {
    zip(|zip| {
        let inner = zip.entry("a.ra").local_bytes();
        let mut outer = Entry::stored("outer", &inner);
        outer.data = Vec::new();
        zip.entries.insert(0, outer);
    })
}

fn data() -> Vec<Case> {
    const CLAIMED: u32 = u32::MAX - 1;
    let zeros = deflate_zeros(256 << 20);
    vec![
        case("0 deflated", "a.zip", deflated(|_| {}), Accept),
        case(
            "0 deflated, sizes behind the data",
            "a.zip",
            deflated(Entry::with_descriptor),
            Accept,
        ),
        case(
            "32 inflates to more",
            "a.zip",
            deflated(|entry| entry.both(|header| header.size -= 1)),
            Reject("ARC007"),
        )
        .never(&[NOTES]),
        case(
            "33 inflates to less",
            "a.zip",
            deflated(|entry| entry.both(|header| header.size += 1)),
            Reject("ARC007"),
        )
        .never(&[NOTES]),
        case(
            "34 inflates to 256 MiB",
            "a.zip",
            deflated(|entry| {
                entry.data.clone_from(&zeros);
                let packed = u32::try_from(zeros.len()).unwrap();
                entry.both(|header| header.packed_size = packed);
            }),
            Reject("ARC007"),
        )
        .never(&[NOTES]),
        case(
            "35 claims 4 GiB",
            "a.zip",
            deflated(|entry| entry.both(|header| header.size = CLAIMED)),
            Reject("ARC007"),
        )
        .never(&[NOTES]),
        case(
            "36 past the end of the file",
            "a.zip",
            zip(|zip| {
                zip.entry(MANIFEST).both(|header| {
                    header.packed_size = CLAIMED;
                    header.size = CLAIMED;
                });
            }),
            Reject("ARC005"),
        ),
        case("37 deflate corrupt", "a.zip", deflated(|entry| entry.data[0] = 7), Reject("ARC007"))
            .never(&[NOTES]),
        case(
            "38 deflate cut",
            "a.zip",
            deflated(|entry| {
                entry.data.pop();
                entry.both(|header| header.packed_size -= 1);
            }),
            Reject("ARC007"),
        )
        .never(&[NOTES]),
        case(
            "39 bytes after the deflated data",
            "a.zip",
            deflated(|entry| {
                entry.data.push(0);
                entry.both(|header| header.packed_size += 1);
            }),
            Reject("ARC007"),
        )
        .never(&[NOTES]),
        case(
            "40 the sizes of a stored member differ",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.size += 1)),
            Reject("ARC003"),
        )
        .never(&[NOTES]),
        case(
            "41 encrypted",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.flags |= 1)),
            Reject("ARC008"),
        )
        .never(&[NOTES]),
        case(
            "42 unknown method",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.method = 14)),
            Reject("ARC008"),
        )
        .never(&[NOTES]),
        case("43 several disks", "a.zip", zip(|zip| zip.end.disk = 1), Reject("ARC008")),
        case(
            "44 a member on another disk",
            "a.zip",
            zip(|zip| zip.entry(NOTES).disk = 2),
            Reject("ARC008"),
        ),
        case(
            "45 the zip64 locator is wrong",
            "a.zip",
            zip(|zip| zip.end.zip64 = Some(End64 { located: Some(3), ..End64::default() })),
            Reject("ARC003"),
        ),
        case(
            "46 an extra field twice",
            "a.zip",
            zip(|zip| {
                zip.entry(NOTES).both(|header| header.extra = extra_field(0x9999, b"x").repeat(2));
            }),
            Reject("ARC003"),
        ),
        case(
            "46 an extra field 16000 times",
            "a.zip",
            zip(|zip| {
                zip.entry(NOTES)
                    .both(|header| header.extra = extra_field(0x9999, b"").repeat(16_000));
            }),
            Reject("ARC003"),
        ),
        case(
            "47 an extra field past its end",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.extra = vec![1, 0, 99, 0, 0])),
            Reject("ARC003"),
        ),
        case(
            "48 a wrong data descriptor",
            "a.zip",
            deflated(|entry| {
                entry.with_descriptor();
                entry.descriptor[5] ^= 1;
            }),
            Reject("ARC004"),
        ),
        case(
            "49 another name in the Unicode Path field",
            "a.zip",
            zip(|zip| {
                let mut content = vec![1];
                content.extend(crc32(NOTES.as_bytes()).to_le_bytes());
                content.extend(b"evil");
                zip.entry(NOTES).both(|header| header.extra = extra_field(0x7075, &content));
            }),
            Reject("ARC004"),
        )
        .never(&["evil"]),
        case(
            "50 a directory with data",
            "a.zip",
            zip(|zip| zip.entries.push(Entry::stored("sub/", b"data"))),
            Reject("ARC010"),
        ),
        case(
            "51 a directory by its mode, without a slash",
            "a.zip",
            zip(|zip| {
                let mut entry = Entry::stored("sub", b"");
                entry.external = 0o040_755 << 16;
                zip.entries.push(entry);
            }),
            Reject("NAME005"),
        ),
        case(
            "51 a directory by its DOS attribute, without a slash",
            "a.zip",
            zip(|zip| {
                let mut entry = Entry::stored("sub", b"");
                (entry.made_by, entry.external) = (20, 0x10);
                zip.entries.push(entry);
            }),
            Reject("NAME005"),
        ),
        case(
            "52 a file and a directory of one name",
            "a.zip",
            zip(|zip| zip.entries.push(Entry::stored("dir", b"file"))),
            Reject("NAME003"),
        ),
        case("52 a file below a file", "a.zip", named("a.ra/below"), Reject("NAME003")),
        case(
            "0 zeros, a thousand to one",
            "a.zip",
            {
                let content = vec![0; 4 << 20];
                let mut files = files();
                files.push(("zeros.bin".to_owned(), content.clone()));
                let mut zip = Zip::of(&listed(files));
                *zip.entry("zeros.bin") =
                    Entry::packed("zeros.bin", DEFLATE, deflate_zeros(4 << 20), &content);
                zip.to_bytes()
            },
            Accept,
        ),
    ]
}

fn names() -> Vec<Case> {
    let linked = |target: &str, made_by: u16| {
        zip(|zip| {
            let mut link = Entry::stored("link", target.as_bytes());
            (link.made_by, link.external) = (made_by, 0o120_777 << 16);
            zip.entries.insert(0, link);
            zip.entries.push(Entry::stored("link/below.txt", b"content"));
        })
    };
    let special = |mode: u32| {
        zip(|zip| {
            let mut entry = Entry::stored("special", b"");
            entry.external = mode << 16;
            zip.entries.push(entry);
        })
    };
    let unsafe_name =
        |name: &'static str, path: &str| case(name, "a.zip", named(path), Reject("NAME001"));
    vec![
        unsafe_name("53 climbs", "../x"),
        unsafe_name("54 climbs in the middle", "a/../../x"),
        unsafe_name("55 climbs and comes back", "a/../x").never(&["x"]),
        unsafe_name("56 absolute", "/x").never(&["x"]),
        unsafe_name("57 climbs as on Windows", "..\\x"),
        unsafe_name("58 absolute on a drive", "C:\\x"),
        unsafe_name("59 relative to a drive", "C:x"),
        unsafe_name("60 on a server", "\\\\srv\\x"),
        unsafe_name("61 NUL", "x\0.txt").never(&["x"]),
        unsafe_name("62 no name", ""),
        unsafe_name("62 an empty part", "p//x").never(&["p"]),
        unsafe_name("62 a dot", "./x").never(&["x"]),
        case("63 a link out", "a.zip", linked("../outside", 3 << 8), Reject("NAME004")),
        case("64 a link in", "a.zip", linked("dir", 3 << 8), Reject("NAME004")),
        case("65 through a link", "a.zip", linked("/tmp", 3 << 8), Reject("NAME004")),
        case("63 a link made on macOS", "a.zip", linked("../outside", 19 << 8), Reject("NAME004")),
        case("66 a device", "a.zip", special(0o020_644), Reject("NAME005")).never(&["special"]),
        case("67 a pipe", "a.zip", special(0o010_644), Reject("NAME005")).never(&["special"]),
        case("68 twins by case", "a.zip", named("DIR/NOTES.TXT"), Warn("NAME006")),
        case("71 a device on Windows", "a.zip", named("aux.txt"), Warn("NAME009")),
        case("71 a device on Windows, deeper", "a.zip", named("d/Com1"), Warn("NAME009")),
        case("72 a dot at the end", "a.zip", named("name."), Warn("NAME009")),
        case("73 a blank at the end", "a.zip", named("name "), Warn("NAME009")),
        case("74 a colon", "a.zip", named("10:30.txt"), Warn("NAME009")),
        case("75 a part of 300 bytes", "a.zip", named(&"n".repeat(300)), Warn("NAME009")),
        case(
            "76 a name in code page 437",
            "a.zip",
            {
                let mut files = files();
                files.push(("Müller.txt".to_owned(), b"content".to_vec()));
                let mut zip = Zip::of(&listed(files));
                zip.entry("Müller.txt").both(|header| {
                    header.flags = 0;
                    header.name = b"M\x81ller.txt".to_vec();
                });
                zip.to_bytes()
            },
            Warn("NAME007"),
        ),
        case(
            "76 UTF-8 without its flag",
            "a.zip",
            {
                let mut files = files();
                files.push(("Müller.txt".to_owned(), b"content".to_vec()));
                let mut zip = Zip::of(&listed(files));
                zip.entry("Müller.txt").both(|header| header.flags = 0);
                zip.to_bytes()
            },
            Warn("NAME007"),
        ),
        case(
            "77 a line end in a name",
            "a.zip",
            {
                let mut files = files();
                let mut manifest = manifest_of(&files);
                writeln!(manifest, "\\{}  two\\nlines.txt", sha256(b"content")).unwrap();
                files.push(("two\nlines.txt".to_owned(), b"content".to_vec()));
                files.push((MANIFEST.to_owned(), manifest.into_bytes()));
                Zip::of(&files).to_bytes()
            },
            Warn("NAME008"),
        ),
        case("78 a terminal escape in a name", "a.zip", named("\u{1b}[2Jx"), Warn("NAME008")),
        case("79 right to left in a name", "a.zip", named("\u{202e}gnp.exe"), Warn("NAME008")),
        case("62 a name of 21000 parts", "a.zip", named(&["d"; 21_000].join("/")), Accept),
        case(
            "62 8 names of 16000 parts",
            "a.zip",
            with_files(|files| {
                let stem = ["d"; 16_000].join("/");
                files.extend((0..8).map(|file| (format!("{stem}/{file}/x"), b"x".to_vec())));
            }),
            Accept,
        ),
    ]
}

fn manifests() -> Vec<Case> {
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
            "80 a bit of the data flipped, the CRC put right",
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
        case("86 lists itself", "a.zip", elsewhere(MANIFEST), Reject("MAN")),
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
            "105 the form of BSD",
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

fn arrays() -> Vec<Case> {
    let bad = |name, bytes| case(name, "a.zip", bytes, Reject("RA001"));
    let whole = array();
    vec![
        bad("106 bad magic", with_array([b"RAWARRAY", &whole[8..]].concat())),
        bad("107 empty", with_array(b"")),
        bad("108 a short header", with_array(&whole[..40])),
        bad("108 cut in the dims", with_array(&whole[..52])),
        bad("109 short data", with_array(&whole[..whole.len() - 1])),
        bad("110 size is not the product", with_header([0, 3, 4, 8, 1], &[3])),
        bad("111 a size of 2^63", with_header([0, 3, 4, 1 << 63, 1], &[3])),
        bad("111 a size and an extent to match", with_header([0, 3, 4, 1 << 62, 1], &[1 << 60])),
        bad("112 2^60 dims", with_header([0, 3, 4, 12, 1 << 60], &[3])),
        bad("113 dims that overflow", with_header([0, 3, 4, 12, 2], &[1 << 40, 1 << 40])),
        bad(
            "113 dims that wrap to the right size",
            with_header([0, 3, 4, 12, 2], &[(1 << 62) + 3, 1]),
        ),
        bad("114 elements of no bytes", with_header([0, 3, 0, 12, 1], &[3])),
        case(
            "114 elements of three bytes",
            "a.zip",
            with_header([0, 3, 3, 9, 1], &[3]),
            Reject("DESC005"),
        ),
        bad("114 an unknown type", with_header([0, 9, 4, 12, 1], &[3])),
        case(
            "117 an unknown flag",
            "a.zip",
            with_header([1 << 40, 3, 4, 12, 1], &[3]),
            Reject("RA001"),
        ),
        case(
            "118 bytes after the data",
            "a.zip",
            with_array([&whole[..], b"metadata"].concat()),
            Warn("RA003"),
        ),
        case("119 another shape", "a.zip", described("[4]", "float32"), Reject("DESC004")),
        case(
            "120 the shape reversed",
            "a.zip",
            with_files(|files| {
                replace(files, "a.ra", raw_array(FLOAT32, &[3, 2], &[0; 24]));
                replace(files, "a.yaml", YAML.replace("[3]", "[2, 3]"));
            }),
            Reject("DESC004"),
        ),
        case(
            "121 the shape flattened",
            "a.zip",
            with_files(|files| {
                replace(files, "a.ra", raw_array(FLOAT32, &[3, 2], &[0; 24]));
                replace(files, "a.yaml", YAML.replace("[3]", "[6]"));
            }),
            Reject("DESC004"),
        ),
        case(
            "122 an extent of one too many",
            "a.zip",
            described("[3, 1]", "float32"),
            Reject("DESC004"),
        ),
        case("123 another type", "a.zip", described("[3]", "int32"), Reject("DESC005")),
        case("124 another width", "a.zip", described("[3]", "float64"), Reject("DESC005")),
        case(
            "125 no description",
            "a.zip",
            with_files(|files| files.retain(|(name, _)| name != "a.yaml")),
            Reject("DESC001"),
        ),
        case(
            "126 two descriptions",
            "a.zip",
            with_file("a.yml", YAML.as_bytes()),
            Reject("DESC002"),
        ),
        case(
            "127 two documents",
            "a.zip",
            with_yaml(format!("{YAML}---\n{YAML}")),
            Reject("NDL004"),
        ),
        case(
            "128 a key twice",
            "a.zip",
            with_yaml(format!("{YAML}    type: float32\n")),
            Reject("NDL005"),
        ),
        case("129 not YAML", "a.zip", with_yaml("ndarrays: [}\n"), Reject("NDL003")),
        case("130 not UTF-8", "a.zip", with_yaml(b"ndarrays: \xff\n"), Reject("NDL001")),
        case(
            "131 no shape",
            "a.zip",
            with_yaml("ndarrays:\n  a:\n    type: float32\n"),
            Reject("NDL021"),
        ),
        case(
            "131 no type",
            "a.zip",
            with_yaml("ndarrays:\n  a:\n    shape: [3]\n"),
            Reject("NDL021"),
        ),
        case("132 a bomb of aliases", "a.zip", with_yaml(alias_bomb()), Reject("NDL008")),
        case("133 nested 20000 deep", "a.zip", with_yaml("[".repeat(20_000)), Reject("NDL")),
        case(
            "133 nested 20000 deep by blocks",
            "a.zip",
            with_yaml("- ".repeat(20_000)),
            Reject("NDL"),
        ),
        case(
            "134 a tag of a language",
            "a.zip",
            with_yaml(format!(
                "{YAML}    attributes: {{x: !!python/object/apply:os.system [id]}}\n"
            )),
            Reject("NDL006"),
        ),
        case("135 a negative extent", "a.zip", described("[-3]", "float32"), Reject("NDL060")),
        case("136 no such coordinate", "a.zip", described("[time]", "float32"), Reject("DESC007")),
        case("138 an extent of null", "a.zip", described("[null]", "float32"), Accept),
        case(
            "139 float16",
            "a.zip",
            with_files(|files| {
                replace(files, "a.ra", raw_array(crate::experiment::FLOAT16, &[3], &[0; 6]));
                replace(files, "a.yaml", YAML.replace("float32", "float16"));
            }),
            Accept,
        ),
        case("140 a YAML file of nothing", "a.zip", with_file("b.yaml", YAML.as_bytes()), Accept),
        case(
            "0 a document that describes 3000 arrays wrongly",
            "a.zip",
            wrong_document(),
            Reject("DESC005"),
        ),
    ]
}

fn alias_bomb() -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        writeln!(text, "a{level}: &a{level} [{}]", [before.as_str(); 9].join(", ")).unwrap();
    }
    text
}

/// Every entry is wrong, so that each has to be found in the text of the one document.
fn wrong_document() -> Vec<u8> {
    with_files(|files| {
        let mut text = "ndarrays:\n".to_owned();
        for array in 0..3000 {
            writeln!(text, "  w{array}: {{shape: [3], type: float64}}").unwrap();
            files.push((format!("w{array}.ra"), raw_array(FLOAT32, &[3], &[0; 12])));
        }
        files.push(("manifest.yaml".to_owned(), text.into_bytes()));
    })
}

fn tars() -> Vec<Case> {
    let whole = tar(|_| {});
    let with_entry = |entry: raw_tar::Entry| tar(|entries| entries.push(entry));
    let sized = |size: &[u8; 12]| tar(|entries| entries[0].size = Some(*size));
    let bad = |name, bytes| case(name, "a.tar", bytes, Reject("ARC"));
    let long = raw_tar::Entry {
        typeflag: b'L',
        ..raw_tar::Entry::file("././@LongLink", b"long-name.txt\0")
    };
    let sized_pax = raw_tar::Entry::pax(&pax_record("size", "7"));
    let zipped = gzip(&whole);
    let trailer = zipped.len() - 8;
    let mut other = files();
    replace(&mut other, "a.yaml", "other");
    vec![
        case("0 a sound tar", "a.tar", whole.clone(), Accept),
        case("0 a sound tar.gz", "a.tar.gz", zipped.clone(), Accept),
        bad("141 cut in a header", whole[..700].to_vec()),
        bad("141 cut in the data", whole[..600].to_vec()),
        bad("142 a bad checksum", tar(|entries| entries[1].checksum = Some(*b"000001\0 "))),
        bad("143 a negative size", sized(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xf4")),
        bad("143 a huge size", sized(b"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff")),
        bad("143 a size beyond the end", sized(b"00077777777\0")),
        bad("144 a size that is not octal", sized(b"0000000009z\0")),
        case(
            "145 a hard link",
            "a.tar",
            with_entry(raw_tar::Entry::typed("hard", b'1', "a.ra")),
            Reject("NAME004"),
        )
        .never(&["hard"]),
        case(
            "63 a symbolic link and a file through it",
            "a.tar",
            tar(|entries| {
                entries.insert(0, raw_tar::Entry::typed("out", b'2', ".."));
                entries.push(raw_tar::Entry::file("out/escaped.txt", b"content"));
            }),
            Reject("NAME004"),
        ),
        case(
            "67 a pipe",
            "a.tar",
            with_entry(raw_tar::Entry::typed("pipe", b'6', "")),
            Reject("NAME005"),
        )
        .never(&["pipe"]),
        case(
            "67 a device",
            "a.tar.gz",
            gzip(&with_entry(raw_tar::Entry::typed("device", b'3', ""))),
            Reject("NAME005"),
        )
        .never(&["device"]),
        case(
            "53 climbs",
            "a.tar",
            with_entry(raw_tar::Entry::file("../escaped.txt", b"content")),
            Reject("NAME001"),
        ),
        case(
            "0 a name that is not UTF-8",
            "a.tar",
            with_entry(raw_tar::Entry::file(b"caf\xe9.txt", b"content")),
            Reject("NAME001"),
        )
        .never(&["caf\u{fffd}.txt"]),
        case(
            "146 a member twice",
            "a.tar",
            with_entry(raw_tar::Entry::file(NOTES, b"evil")),
            Reject("NAME002"),
        )
        .never(&[NOTES]),
        case(
            "146 a member twice, compressed",
            "a.tar.gz",
            gzip(&with_entry(raw_tar::Entry::file(NOTES, b"evil"))),
            Reject("NAME002"),
        )
        .never(&[NOTES]),
        case(
            "147 a second tar behind the first",
            "a.tar",
            [whole.clone(), raw_tar::tar(&[raw_tar::Entry::file("evil", b"evil")])].concat(),
            Reject("ARC002"),
        )
        .never(&["evil"]),
        case(
            "148 garbage after the end",
            "a.tar",
            [whole.clone(), b"garbage".to_vec()].concat(),
            Reject("ARC002"),
        ),
        bad("149 a PAX record of a wrong length", with_entry(raw_tar::Entry::pax(b"99 path=x\n"))),
        case(
            "150 a PAX path climbs",
            "a.tar",
            tar(|entries| {
                entries.push(raw_tar::Entry::pax(&pax_record("path", "../escaped.txt")));
                entries.push(raw_tar::Entry::file("harmless.txt", b"content"));
            }),
            Reject("NAME001"),
        )
        .never(&["harmless.txt"]),
        case(
            "150 a PAX path of 500000 parts",
            "a.tar",
            tar(|entries| {
                entries.push(raw_tar::Entry::pax(&pax_record("path", &["d"; 500_000].join("/"))));
                entries.push(raw_tar::Entry::file("harmless.txt", b"content"));
            }),
            Reject("NAME001"),
        ),
        bad(
            "151 a PAX size other than the header's",
            tar(|entries| {
                entries.push(raw_tar::Entry::pax(&pax_record("size", "3")));
                entries.push(raw_tar::Entry::file("sized.txt", b"content"));
            }),
        ),
        bad(
            "152 a PAX size before a long name",
            tar(|entries| {
                entries.extend([sized_pax, long]);
                entries.push(raw_tar::Entry::file("sized.txt", b"content"));
            }),
        ),
        case(
            "153 sparse",
            "a.tar",
            with_entry(raw_tar::Entry::typed("sparse", b'S', "")),
            Reject("ARC008"),
        )
        .never(&["sparse"]),
        case("154 the trailer cut", "a.tar.gz", zipped[..trailer + 3].to_vec(), Reject("ARC")),
        case(
            "155 the CRC wrong",
            "a.tar.gz",
            {
                let mut zipped = zipped.clone();
                zipped[trailer] ^= 1;
                zipped
            },
            Reject("ARC"),
        ),
        case(
            "156 garbage after the trailer",
            "a.tar.gz",
            [zipped.clone(), b"garbage".to_vec()].concat(),
            Reject("ARC"),
        ),
        case(
            "157 a second member with another tar",
            "a.tar.gz",
            [zipped.clone(), gzip(&raw_tar::tar(&raw_tar::files(&other)))].concat(),
            Reject("ARC002"),
        ),
        case(
            "158 no end blocks",
            "a.tar",
            raw_tar::unended(&raw_tar::files(&listed(files()))),
            Warn("ARC009"),
        ),
        case("159 one end block", "a.tar", whole[..whole.len() - 512].to_vec(), Warn("ARC009")),
    ]
}

/// The program, with bounded time and, where the shell can, bounded memory.
fn bounded(arguments: &[&str], directory: &Path) -> Output {
    let program = ra_pack().get_program().to_owned();
    let mut command = if cfg!(target_os = "linux") {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -v {MEMORY_KIB} && exec \"$0\" \"$@\"")).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.args(arguments).current_dir(directory).timeout(TIME).output().unwrap()
}

/// What `verify` says otherwise than it should.
fn objection_to_verify(case: &Case, directory: &Path) -> Option<String> {
    let output = bounded(&["verify", "-j", "2", case.file], directory);
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let (status, fits) = match case.answer {
        Reject(code) => (1, said.contains(&format!("error[{code}"))),
        Warn(code) => (0, said.contains(&format!("warning[{code}")) && !said.contains("error[")),
        Accept => (0, !said.contains("error[") && !said.contains("warning[")),
    };
    if fits && output.status.code() == Some(status) && !said.contains('\u{1b}') {
        return None;
    }
    let said: String = said.chars().take(1500).collect();
    Some(format!("{}: expected {:?}, found {}:\n{said}", case.name, case.answer, output.status))
}

/// What `extract` does and should not.
fn objection_to_extract(case: &Case, directory: &Path) -> Option<String> {
    let before: BTreeSet<String> = read_tree(directory).into_keys().collect();
    let output = bounded(&["extract", "-j", "2", "-C", "inner/target", case.file], directory);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let complain = |what: String| {
        let stderr: String = stderr.chars().take(800).collect();
        Some(format!("{}: extract {what} ({}):\n{stderr}", case.name, output.status))
    };
    if !matches!(output.status.code(), Some(0..=2)) || stderr.contains("panicked") {
        return complain("did not come to an end of its own".to_owned());
    }
    if case.answer == Accept && output.status.code() == Some(1) {
        return complain("refused a sound archive".to_owned());
    }
    let target = directory.join("inner/target");
    for name in case.never {
        if fs::symlink_metadata(target.join(name)).is_ok() {
            return complain(format!("made `{name}`"));
        }
    }
    if target.exists() {
        fs::remove_dir_all(&target).unwrap();
    }
    let after: BTreeSet<String> = read_tree(directory).into_keys().collect();
    let made: Vec<_> =
        after.difference(&before).filter(|name| !name.starts_with("inner/")).collect();
    let inside = fs::read_dir(directory.join("inner")).map_or(0, Iterator::count);
    if made.is_empty() && inside == 0 {
        return None;
    }
    complain(format!("wrote beside its target: {made:?}, {inside} in `inner`"))
}

fn judge(cases: &[Case]) {
    let objections: Vec<String> = cases
        .iter()
        .flat_map(|case| {
            let directory = TempDir::new().unwrap();
            fs::write(directory.path().join(case.file), &case.bytes).unwrap();
            let verified = objection_to_verify(case, directory.path());
            let extracted = objection_to_extract(case, directory.path());
            verified.into_iter().chain(extracted)
        })
        .collect();
    let count = objections.len();
    assert!(objections.is_empty(), "{count} objections:\n\n{}", objections.join("\n"));
}

#[test]
fn containers_that_lie_are_refused() {
    judge(&containers());
}

#[test]
fn members_that_lie_are_refused() {
    judge(&data());
}

#[test]
fn names_that_lead_astray_are_refused_and_odd_ones_warned_of() {
    judge(&names());
}

#[test]
fn manifests_that_lie_are_refused() {
    judge(&manifests());
}

#[test]
fn arrays_and_descriptions_that_disagree_are_refused() {
    judge(&arrays());
}

#[test]
fn tars_that_lie_are_refused() {
    judge(&tars());
}

/// What is written by hand here has to be right where it is not meant to be wrong.
#[test]
fn the_headers_of_a_member_agree_unless_they_are_changed() {
    let entry = Entry::stored("a", b"abc");
    let Header { method, crc, size, .. } = entry.local;
    assert_eq!((method, crc, size), (STORED, 0x3524_41c2, 3));
    assert_eq!(entry.local.name, entry.central.name);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_instead_of_waited_for() {
    let directory = TempDir::new().unwrap();
    let pipe = directory.path().join("pipe.zip");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for command in ["verify", "list"] {
        let output = bounded(&[command, "pipe.zip"], directory.path());
        assert_eq!(output.status.code(), Some(2), "{command}: {output:?}");
    }
}

/// The archive lies in the directory that is packed, and so do its unfinished forms.
#[test]
fn what_create_writes_itself_is_neither_packed_nor_warned_of() {
    let directory = TempDir::new().unwrap();
    for (name, bytes) in files() {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let arguments = ["create", ".", "-o", "a.zip", "--strict", "--archive-digest"];
    let output = bounded(&arguments, directory.path());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("unfinished"), "{output:?}");
}
