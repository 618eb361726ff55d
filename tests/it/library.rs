//! The public interface of the library: reading arrays from packs of every kind.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io, thread};

use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};
use ndarray::{ArrayD, ArrayViewD, s};
use num_complex::Complex;
use ra_pack::archive::{Compression, Method};
use ra_pack::convert::{GetOptions, get_to};
use ra_pack::error::NotViewable;
use ra_pack::files::FileKind;
use ra_pack::inspect::{ListOptions, Listing};
use ra_pack::ndl::{Extent, Order};
use ra_pack::ra::{self, DecodeError, SliceError, parse_slice};
use ra_pack::verify::VerifyOptions;
use ra_pack::write::ExtractOptions;
use ra_pack::write::{CreateOptions, Layout};
use ra_pack::{
    AnyArray, Container, Error, Pack, Progress, RawArray, create, extract, list, verify,
};
use tempfile::TempDir;

use crate::experiment::{
    Element, Experiment, FLOAT32, FLOAT64, INT16, INT64, UINT8, le, raw_array, read_tree,
};

/// Ways to pack.
fn ways() -> [(&'static str, Layout, Compression); 8] {
    use Compression::{Deflate, Stored, Zstd};
    [
        ("stored.zip", Layout::Plain, Stored),
        ("deflated.zip", Layout::Plain, Deflate { level: None }),
        ("zstd.zip", Layout::Plain, Zstd { level: None }),
        ("plain.tar", Layout::Plain, Stored),
        ("plain.tar.gz", Layout::Plain, Stored),
        ("plain.tar.zst", Layout::Plain, Stored),
        ("bag.zip", Layout::BagIt, Stored),
        ("bag.tar", Layout::BagIt, Stored),
    ]
}

/// An experiment in every kind of pack.
pub(crate) struct Packs {
    experiment: Experiment,
    scratch: TempDir,
    paths: Vec<PathBuf>,
}

impl Packs {
    pub(crate) fn of(experiment: Experiment) -> Self {
        let scratch = TempDir::new().unwrap();
        let mut paths = vec![experiment.path().to_owned()];
        for (name, layout, compression) in ways() {
            let archive = scratch.path().join(name);
            let options =
                CreateOptions { layout, compression, describe: true, ..CreateOptions::default() };
            create(experiment.path(), &archive, &options).unwrap();
            paths.push(archive);
        }
        let directory = scratch.path().join("extracted");
        extract(&paths[1], &directory, &ExtractOptions::default()).unwrap();
        paths.push(directory);
        Self { experiment, scratch, paths }
    }

    pub(crate) fn each(&self, mut look: impl FnMut(&str, &Pack)) {
        for path in &self.paths {
            let name = path.file_name().unwrap().to_str().unwrap();
            look(name, &Pack::open(path).unwrap());
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }
}

/// Bags have no empty directories.
fn standard() -> Experiment {
    Experiment::standard().file("run2/nothing yet/now.txt", "something")
}

fn temperatures() -> ArrayD<f32> {
    let rows = (0..15_u8).map(f32::from).collect();
    ArrayD::from_shape_vec(vec![5, 3], rows).unwrap().reversed_axes()
}

#[test]
fn an_array_is_the_same_in_every_kind_of_pack() {
    let packs = Packs::of(standard());
    packs.each(|kind, pack| {
        let array = pack.array("run1/temperature.ra").unwrap();
        assert_eq!(array.name(), "run1/temperature.ra");
        let header = array.header().unwrap();
        assert_eq!((header.dims(), header.data_len()), (&[3, 5][..], 60), "{kind}");
        assert_eq!(array.shape().unwrap(), [3, 5]);
        let whole: ArrayD<f32> = array.read().unwrap();
        assert_eq!(whole, temperatures(), "{kind}");
        let raw = array.read_raw::<f32>().unwrap();
        assert_eq!(
            (raw.dims(), raw.data()),
            (&[3, 5][..], &*whole.t().iter().copied().collect::<Vec<_>>())
        );
        let mut out = [0.0_f32; 15];
        array.read_into(&mut out).unwrap();
        assert_eq!(out.as_slice(), raw.data(), "{kind}");
        assert_eq!(array.read_any().unwrap(), AnyArray::F32(whole.clone()), "{kind}");
        let unverified: ArrayD<f32> = array.clone().unverified().read().unwrap();
        assert_eq!(unverified, whole);
    });
}

#[test]
fn a_slice_equals_that_of_ndarray() {
    let packs = Packs::of(standard());
    let whole = temperatures();
    packs.each(|kind, pack| {
        let array = pack.array("run1/temperature.ra").unwrap();
        let rows: ArrayD<f32> = array.slice(s![1.., ..;-2]).unwrap();
        assert_eq!(rows, whole.slice(s![1.., ..;-2]).into_dyn(), "{kind}");
        let column: ArrayD<f32> = array.slice(s![.., 3]).unwrap();
        assert_eq!(column, whole.slice(s![.., 3]).into_dyn(), "{kind}");
        let nothing: ArrayD<f32> = array.slice(s![3.., ..]).unwrap();
        assert_eq!(nothing.shape(), [0, 5], "{kind}");
        let text = parse_slice("-1,1:3", &[3, 5]).unwrap();
        let part = array.slice_any(&text).unwrap();
        assert_eq!(part, AnyArray::F32(whole.slice(s![-1, 1..3]).to_owned().into_dyn()), "{kind}");
    });
}

#[test]
fn an_array_outlives_its_pack_and_can_move_to_other_threads() {
    let packs = Packs::of(standard());
    packs.each(|kind, pack| {
        let array = pack.clone().array("run1/temperature.ra").unwrap();
        let other = array.clone();
        let read = thread::spawn(move || other.read::<f32>().unwrap());
        assert_eq!(read.join().unwrap(), temperatures(), "{kind}");
        assert_eq!(array.slice::<f32>(s![.., 3]).unwrap().len(), 3, "{kind}");
    });
}

#[test]
fn reads_stay_within_the_memory_limit() {
    // An LZ4 block of seven literals.
    let lz4 = flagged(2, [2, 1], 7, &[6], &[0x60, 1, 2, 3, 4, 5, 6]);
    let packs = Packs::of(standard().file("lz4.ra", lz4));
    packs.each(|kind, pack| {
        let refused = |result: Result<(), Error>, takes: u64| match result {
            Err(Error::TooLarge { bytes, limit, name }) => {
                assert_eq!((bytes, limit), (takes, takes - 1), "{kind}: {name}");
            }
            other => panic!("{kind}: {other:?}"),
        };
        let name = "run1/temperature.ra";
        let file = pack.read(name).unwrap().len() as u64;
        refused(pack.clone().max_bytes(file - 1).read(name).map(drop), file);
        assert!(pack.clone().max_bytes(file).read(name).is_ok());
        // An array has the limit of its pack, or its own.
        let open = pack.clone().max_bytes(59).array(name).unwrap();
        for array in [open.clone(), pack.array(name).unwrap().max_bytes(59)] {
            refused(array.read::<f32>().map(drop), 60);
            refused(array.read_raw::<f32>().map(drop), 60);
            refused(array.read_any().map(drop), 60);
            array.read_into(&mut [0.0_f32; 15]).unwrap();
            array.slice::<f32>(s![.., 1..]).unwrap();
            assert!(array.clone().max_bytes(60).read_any().is_ok(), "{kind}");
            let array = array.max_bytes(11);
            refused(array.slice::<f32>(s![.., 2]).map(drop), 12);
            refused(array.slice_any(s![.., 2]).map(drop), 12);
            assert!(array.max_bytes(12).slice_any(s![.., 2]).is_ok(), "{kind}");
        }
        let encoded = pack.array("lz4.ra").unwrap().max_bytes(12);
        refused(encoded.read_any().map(drop), 13);
        refused(encoded.read_into(&mut [0_u8; 6]), 13);
        assert_eq!(encoded.max_bytes(13).read::<u8>().unwrap().len(), 6);
    });
}

#[test]
fn the_header_is_read_once() {
    let packs = Packs::of(standard());
    let read = |at: &Progress| at.snapshot().bytes;
    for kind in ["stored.zip", "plain.tar", "extracted"] {
        let progress = Progress::new();
        let pack = Pack::open_watched(packs.path(kind), &progress).unwrap();
        let array = pack.array("run1/temperature.ra").unwrap();
        let header = array.header().unwrap().clone();
        let after = read(&progress);
        assert!(after > 0, "{kind}: reads are counted");
        // The clone knows the header, and so does the array opened again from an archive.
        assert_eq!(array.clone().header().unwrap(), &header, "{kind}");
        assert_eq!(array.shape().unwrap(), [3, 5], "{kind}");
        array.offsets().unwrap();
        if kind != "extracted" {
            assert_eq!(pack.array("run1/temperature.ra").unwrap().header().unwrap(), &header);
        }
        assert_eq!(read(&progress), after, "{kind}");
        // Reading knows the header, too.
        let other = pack.array("run1/image.ra").unwrap();
        other.read_any().unwrap();
        let after = read(&progress);
        other.shape().unwrap();
        assert_eq!(read(&progress), after, "{kind}");
    }
}

#[test]
fn members_are_listed_with_sizes_and_read_completely() {
    let packs = Packs::of(standard());
    let tree = read_tree(packs.experiment.path());
    packs.each(|kind, pack| {
        let members = pack.members().unwrap();
        let sizes: BTreeMap<&str, u64> =
            members.iter().map(|member| (&*member.name, member.size)).collect();
        assert_eq!(members.len(), sizes.len(), "{kind}: a repeated name");
        for (name, bytes) in &tree {
            let placed = match kind {
                "bag.zip" | "bag.tar" => format!("bag/data/{name}"),
                _ => name.clone(),
            };
            assert_eq!(
                sizes.get(&*placed).copied(),
                u64::try_from(bytes.len()).ok(),
                "{kind} {name}"
            );
            assert!(pack.read(name).unwrap() == *bytes, "{kind} {name}");
            let mut copy = Vec::new();
            let (count, vouched) = pack.copy_to(name, &mut copy).unwrap();
            assert_eq!((count, copy.len()), (sizes[&*placed], bytes.len()));
            assert_eq!(vouched, pack.container() != Container::Directory || kind == "extracted");
        }
    });
    let method = |kind: &str, name: &str| {
        let members = Pack::open(packs.path(kind)).unwrap().members().unwrap();
        members.into_iter().find(|member| member.name == name).unwrap().method
    };
    assert_eq!(method("stored.zip", "run1/image.ra"), Method::Stored);
    assert_eq!(method("plain.tar", "run1/image.ra"), Method::Stored);
    assert_eq!(method("plain.tar.gz", "run1/image.ra"), Method::Solid);
}

#[test]
fn the_offsets_of_a_stored_array_point_to_its_bytes() {
    let packs = Packs::of(standard());
    for (kind, layout, _) in ways() {
        let path = packs.path(kind);
        let pack = Pack::open(&path).unwrap();
        for name in ["run1/temperature.ra", "run1/image.ra", "run1/gain.ra", "run2/none.ra"] {
            let array = pack.array(name).unwrap();
            let file = pack.read(name).unwrap();
            let Some((start, data)) = array.offsets().unwrap() else {
                assert!(
                    !kind.starts_with("stored") && layout != Layout::BagIt && kind != "plain.tar"
                );
                continue;
            };
            assert_eq!(data - start, array.header().unwrap().header_len());
            let bytes = fs::read(&path).unwrap();
            let start = usize::try_from(start).unwrap();
            assert!(bytes[start..][..file.len()] == file, "{kind} {name}");
            if kind == "stored.zip" || kind == "bag.zip" {
                assert_eq!(data % 64, 0, "{kind} {name}");
            }
        }
    }
}

#[test]
fn a_description_is_the_document_next_to_the_array() {
    let packs = Packs::of(standard());
    packs.each(|kind, pack| {
        let temperature =
            pack.array("run1/temperature.ra").unwrap().description().unwrap().unwrap();
        assert_eq!(temperature.name, "temperature", "{kind}");
        let coord = |name: &str| Extent::Coord(name.to_owned());
        assert_eq!(temperature.shape, [coord("depth"), coord("time")]);
        let time = pack.array("time.ra").unwrap().description().unwrap().unwrap();
        assert_eq!(time.shape, [Extent::Fixed(5)], "{kind}");
        assert_eq!(time.attributes.len(), 1);
        let counts = pack.array("run2/counts.ra").unwrap().description().unwrap().unwrap();
        assert_eq!(counts.order(), Order::Row, "{kind}");
    });
}

#[test]
fn an_array_without_its_own_document_is_described_by_the_pack() {
    let experiment = Experiment::new().array("run1/a.ra", INT16, &[2, 3], &[0; 12]).file(
        "manifest.yaml",
        "/run1:\n  ndarrays:\n    a: {shape: [3, 2], type: int16, storage: {order: row}}\n",
    );
    let packs = Packs::of(experiment);
    packs.each(|kind, pack| {
        let description = pack.array("run1/a.ra").unwrap().description().unwrap().unwrap();
        assert_eq!(description.order(), Order::Row, "{kind}");
        let array = pack.array("run1/a.ra").unwrap().in_shape_order().unwrap();
        assert_eq!(array.shape().unwrap(), [3, 2], "{kind}");
    });
}

#[test]
fn row_order_reverses_the_indices_and_moves_no_element() {
    // Element (i, j) of the column-major file is 10·j + i.
    let data = le(i16::to_le_bytes, (0..4).flat_map(|j| (0..3).map(move |i| 10 * j + i)));
    let experiment = Experiment::new()
        .array("a.ra", INT16, &[3, 4], &data)
        .file("a.yaml", "ndarrays:\n  a: {shape: [4, 3], type: int16, storage: {order: row}}\n");
    let packs = Packs::of(experiment);
    packs.each(|kind, pack| {
        let in_file = pack.array("a.ra").unwrap();
        let in_shape = in_file.clone().in_shape_order().unwrap();
        let (f, r) = (in_file.read::<i16>().unwrap(), in_shape.read::<i16>().unwrap());
        assert_eq!((f.shape(), f[[2, 1]]), (&[3, 4][..], 12), "{kind}");
        assert_eq!((r.shape(), r[[1, 2]]), (&[4, 3][..], 12), "{kind}");
        assert!(r.is_standard_layout(), "row-major, as in C");
        assert_eq!(in_shape.shape().unwrap(), [4, 3]);
        let part: ArrayD<i16> = in_shape.slice(s![1..3, 0]).unwrap();
        assert_eq!(part, r.slice(s![1..3, 0]).into_dyn(), "{kind}");
        let part: ArrayD<i16> = in_shape.slice(s![..;-1, 1..]).unwrap();
        assert_eq!(part, r.slice(s![..;-1, 1..]).into_dyn(), "{kind}");
        let mut out = [0_i16; 12];
        in_shape.read_into(&mut out).unwrap();
        assert_eq!(out[..4], [0, 1, 2, 10], "in the order of the file");
    });
}

#[test]
fn in_shape_order_changes_nothing_without_the_directive() {
    let packs = Packs::of(standard());
    packs.each(|_, pack| {
        let array = pack.array("run1/temperature.ra").unwrap().in_shape_order().unwrap();
        assert_eq!(array.read::<f32>().unwrap(), temperatures());
    });
}

/// Returns a file with flags.
fn flagged(
    flags: u64,
    [eltype, elbyte]: [u64; 2],
    size: u64,
    dims: &[u64],
    data: &[u8],
) -> Vec<u8> {
    let mut file = raw_array(Element(eltype, elbyte), &[0], &[]);
    file.truncate(8);
    let ndims = u64::try_from(dims.len()).unwrap();
    for field in [flags, eltype, elbyte, size, ndims].iter().chain(dims) {
        file.extend(field.to_le_bytes());
    }
    file.extend(data);
    file
}

#[test]
fn a_big_endian_file_is_swapped() {
    let values = [1.5_f32, -2.0, 1e30, 0.0, f32::INFINITY, 7.0];
    let pairs = [Complex::new(1.0_f32, 2.0), Complex::new(-3.0, 0.5)];
    let complex = pairs.iter().flat_map(|z| [z.re.to_be_bytes(), z.im.to_be_bytes()]).flatten();
    let experiment = Experiment::new()
        .file("f.ra", flagged(1, [3, 4], 24, &[2, 3], &values.map(f32::to_be_bytes).concat()))
        .file("c.ra", flagged(1, [4, 8], 16, &[2], &complex.collect::<Vec<_>>()));
    Packs::of(experiment).each(|kind, pack| {
        let array = pack.array("f.ra").unwrap();
        assert_eq!(array.read_raw::<f32>().unwrap().data(), values, "{kind}");
        let mut out = [0.0_f32; 6];
        array.read_into(&mut out).unwrap();
        assert_eq!(out.as_slice(), values, "{kind}");
        let column: ArrayD<f32> = array.slice(s![.., 2]).unwrap();
        assert_eq!(column.iter().copied().collect::<Vec<_>>(), values[4..], "{kind}");
        let mut bytes = [0; 24];
        array.read_bytes_into(&mut bytes).unwrap();
        assert_eq!(bytes, *values.map(f32::to_be_bytes).as_flattened(), "{kind}");
        array.slice_bytes_into(s![.., 2], &mut bytes[..8]).unwrap();
        assert_eq!(bytes[..8], *[values[4], values[5]].map(f32::to_be_bytes).as_flattened());
        let AnyArray::F32(any) = array.slice_any(s![1, ..]).unwrap() else { panic!("{kind}") };
        assert_eq!(any.into_raw_vec_and_offset().0, [-2.0, 0.0, 7.0], "{kind}");
        let complex: ArrayD<Complex<f32>> = pack.array("c.ra").unwrap().read().unwrap();
        assert_eq!(complex.iter().copied().collect::<Vec<_>>(), pairs, "{kind}");
    });
}

#[test]
fn encoded_files_of_other_implementations_are_decoded() {
    // An LZ4 block: a token for seven literals, then the literals.
    let lz4 = [0x60, 1, 2, 3, 4, 5, 6];
    // -1, 1, 300, zigzag-coded.
    let leb128 = [1, 2, 0xd8, 0x04];
    let bits = (1_u64 | 1 << 2 | 1 << 5).to_le_bytes();
    let experiment = Experiment::new()
        .file("lz4.ra", flagged(2, [2, 1], 7, &[2, 3], &lz4))
        .file("leb128.ra", flagged(2, [1, 4], 12, &[3], &leb128))
        .file("bits.ra", flagged(6, [5, 8], 8, &[6], &bits));
    Packs::of(experiment).each(|kind, pack| {
        let lz4 = pack.array("lz4.ra").unwrap();
        assert_eq!(lz4.read_raw::<u8>().unwrap().data(), [1, 2, 3, 4, 5, 6], "{kind}");
        let row: ArrayD<u8> = lz4.slice(s![1, ..]).unwrap();
        assert_eq!(row.iter().copied().collect::<Vec<_>>(), [2, 4, 6], "{kind}");
        let mut out = [0_u8; 6];
        lz4.read_into(&mut out).unwrap();
        assert_eq!(out, [1, 2, 3, 4, 5, 6], "{kind}");
        lz4.slice_bytes_into(s![1, ..;-2], &mut out[..2]).unwrap();
        assert_eq!(out[..2], [6, 2], "{kind}");
        let mut bits = [7; 6];
        pack.array("bits.ra").unwrap().read_bytes_into(&mut bits).unwrap();
        assert_eq!(bits, [1, 0, 1, 0, 0, 1], "{kind}");
        let mut numbers = [0; 12];
        pack.array("leb128.ra").unwrap().read_bytes_into(&mut numbers).unwrap();
        assert_eq!(numbers, *[-1, 1, 300].map(i32::to_ne_bytes).as_flattened(), "{kind}");
        let leb128: ArrayD<i32> = pack.array("leb128.ra").unwrap().read().unwrap();
        assert_eq!(leb128.iter().copied().collect::<Vec<_>>(), [-1, 1, 300], "{kind}");
        let AnyArray::U8(bits) = pack.array("bits.ra").unwrap().read_any().unwrap() else {
            panic!("{kind}")
        };
        assert_eq!(bits.iter().copied().collect::<Vec<_>>(), [1, 0, 1, 0, 0, 1], "{kind}");
    });
}

#[test]
fn bytes_need_memory_of_their_length() {
    let dims = [2, 3];
    let experiment =
        Experiment::new().file("x.ra", flagged(0, [2, 1], 6, &dims, &[1, 2, 3, 4, 5, 6]));
    Packs::of(experiment).each(|kind, pack| {
        let array = pack.array("x.ra").unwrap();
        for len in [0, 5, 7] {
            let error = array.read_bytes_into(&mut vec![0; len]).unwrap_err();
            assert!(matches!(error, Error::Mismatch { .. }), "{kind}: {error}");
            assert!(error.to_string().contains("6 bytes"), "{error}");
            let error = array.slice_bytes_into(s![.., 0], &mut vec![0; len]).unwrap_err();
            assert!(matches!(error, Error::Mismatch { .. }), "{kind}: {error}");
        }
        let error = array.slice_bytes_into(s![2, ..], &mut []).unwrap_err();
        assert!(matches!(error, Error::Slice { .. }), "{kind}: {error}");
        assert!(matches!(array.view_bytes(), Err(Error::NotViewable { .. })));
    });
}

#[test]
fn mapped_bytes_are_those_of_the_file() {
    let experiment = Experiment::new()
        .file(
            "big.ra",
            flagged(1, [3, 4], 8, &[2], &[1.5_f32, -2.0].map(f32::to_be_bytes).concat()),
        )
        .file("encoded.ra", flagged(2, [2, 1], 7, &[6], &[0x60, 1, 2, 3, 4, 5, 6]));
    let pack = map(&Packs::of(experiment).path("stored.zip")).unwrap();
    let big = pack.array("big.ra").unwrap();
    assert_eq!(big.view_bytes().unwrap(), [1.5_f32, -2.0].map(f32::to_be_bytes).as_flattened());
    let error = pack.array("encoded.ra").unwrap().view_bytes().map(<[u8]>::len).unwrap_err();
    assert!(matches!(error, Error::NotViewable { reason: NotViewable::Flags(_), .. }), "{error}");
}

/// Structure of twelve bytes without padding.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
struct Fix {
    latitude: f32,
    longitude: f32,
    station: u32,
}

// SAFETY: zero bits are a value of each of its fields.
#[expect(unsafe_code, reason = "needed with bytemuck without its derive")]
unsafe impl Zeroable for Fix {}
// SAFETY: `repr(C)`, three fields of four bytes, no padding, any bits are a value.
#[expect(unsafe_code, reason = "needed with bytemuck without its derive")]
unsafe impl Pod for Fix {}

ra_pack::compound!(Fix { latitude: f32, longitude: f32, station: u32 });

#[test]
fn a_structure_of_the_program_is_an_element() {
    let fixes = [(59.9, 5.3, 1), (60.4, 5.1, 2), (61.0, 4.8, 3)]
        .map(|(latitude, longitude, station)| Fix { latitude, longitude, station });
    let mut file = Vec::new();
    RawArray::from(fixes.to_vec()).write_to(&mut file).unwrap();
    assert_eq!(file, raw_array(Element(0, 12), &[3], bytemuck::cast_slice(&fixes)));
    let experiment = Experiment::new().file("fixes.ra", file);
    Packs::of(experiment).each(|kind, pack| {
        let array = pack.array("fixes.ra").unwrap();
        let read: ArrayD<Fix> = array.read().unwrap();
        assert_eq!(read.into_raw_vec_and_offset().0, fixes, "{kind}");
        let one: ArrayD<Fix> = array.slice(s![1]).unwrap();
        assert_eq!(one[[]], fixes[1], "{kind}");
        let AnyArray::Opaque(opaque) = array.read_any().unwrap() else { panic!("{kind}") };
        assert_eq!(opaque.bytes(), bytemuck::cast_slice::<_, u8>(&fixes), "{kind}");
        let error = array.read::<[f32; 4]>().unwrap_err();
        assert!(
            error.to_string().contains("user16") && error.to_string().contains("user12"),
            "{error}"
        );
    });
}

#[test]
fn an_array_of_a_bag_is_described_under_each_of_its_names() {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("b.zip");
    let options =
        ra_pack::WriteOptions { layout: Layout::BagIt, ..ra_pack::WriteOptions::default() };
    let mut pack = ra_pack::PackWriter::create(&path, options).unwrap();
    let rows = ndarray::array![[0, 1], [10, 11]];
    pack.array("row", &rows).order(Order::Row).write().unwrap();
    pack.finish().unwrap();
    for name in ["row", "row.ra", "data/row.ra", "data/row", "b/data/row.ra"] {
        for known in [false, true] {
            let pack = Pack::open(&path).unwrap();
            assert!(!known || pack.arrays().unwrap() == ["row.ra"]);
            let array = pack.array(name).unwrap().in_shape_order().unwrap();
            assert_eq!(array.read::<i32>().unwrap(), rows.clone().into_dyn(), "{name}");
        }
    }
}

#[test]
fn blocks_obey_the_limit_of_a_read() {
    let pack = Pack::open("examples/experiment").unwrap().max_bytes(40);
    let depth = pack.array("thermistors/temperature").unwrap();
    assert!(depth.blocks::<f32>(10).is_ok());
    let error = depth.blocks::<f32>(11).unwrap_err();
    assert!(matches!(error, Error::TooLarge { bytes: 44, limit: 40, .. }), "{error}");
}

#[test]
fn elements_are_read_as_the_fields_in_the_description() {
    type Station = [u32; 3];
    let fixes = [Fix { latitude: 59.9, longitude: 5.3, station: 1 }];
    let described =
        |datatype: &str| format!("ndarrays: {{fixes: {{shape: [1], type: {datatype}}}}}\n");
    let fields = "{compound: [{latitude: float32}, {longitude: float32}, {station: uint32}]}";
    for (datatype, as_fix, as_array) in [
        (fields, true, false),
        (&fields.replace("longitude", "depth"), false, false),
        (&fields.replace("uint32", "int32"), false, false),
        (
            &fields
                .replace("{station: uint32}", "{station: {enum: {base: uint32, members: {a: 1}}}}"),
            true,
            false,
        ),
        ("{array: {base: uint32, shape: [3]}}", false, true),
        ("{array: {base: uint32, shape: [2]}}", false, false),
        ("{opaque: {size: 12}}", true, true),
    ] {
        let experiment = Experiment::new()
            .array("fixes.ra", Element(0, 12), &[1], bytemuck::cast_slice(&fixes))
            .file("fixes.yaml", described(datatype));
        let array = Pack::open(experiment.path()).unwrap().array("fixes.ra").unwrap();
        let is_well_described = !datatype.contains("[2]");
        let as_read = |result: Result<(), Error>| match result {
            Ok(()) => true,
            Err(Error::Structure { name, .. }) => name != "fixes.ra",
            Err(error) => panic!("{datatype}: {error}"),
        };
        assert_eq!(as_read(array.read::<Fix>().map(drop)), as_fix, "{datatype}");
        assert_eq!(as_read(array.slice::<Fix>(s![0..]).map(drop)), as_fix, "{datatype}");
        assert_eq!(as_read(array.blocks::<Fix>(1).map(drop)), as_fix, "{datatype}");
        assert_eq!(as_read(array.read::<Station>().map(drop)), as_array, "{datatype}");
        assert_eq!(as_read(array.read::<[u8; 12]>().map(drop)), is_well_described, "{datatype}");
    }
}

/// Writes one array of `T` and reads it from every kind of pack.
fn survives<T: ra::Element + PartialEq + std::fmt::Debug>(element: Element, values: &[T]) {
    let data: &[u8] = bytemuck::cast_slice(values);
    let len = u64::try_from(values.len()).unwrap();
    let experiment = Experiment::new()
        .array("vector.ra", element, &[len], data)
        .array("scalar.ra", element, &[], &data[..size_of::<T>()])
        .array("nothing.ra", element, &[3, 0, 2], &[]);
    Packs::of(experiment).each(|kind, pack| {
        let read = |name: &str| pack.array(name).unwrap().read::<T>().unwrap();
        assert_eq!(read("vector.ra").into_raw_vec_and_offset().0, values, "{kind}");
        let scalar = read("scalar.ra");
        assert_eq!((scalar.ndim(), scalar[[]]), (0, values[0]), "{kind}");
        assert_eq!(read("nothing.ra").shape(), [3, 0, 2], "{kind}");
        let array = pack.array("vector.ra").unwrap();
        let back: ArrayD<T> = array.slice(s![..;-1]).unwrap();
        let reversed: Vec<T> = values.iter().rev().copied().collect();
        assert_eq!(back.iter().copied().collect::<Vec<_>>(), reversed, "{kind}");
        let mut again = Vec::new();
        array.read_any().unwrap().write_to(&mut again).unwrap();
        assert_eq!(again, pack.read("vector.ra").unwrap(), "{kind}");
        let scalar: ArrayD<T> = pack.array("scalar.ra").unwrap().slice([]).unwrap();
        assert_eq!(scalar[[]], values[0], "{kind}");
        pack.array("nothing.ra").unwrap().read_into::<T>(&mut []).unwrap();
    });
}

#[test]
fn every_element_type_survives() {
    survives(Element(1, 1), &[i8::MIN, -1, 0, i8::MAX]);
    survives(Element(1, 2), &[i16::MIN, -1, i16::MAX]);
    survives(Element(1, 4), &[i32::MIN, -1, i32::MAX]);
    survives(Element(1, 8), &[i64::MIN, -1, i64::MAX]);
    survives(Element(1, 16), &[i128::MIN, -1, i128::MAX]);
    survives(Element(2, 1), &[0, 1, u8::MAX]);
    survives(Element(2, 2), &[1, 0x0102, u16::MAX]);
    survives(Element(2, 4), &[1, 0x0102_0304, u32::MAX]);
    survives(Element(2, 8), &[1, 0x0102_0304_0506_0708, u64::MAX]);
    survives(Element(2, 16), &[1, 1 << 100, u128::MAX]);
    survives(Element(3, 2), &[f16::ONE, f16::MIN, f16::INFINITY]);
    survives(Element(5, 2), &[bf16::ONE, bf16::MIN, bf16::NEG_INFINITY]);
    survives(Element(3, 4), &[1.5_f32, f32::MIN_POSITIVE, f32::INFINITY]);
    survives(Element(3, 8), &[1.5_f64, f64::MIN_POSITIVE, -0.0]);
    survives(Element(4, 4), &[Complex::new(f16::ONE, f16::ZERO); 3]);
    survives(Element(4, 8), &[Complex::new(1.0_f32, -2.0), Complex::new(0.0, 3.0)]);
    survives(Element(4, 16), &[Complex::new(1.0_f64, -2.0), Complex::new(0.0, 3.0)]);
}

#[test]
fn an_array_has_the_memory_layout_of_the_file() {
    let values: Vec<u16> = (0..24).collect();
    let experiment =
        Experiment::new().array("a.ra", Element(2, 2), &[2, 3, 4], bytemuck::cast_slice(&values));
    Packs::of(experiment).each(|kind, pack| {
        let array = pack.array("a.ra").unwrap();
        let whole: ArrayD<u16> = array.read().unwrap();
        assert_eq!(whole.strides(), [1, 2, 6], "{kind}: first index fastest");
        assert_eq!(whole.into_raw_vec_and_offset(), (values.clone(), Some(0)), "{kind}");
        let part: ArrayD<u16> = array.slice(s![.., 1.., 2..]).unwrap();
        assert_eq!(part.strides(), [1, 2, 4], "{kind}: a slice too");
        let raw = array.read_raw::<u16>().unwrap();
        let at = raw.data().as_ptr();
        let whole = ArrayD::try_from(raw).unwrap();
        assert_eq!(whole.as_ptr(), at, "the elements were not copied");
        let back = RawArray::from(whole);
        assert_eq!(back.data().as_ptr(), at, "nor in the conversion back");
    });
}

#[test]
fn a_wrong_type_is_an_error_that_names_both() {
    Packs::of(standard()).each(|kind, pack| {
        let array = pack.array("run1/temperature.ra").unwrap();
        let mut out = [0_i32; 15];
        for error in [
            array.read::<i32>().unwrap_err(),
            array.read_raw::<i32>().unwrap_err(),
            array.read_into(&mut out).unwrap_err(),
            array.slice::<i32>(s![0, 0]).unwrap_err(),
        ] {
            let said = error.to_string();
            for part in ["run1/temperature.ra", "i32", "int32", "float32"] {
                assert!(said.contains(part), "{kind}: {said}");
            }
            assert!(matches!(error, Error::Array { .. }));
        }
    });
}

#[test]
fn a_wrong_shape_is_an_error_that_names_both() {
    Packs::of(standard()).each(|kind, pack| {
        let array = pack.array("run1/temperature.ra").unwrap();
        let error = array.read_into(&mut [0.0_f32; 14]).unwrap_err();
        assert!(
            matches!(error, Error::Length { expected: 15, found: 14, .. }),
            "{kind}: {error:?}"
        );
        let said = array.slice::<f32>(s![0, 5]).unwrap_err().to_string();
        assert!(said.contains("index 5") && said.contains("dimension 1"), "{kind}: {said}");
        for error in [
            array.slice::<f32>(s![0, 0, 0]).unwrap_err(),
            array.slice_any(s![0, 0, 0]).unwrap_err(),
        ] {
            let said = error.to_string();
            assert!(said.contains("2 parts") && said.contains("found 3"), "{kind}: {said}");
            let Error::Slice { source, .. } = &error else { panic!("{kind}: {error:?}") };
            assert_eq!(*source, SliceError::Axes { expected: 2, found: 3 });
        }
    });
}

#[test]
fn a_missing_member_is_an_error_with_a_suggestion() {
    Packs::of(standard()).each(|kind, pack| {
        for name in ["run2/temperature.ra", "/RUN1/Temperature", "run1/temprature", "temprature.ra"]
        {
            let error = pack.array(name).unwrap_err();
            assert!(matches!(error, Error::NoSuchMember { suggestion: None, .. }), "{kind}");
            let said = pack.resolve(name).unwrap_err().to_string();
            assert!(said.contains("did you mean `run1/temperature.ra`?"), "{kind}: {said}");
        }
        for name in
            ["run1/temperature.ra", "temperature", "run1\\temperature", "./run1/temperature"]
        {
            assert_eq!(pack.resolve(name).unwrap(), "run1/temperature.ra", "{kind}: {name}");
        }
        let directory = pack.resolve("run1").unwrap_err();
        assert!(matches!(directory, Error::IsDirectory { files: 8.., .. }), "{kind}: {directory}");
        for (name, is_there) in
            [("run1/temperature.ra", true), ("README.txt", true), ("run1", false), ("x", false)]
        {
            assert_eq!(pack.contains(name).unwrap(), is_there, "{kind}: {name}");
        }
        assert!(pack.read("../outside").is_err(), "{kind}");
        assert!(pack.array("run1").is_err(), "{kind}: a directory");
        assert_eq!(pack.array("run1/temperature").unwrap().name(), "run1/temperature.ra", "{kind}");
        let each = pack.read_each(&["run1/temperature"], None, |array| array.read_any().map(drop));
        assert!(each.is_ok(), "{kind}");
        let text = pack.array("README.txt").unwrap();
        assert!(matches!(text.header().unwrap_err(), Error::NotAnArray { .. }), "{kind}");
    });
}

#[test]
fn an_open_pack_lists_and_verifies_itself() {
    let packs = Packs::of(standard());
    packs.each(|kind, pack| {
        let names = |listing: &Listing| -> Vec<String> {
            listing.names().map(|(name, _)| name.to_owned()).collect()
        };
        let path = if kind == packs.paths[0].file_name().unwrap().to_str().unwrap() {
            packs.paths[0].clone()
        } else {
            packs.path(kind)
        };
        let options = ListOptions { digests: true, ..ListOptions::default() };
        let (listed, again) = (pack.list(&options).unwrap(), list(&path, &options).unwrap());
        assert_eq!(names(&listed), names(&again), "{kind}");
        let digests = |listing: &Listing| -> Vec<_> {
            listing.members().map(|member| member.sha256).collect()
        };
        assert_eq!(digests(&listed), digests(&again), "{kind}");
        let (one, other) =
            (pack.verify(&VerifyOptions::default()), verify(&path, &VerifyOptions::default()));
        let (one, other) = (one.unwrap(), other.unwrap());
        assert_eq!(
            (one.findings, one.files, one.target),
            (other.findings, other.files, other.target)
        );
        assert_eq!(
            pack.array("run1/temperature.ra").unwrap().read::<f32>().unwrap(),
            temperatures()
        );
    });
}

#[test]
fn a_pack_is_read_by_several_threads_at_once() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Pack>();
    let packs = Packs::of(standard());
    packs.each(|kind, pack| {
        let (threads, start) = (8, Barrier::new(8));
        thread::scope(|scope| {
            for thread in 0..threads {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    for _ in 0..3 {
                        let array = pack.array("run1/temperature.ra").unwrap();
                        assert_eq!(array.read::<f32>().unwrap(), temperatures(), "{kind} {thread}");
                        let image = pack.array("run1/image.ra").unwrap();
                        let part: ArrayD<u8> = image.slice(s![thread % 3, .., ..]).unwrap();
                        assert_eq!(usize::from(part[[1, 3]]), thread % 3 + 21, "{kind}");
                    }
                });
            }
        });
    });
}

#[test]
fn many_arrays_are_read_in_parallel_and_returned_in_order() {
    let names: Vec<String> = (0..150).map(|number| format!("many/{number}.ra")).collect();
    let value = |name: &str| u8::try_from(name.len()).unwrap();
    let experiment = names.iter().fold(Experiment::new(), |experiment, name| {
        experiment.array(name, UINT8, &[3], &[1, value(name), 2])
    });
    let packs = Packs::of(experiment);
    packs.each(|kind, pack| {
        let read = |names: &[String]| {
            pack.read_each(names, Some(3), |array| {
                Ok::<_, Error>((array.name().to_owned(), array.read::<u8>()?[1]))
            })
        };
        let mut arrays = pack.arrays().unwrap();
        arrays.sort();
        let mut sorted = names.clone();
        sorted.sort();
        assert_eq!(arrays, sorted, "{kind}");
        for chosen in [&names[..], &names[7..9], &[]] {
            let expected: Vec<_> = chosen.iter().map(|name| (name.clone(), value(name))).collect();
            assert_eq!(read(chosen).unwrap(), expected, "{kind}");
        }
        let with_others = ["many/3.ra", "no such/1.ra", "no such/2.ra"].map(str::to_owned);
        let error = read(&with_others).unwrap_err();
        assert!(matches!(&error, Error::NoSuchMember { member, .. } if member == "no such/1.ra"));
        let error = pack.read_each(&names, None, |array| array.read::<f32>()).unwrap_err();
        assert!(error.to_string().contains("many/"), "{kind}: {error}");
        // An error of the visitor has its own type, and stops the others.
        let visited = AtomicUsize::new(0);
        let refused = pack.read_each(&names, Some(2), |array| {
            visited.fetch_add(1, Ordering::SeqCst);
            array.read_any()?;
            Err::<(), Box<dyn std::error::Error + Send + Sync>>("enough".into())
        });
        assert_eq!(refused.unwrap_err().to_string(), "enough", "{kind}");
        assert!(visited.load(Ordering::SeqCst) <= 2, "{kind}");
    });
}

/// Opens a mapped pack.
fn map(path: &Path) -> Result<Pack, Error> {
    // SAFETY: the tests do not change mapped archives.
    #[expect(unsafe_code, reason = "the caller's promise is the point of `Pack::map`")]
    unsafe {
        Pack::map(path)
    }
}

#[test]
fn a_view_points_into_the_map_and_is_aligned() {
    let values: Vec<f64> = (0..60_u8).map(f64::from).collect();
    let experiment = standard().array("a.ra", FLOAT64, &[3, 4, 5], bytemuck::cast_slice(&values));
    let packs = Packs::of(experiment);
    for kind in ["stored.zip", "bag.zip"] {
        let path = packs.path(kind);
        let pack = map(&path).unwrap();
        let [a, b, temperature, gain, none] =
            ["a.ra", "a.ra", "run1/temperature.ra", "run1/gain.ra", "run2/none.ra"]
                .map(|name| pack.array(name).unwrap());
        let first: ArrayViewD<'_, f64> = a.view().unwrap();
        let again: ArrayViewD<'_, f64> = b.view().unwrap();
        assert_eq!(first.as_ptr(), again.as_ptr(), "{kind}: the same memory, so no copy");
        assert_eq!(first.as_ptr().addr() % 64, 0, "{kind}");
        assert_eq!(first.strides(), [1, 3, 12]);
        assert_eq!(first, pack.array("a.ra").unwrap().read::<f64>().unwrap());
        // Two views have the same distance in memory as their arrays in the archive.
        let other: ArrayViewD<'_, f32> = temperature.view().unwrap();
        let offset = |name| pack.array(name).unwrap().offsets().unwrap().unwrap().1;
        let apart = i128::from(offset("run1/temperature.ra")) - i128::from(offset("a.ra"));
        let addresses =
            [other.as_ptr().addr(), first.as_ptr().addr()].map(|at| i128::try_from(at).unwrap());
        assert_eq!(addresses[0] - addresses[1], apart, "{kind}: inside the map");
        let scalar: ArrayViewD<'_, i64> = gain.view().unwrap();
        assert_eq!(scalar[[]], -7);
        let nothing: ArrayViewD<'_, f32> = none.view().unwrap();
        assert_eq!(nothing.shape(), [4, 0, 2]);
        let counts = pack.array("run2/counts.ra").unwrap().in_shape_order().unwrap();
        let rows = counts.view::<i16>().unwrap();
        assert_eq!((rows.shape(), rows[[1, 0]]), (&[5, 3][..], 3), "{kind}");
    }
}

#[test]
fn in_a_tar_elements_of_16_bytes_can_be_viewed_only_with_an_even_number_of_dims() {
    let values: Vec<u128> = (0..16).map(|number| number << 100).collect();
    let mut experiment = Experiment::new();
    for ndims in 0..5 {
        let count = 1 << ndims;
        let data = le(u128::to_le_bytes, values[..count].to_vec());
        experiment =
            experiment.array(&format!("{ndims}.ra"), Element(2, 16), &vec![2; ndims], &data);
    }
    let packs = Packs::of(experiment);
    let (tar, zip) = (map(&packs.path("plain.tar")), map(&packs.path("stored.zip")));
    let (tar, zip) = (tar.unwrap(), zip.unwrap());
    for ndims in 0..5_usize {
        let name = format!("{ndims}.ra");
        let array = tar.array(&name).unwrap();
        let (_, data) = array.offsets().unwrap().unwrap();
        assert_eq!(data % 512, 48 + 8 * u64::try_from(ndims).unwrap());
        let read = array.read::<u128>().unwrap();
        match array.view::<u128>() {
            Ok(view) => assert!(ndims.is_multiple_of(2) && view == read),
            Err(error) => {
                assert!(!ndims.is_multiple_of(2));
                let reason = NotViewable::Misaligned(16);
                assert!(
                    matches!(error, Error::NotViewable { reason: found, .. } if found == reason)
                );
            }
        }
        assert_eq!(zip.array(&name).unwrap().view::<u128>().unwrap(), read);
    }
}

#[test]
fn a_view_is_refused_for_elements_that_need_conversion() {
    let experiment = standard()
        .file("big.ra", flagged(1, [3, 4], 4, &[1], &1.5_f32.to_be_bytes()))
        .file("lz4.ra", flagged(2, [2, 1], 7, &[6], &[0x60, 1, 2, 3, 4, 5, 6]));
    let packs = Packs::of(experiment);
    let reason = |error: Error| match error {
        Error::NotViewable { reason, .. } => reason,
        other => panic!("{other:?}"),
    };
    for kind in ["deflated.zip", "zstd.zip", "plain.tar.gz", "plain.tar.zst"] {
        let array = map(&packs.path(kind)).unwrap().array("run1/temperature.ra").unwrap();
        assert_eq!(reason(array.view::<f32>().unwrap_err()), NotViewable::Compressed, "{kind}");
    }
    let pack = map(&packs.path("stored.zip")).unwrap();
    let said = pack.array("run1/gain.ra").unwrap().view::<f32>().unwrap_err().to_string();
    assert!(said.contains("f32") && said.contains("int64"), "{said}");
    let big = pack.array("big.ra").unwrap().view::<f32>().unwrap_err();
    assert_eq!(reason(big), NotViewable::Flags(ra::Flags::BIG_ENDIAN));
    let encoded = pack.array("lz4.ra").unwrap().view::<u8>().unwrap_err();
    assert_eq!(reason(encoded), NotViewable::Flags(ra::Flags::ENCODED));
    let unmapped = Pack::open(packs.path("stored.zip")).unwrap().array("run1/temperature.ra");
    let unmapped = unmapped.unwrap().view::<f32>().unwrap_err();
    assert_eq!(reason(unmapped), NotViewable::NotMapped);
    let error = map(&packs.path("extracted")).unwrap_err();
    assert!(matches!(error, Error::WrongTarget { .. }), "{error}");
}

fn crc32(bytes: &[u8]) -> [u8; 4] {
    crc32fast::hash(bytes).to_le_bytes()
}

/// Replaces bytes that occur exactly `times`.
fn replace(bytes: &mut [u8], old: &[u8], new: &[u8], times: usize) {
    let places: Vec<usize> = bytes
        .windows(old.len())
        .enumerate()
        .filter(|(_, at)| *at == old)
        .map(|(at, _)| at)
        .collect();
    assert_eq!(places.len(), times);
    for at in places {
        bytes[at..][..new.len()].copy_from_slice(new);
    }
}

#[test]
fn content_that_contradicts_the_manifest_is_only_read_unverified() {
    let packs = Packs::of(standard());
    let name = "run1/image.ra";
    let old = fs::read(packs.experiment.path().join(name)).unwrap();
    let mut new = old.clone();
    *new.last_mut().unwrap() ^= 1;
    for kind in ["stored.zip", "bag.zip", "plain.tar", "bag.tar", "extracted"] {
        let path = packs.path(kind);
        if kind == "extracted" {
            fs::write(path.join(name), &new).unwrap();
        } else {
            let mut bytes = fs::read(&path).unwrap();
            replace(&mut bytes, &old, &new, 1);
            if kind.ends_with("zip") {
                // In the local header and in the directory.
                replace(&mut bytes, &crc32(&old), &crc32(&new), 2);
            }
            fs::write(&path, bytes).unwrap();
        }
        let pack = Pack::open(&path).unwrap();
        let array = pack.array(name).unwrap();
        let mut out = [0_u8; 24];
        for error in [
            array.read::<u8>().unwrap_err(),
            array.read_raw::<u8>().unwrap_err(),
            array.read_any().unwrap_err(),
            array.read_into(&mut out).unwrap_err(),
            pack.read(name).unwrap_err(),
            pack.copy_to(name, &mut io::sink()).unwrap_err(),
        ] {
            let Error::Damaged { finding, .. } = &error else { panic!("{kind}: {error:?}") };
            assert_eq!(finding.code, ra_pack::Code::DigestMismatch, "{kind}: {error}");
            assert!(finding.member.as_ref().unwrap().ends_with(name), "{kind}: {error}");
        }
        let unverified = array.unverified().read_raw::<u8>().unwrap();
        assert_eq!(unverified.data().last(), new.last(), "{kind}");
        assert_eq!(unverified.data()[..23], old[old.len() - 24..][..23], "{kind}");
    }
}

#[test]
fn the_checksum_of_the_container_is_checked_even_unverified() {
    let packs = Packs::of(standard());
    let old = fs::read(packs.experiment.path().join("run1/image.ra")).unwrap();
    let mut new = old.clone();
    *new.last_mut().unwrap() ^= 1;
    let path = packs.path("stored.zip");
    let mut bytes = fs::read(&path).unwrap();
    replace(&mut bytes, &old, &new, 1);
    fs::write(&path, bytes).unwrap();
    let pack = Pack::open(&path).unwrap();
    let error = pack.array("run1/image.ra").unwrap().unverified().read::<u8>().unwrap_err();
    let Error::Damaged { finding, .. } = &error else { panic!("{error:?}") };
    assert_eq!(finding.code, ra_pack::Code::BadChecksum, "{error}");
}

fn is_needed(name: &str, wanted: &str) -> bool {
    // The declaration of a bag states the encoding of its manifest.
    name.ends_with(wanted)
        || ["manifest-sha256.txt", "bagit.txt"].contains(&name.rsplit('/').next().unwrap())
}

/// Returns which bytes of `archive` are needed to read `wanted` and the manifest: the directory of the zip and both
/// members with their headers.
fn needed_of_zip(archive: &[u8], wanted: &str) -> Vec<bool> {
    let mut needed = vec![false; archive.len()];
    let mut zip = zip::ZipArchive::new(io::Cursor::new(archive)).unwrap();
    needed[usize::try_from(zip.central_directory_start()).unwrap()..].fill(true);
    for index in 0..zip.len() {
        let member = zip.by_index_raw(index).unwrap();
        if is_needed(&member.name().unwrap(), wanted) {
            let end = member.data_start().unwrap() + member.compressed_size();
            let range = [member.header_start(), end].map(|at| usize::try_from(at).unwrap());
            needed[range[0]..range[1]].fill(true);
        }
    }
    needed
}

/// Returns the needed bytes of a tar: all headers and both members.
fn needed_of_tar(archive: &[u8], wanted: &str) -> Vec<bool> {
    let mut needed = vec![true; archive.len()];
    let mut tar = tar::Archive::new(archive);
    for entry in tar.entries().unwrap() {
        let entry = entry.unwrap();
        let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        if !is_needed(&name, wanted) {
            let start = usize::try_from(entry.raw_file_position()).unwrap();
            needed[start..][..usize::try_from(entry.size()).unwrap()].fill(false);
        }
    }
    needed
}

#[test]
fn reading_an_array_reads_no_other_member() {
    let wanted = "run1/temperature.ra";
    let packs = Packs::of(standard());
    for kind in ["stored.zip", "deflated.zip", "zstd.zip", "bag.zip", "plain.tar", "bag.tar"] {
        let path = packs.path(kind);
        let mut bytes = fs::read(&path).unwrap();
        let needed = match kind.rsplit_once('.') {
            Some((_, "zip")) => needed_of_zip(&bytes, wanted),
            _ => needed_of_tar(&bytes, wanted),
        };
        let mut spoilt = 0;
        for (byte, _) in bytes.iter_mut().zip(needed).filter(|(_, needed)| !needed) {
            *byte = 0xa5;
            spoilt += 1;
        }
        assert!(spoilt > 1500, "{kind}: {spoilt}");
        fs::write(&path, bytes).unwrap();
        let pack = Pack::open(&path).unwrap();
        let array = pack.array(wanted).unwrap();
        assert_eq!(array.read::<f32>().unwrap(), temperatures(), "{kind}");
        let row: ArrayD<f32> = array.slice(s![1, ..]).unwrap();
        assert_eq!(row, temperatures().slice(s![1, ..]).into_dyn(), "{kind}");
        assert!(pack.read("run1/image.ra").is_err(), "{kind}: the other members are overwritten");
    }
    let directory = packs.path("extracted");
    for name in read_tree(&directory).keys() {
        if name != wanted && name != "manifest-sha256.txt" {
            fs::remove_file(directory.join(name)).unwrap();
        }
    }
    let pack = Pack::open(&directory).unwrap();
    assert_eq!(pack.array(wanted).unwrap().read::<f32>().unwrap(), temperatures());
}

#[test]
fn a_slice_of_a_stored_array_reads_only_its_own_bytes() {
    let experiment = Experiment::new().array("a.ra", UINT8, &[100, 100], &vec![7; 10_000]);
    let packs = Packs::of(experiment);
    for kind in ["stored.zip", "plain.tar", "extracted"] {
        let path = packs.path(kind);
        let file = if kind == "extracted" { path.join("a.ra") } else { path.clone() };
        let mut bytes = fs::read(&file).unwrap();
        // Overwrites all elements except those of the column.
        let pack = Pack::open(&path).unwrap();
        let (_, data) = pack.array("a.ra").unwrap().offsets().unwrap().unwrap_or((0, 64));
        let data = usize::try_from(data).unwrap();
        bytes[data..][..4200].fill(0);
        bytes[data + 4300..data + 10_000].fill(0);
        fs::write(&file, bytes).unwrap();
        let pack = Pack::open(&path).unwrap();
        let column: ArrayD<u8> = pack.array("a.ra").unwrap().slice(s![.., 42]).unwrap();
        assert_eq!(column, ArrayD::from_elem(vec![100], 7), "{kind}");
        assert!(pack.array("a.ra").unwrap().read::<u8>().is_err(), "{kind}");
    }
}

#[test]
fn an_open_pack_stays_the_archive_that_was_opened() {
    let before = Experiment::new().array("a.ra", INT64, &[2], &le(i64::to_le_bytes, [1, 2]));
    let after = Experiment::new().file("0.txt", "which moves the array to a larger offset").array(
        "a.ra",
        INT64,
        &[2],
        &le(i64::to_le_bytes, [3, 4]),
    );
    let scratch = TempDir::new().unwrap();
    for name in ["exp.zip", "exp.tar"] {
        let path = scratch.path().join(name);
        let options = CreateOptions { describe: true, force: true, ..CreateOptions::default() };
        create(before.path(), &path, &options).unwrap();
        let pack = Pack::open(&path).unwrap();
        create(after.path(), &path, &options).unwrap();
        let array = pack.array("a.ra").unwrap();
        let whole: ArrayD<i64> = array.read().unwrap();
        assert_eq!(whole.into_raw_vec_and_offset().0, [1, 2], "{name}");
        let slice: ArrayD<i64> = array.slice(s![1..]).unwrap();
        assert_eq!(slice.into_raw_vec_and_offset().0, [2], "{name}");
    }
}

#[test]
fn an_error_becomes_an_io_error_of_its_kind() {
    fn kind(error: Error) -> io::ErrorKind {
        let text = error.to_string();
        let error = io::Error::from(error);
        assert!(error.to_string().contains(&text));
        error.kind()
    }
    let packs = Packs::of(standard());
    let path = packs.path("stored.zip");
    let pack = Pack::open(&path).unwrap();
    let array = pack.array("run1/temperature.ra").unwrap();
    let nowhere = Pack::open(packs.path("nowhere.zip")).unwrap_err();
    assert_eq!(kind(nowhere), io::ErrorKind::NotFound);
    assert_eq!(kind(pack.array("nowhere.ra").unwrap_err()), io::ErrorKind::NotFound);
    assert_eq!(kind(array.read::<u8>().unwrap_err()), io::ErrorKind::InvalidData);
    assert_eq!(kind(array.slice::<f32>(s![0]).unwrap_err()), io::ErrorKind::InvalidInput);
    assert_eq!(kind(array.view::<f32>().unwrap_err()), io::ErrorKind::Unsupported);
    let source = TempDir::new().unwrap();
    let twice = create(source.path(), &path, &CreateOptions::default()).unwrap_err();
    assert_eq!(kind(twice), io::ErrorKind::AlreadyExists);
    fs::write(packs.path("no.zip"), "no zip").unwrap();
    let no_archive = Pack::open(packs.path("no.zip")).unwrap_err();
    assert_eq!(kind(no_archive), io::ErrorKind::InvalidData);
    fs::write(packs.path("no.txt"), "no zip").unwrap();
    let no_pack = Pack::open(packs.path("no.txt")).unwrap_err();
    assert!(matches!(no_pack, Error::NotAPack { kind: FileKind::Text, .. }), "{no_pack:?}");
    assert_eq!(kind(no_pack), io::ErrorKind::InvalidInput);
    let read = || -> io::Result<ArrayD<u8>> { Ok(pack.array("run1/temperature.ra")?.read()?) };
    assert_eq!(read().unwrap_err().kind(), io::ErrorKind::InvalidData);
}

#[test]
fn a_raw_file_is_written_and_read_by_its_path() {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("a.ra");
    let array = RawArray::new(vec![2, 3], vec![1_i16, 2, 3, 4, 5, 6]).unwrap();
    array.write(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), raw_array(INT16, &[2, 3], &le(i16::to_le_bytes, 1..=6)));
    RawArray::from(vec![0.5_f32]).with_metadata(b"note".to_vec()).write(&path).unwrap();
    let again = RawArray::<f32>::read(&path).unwrap();
    assert_eq!((again.data(), again.metadata()), (&[0.5_f32][..], &b"note"[..]));
    assert!(fs::read(&path).unwrap().starts_with(&raw_array(
        FLOAT32,
        &[1],
        &0.5_f32.to_le_bytes()
    )));
    let said = RawArray::<f64>::read(&path).unwrap_err().to_string();
    assert!(said.contains("f64") && said.contains("float32") && said.contains("a.ra"), "{said}");
    assert!(RawArray::<f64>::read(scratch.path().join("nowhere.ra")).is_err());
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1, "there is no other file");
}

#[test]
fn an_error_has_a_complete_message_and_its_cause_as_source() {
    let pack = Pack::open("examples/experiment").unwrap();
    let depth = pack.array("thermistors/depth.ra").unwrap();
    let error = depth.read::<f64>().unwrap_err();
    let source = error.source().unwrap().downcast_ref::<DecodeError>().unwrap();
    assert_eq!(error.to_string(), format!("`thermistors/depth.ra`: {source}"));
    let short = depth.read_into(&mut [0.0_f32; 3]).unwrap_err();
    assert!(short.to_string().ends_with("expected memory for 10 elements, found 3"));
    assert!(matches!(short, Error::Length { expected: 10, found: 3, .. }));

    let get = |options: &GetOptions| {
        let target = "examples/experiment";
        get_to(target, "thermistors/depth.ra", &mut io::sink(), options).unwrap_err()
    };
    let mut options = GetOptions { max_size: Some(10), ..GetOptions::default() };
    assert!(matches!(get(&options), Error::Limit(_)));
    options = GetOptions::default();
    options.slice = Some("10".to_owned());
    let error = get(&options);
    let outside = SliceError::Outside { axis: 0, index: 10, extent: 10 };
    let said = format!("the slice `10`: {outside}; the dimensions are depth (10)");
    assert_eq!(error.to_string(), said);
    assert!(matches!(error, Error::SliceText { source, .. } if source == outside));

    let nothing = Pack::open("no such pack.zip").unwrap_err();
    let Error::Io { source, .. } = &nothing else { panic!("{nothing:?}") };
    assert_eq!(source.kind(), io::ErrorKind::NotFound);
    assert!(nothing.to_string().ends_with(&format!("`no such pack.zip`: {source}")), "{nothing}");
}
