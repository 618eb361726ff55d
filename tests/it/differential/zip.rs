//! Zips: every field of every record changed, one at a time and several at once.
//!
//! A reader takes as long for a hundred members as for one. So the changed members that `verify` accepts are put into one
//! archive. If a reader disagrees, the archive is halved until the member is found.

use std::fs;
use std::path::PathBuf;

use ra_pack::verify;
use ra_pack::verify::VerifyOptions;
use tempfile::TempDir;

use super::{Readers, Unpacked, difference, ours};
use crate::bytes::sha256;
use crate::raw_zip::{
    DEFLATE, End, End64, Entry, FLAG_UTF8, Header, STORED, Zip, crc32, deflate_stored, extra_field,
};
use crate::skips::{is_long, one_of};

/// A change of a member, which may need its name.
struct Change {
    what: String,
    make: Box<dyn Fn(&mut Entry)>,
}

fn change(what: impl Into<String>, make: impl Fn(&mut Entry) + 'static) -> Change {
    Change { what: what.into(), make: Box::new(make) }
}

/// A member with its change.
#[derive(Clone)]
struct Changed {
    what: String,
    entry: Entry,
    content: Option<Vec<u8>>,
}

/// Kinds of members to change.
#[derive(Debug, Clone, Copy)]
enum Base {
    Stored,
    Deflated,
    Described,
    Directory,
}

const BASES: [Base; 4] = [Base::Stored, Base::Deflated, Base::Described, Base::Directory];

impl Base {
    fn entry(self, name: &str) -> Entry {
        let content = format!("the content of {name}").into_bytes();
        match self {
            Self::Stored => Entry::stored(name, &content),
            Self::Deflated => Entry::packed(name, DEFLATE, deflate_stored(&content), &content),
            Self::Described => {
                let mut entry = Self::Deflated.entry(name);
                entry.with_descriptor();
                entry
            }
            Self::Directory => {
                let mut entry = Entry::stored(format!("{name}/"), b"");
                entry.external = 0o040_755 << 16 | 0x10;
                entry
            }
        }
    }

    /// Returns the member after some changes.
    fn changed<'c>(self, name: &str, changes: impl IntoIterator<Item = &'c Change>) -> Changed {
        let mut entry = self.entry(name);
        let mut what = format!("{self:?}");
        for change in changes {
            (change.make)(&mut entry);
            what = format!("{what}, {}", change.what);
        }
        let is_file = !entry.central.name.ends_with(b"/");
        let content = is_file.then(|| match entry.central.method {
            STORED => entry.data.clone(),
            _ => entry.data.get(5..).unwrap_or_default().to_vec(),
        });
        Changed { what, entry, content }
    }
}

/// Adds a change of the local header, of the header in the directory, and of both.
fn of_headers(
    all: &mut Vec<Change>,
    what: impl std::fmt::Display,
    make: impl Fn(&mut Header) + Clone + 'static,
) {
    let (local, central) = (make.clone(), make.clone());
    all.push(change(format!("{what} in both"), move |entry| entry.both(&make)));
    all.push(change(format!("{what} in the local header"), move |entry| local(&mut entry.local)));
    all.push(change(format!("{what} in the directory"), move |entry| central(&mut entry.central)));
}

/// Returns changes of the fields that both headers have.
fn header_fields() -> Vec<Change> {
    let mut all = Vec::new();
    for version in (0..=70).chain([99, 255, 256 + 20, 512 + 20, 512 + 43, 768 + 20, 0xff14]) {
        of_headers(&mut all, format!("version {version}"), move |header| header.version = version);
    }
    for bit in 0..16 {
        of_headers(&mut all, format!("flag {bit}"), move |header| header.flags ^= 1 << bit);
    }
    for method in (0..=20).chain(93..=99) {
        of_headers(&mut all, format!("method {method}"), move |header| header.method = method);
    }
    for time in [0, 1, 0x7fff, 0xbf7d, 0xffff] {
        of_headers(&mut all, format!("time {time}"), move |header| header.time = time);
        of_headers(&mut all, format!("date {time}"), move |header| header.date = time);
    }
    for by in [0_u32, 1, u32::MAX] {
        let to =
            move |number: &mut u32| *number = if by == 0 { 0 } else { number.wrapping_add(by) };
        of_headers(&mut all, format!("CRC-32 + {by}"), move |header| to(&mut header.crc));
        of_headers(&mut all, format!("size + {by}"), move |header| to(&mut header.size));
        of_headers(&mut all, format!("packed + {by}"), move |header| to(&mut header.packed_size));
    }
    all
}

/// Returns changes of the fields that only the directory has, such as the kind of file.
fn directory_fields() -> Vec<Change> {
    let mut all = Vec::new();
    let hosts = (0..=20).chain([30, 31, 255]);
    let kinds = (0..16).map(|kind| kind << 28 | 0o644 << 16);
    let bits = (0..32).map(|bit| 1_u32 << bit);
    let attributes: Vec<u32> = kinds
        .chain(bits)
        .chain([0, 0o7777 << 16, 0o2000 << 16, 0x81a4_8000, 0xa1ff_8000])
        .collect();
    for host in hosts {
        for external in &attributes {
            let external = *external;
            all.push(change(format!("host {host} attributes {external:#x}"), move |entry| {
                entry.made_by = host << 8 | entry.made_by & 0xff;
                entry.external = external;
            }));
        }
        for version in [0, 25, 26, 40, 50, 63, 255] {
            all.push(change(format!("host {host} {version}"), move |entry| {
                entry.made_by = host << 8 | version;
            }));
        }
    }
    for bit in 0..16 {
        all.push(change(format!("internal bit {bit}"), move |entry| entry.internal = 1 << bit));
    }
    for disk in [1, 0xffff] {
        all.push(change(format!("disk {disk}"), move |entry| entry.disk = disk));
    }
    all.push(change("comment", |entry| entry.comment = b"a comment".to_vec()));
    all
}

/// Ids of extra fields that some reader supports.
const EXTRAS: [u16; 56] = [
    0x0001, 0x0007, 0x0008, 0x0009, 0x000a, 0x000c, 0x000d, 0x000e, 0x000f, 0x0014, 0x0015, 0x0016,
    0x0017, 0x0018, 0x0019, 0x0020, 0x0021, 0x0022, 0x0023, 0x0065, 0x0066, 0x07c8, 0x1986, 0x2605,
    0x2705, 0x2805, 0x334d, 0x4154, 0x4341, 0x4453, 0x4690, 0x4704, 0x470f, 0x4b46, 0x4c41, 0x4d49,
    0x4f4c, 0x5356, 0x5455, 0x554e, 0x5855, 0x6375, 0x6542, 0x6c78, 0x7075, 0x7441, 0x756e, 0x7855,
    0x7875, 0x9901, 0xa11e, 0xa220, 0xcafe, 0xd935, 0xe57a, 0xfd4a,
];

fn of_extra(all: &mut Vec<Change>, what: impl std::fmt::Display, field: Vec<u8>) {
    of_headers(all, what, move |header| header.extra.extend(&field));
}

/// Returns changes of extra fields.
fn extra_fields() -> Vec<Change> {
    let mut all = Vec::new();
    for id in EXTRAS {
        for length in [0, 4, 5, 13, 28] {
            for byte in [0, 1, 0xff] {
                let what = format!("field {id:#x} of {length} bytes {byte}");
                of_extra(&mut all, what, extra_field(id, &vec![byte; length]));
            }
        }
    }
    // Times and owners, as written by tools.
    for (id, content) in [
        (0x5455_u16, &b"\x03\0\0\0\0\0\0\0\0"[..]),
        (0x7875, b"\x01\x04\0\0\0\0\x04\0\0\0\0"),
        (0x7855, b"\0\0\0\0"),
        (0x5855, b"\0\0\0\0\0\0\0\0\0\0\0\0"),
        (0x000d, b"\0\0\0\0\0\0\0\0\0\0\0\0/etc/passwd"),
        (0x0001, b"\0\0\0\0"),
    ] {
        of_extra(&mut all, format!("field {id:#x} as usual"), extra_field(id, content));
    }
    // A Unix mode in the extra fields of ASi and libarchive.
    for kind in 0..16_u16 {
        let mode = (kind << 12 | 0o755).to_le_bytes();
        let mut asi = vec![0; 4];
        asi.extend(mode);
        asi.extend([0; 8]);
        asi.extend(b"/etc/passwd");
        let asi = extra_field(0x756e, &asi);
        of_extra(&mut all, format!("an ASi field, kind {kind}"), asi.clone());
        for host in (0..=20).chain([30]) {
            let asi = asi.clone();
            all.push(change(format!("host {host}, ASi's field, kind {kind}"), move |entry| {
                (entry.made_by, entry.external) = (host << 8 | 0x14, 0);
                entry.both(|header| header.extra.extend(&asi));
            }));
        }
        for host in [0, 3] {
            for bits in [0b100_u8, 0b101, 0b110, 0b111, 0b1111] {
                let mut libarchive = vec![bits];
                if bits & 1 != 0 {
                    libarchive.extend([20, host]);
                }
                if bits & 2 != 0 {
                    libarchive.extend([0, 0]);
                }
                libarchive.extend([0x10 * (host ^ 3), 0]);
                libarchive.extend(mode);
                let libarchive = extra_field(0x6c78, &libarchive);
                of_extra(
                    &mut all,
                    format!("libarchive's field {bits} of {host}, {kind}"),
                    libarchive,
                );
            }
        }
    }
    // A second name, equal to the first or not, with a correct or wrong checksum.
    for (version, right, same) in
        [(1, true, true), (1, false, true), (2, true, true), (1, true, false)]
    {
        of_headers(&mut all, format!("a name {version} {right} {same}"), move |header| {
            let crc = if right { crc32(&header.name) } else { 1 };
            let name = if same { header.name.clone() } else { [b"x", &*header.name].concat() };
            let content = [&[version][..], &crc.to_le_bytes(), &name].concat();
            header.extra.extend(extra_field(0x7075, &content));
        });
    }
    // Sizes that are moved to the zip64 field, or repeated in it.
    for moved in 0..8_u8 {
        for (what, more) in [("", &[][..]), (" and a disk", &[0; 4]), (" and more", &[0; 8])] {
            of_headers(&mut all, format!("zip64 {moved:03b}{what}"), move |header| {
                let mut content = Vec::new();
                for (bit, field) in
                    [&mut header.size, &mut header.packed_size].into_iter().enumerate()
                {
                    if moved >> bit & 1 == 1 {
                        content.extend(u64::from(*field).to_le_bytes());
                    }
                    if moved >> 2 == 0 {
                        *field = if moved >> bit & 1 == 1 { u32::MAX } else { *field };
                    }
                }
                content.extend(more);
                header.extra.extend(extra_field(1, &content));
            });
        }
    }
    all
}

/// Returns changes of the data descriptor.
fn descriptors() -> Vec<Change> {
    let mut all = Vec::new();
    for (signed, wide, foretold, zip64) in
        (0..16).map(|n| (n & 1 > 0, n & 2 > 0, n & 4 > 0, n & 8 > 0))
    {
        let what =
            format!("a descriptor: signed {signed} wide {wide} foretold {foretold} zip64 {zip64}");
        all.push(change(what, move |entry| {
            let local = entry.central.clone();
            entry.with_descriptor();
            if foretold {
                entry.local = Header { flags: entry.local.flags, ..local };
            }
            if wide {
                let sizes = [entry.central.packed_size, entry.central.size].map(u64::from);
                entry.descriptor.truncate(8);
                entry.descriptor.extend(sizes.map(u64::to_le_bytes).concat());
            }
            if zip64 {
                entry.local.extra.extend(extra_field(1, &[0; 16]));
                (entry.local.size, entry.local.packed_size) = (u32::MAX, u32::MAX);
            }
            if !signed {
                entry.descriptor.drain(..4);
            }
        }));
    }
    all
}

/// Returns changes of names, after and before a unique part.
fn names() -> Vec<Change> {
    let mut all = Vec::new();
    let characters = (1..=0x17f_u32).chain([
        0x2f_u32, 0x300, 0x301, 0x200b, 0x200d, 0x200e, 0x202e, 0x2028, 0x2060, 0x2215, 0x3000,
        0xac00, 0xd7ff, 0xe000, 0xe15c, 0xf001, 0xf02f, 0xf03a, 0xf05c, 0xf07c, 0xf8ff, 0xfdd0,
        0xfe0f, 0xfeff, 0xff0f, 0xff3c, 0xfffd, 0xfffe, 0xffff, 0x10000, 0x1f600, 0xe0041, 0xf0000,
        0x10_ffff,
    ]);
    let texts = characters.filter_map(char::from_u32).map(String::from);
    let longer = [
        ";",
        ";1",
        ";12",
        ";1x",
        ";x",
        ";;1",
        ";1.txt",
        "#U0041",
        "%41",
        "..",
        "...",
        "~",
        "/b;1",
        ";1/b",
        ";1/b;",
        "/.b",
        "/..b",
        "/ b",
        "/b ",
        "/__MACOSX",
        "/._b",
        "//b",
        "/./b",
        "/../b",
        "\\b",
        ":b",
        "/-b",
        "/@b",
        "*",
        "[b]",
        "&b",
        "'b'",
        "\"b\"",
        "$b",
        "`b`",
        "\u{301}",
        "/$RECYCLE.BIN",
        "/.DS_Store",
    ];
    for text in texts.chain(longer.map(str::to_owned)) {
        for forms in ["{n}{t}", "{n}{t}x", "{n}d/{t}{n}", "{n}d/{t}"] {
            let text = text.clone();
            all.push(change(format!("{forms} {text:?}"), move |entry| {
                entry.both(|header| {
                    let name = String::from_utf8(header.name.clone()).unwrap();
                    let stem = name.strip_suffix('/').unwrap_or(&name);
                    let slash = if name.ends_with('/') { "/" } else { "" };
                    let name = forms.replace("{n}", stem).replace("{t}", &text) + slash;
                    header.flags |= if name.is_ascii() { 0 } else { FLAG_UTF8 };
                    header.name = name.into_bytes();
                });
            }));
        }
    }
    for length in [90, 200, 240] {
        all.push(change(format!("a name of {length}"), move |entry| {
            entry.both(|header| header.name = [&[b'n'].repeat(length), &*header.name].concat());
        }));
    }
    all
}

/// Returns changes of the records at the end.
fn ends() -> Vec<(String, End)> {
    let mut all = Vec::new();
    let mut add = |what: &str, end: End| all.push((what.to_owned(), end));
    let plain = End::default;
    add("a comment", End { comment: b"made by hand".to_vec(), ..plain() });
    for disk in [1, u16::MAX] {
        add("a disk", End { disk, directory_disk: disk, ..plain() });
    }
    for (entries, directory_len, directory_offset) in
        (0..8).map(|n| (n & 1 > 0, n & 2 > 0, n & 4 > 0))
    {
        let narrow = |is_escaped: bool| is_escaped.then_some(u16::MAX);
        let wide = |is_escaped: bool| is_escaped.then_some(u32::MAX);
        let escaped = End {
            entries: narrow(entries),
            disk_entries: narrow(entries),
            directory_len: wide(directory_len),
            directory_offset: wide(directory_offset),
            ..plain()
        };
        add("escaped without zip64", escaped.clone());
        add("escaped", End { zip64: Some(End64::default()), ..escaped.clone() });
        let disks = End { disk: u16::MAX, directory_disk: u16::MAX, ..escaped };
        add("escaped, and disks", End { zip64: Some(End64::default()), ..disks });
    }
    for entries in [0, 1, 3, u16::MAX] {
        add("other entries", End { entries: Some(entries), ..plain() });
        add("other entries on the disk", End { disk_entries: Some(entries), ..plain() });
    }
    add(
        "zip64 with more",
        End { zip64: Some(End64 { more: vec![0; 12], ..End64::default() }), ..plain() },
    );
    all
}

/// Archives, readers and results.
struct Trial {
    readers: Readers,
    scratch: TempDir,
    /// Number of members that were tried.
    shown: usize,
    faults: Vec<String>,
}

impl Trial {
    fn new() -> Self {
        Self {
            readers: Readers::installed(),
            scratch: TempDir::new().unwrap(),
            shown: 0,
            faults: Vec::new(),
        }
    }

    fn write(&self, members: &[Changed], end: &End) -> PathBuf {
        let name = |entry: &Entry| String::from_utf8_lossy(&entry.central.name).into_owned();
        let listed = members.iter().filter_map(|changed| {
            let name = name(&changed.entry);
            let content = changed.content.as_ref()?;
            (!name.contains(['\n', '\r', '\\'])).then(|| format!("{}  {name}\n", sha256(content)))
        });
        // Manifests need not be sorted.
        let manifest: String = listed.collect();
        let mut entries: Vec<Entry> = members.iter().map(|changed| changed.entry.clone()).collect();
        entries.push(Entry::stored("manifest-sha256.txt", manifest.as_bytes()));
        let archive = self.scratch.path().join("a.zip");
        let zip = Zip { entries, end: end.clone(), ..Zip::default() };
        fs::write(&archive, zip.to_bytes()).unwrap();
        archive
    }

    /// Compares the members that `verify` accepts with the results of the readers.
    fn try_members(&mut self, mut members: Vec<Changed>) {
        let options = VerifyOptions { jobs: Some(1), ..VerifyOptions::default() };
        loop {
            let archive = self.write(&members, &End::default());
            let Ok(report) = verify(&archive, &options) else { break };
            if report.findings.is_empty() {
                self.shown += members.len();
                return self.compare(&members);
            }
            let named: Vec<&str> =
                report.findings.iter().filter_map(|finding| finding.member.as_deref()).collect();
            let before = members.len();
            members.retain(|changed| {
                let name = String::from_utf8_lossy(&changed.entry.central.name);
                let name = name.strip_prefix("./").unwrap_or(&name);
                !named.contains(&name.strip_suffix('/').unwrap_or(name))
            });
            if members.len() == before {
                break;
            }
        }
        // An error in the whole archive, such as an unreadable directory.
        if members.len() > 1 {
            let rest = members.split_off(members.len() / 2);
            self.try_members(members);
            self.try_members(rest);
        }
    }

    fn compare(&mut self, members: &[Changed]) {
        if members.is_empty() || self.faults.len() >= 200 {
            return;
        }
        let archive = self.write(members, &End::default());
        let ours = ours(&archive).unwrap();
        let what = || members.iter().map(|changed| &*changed.what).collect::<Vec<_>>().join(" | ");
        let differences: Vec<String> = self
            .readers
            .unpack(&archive)
            .iter()
            .filter(|theirs| {
                members.len() > 1 || !members.iter().any(|changed| is_known(theirs, changed))
            })
            .filter_map(|theirs| difference(&ours, theirs))
            .collect();
        if differences.is_empty() {
            return;
        }
        if members.len() == 1 {
            let fault = format!("{}\n    {}", what(), differences.join("\n    "));
            self.faults.push(fault);
            return;
        }
        let (one, other) = members.split_at(members.len() / 2);
        self.compare(one);
        self.compare(other);
    }

    #[track_caller]
    fn end(self, at_least: usize) {
        assert!(self.faults.is_empty(), "{}:\n{}", self.faults.len(), self.faults.join("\n"));
        assert!(self.shown >= at_least, "only {} members", self.shown);
    }
}

/// Whether a difference is a known limitation of the reader.
fn is_known(theirs: &Unpacked, changed: &Changed) -> bool {
    // No reader supports Zstandard in a zip; all report it.
    changed.entry.central.method == 93 && theirs.refusal.is_some()
}

/// Number of members in one archive.
const AT_ONCE: usize = 300;

fn try_changes(bases: &[Base], changes: &[Change], at_least: usize) {
    let mut trial = Trial::new();
    let pairs: Vec<(Base, &Change)> =
        changes.iter().flat_map(|change| bases.iter().map(move |base| (*base, change))).collect();
    let share = one_of(3);
    let pairs: Vec<_> = pairs.into_iter().step_by(share).collect();
    let mut number = 0;
    for some in pairs.chunks(AT_ONCE) {
        let members = some.iter().map(|(base, change)| {
            number += 1;
            base.changed(&format!("m{number}"), [*change])
        });
        let members = members.collect();
        trial.try_members(members);
    }
    trial.end(at_least / share);
}

#[test]
fn fields_of_both_headers_are_read_the_same() {
    try_changes(&BASES, &header_fields(), 100);
}

#[test]
#[ignore = "slow"]
fn fields_of_the_directory_are_read_the_same() {
    try_changes(&[Base::Stored, Base::Directory], &directory_fields(), 100);
}

#[test]
#[ignore = "slow"]
fn extra_fields_are_read_the_same() {
    try_changes(&[Base::Stored, Base::Directory], &extra_fields(), 100);
}

#[test]
fn records_after_the_data_are_read_the_same() {
    try_changes(&BASES, &descriptors(), 8);
}

#[test]
#[ignore = "slow"]
fn names_are_read_the_same() {
    try_changes(&[Base::Stored, Base::Directory], &names(), 100);
}

#[test]
fn records_at_the_end_are_read_the_same() {
    let mut trial = Trial::new();
    for (what, end) in ends() {
        let members = BASES.map(|base| base.changed(&format!("{base:?}"), []));
        let archive = trial.write(&members, &end);
        let Some(ours) = ours(&archive) else { continue };
        trial.shown += 1;
        let unpacked = trial.readers.unpack(&archive);
        let found = unpacked.iter().filter_map(|theirs| difference(&ours, theirs));
        trial.faults.extend(found.map(|found| format!("{what}: {found}")));
    }
    trial.end(8);
}

#[test]
#[ignore = "takes minutes"]
fn random_members_are_read_the_same() {
    if !is_long() {
        return;
    }
    let families = [header_fields(), directory_fields(), extra_fields(), descriptors(), names()];
    let mut state = 1_u64;
    let mut random = |below: usize| {
        // Knuth's generator; its upper bits are the better ones.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut trial = Trial::new();
    for _ in 0..100 {
        let mut members = Vec::new();
        for number in 0..AT_ONCE {
            let base = BASES[random(BASES.len())];
            let mut chosen = Vec::new();
            for _ in 0..=1 + random(2) {
                let family = &families[random(families.len())];
                chosen.push(&family[random(family.len())]);
            }
            let bits = (0..random(4)).fold(0_u32, |bits, _| bits | 1 << random(32));
            let host = u16::try_from(random(32)).unwrap();
            let attributes = change(format!("attributes {bits:#x} of {host}"), move |entry| {
                entry.external ^= bits;
                entry.made_by = host << 8 | 0x14;
            });
            if bits != 0 {
                chosen.push(&attributes);
            }
            members.push(base.changed(&format!("m{number}"), chosen));
        }
        trial.try_members(members);
    }
    trial.end(1000);
}
