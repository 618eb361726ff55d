//! `ra-pack salvage`: what is confirmed is the original, what is untouched is salvaged, and nothing else gets in.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read as _};
use std::ops::Range;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use ra_pack::verify;
use ra_pack::verify::VerifyOptions;
use ra_pack::write::{SalvageOptions, salvage};
use tempfile::TempDir;

use crate::experiment::{Experiment, read_tree};
use crate::raw_zip::{Entry, Zip};
use crate::run::{extract, names_in, pack, ra};

/// Files of a pack that are generated.
const GENERATED: [&str; 3] = ["manifest.yaml", "manifest-sha256.txt", "blocks-sha256.txt"];

/// Names and options of packs.
const WAYS: [(&str, &[&str]); 8] = [
    ("a.zip", &[]),
    ("a.zip", &["--compression", "deflate"]),
    ("a.zip", &["--compression", "zstd"]),
    ("a.zip", &["--block-digests=4K"]),
    ("a.zip", &["--layout", "bagit"]),
    ("a.tar", &[]),
    ("a.tar.gz", &[]),
    ("a.tar.zst", &["--layout", "bagit"]),
];

/// Returns an experiment with a file that is longer than the others.
fn experiment() -> Experiment {
    let long: Vec<u8> =
        (0..40_000_u32).flat_map(|number| (number * number).to_le_bytes()).collect();
    Experiment::standard().file("run2/long.bin", long)
}

fn salvage_it(broken: &Path, into: &Path, options: &[&str]) -> crate::run::Ran {
    ra("salvage", &[broken, Path::new("-o"), into], options)
}

/// Returns the files in an archive, with their names in the payload, as `extract` reads them.
fn files(archive: &Path) -> BTreeMap<String, Vec<u8>> {
    let target = archive.with_extension("files");
    extract(archive, &target, &[]).exits(0);
    let tree = read_tree(&target);
    let in_payload = |name: String| {
        let data = name.split_once("/data/").map(|(_, rest)| rest.to_owned());
        data.unwrap_or(name)
    };
    tree.into_iter().map(|(name, bytes)| (in_payload(name), bytes)).collect()
}

/// Returns the bytes of each member of a zip or a tar, with its headers, by the name in the archive. Other
/// implementations of the formats read them.
fn spans(archive: &[u8], name: &str) -> BTreeMap<String, Range<usize>> {
    let number = |number: u64| usize::try_from(number).unwrap();
    let mut spans = BTreeMap::new();
    if name == "a.zip" {
        let mut zip = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
        for index in 0..zip.len() {
            let member = zip.by_index_raw(index).unwrap();
            let end = number(member.data_start().unwrap() + member.compressed_size());
            spans.insert(member.name().unwrap().into_owned(), number(member.header_start())..end);
        }
    } else if name == "a.tar" {
        let mut before = 0;
        for entry in tar::Archive::new(archive).entries().unwrap() {
            let entry = entry.unwrap();
            let end = number(entry.raw_file_position() + entry.size());
            let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
            // Headers of long names are before that of the member.
            spans.insert(name, before..end);
            before = end.next_multiple_of(512);
        }
    }
    spans
}

#[derive(Debug, Clone)]
enum Damage {
    Cut(Index),
    Zeros(Index, usize),
    Bytes(Index, Vec<u8>),
    Sectors(Index, usize),
}

impl Damage {
    /// Damages the bytes, and returns which.
    fn apply(&self, bytes: &mut Vec<u8>) -> Range<usize> {
        let len = bytes.len();
        let range = match self {
            Self::Cut(at) => at.index(len)..len,
            Self::Zeros(at, count) => at.index(len)..len.min(at.index(len) + count),
            Self::Bytes(at, new) => at.index(len)..len.min(at.index(len) + new.len()),
            Self::Sectors(at, count) => {
                let at = at.index(len) / 512 * 512;
                at..len.min(at + 512 * count)
            }
        };
        match self {
            Self::Cut(_) => bytes.truncate(range.start),
            Self::Bytes(_, new) => bytes[range.clone()].copy_from_slice(&new[..range.len()]),
            Self::Zeros(..) | Self::Sectors(..) => bytes[range.clone()].fill(0),
        }
        range
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<Index>().prop_map(Damage::Cut),
        (any::<Index>(), 1..3000_usize).prop_map(|(at, count)| Damage::Zeros(at, count)),
        (any::<Index>(), vec(any::<u8>(), 1..600)).prop_map(|(at, new)| Damage::Bytes(at, new)),
        (any::<Index>(), 1..20_usize).prop_map(|(at, count)| Damage::Sectors(at, count)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "slow"]
    fn untouched_files_are_salvaged_and_salvaged_files_are_the_originals(
        (name, options) in select(&WAYS[..]),
        damages in vec(damage(), 1..4),
        is_beside in any::<bool>(),
    ) {
        let (source, scratch) = (experiment(), TempDir::new().unwrap());
        let archive = pack(&source, scratch.path(), name, options);
        let outside = scratch.path().join(format!("{name}.manifest-sha256.txt"));
        if !is_beside {
            fs::remove_file(outside).unwrap();
        }
        let mut bytes = fs::read(&archive).unwrap();
        let spans = spans(&bytes, name);
        let mut touched = Vec::new();
        for damage in &damages {
            if !bytes.is_empty() {
                touched.push(damage.apply(&mut bytes));
            }
        }
        fs::write(&archive, &bytes).unwrap();

        let made = scratch.path().join("new.zip");
        let report = salvage(&archive, &made, &SalvageOptions::default()).unwrap();
        prop_assert!(report.lost == 0 || !report.is_whole(), "{:?}", report.findings);
        let original = read_tree(source.path());
        let mut found = BTreeMap::new();
        if report.output.is_some() {
            let verified = verify(&made, &VerifyOptions::default()).unwrap();
            prop_assert!(verified.is_valid(), "{:?}", verified.findings);
            found = files(&made);
        }
        for (path, content) in &found {
            let is_description = path.strip_suffix(".yaml").or(path.strip_suffix(".yml")).is_some();
            let is_tag = path.starts_with("new/") && options.contains(&"bagit");
            if GENERATED.contains(&&**path) || is_tag || path.ends_with('/') {
                continue;
            }
            // A lost description is generated again.
            prop_assert!(original.get(path) == Some(content) || is_description, "{}", path);
        }
        let is_untouched = |span: &Range<usize>| {
            touched.iter().all(|range: &Range<usize>| range.end <= span.start || span.end <= range.start)
        };
        let listed = spans.iter().find(|(name, _)| name.ends_with("manifest-sha256.txt") && !name.contains("tag"));
        let is_listed = is_beside || listed.is_some_and(|(_, span)| is_untouched(span));
        for (path, span) in &spans {
            let path = path.split_once("/data/").map_or(&**path, |(_, rest)| rest);
            let is_payload = original.contains_key(path) && !path.ends_with('/');
            if is_payload && is_listed && is_untouched(span) {
                prop_assert_eq!(found.get(path), original.get(path), "{} is lost: {:?}", path, report.findings);
            }
        }
    }
}

#[test]
fn an_intact_archive_becomes_the_same_archive() {
    for (name, options) in
        [("a.zip", &[][..]), ("a.tar.zst", &[]), ("a.zip", &["--block-digests=4K"])]
    {
        let (source, scratch) = (Experiment::new().file("a.txt", "a"), TempDir::new().unwrap());
        let archive = pack(&source, scratch.path(), name, options);
        let made = scratch.path().join("new").with_extension(name.split_once('.').unwrap().1);
        let ran = salvage_it(&archive, &made, &["--json"]).exits(0);
        assert_eq!(fs::read(&made).unwrap(), fs::read(&archive).unwrap(), "{name}");
        let json = ran.json();
        assert_eq!((&json["lost"], &json["unconfirmed"]), (&0.into(), &0.into()));
        assert_eq!(json["output"], made.to_str().unwrap());
    }
}

#[test]
fn lost_files_are_listed_with_the_reason_and_the_damaged_ranges() {
    let (source, scratch) = (experiment(), TempDir::new().unwrap());
    let archive = pack(&source, scratch.path(), "a.zip", &["--block-digests=4K"]);
    let mut bytes = fs::read(&archive).unwrap();
    let spans = spans(&bytes, "a.zip");
    // The third block of the long file.
    let long = spans["run2/long.bin"].end - 160_000;
    bytes[long + 9000] ^= 1;
    let readme = spans["README.txt"].end;
    bytes[readme - 1] ^= 1;
    fs::write(&archive, &bytes).unwrap();
    let made = scratch.path().join("new.zip");
    let ran = salvage_it(&archive, &made, &["--json"]).exits(1);
    let of = |code: &str, member: &str| (code.to_owned(), member.to_owned());
    assert_eq!(ran.findings(), [of("ARC006", "README.txt"), of("MAN010", "run2/long.bin")]);
    ran.says(&["bytes 8192 to 12287 do not match"]);
    ra("verify", &[&made], &[]).exits(0);
}

#[test]
fn a_lost_coordinate_leaves_a_dimension_and_a_lost_description_is_generated() {
    let (source, scratch) = (Experiment::standard(), TempDir::new().unwrap());
    let archive = pack(&source, scratch.path(), "a.zip", &["--attribute", "title=Mooring 7"]);
    let mut bytes = fs::read(&archive).unwrap();
    let spans = spans(&bytes, "a.zip");
    for name in ["run1/depth.ra", "run1/image.yaml"] {
        bytes[spans[name].clone()].fill(7);
    }
    fs::write(&archive, &bytes).unwrap();
    let made = scratch.path().join("new.zip");
    salvage_it(&archive, &made, &[]).exits(1).says(&["run1/depth.ra", "run1/image.yaml"]);
    ra("verify", &[&made], &[]).exits(0);
    ra("show", &[&made], &[]).exits(0).says(&["title", "Mooring 7", "depth 3"]);
    let files = files(&made);
    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    assert!(text("run1/temperature.yaml").contains("[depth, time]"));
    assert!(text("run1/image.yaml").contains("uint8"));
}

#[test]
fn the_directory_names_members_whose_local_headers_are_lost() {
    let (source, scratch) = (experiment(), TempDir::new().unwrap());
    let archive = pack(&source, scratch.path(), "a.zip", &[]);
    let mut bytes = fs::read(&archive).unwrap();
    let spans = spans(&bytes, "a.zip");
    let start = spans["run2/long.bin"].start;
    bytes[start..start + 30].fill(0);
    fs::write(&archive, &bytes).unwrap();
    let made = scratch.path().join("new.zip");
    salvage_it(&archive, &made, &[]).exits(0);
    assert_eq!(files(&made)["run2/long.bin"], read_tree(source.path())["run2/long.bin"]);
}

#[test]
fn members_without_sizes_in_their_headers_are_salvaged() {
    // `zip -` writes sizes after the data. Here, the directory is lost.
    let scratch = TempDir::new().unwrap();
    let content = b"content ".repeat(1000);
    let digest = crate::bytes::sha256(&content);
    let mut encoder = flate2::read::DeflateEncoder::new(&content[..], flate2::Compression::best());
    let mut packed = Vec::new();
    encoder.read_to_end(&mut packed).unwrap();
    let mut bytes = b"PK\x03\x04\x14\x00\x08\x00\x08\x00".to_vec();
    bytes.extend([0; 16]);
    bytes.extend(b"\x05\x00\x00\x00a.txt");
    bytes.extend(&packed);
    bytes.extend(b"PK\x07\x08");
    let archive = scratch.path().join("a.zip");
    fs::write(&archive, bytes).unwrap();
    let list = scratch.path().join("list");
    fs::write(&list, format!("{digest}  a.txt\n")).unwrap();
    let made = scratch.path().join("new.zip");
    salvage_it(&archive, &made, &["--manifest", list.to_str().unwrap()]).exits(0);
    assert_eq!(files(&made)["a.txt"], content);
}

#[test]
fn nothing_unconfirmed_gets_into_the_pack() {
    let (source, scratch) = (Experiment::standard(), TempDir::new().unwrap());
    for ending in ["zip", "tar", "tar.gz", "tar.zst"] {
        let archive = pack(&source, scratch.path(), &format!("a.{ending}"), &[]);
        let list = scratch.path().join("list");
        let listed =
            fs::read_to_string(archive.with_file_name(format!("a.{ending}.manifest-sha256.txt")))
                .unwrap();
        let line = listed.lines().find(|line| line.ends_with("README.txt")).unwrap();
        fs::write(&list, format!("{line}\n{}  time.ra\n", "0".repeat(64))).unwrap();
        let (made, doubtful) = (
            scratch.path().join(format!("new-{ending}.zip")),
            scratch.path().join(format!("doubtful-{ending}")),
        );
        let options =
            ["--manifest", list.to_str().unwrap(), "--unconfirmed", doubtful.to_str().unwrap()];
        salvage_it(&archive, &made, &options).exits(1).says(&["time.ra", "MAN003", "MAN005"]);
        let names: Vec<_> = files(&made).into_keys().collect();
        assert_eq!(names, ["README.txt", "manifest-sha256.txt", "manifest.yaml"], "{ending}");
        let mut others = read_tree(&doubtful);
        let mut expected = read_tree(source.path());
        others.retain(|name, _| !GENERATED.contains(&&**name));
        expected.retain(|name, _| name != "README.txt" && !name.ends_with('/'));
        assert_eq!(others, expected, "{ending}");
        // It is never written to twice.
        salvage_it(&archive, &made, &[&options[..], &["--force"]].concat())
            .exits(2)
            .says(&["exists"]);
    }
}

#[test]
fn unsafe_names_are_not_written() {
    let scratch = TempDir::new().unwrap();
    let names = ["../out.txt", "/abs.txt", "a/../../b.txt", "good.txt", "good.txt/below"];
    let entries = names.map(|name| Entry::stored(name, name.as_bytes())).to_vec();
    let archive = scratch.path().join("a.zip");
    fs::write(&archive, Zip { entries, ..Zip::default() }.to_bytes()).unwrap();
    let home = scratch.path().join("home");
    fs::create_dir(&home).unwrap();
    let (made, doubtful) = (home.join("new.zip"), home.join("doubtful"));
    salvage_it(&archive, &made, &["--unconfirmed", doubtful.to_str().unwrap()])
        .exits(1)
        .says(&["MAN001", "no file is confirmed"]);
    assert_eq!(names_in(&home), ["doubtful"]);
    assert_eq!(names_in(&doubtful), ["good.txt"]);
    assert_eq!(names_in(scratch.path()), ["a.zip", "home"]);
}

#[test]
fn what_cannot_be_salvaged_is_said() {
    let (source, scratch) = (Experiment::standard(), TempDir::new().unwrap());
    let archive = pack(&source, scratch.path(), "a.zip", &[]);
    salvage_it(&archive, &archive, &["--force"]).exits(2).says(&["is the input"]);
    let made = scratch.path().join("new.zip");
    let other = scratch.path().join("other");
    fs::write(&other, "no archive").unwrap();
    salvage_it(&other, &made, &[]).exits(2);
    salvage_it(source.path(), &made, &[]).exits(2).says(&["a directory"]);
    salvage_it(&archive, &made, &["--manifest", other.to_str().unwrap()])
        .exits(2)
        .says(&["is not a manifest"]);
    fs::write(&made, "mine").unwrap();
    salvage_it(&archive, &made, &[]).exits(2).says(&["exists"]);
    assert_eq!(fs::read_to_string(&made).unwrap(), "mine");
    let empty = scratch.path().join("empty.zip");
    fs::write(&empty, "").unwrap();
    salvage_it(&empty, &scratch.path().join("x.zip"), &[]).exits(1).says(&["MAN001"]);
}
