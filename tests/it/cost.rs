//! Files of a few kilobytes that expand to gigabytes: every command has bounded memory and output, with any number of
//! threads.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use ra_pack::archive::Compression;
use ra_pack::verify::VerifyOptions;
use ra_pack::write::CreateOptions;
use ra_pack::write::ExtractOptions;
use ra_pack::{Pack, create, extract, verify};
use tempfile::TempDir;

use crate::experiment::{Experiment, UINT8, raw_array};
use crate::raw_tar;
use crate::raw_zip::{DEFLATE, Entry, Zip};
use crate::skips::is_long;

/// Limit of the data memory of a run, in KiB, including that of threads and the program itself.
const MEMORY_KIB: u32 = 256 << 10;

/// Limit of the bytes that a run prints or writes as a page.
const OUTPUT: usize = 8 << 20;

const TIME: Duration = Duration::from_mins(1);

/// Runs the binary in a shell that limits its memory.
fn run(directory: &Path, arguments: &str) -> Output {
    run_within(MEMORY_KIB, directory, arguments)
}

fn run_within(memory_kib: u32, directory: &Path, arguments: &str) -> Output {
    let binary = assert_cmd::cargo::cargo_bin!("ra-pack").display().to_string();
    let line = format!("ulimit -d {memory_kib}; exec {binary} {arguments}");
    let mut command = Command::new("sh");
    let output = command.current_dir(directory).args(["-c", &line]).timeout(TIME).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        matches!(output.status.code(), Some(0..=2)),
        "{arguments}: {:?}: {said}",
        output.status
    );
    assert!(!said.contains("panicked"), "{arguments}: {said}");
    assert!(output.stdout.len() + output.stderr.len() < OUTPUT, "{arguments}: too much output");
    output
}

/// Runs every command on an archive of less than 1 MB.
fn bear(name: &str, archive: &[u8]) {
    assert!(archive.len() < 1 << 20, "{name}: {}", archive.len());
    let place = TempDir::new().unwrap();
    let directory = place.path();
    fs::write(directory.join(name), archive).unwrap();
    for arguments in [
        "verify -j 8 NAME",
        "verify --json NAME",
        "verify --fast -j 8 NAME",
        "list NAME",
        "list --json NAME",
        "info NAME",
        "info NAME x.ra",
        "show NAME x.ra",
        "get NAME x.ra --slice 0:3 --format csv",
        "get NAME x.ra --format csv -o x.csv",
        "get NAME x.ra --format npy -o x.npy",
        "plot NAME x.ra -o x.png",
        "report NAME -o report.html --force",
        "describe NAME",
        "manifest NAME",
        "validate NAME",
        "diff NAME NAME",
        "extract NAME -C out --max-size 1000000",
        "salvage NAME -o new.zip",
    ] {
        run(directory, &arguments.replace("NAME", name));
    }
    let page = fs::metadata(directory.join("report.html")).map_or(0, |page| page.len());
    assert!(usize::try_from(page).unwrap() < OUTPUT, "{name}: a page of {page} bytes");
}

fn deflated(name: &str, content: &[u8]) -> Entry {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).unwrap();
    Entry::packed(name, DEFLATE, encoder.finish().unwrap(), content)
}

fn zip(entries: Vec<Entry>) -> Vec<u8> {
    Zip { entries, ..Zip::default() }.to_bytes()
}

fn zstd(tar: &[u8]) -> Vec<u8> {
    zstd::encode_all(tar, 3).unwrap()
}

/// Returns an LZ4 block that repeats one byte, and its decoded size.
fn lz4(len: usize) -> (Vec<u8>, u64) {
    let mut block = vec![0x1f, 7, 1, 0];
    block.resize(len, 255);
    block.extend([0, 0]);
    let made = 1 + 4 + 15 + 255 * u64::try_from(len - 4).unwrap();
    (block, made)
}

/// Returns the header of an array of `len` bytes.
fn header(len: u64) -> Vec<u8> {
    let fields = [0, 2, 1, len, 1, len].map(u64::to_le_bytes);
    [b"rawarray", fields.as_flattened()].concat()
}

fn encoded(len: usize) -> Vec<u8> {
    let (block, made) = lz4(len);
    let mut array = b"rawarray".to_vec();
    for field in [2, 2, 1, u64::try_from(block.len()).unwrap(), 1, made] {
        array.extend(field.to_le_bytes());
    }
    array.extend(block);
    array
}

#[test]
#[ignore = "slow"]
fn an_encoded_array_is_not_decoded_into_memory() {
    // 6 MiB that expand to 1.5 GiB, and 64 KiB that expand to 16 MiB and are shown.
    for len in [6 << 20, 64 << 10] {
        bear("lz4.zip", &zip(vec![deflated("x.ra", &encoded(len))]));
    }
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("x.zip"), zip(vec![deflated("x.ra", &encoded(6 << 20))])).unwrap();
    let said = run(place.path(), "get x.zip x.ra --slice 0:3 --format csv");
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("the limit is 268435456"), "{said}");
}

#[test]
#[ignore = "takes a minute"]
fn memory_of_descriptions_is_bounded_by_the_size_of_the_archive() {
    if !is_long() {
        return;
    }
    let small = raw_array(UINT8, &[1], &[0]);
    let lines = deflated("x0.yaml", &b"a:\n".repeat(8 << 20));
    let entries = |description: &Entry| {
        let described = (0..8).flat_map(|number| {
            let mut description = description.clone();
            description.both(|header| header.name = format!("x{number}.yaml").into_bytes());
            [Entry::stored(format!("x{number}.ra"), &small), description]
        });
        described.chain([Entry::stored("x.ra", &small)]).collect()
    };
    bear("lines.zip", &zip(entries(&lines)));
    let ahead = [b"a: [".as_slice(), &b"1,".repeat(1_900_000), b"1]\n"].concat();
    bear("ahead.zip", &zip(entries(&deflated("x0.yaml", &ahead))));
    let document = deflated("manifest.yaml", &b"a:\n".repeat(8 << 20));
    bear("document.zip", &zip(vec![Entry::stored("x.ra", &small), document]));
}

/// A mapping or a scalar of a description.
enum Node {
    Scalar(String),
    Map(Vec<(String, Node)>),
}

impl Node {
    fn map<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Map(entries.map(|(key, node)| (key.to_owned(), node)).into())
    }

    /// Appends the node in one of 60 layouts: with brackets below some level, with other indentation, with comments and
    /// with another order of keys.
    fn write(&self, layout: usize, level: usize, out: &mut String) {
        let entries = match self {
            Self::Scalar(text) => return out.push_str(text),
            Self::Map(entries) => entries,
        };
        let is_flow = level >= layout % 5;
        let mut order: Vec<_> = entries.iter().collect();
        order.rotate_left(if level == 0 { 0 } else { layout / 5 % 3 % entries.len() });
        out.push_str(if is_flow { "{" } else { "" });
        for (at, (key, node)) in order.into_iter().enumerate() {
            let is_nested = matches!(node, Self::Map(_));
            if !is_flow {
                let comment = if layout.is_multiple_of(2) { "" } else { " # a comment" };
                out.push_str(if at + level == 0 { comment.trim_start() } else { comment });
                let indent = level * (1 + layout / 15 % 4);
                out.push_str(if out.is_empty() { "" } else { "\n" });
                out.push_str(&" ".repeat(indent));
            } else if at > 0 {
                out.push_str(", ");
            }
            let is_block = is_nested && level + 1 < layout % 5;
            out.push_str(key);
            out.push_str(if is_block { ":" } else { ": " });
            node.write(layout, level + 1, out);
        }
        out.push_str(if is_flow { "}" } else { "" });
        out.push_str(if level == 0 { "\n" } else { "" });
    }
}

/// Returns a description with units, a name and a list. The layout `None` is that of the writer.
fn described(number: u32, layout: Option<usize>) -> String {
    let Some(layout) = layout else {
        return format!(
            "ndarrays:\n  \"{number:06}\":\n    shape: [x, 3]\n    type: uint8\n    attributes:\n      \
             units: degree_Celsius\n      long_name: \"{number}: temperature\"\n      valid_range:\n        \
             shape: [2]\n        type: uint8\n        value: [0, 40]\n    storage:\n      \
             fillvalue: 255\n"
        );
    };
    let scalar = |text: &str| Node::Scalar(text.to_owned());
    let range = [("shape", scalar("[2]")), ("type", scalar("uint8")), ("value", scalar("[0, 40]"))];
    let attributes = [
        ("units", scalar("degree_Celsius")),
        ("long_name", Node::Scalar(format!("'{number}: temperature'"))),
        ("valid_range", Node::map(range)),
    ];
    let array = [
        ("shape", scalar("[x, 3]")),
        ("type", scalar("uint8")),
        ("attributes", Node::map(attributes)),
        ("storage", Node::map([("fillvalue", scalar("255"))])),
    ];
    let arrays = Node::Map(vec![(format!("'{number:06}'"), Node::map(array))]);
    let mut text = String::new();
    Node::map([("ndarrays", arrays)]).write(layout, 0, &mut text);
    text
}

/// Packs arrays with these descriptions, and reads the pack, in the memory that docs/performance.md states.
fn bear_described(description: impl Fn(u32) -> String) {
    const ARRAYS: u32 = 10_000;
    // Each array and each description is a member.
    let limit = (64 << 10) + ARRAYS * 2 * 200 / 1024;
    let place = TempDir::new().unwrap();
    let source = place.path().join("source");
    let array = raw_array(UINT8, &[2, 3], &[1, 2, 3, 4, 5, 6]);
    for number in 0..ARRAYS {
        // YAML quotes such names.
        let directory = source.join(format!("{:03}", number / 1000));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("{number:06}.ra")), &array).unwrap();
        fs::write(directory.join(format!("{number:06}.yaml")), description(number)).unwrap();
    }
    fs::write(source.join("x.ra"), raw_array(UINT8, &[2], &[0, 1])).unwrap();
    fs::write(source.join("x.yaml"), "dimcoords: {x: {size: 2, type: uint8}}\n").unwrap();
    for arguments in [
        "create -j 2 source -o x.zip",
        "verify -j 2 x.zip",
        "info x.zip",
        "list x.zip",
        "validate x.zip",
    ] {
        let output = run_within(limit, place.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments}: {said}");
    }
}

#[test]
#[ignore = "slow"]
fn memory_for_described_arrays_is_bounded_by_their_number() {
    bear_described(|number| described(number, None));
}

#[test]
#[ignore = "takes a minute"]
fn memory_for_descriptions_does_not_depend_on_their_layout() {
    if !is_long() {
        return;
    }
    let layouts: Vec<_> = (0..60).map(|layout| described(7, Some(layout))).collect();
    let canonical = ra_pack::ndl::parse(described(7, None).as_bytes()).document.unwrap();
    for text in &layouts {
        let parsed = ra_pack::ndl::parse(text.as_bytes());
        assert_eq!(parsed.findings, [], "{text}");
        let mut document = parsed.document.unwrap();
        let attributes = &mut document.groups[0].ndarrays[0].attributes;
        attributes.sort_by_key(|attribute| attribute.name != "units");
        attributes[1..].sort_by(|one, other| one.name.cmp(&other.name));
        assert_eq!(document, canonical, "{text}");
    }
    bear_described(|number| described(number, Some(number as usize % 60)));
}

#[test]
#[ignore = "slow"]
fn repeated_lines_of_a_manifest_are_counted() {
    let small = raw_array(UINT8, &[1], &[0]);
    let line = format!("{}  x.ra\n", "0".repeat(64)).into_bytes();
    for lines in [50_000, 1_000_000] {
        let manifest = deflated("manifest-sha256.txt", &line.repeat(lines));
        bear("repeated.zip", &zip(vec![Entry::stored("x.ra", &small), manifest]));
    }
}

#[test]
#[ignore = "takes a minute"]
fn members_of_one_name_or_with_long_names_are_bounded() {
    if !is_long() {
        return;
    }
    let one = raw_tar::unended(&[raw_tar::Entry::file("x.ra", b"")]);
    let mut tar = one.repeat(100_000);
    tar.extend([0; 1024]);
    bear("one.tar.zst", &zstd(&tar));
    let mut tar = Vec::new();
    for number in 0..600 {
        let name = format!("{}{number}.ra", "long/".repeat(12_000));
        let record = raw_tar::pax_record("path", &name);
        tar.extend(raw_tar::unended(&[
            raw_tar::Entry::pax(&record),
            raw_tar::Entry::file("x", b""),
        ]));
    }
    tar.extend([0; 1024]);
    bear("long.tar.zst", &zstd(&tar));
}

#[test]
fn a_compressed_tar_is_decoded_once_for_all_of_its_arrays() {
    let small = raw_array(UINT8, &[3], &[1, 2, 3]);
    let large = raw_array(UINT8, &[300_000], &[7].repeat(300_000));
    let files: Vec<(String, Vec<u8>)> = (0..400)
        .flat_map(|number| {
            let array = if number % 100 == 0 { &large } else { &small };
            let dims = if number % 100 == 0 { 300_000 } else { 3 };
            let shape = format!("{{shape: [{dims}], type: uint8}}");
            let description = format!("ndarrays: {{a{number}: {shape}}}\n").into_bytes();
            [(format!("a{number}.ra"), array.clone()), (format!("a{number}.yaml"), description)]
        })
        .collect();
    let tar = raw_tar::tar(&raw_tar::files(&files));
    let place = TempDir::new().unwrap();
    let path = place.path().join("x.tar.zst");
    fs::write(&path, zstd(&tar)).unwrap();
    let all = u64::try_from(tar.len()).unwrap();
    let pack = Pack::open(&path).unwrap();
    let look = |number: usize| {
        let array = pack.array(&format!("a{number}.ra")).unwrap().unverified();
        let length = usize::try_from(array.header().unwrap().data_len()).unwrap();
        assert_eq!(array.read::<u8>().unwrap().len(), length);
        assert!(array.description().unwrap().is_some());
    };
    // The list of the members takes one pass.
    look(0);
    assert!(pack.decoded() >= all / 2, "{} of {all}", pack.decoded());
    (1..400).for_each(look);
    assert!(pack.decoded() <= all * 2, "{} of {all}", pack.decoded());
    // Small members are cached for reading in reverse; for each large one the tar is decoded again.
    (0..400).rev().for_each(look);
    assert!(pack.decoded() <= all * 5, "{} of {all}", pack.decoded());
}

#[test]
#[ignore = "slow"]
fn many_arrays_of_a_compressed_tar_are_verified_in_one_pass() {
    let names = |numbers: Vec<usize>| -> Vec<String> {
        numbers.into_iter().map(|number| format!("{:04}.ra", number * 7919 % 500)).collect()
    };
    let names = names((0..500).collect());
    let large = raw_array(UINT8, &[100_000], &[7].repeat(100_000));
    let source = names.iter().fold(Experiment::new(), |source, name| source.file(name, &*large));
    let place = TempDir::new().unwrap();
    for name in ["x.tar.gz", "x.tar.zst"] {
        let path = place.path().join(name);
        let options = CreateOptions { describe: true, ..CreateOptions::default() };
        create(source.path(), &path, &options).unwrap();
        let pack = Pack::open(&path).unwrap();
        let read = pack.read_each(&names, None, |array| {
            Ok::<_, ra_pack::Error>((array.name().to_owned(), array.read::<u8>()?.len()))
        });
        let expected: Vec<_> = names.iter().map(|name| (name.clone(), 100_000)).collect();
        assert_eq!(read.unwrap(), expected, "{name}");
        // The manifest was read when the index was made, which is counted as well.
        assert!(pack.decoded() <= 2 * 510 * 102_000, "{name}: {}", pack.decoded());
    }
}

#[test]
fn the_elements_that_a_report_reads_are_bounded_by_the_size_of_the_archive() {
    const LEN: usize = 140 << 20;
    let content = [header(LEN as u64), vec![0; LEN]].concat();
    let packed = zstd::encode_all(&content[..], 1).unwrap();
    let large = Entry::packed("b.ra", 93, packed, &content);
    let small = |name: &str| Entry::stored(name, &raw_array(UINT8, &[3], &[1, 2, 3]));
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("x.zip"), zip(vec![small("a.ra"), large, small("c.ra")])).unwrap();
    run(place.path(), "report x.zip -o x.html --no-verify");
    let page = fs::read_to_string(place.path().join("x.html")).unwrap();
    assert_eq!(page.matches("values not read").count(), 1);
    assert_eq!(page.matches("<dt>max</dt><dd>3</dd>").count(), 2);
}

#[test]
fn the_elements_of_a_plot_are_bounded_by_the_size_of_the_archive() {
    let len = 0xc000_0000_u32;
    let content = header(len.into());
    let mut entry = Entry::packed("x.ra", 93, zstd::encode_all(&content[..], 1).unwrap(), &content);
    let header_len = u32::try_from(content.len()).unwrap();
    entry.both(|header| header.size = len + header_len);
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("x.zip"), zip(vec![entry])).unwrap();
    let output = run(place.path(), "plot x.zip x.ra -o x.png");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("elements to process; the limit for"), "{said}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn messages_about_long_texts_are_the_same_for_any_number_of_jobs() {
    let array = raw_array(UINT8, &[1], &[0]);
    let declaration = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
    let line = format!("{}  data/x.ra\n", "0".repeat(64)).into_bytes();
    let place = TempDir::new().unwrap();
    let entries = vec![
        Entry::stored("bagit.txt", declaration),
        Entry::stored("data/x.ra", &array),
        deflated("bag-info.txt", &b"a: b\n".repeat(2 << 20)),
        deflated("fetch.txt", &b"http://a/ - data/x.ra\n".repeat(500_000)),
        deflated("manifest-sha256.txt", &line.repeat(100_000)),
    ];
    fs::write(place.path().join("x.zip"), zip(entries)).unwrap();
    let said = |jobs: usize| {
        let output = run(place.path(), &format!("verify -j {jobs} x.zip"));
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let untimed = said.lines().filter(|line| !line.starts_with("x.zip: ")).map(str::to_owned);
        untimed.collect::<Vec<_>>()
    };
    let alone = said(1);
    assert!(
        alone.iter().any(|line| line.contains("the file cannot be read or is too long")),
        "{alone:?}"
    );
    for _ in 0..5 {
        assert_eq!(said(8), alone);
    }
}

#[test]
#[ignore = "slow"]
fn a_hundred_thousand_empty_files_are_accepted() {
    let mut tar = Vec::new();
    for number in 0..100_000 {
        let name = format!("d{}/empty{number}.txt", number / 1000);
        tar.extend(raw_tar::unended(&[raw_tar::Entry::file(&name, b"")]));
    }
    tar.extend([0; 1024]);
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("x.tar.zst"), zstd(&tar)).unwrap();
    assert_eq!(run(place.path(), "list x.tar.zst").status.code(), Some(0));
    let verified = run(place.path(), "verify x.tar.zst").stdout;
    let verified = String::from_utf8(verified).unwrap();
    assert!(verified.contains("there is no manifest"), "{verified}");
}

#[test]
fn windows_of_members_are_bounded_for_any_number_of_jobs() {
    let member = |name: &str, log: u32| {
        let content = vec![b'x'; (8 << 20) + 1];
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.window_log(log).unwrap();
        encoder.write_all(&content).unwrap();
        Entry::packed(name, 93, encoder.finish().unwrap(), &content)
    };
    // The system counts the whole stack of each thread, of which little is used.
    let memory_kib = MEMORY_KIB + 64 * (2 << 10);
    let place = TempDir::new().unwrap();
    for (log, what) in [(23, "there is no manifest"), (27, "not supported in 64 files")] {
        let members = (0..64).map(|number| member(&format!("{number}.txt"), log)).collect();
        fs::write(place.path().join("x.zip"), zip(members)).unwrap();
        let verified = run_within(memory_kib, place.path(), "verify -j 64 x.zip");
        let said = [verified.stdout, verified.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains(what), "{said}");
    }
}

#[test]
fn equal_files_that_are_all_renamed_are_paired_in_time() {
    let names = |side: &str| -> Vec<Entry> {
        (0..10_000).map(|number| Entry::stored(format!("{side}{number}.txt"), b"equal")).collect()
    };
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("a.zip"), zip(names("a"))).unwrap();
    fs::write(place.path().join("b.zip"), zip(names("b"))).unwrap();
    let output = run(place.path(), "diff a.zip b.zip");
    assert!(String::from_utf8(output.stdout).unwrap().contains("10000 renamed"));
}

#[test]
fn an_invalid_deflate_level_is_refused_in_every_container() {
    let source = Experiment::standard();
    let place = TempDir::new().unwrap();
    for name in ["a.zip", "a.tar.gz"] {
        let target = place.path().join(name);
        for level in [0, 1, 10, 12, 99, u32::MAX] {
            let compression = Compression::Deflate { level: Some(level) };
            let options = CreateOptions { compression, ..CreateOptions::default() };
            let error = create(source.path(), &target, &options).unwrap_err();
            assert!(error.to_string().contains("level from 2 to 9"), "{name} {level}: {error}");
            assert!(!target.exists());
        }
    }
}

#[test]
fn any_number_of_jobs_is_accepted() {
    let source = Experiment::standard();
    let place = TempDir::new().unwrap();
    let jobs = Some(usize::MAX);
    for name in ["a.zip", "a.tar.gz", "a.tar.zst"] {
        let target = place.path().join(name);
        let options = CreateOptions { jobs, ..CreateOptions::default() };
        create(source.path(), &target, &options).unwrap();
        let options = VerifyOptions { jobs, ..VerifyOptions::default() };
        assert!(verify(&target, &options).unwrap().is_valid());
        let options = ExtractOptions { jobs, ..ExtractOptions::default() };
        extract(&target, place.path().join(format!("{name}.out")), &options).unwrap();
    }
}
