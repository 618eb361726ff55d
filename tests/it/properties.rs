//! Properties of packs: extracting gives the packed files, packing is deterministic, and every changed byte is found.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use ndarray::{ArrayD, IxDyn, SliceInfo, SliceInfoElem};
use num_complex::Complex;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use ra_pack::archive::{Compression, MemberKind};
use ra_pack::ndl::{Document, Extent, Form, Group, Order, Storage};
use ra_pack::ra::{Encoding, Header};
use ra_pack::read::shape_of;
use ra_pack::verify::VerifyOptions;
use ra_pack::write::ExtractOptions;
use ra_pack::write::{CreateOptions, Layout};
use ra_pack::{Error, Finding, Pack, PackedArray, create, describe, extract, verify};
use tempfile::TempDir;

use crate::experiment::{Element, Experiment, raw_array, read_tree};
use crate::skips::is_long;

/// Ways to pack.
const WAYS: [(&str, Layout, Compression); 8] = [
    ("a.zip", Layout::Plain, Compression::Stored),
    ("a.zip", Layout::Plain, Compression::Deflate { level: None }),
    ("a.zip", Layout::Plain, Compression::Zstd { level: None }),
    ("a.tar", Layout::Plain, Compression::Stored),
    ("a.tar.gz", Layout::Plain, Compression::Stored),
    ("a.tar.zst", Layout::Plain, Compression::Stored),
    ("a.zip", Layout::BagIt, Compression::Stored),
    ("a.tar.gz", Layout::BagIt, Compression::Stored),
];

type Way = (&'static str, Layout, Compression);

fn options((_, layout, compression): Way, jobs: usize) -> CreateOptions {
    CreateOptions {
        layout,
        compression,
        jobs: Some(jobs),
        no_external_manifest: true,
        ..CreateOptions::default()
    }
}

/// Whether members are stored without compression.
fn is_stored((name, _, compression): Way) -> bool {
    compression == Compression::Stored && matches!(name, "a.zip" | "a.tar")
}

fn pack(source: &Path, scratch: &Path, way: Way, jobs: usize) -> Result<PathBuf, TestCaseError> {
    let archive = scratch.join(way.0);
    create(source, &archive, &options(way, jobs)).map_err(|error| {
        let findings = match &error {
            Error::Refused { findings, .. } => {
                findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        };
        TestCaseError::fail(format!("{way:?}: {error}\n{findings}"))
    })?;
    Ok(archive)
}

/// Element type, and a function that reads its arrays.
type Typed = (Element, fn(&PackedArray) -> Vec<u8>);

fn typed<T: ra_pack::ra::Element>(eltype: u64) -> Typed {
    fn bytes<T: ra_pack::ra::Element>(array: &PackedArray) -> Vec<u8> {
        let array: ArrayD<T> = array.read().unwrap();
        bytemuck::cast_slice(&array.into_raw_vec_and_offset().0).to_vec()
    }
    (Element(eltype, u64::try_from(size_of::<T>()).unwrap()), bytes::<T>)
}

fn types() -> Vec<Typed> {
    vec![
        typed::<i8>(1),
        typed::<i16>(1),
        typed::<i32>(1),
        typed::<i64>(1),
        typed::<i128>(1),
        typed::<u8>(2),
        typed::<u16>(2),
        typed::<u32>(2),
        typed::<u64>(2),
        typed::<u128>(2),
        typed::<f16>(3),
        typed::<bf16>(5),
        typed::<f32>(3),
        typed::<f64>(3),
        typed::<Complex<f16>>(4),
        typed::<Complex<f32>>(4),
        typed::<Complex<f64>>(4),
        typed::<[u8; 3]>(0),
        typed::<[u16; 6]>(0),
    ]
}

/// Array of any type and dims, its data, and whether its description is row-major.
#[derive(Debug, Clone)]
struct Array {
    element: Element,
    dims: Vec<u64>,
    data: Vec<u8>,
    rows: bool,
}

impl Array {
    fn file(&self) -> Vec<u8> {
        raw_array(self.element, &self.dims, &self.data)
    }

    fn description(&self, name: &str) -> String {
        let header = Header::parse(&self.file()).unwrap();
        let mut ndarray = describe(name, &header, Encoding::Raw);
        if self.rows {
            let extents = shape_of(&self.dims, Order::Row).into_iter().map(Extent::Fixed);
            ndarray.shape = extents.collect();
            ndarray.storage = Some(Storage { order: Order::Row, ..Storage::default() });
        }
        let group = Group { ndarrays: vec![ndarray], ..Group::new("/") };
        Document { form: Form::Flat, groups: vec![group] }.to_yaml()
    }
}

fn array_of(element: Element) -> impl Strategy<Value = Array> {
    (vec(0..6_u64, 0..5), any::<bool>()).prop_flat_map(move |(dims, rows)| {
        let len = usize::try_from(element.1 * dims.iter().product::<u64>()).unwrap();
        vec(any::<u8>(), len).prop_map(move |data| Array {
            element,
            dims: dims.clone(),
            data,
            rows,
        })
    })
}

fn array() -> impl Strategy<Value = Array> {
    select(types()).prop_flat_map(|(element, _)| array_of(element))
}

/// Entry at a path.
#[derive(Debug, Clone)]
enum Node {
    File(Vec<u8>),
    EmptyDirectory,
    Described(Array),
}

/// Generates a component of a path.
fn part() -> impl Strategy<Value = String> {
    let any_of_unix = prop_oneof![
        4 => "[a-zA-Z0-9_-]{1,8}",
        2 => "[ -~]{1,12}",
        2 => "\\PC{1,6}",
        1 => select(vec!["a\nb", "%0A", "100%", "tab\there", " ", "...", "-rf", "~", "*", "COM1", "a.ra.txt", "\u{e9}", "e\u{301}"])
            .prop_map(str::to_owned),
        1 => "[a-z]{100,200}",
    ];
    any_of_unix.prop_map(|text| match text.replace(['/', '\\', ':'], "_") {
        text if matches!(&*text, "." | "..") => "dots".to_owned(),
        text => text,
    })
}

fn node() -> impl Strategy<Value = Node> {
    let len = prop_oneof![4 => 0..200_usize, 1 => 510..515_usize, 1 => 262_100..262_200_usize];
    let file = (len, any::<u8>()).prop_map(|(len, seed)| {
        let mix = |at: usize| (at.wrapping_mul(at) >> 3).to_le_bytes()[0] ^ seed;
        Node::File((0..len).map(mix).collect())
    });
    prop_oneof![3 => file, 1 => Just(Node::EmptyDirectory), 3 => array().prop_map(Node::Described)]
}

/// Generates a directory tree. No path is the directory of another.
fn tree() -> impl Strategy<Value = BTreeMap<String, Node>> {
    vec((vec(part(), 1..4), node()), 1..8).prop_map(|entries| {
        let mut tree: BTreeMap<String, Node> = BTreeMap::new();
        for (parts, node) in entries {
            let path = parts.join("/");
            let in_the_way = |a: &str, b: &str| {
                a.strip_prefix(b)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
            };
            if !tree.keys().any(|other| in_the_way(other, &path) || in_the_way(&path, other)) {
                tree.insert(path, node);
            }
        }
        tree
    })
}

fn write(tree: &BTreeMap<String, Node>, layout: Layout) -> Experiment {
    tree.iter().fold(Experiment::new().file("always", "one file"), |experiment, (path, node)| {
        let stem = path.rsplit('/').next().unwrap();
        // Bags reject line ends, `%`, and names that are equal after normalization.
        if layout == Layout::BagIt && path.contains(['\n', '%', '\u{301}']) {
            return experiment;
        }
        match node {
            Node::File(bytes) => experiment.file(path, bytes),
            // Bags have no empty directories.
            Node::EmptyDirectory if layout == Layout::BagIt => experiment,
            Node::EmptyDirectory => experiment.empty_directory(path),
            Node::Described(array) => experiment
                .file(&format!("{path}.ra"), array.file())
                .file(&format!("{path}.yaml"), array.description(stem)),
        }
    })
}

fn config(cases: u32) -> ProptestConfig {
    // A failure prints its smallest case, and no file is written into the source tree.
    ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn extracting_gives_the_packed_files(tree in tree(), way in select(&WAYS[..]), jobs in 1..4_usize) {
        let source = write(&tree, way.1);
        let before = read_tree(source.path());
        let scratch = TempDir::new().unwrap();
        let archive = pack(source.path(), scratch.path(), way, jobs)?;
        prop_assert_eq!(&read_tree(source.path()), &before, "the source was changed");

        let report = verify(&archive, &VerifyOptions::default()).unwrap();
        let errors: Vec<String> = report.findings.iter().filter(|finding| finding.is_error()).map(ToString::to_string).collect();
        prop_assert_eq!(errors, Vec::<String>::new());
        prop_assert!(report.contents_read);

        let into = scratch.path().join("extracted");
        let report = extract(&archive, &into, &ExtractOptions::default()).unwrap();
        prop_assert!(report.is_valid(), "{:?}", report.findings);
        let mut after = read_tree(&into);
        if way.1 == Layout::BagIt {
            after = after.into_iter().filter_map(|(name, bytes)| {
                let name = name.strip_prefix("data/").or_else(|| name.strip_prefix("a/data/"))?;
                Some((name.to_owned(), bytes))
            }).collect();
        } else {
            prop_assert!(after.remove("manifest.yaml").is_some());
            prop_assert!(after.remove("manifest-sha256.txt").is_some());
        }
        prop_assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
        prop_assert!(after == before, "other bytes");
    }
}

proptest! {
    #![proptest_config(config(32))]

    #[test]
    fn the_same_content_gives_the_same_bytes(tree in tree(), way in select(&WAYS[..]), jobs in 2..5_usize) {
        let scratch = [TempDir::new().unwrap(), TempDir::new().unwrap()];
        let [one, many] = [(1, &scratch[0]), (jobs, &scratch[1])].map(|(jobs, scratch)| {
            let source = write(&tree, way.1);
            pack(source.path(), scratch.path(), way, jobs).map(|archive| fs::read(archive).unwrap())
        });
        prop_assert!(one? == many?, "1 job and {jobs} jobs differ");
    }
}

proptest! {
    #![proptest_config(config(if is_long() { 32 } else { 12 }))]

    /// With `describe`, all files are listed first; without it, small files are written as they are found.
    #[test]
    #[ignore = "slow"]
    fn both_ways_to_write_give_the_same_bytes(
        tree in tree(),
        way in select(WAYS.iter().copied().filter(|way| is_stored(*way)).collect::<Vec<_>>()),
        jobs in 1..4_usize,
        fillers in vec((0..3_u8, select(vec![0_usize, 1, 4097, 65_536, 65_537, 300_000, 524_289])), 0..120),
    ) {
        let source = (0..).zip(fillers).fold(write(&tree, way.1), |source, (at, (directory, len))| {
            source.file(&format!("fill{directory}/{at:03}"), vec![directory; len])
        });
        let scratch = TempDir::new().unwrap();
        let found = fs::read(pack(source.path(), scratch.path(), way, jobs)?).unwrap();
        // The same name, which is part of a bag.
        let other = TempDir::new().unwrap();
        let listed = other.path().join(way.0);
        let mut options = options(way, jobs);
        options.describe = true;
        create(source.path(), &listed, &options).unwrap();
        prop_assert!(found == fs::read(listed).unwrap());
    }
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn any_array_reads_back_equal(
        (array, (_, read)) in select(types()).prop_flat_map(|typed| (array_of(typed.0), Just(typed))),
        way in select(&WAYS[..]),
    ) {
        let source = Experiment::new().file("run/a.ra", array.file()).file("run/a.yaml", array.description("a"));
        let scratch = TempDir::new().unwrap();
        let archive = pack(source.path(), scratch.path(), way, 1)?;
        for target in [source.path(), &archive] {
            let pack = Pack::open(target).unwrap();
            let packed = pack.array("run/a.ra").unwrap();
            let header = packed.header().unwrap();
            prop_assert_eq!(header.dims(), &array.dims);
            prop_assert_eq!((header.element().eltype(), header.element().elbyte()), (array.element.0, array.element.1));
            prop_assert_eq!(&read(&packed), &array.data);
            let mut again = Vec::new();
            packed.read_any().unwrap().write_to(&mut again).unwrap();
            prop_assert_eq!(&again, &array.file());
            let order = if array.rows { Order::Row } else { Order::Column };
            prop_assert_eq!(packed.in_shape_order().unwrap().shape().unwrap(), shape_of(&array.dims, order));
        }
    }
}

/// Generates a slice that ndarray accepts for an axis of this length.
fn entry(dim: u64) -> BoxedStrategy<SliceInfoElem> {
    let dim = isize::try_from(dim).unwrap();
    let range = (-dim..=dim, -dim..=dim, 1..4_isize, any::<[bool; 2]>());
    let range = range.prop_map(|(start, end, step, [open, back])| SliceInfoElem::Slice {
        start,
        end: (!open).then_some(end),
        step: if back { -step } else { step },
    });
    if dim == 0 {
        return range.boxed();
    }
    prop_oneof![4 => range, 1 => (-dim..dim).prop_map(SliceInfoElem::Index)].boxed()
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn slices_equal_those_of_ndarray(
        (array, slice) in array_of(Element(2, 2)).prop_flat_map(|array| {
            let slice: Vec<_> = array.dims.iter().map(|dim| entry(*dim)).collect();
            (Just(array), slice)
        }),
        way in select(&WAYS[..]),
    ) {
        let source = Experiment::new().file("a.ra", array.file()).file("a.yaml", array.description("a"));
        let scratch = TempDir::new().unwrap();
        let archive = pack(source.path(), scratch.path(), way, 1)?;
        let pack = Pack::open(&archive).unwrap();
        let packed = pack.array("a.ra").unwrap();
        for (packed, slice) in [
            (packed.clone(), slice.clone()),
            // Reverses both shape and slice.
            (packed.in_shape_order().unwrap(), if array.rows { slice.into_iter().rev().collect() } else { slice }),
        ] {
            let whole: ArrayD<u16> = packed.read().unwrap();
            let info: SliceInfo<_, IxDyn, IxDyn> = SliceInfo::try_from(slice.clone()).unwrap();
            let part: ArrayD<u16> = packed.slice(&slice).unwrap();
            prop_assert_eq!(part, whole.slice(info));
        }
    }
}

/// Returns what a reader gets from a pack: name, kind, size and content of every member. The letter case of digests in
/// the manifest has no meaning.
fn seen_by_a_reader(archive: &Path) -> Vec<String> {
    let pack = Pack::open(archive).unwrap();
    let members = pack.members().unwrap().into_iter().map(|member| {
        let mut content = match member.kind {
            MemberKind::File => pack.read(&member.name).unwrap(),
            _ => Vec::new(),
        };
        if member.name == "manifest-sha256.txt" {
            content.make_ascii_lowercase();
        }
        format!("{} {:?} {} {content:?}", member.name, member.kind, member.size)
    });
    members.collect()
}

/// Changes each byte of a small pack in turn. Either `verify` finds an error, or a reader gets exactly the same and
/// `harmless` lists the byte.
fn every_changed_byte_is_found(
    way: Way,
    masks: fn(usize) -> Vec<u8>,
    harmless: impl Fn(usize, &[Finding]) -> bool,
) {
    let scratch = TempDir::new().unwrap();
    let source = Experiment::new()
        .file("a.ra", raw_array(Element(1, 2), &[3], &[1, 0, 2, 0, 3, 0]))
        .file("a.yaml", "ndarrays:\n  a: {shape: [3], type: int16}\n");
    let archive = pack(source.path(), scratch.path(), way, 1).unwrap();
    let sound = fs::read(&archive).unwrap();
    let expected = seen_by_a_reader(&archive);
    let options = VerifyOptions { jobs: Some(1), ..VerifyOptions::default() };
    for at in 0..sound.len() {
        for mask in masks(at) {
            let mut bytes = sound.clone();
            bytes[at] ^= mask;
            fs::write(&archive, bytes).unwrap();
            let report = match verify(&archive, &options) {
                // The changed bit made the window larger than any decoder here accepts.
                Err(Error::Unsupported(_)) => continue,
                report => report.unwrap(),
            };
            if report.is_valid() {
                assert!(
                    harmless(at, &report.findings),
                    "{way:?}: byte {at} ^ {mask:#x} is not seen"
                );
                let found = seen_by_a_reader(&archive);
                let same = found == expected;
                assert!(same, "{way:?}: byte {at} ^ {mask:#x} changes what is read");
            }
        }
    }
    fs::write(&archive, sound).unwrap();
    assert!(verify(&archive, &options).unwrap().findings.is_empty(), "and nothing else is wrong");
}

fn every_bit(_: usize) -> Vec<u8> {
    (0..8).map(|bit| 1 << bit).collect()
}

fn one_bit(at: usize) -> Vec<u8> {
    vec![1 << (at % 8)]
}

fn all_bits(_: usize) -> Vec<u8> {
    vec![0xff]
}

/// Returns the offsets in a zip that do not affect names or contents: versions, times, attributes, and the padding that
/// aligns an array. No manifest covers them.
fn zip_metadata(archive: &[u8]) -> BTreeSet<usize> {
    let mut zip = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut free = BTreeSet::new();
    for index in 0..zip.len() {
        let member = zip.by_index_raw(index).unwrap();
        let [local, central, data] =
            [member.header_start(), member.central_header_start(), member.data_start().unwrap()]
                .map(|at| usize::try_from(at).unwrap());
        // Version needed; time and date; extra field.
        free.extend((local + 4..local + 6).chain(local + 10..local + 14));
        free.extend(local + 30 + member.name_raw().len()..data);
        // Versions made by and needed; time and date; internal and external attributes.
        free.extend((central + 4..central + 8).chain(central + 12..central + 16));
        free.extend(central + 36..central + 42);
    }
    free
}

#[test]
#[ignore = "slow"]
fn every_changed_byte_of_a_zip_is_found() {
    for way in &WAYS[..3] {
        let scratch = TempDir::new().unwrap();
        let source = Experiment::new()
            .file("a.ra", raw_array(Element(1, 2), &[3], &[1, 0, 2, 0, 3, 0]))
            .file("a.yaml", "ndarrays:\n  a: {shape: [3], type: int16}\n");
        let archive = fs::read(pack(source.path(), scratch.path(), *way, 1).unwrap()).unwrap();
        let free = zip_metadata(&archive);
        // A content can be compressed to different bytes.
        let directory = archive.windows(4).position(|at| at == b"PK\x01\x02").unwrap();
        let compressed = way.2 != Compression::Stored;
        every_changed_byte_is_found(*way, all_bits, |at, _| {
            free.contains(&at) || (compressed && at < directory)
        });
    }
}

#[test]
#[ignore = "slow"]
fn every_changed_byte_of_a_tar_is_found() {
    // Padding after a content is a warning. The checksum of a header may have a space or NUL instead of a zero or space,
    // and digests in the manifest may be in either case.
    every_changed_byte_is_found(
        WAYS[3],
        |at| vec![1 << (at % 8), 0xff],
        |at, findings| !findings.is_empty() || (148..156).contains(&(at % 512)) || at > 4096,
    );
}

#[test]
#[ignore = "slow"]
fn every_changed_byte_of_a_compressed_tar_is_found() {
    // Header fields of gzip (time, level, system) and Zstandard (window, unused bits), and other codes for the same content,
    // which the checksum of both formats confirms. Unusual values there cause warnings.
    let masks = if is_long() { every_bit } else { one_bit };
    for way in [WAYS[4], WAYS[5]] {
        every_changed_byte_is_found(way, masks, |_, findings| {
            findings.iter().all(|finding| finding.code == ra_pack::Code::OddContainer)
        });
    }
}
