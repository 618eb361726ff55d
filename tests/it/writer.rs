//! Packs written from memory, with the public interface.

use std::fs;
use std::io::{self, Read, Write as _};
use std::path::Path;

use ndarray::{Array, Array2, ArrayD, IxDyn, ShapeBuilder as _, array, s};
use proptest::prelude::*;
use ra_pack::archive::Compression;
use ra_pack::digest::Algorithm;
use ra_pack::ndl::{Attribute, Document, Extent, Order};
use ra_pack::ra::{Element, ElementType, Encoding, Header};
use ra_pack::verify::VerifyOptions;
use ra_pack::write::ExtractOptions;
use ra_pack::write::{ArrayStream, CreateOptions, CreateReport, Layout};
use ra_pack::{
    Code, Error, Pack, PackWriter, Progress, RawArray, WriteOptions, create, describe, extract,
    verify,
};
use tempfile::TempDir;

use crate::run::names_in;

/// Writes a pack into a new directory; `fill` adds its members.
fn written(
    name: &str,
    options: WriteOptions,
    fill: impl FnOnce(&mut PackWriter<'static>) -> Result<(), Error>,
) -> (TempDir, Result<CreateReport, Error>) {
    let scratch = TempDir::new().unwrap();
    let mut pack = PackWriter::create(scratch.path().join(name), options).unwrap();
    let filled = fill(&mut pack);
    (scratch, filled.and_then(|()| pack.finish()))
}

/// Writes a pack, which must succeed and be valid, and opens it.
fn opened(
    fill: impl FnOnce(&mut PackWriter<'static>) -> Result<(), Error>,
) -> (TempDir, Pack, CreateReport) {
    let (scratch, report) = written("x.zip", WriteOptions::default(), fill);
    let report = report.unwrap_or_else(|error| match error {
        Error::Refused { findings, .. } => panic!("{findings:?}"),
        other => panic!("{other}"),
    });
    assert_eq!(report.findings.len(), 0, "{:?}", report.findings);
    let verified = verify(&report.target, &VerifyOptions::default()).unwrap();
    assert_eq!(verified.findings.len(), 0, "{:?}", verified.findings);
    let pack = Pack::open(&report.target).unwrap();
    (scratch, pack, report)
}

/// A member that is given to a writer or written to a directory.
#[derive(Debug, Clone)]
enum Given {
    Array { name: String, shape: Vec<usize>, is_wide: bool },
    File { name: String, content: Vec<u8> },
}

fn elements(shape: &[usize]) -> ArrayD<f32> {
    let mut next = 0.0;
    Array::from_shape_simple_fn(IxDyn(shape), || {
        next += 0.5;
        next
    })
}

impl Given {
    fn write(&self, pack: &mut PackWriter<'_>) {
        match self {
            Self::Array { name, shape, is_wide: false } => {
                pack.array(name, &elements(shape)).units("m").write().unwrap();
            }
            Self::Array { name, shape, is_wide: true } => {
                let wide = elements(shape).mapv(f64::from);
                pack.array(format!("{name}.ra"), &wide.t()).units("m").write().unwrap();
            }
            Self::File { name, content } => pack.file(name, content.as_slice()).unwrap(),
        }
    }

    fn lay_down(&self, root: &Path) {
        let put = |name: &str, bytes: &[u8]| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        match self {
            Self::Array { name, shape, is_wide } => {
                let elements = elements(shape);
                let mut bytes = Vec::new();
                let header = if *is_wide {
                    let array = RawArray::from(&elements.mapv(f64::from).t());
                    array.write_to(&mut bytes).unwrap();
                    array.header().clone()
                } else {
                    let array = RawArray::from(&elements);
                    array.write_to(&mut bytes).unwrap();
                    array.header().clone()
                };
                let stem = name.rsplit('/').next().unwrap();
                let mut described = describe(stem, &header, Encoding::Raw);
                described.attributes.extend(Attribute::short("units", "m"));
                let mut document = Document::flat();
                document.groups[0].ndarrays.push(described);
                put(&format!("{name}.ra"), &bytes);
                put(&format!("{name}.yaml"), document.to_yaml().as_bytes());
            }
            Self::File { name, content } => put(name, content),
        }
    }
}

fn given() -> impl Strategy<Value = Vec<Given>> {
    let one = (prop::collection::vec(0_usize..5, 0..4), any::<bool>(), 0_usize..40_000);
    let all = prop::collection::vec(one, 0..8).prop_map(|all| {
        let each = all.into_iter().enumerate().map(|(number, (mut shape, is_wide, length))| {
            // Most arrays stay in memory until the end, and these do not.
            if let (1, Some(first)) = (number % 4, shape.first_mut()) {
                *first *= 3000;
            }
            let name = format!("{}{number}", ["", "b/", "a/c/", "Größe "][number % 4]);
            if number % 3 == 2 {
                let content = (0..=250).cycle().take(length * 10).collect();
                Given::File { name: format!("{name}.txt"), content }
            } else {
                Given::Array { name, shape, is_wide }
            }
        });
        each.collect()
    });
    all.prop_shuffle()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    #[ignore = "slow"]
    fn members_in_any_order_give_the_pack_of_create(all in given()) {
        let scratch = TempDir::new().unwrap();
        let source = scratch.path().join("source");
        fs::create_dir(&source).unwrap();
        for given in &all {
            given.lay_down(&source);
        }
        let zstd = Compression::Zstd { level: None };
        for (name, layout, compression) in [
            ("x.zip", Layout::Plain, Compression::Stored),
            ("z.zip", Layout::Plain, zstd),
            ("x.tar", Layout::Plain, Compression::Stored),
            ("x.tar.zst", Layout::Plain, Compression::Stored),
            ("bag.zip", Layout::BagIt, Compression::Stored),
        ] {
            let options = CreateOptions { layout, compression, ..CreateOptions::default() };
            let [one, other, again] =
                ["one", "other", "again"].map(|way| scratch.path().join(way).join(name));
            fs::create_dir_all(one.parent().unwrap()).unwrap();
            create(&source, &one, &options).unwrap();
            for path in [&other, &again] {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                let mut pack = PackWriter::create(path, options.clone()).unwrap();
                for given in &all {
                    given.write(&mut pack);
                }
                pack.finish().unwrap();
            }
            let [bytes, others, same] = [&one, &other, &again].map(|path| fs::read(path).unwrap());
            prop_assert!(others == same, "{}", name);
            // Long members are stored in the order in which they come.
            let is_sorted = compression == zstd || name == "x.tar.zst";
            prop_assert!(!is_sorted || bytes == others, "{}", name);
            let [names, mut others] = [&one, &other].map(|path| -> Vec<_> {
                let members = Pack::open(path).unwrap().members().unwrap();
                members.into_iter().map(|member| member.name).collect()
            });
            if name == "x.tar" {
                let generated = others.len() - 2;
                others[..generated].sort();
            }
            prop_assert_eq!(names, others);
            let options = VerifyOptions { strict: true, ..VerifyOptions::default() };
            let findings = verify(&other, &options).unwrap().findings;
            prop_assert!(findings.iter().all(|finding| finding.code == Code::NoArrays), "{:?}", findings);
        }
        let [one, other] = ["one", "other"].map(|way| names_in(&scratch.path().join(way)));
        prop_assert_eq!(&one, &other);
        for name in one.iter().filter(|name| name.contains(".manifest-")) {
            let [one, other] = ["one", "other"].map(|way| scratch.path().join(way).join(name));
            prop_assert_eq!(fs::read(one).unwrap(), fs::read(other).unwrap());
        }
    }
}

/// Compares a written array with its elements.
#[track_caller]
fn comes_back<T: Element + PartialEq + std::fmt::Debug>(
    view: &ndarray::ArrayRef<T, ndarray::Ix3>,
    order: Order,
) {
    let (_scratch, pack, _) = opened(|pack| pack.array("a", &view.view()).order(order).write());
    let array = pack.array("a.ra").unwrap();
    assert_eq!(array.description().unwrap().unwrap().order(), order);
    let read = array.in_shape_order().unwrap().read::<T>().unwrap();
    assert_eq!(read, view.to_owned().into_dyn());
}

#[test]
fn arrays_of_any_layout_keep_the_index_of_each_element() {
    // More than one block of the slowest code path.
    let big = Array::from_shape_fn((70, 80, 50), |(i, j, k)| i * 100_000 + j * 100 + k);
    let column = Array::from_shape_fn((7, 8, 5).f(), |(i, j, k)| i * 100 + j * 10 + k);
    for order in [Order::Column, Order::Row] {
        comes_back(&big, order);
        comes_back(&big.slice(s![..;-1, 3..;2, ..]), order);
        comes_back(&big.view().permuted_axes([1, 0, 2]), order);
        comes_back(&column, order);
        comes_back(&column.slice(s![2..2, .., ..]), order);
        comes_back(&column.broadcast((7, 8, 5)).unwrap(), order);
    }
    // The bytes of a row-major array do not change.
    let rows = array![[1_u8, 2, 3], [4, 5, 6]];
    let (_scratch, pack, _) = opened(|pack| pack.array("a", &rows).order(Order::Row).write());
    assert_eq!(pack.read("a.ra").unwrap()[64..], [1, 2, 3, 4, 5, 6]);
}

#[test]
fn dims_are_arrays_of_the_pack_or_have_stated_lengths() {
    let values = Array2::<f32>::zeros((3, 2));
    let (_scratch, pack, report) = opened(|pack| {
        pack.array("run1/speed", &values).dims(["/time", "depth"]).units("m/s").write()?;
        pack.array("run1/heat", &values).dims(["time", "depth"]).write()?;
        pack.array("run1/none", &Array2::<f32>::zeros((0, 2))).dims(["event", "depth"]).write()?;
        pack.array("time", &array![0_i64, 1, 2]).dims(["time"]).units("s").write()?;
        pack.attribute("title", "Nothing")?;
        pack.attribute("title", "Mooring 7")?;
        pack.attribute("position", vec![54.5, 7.25])
    });
    assert_eq!(report.arrays, 4);
    let document = String::from_utf8(pack.read("manifest.yaml").unwrap()).unwrap();
    let parsed = ra_pack::ndl::parse(document.as_bytes()).document.unwrap();
    let root = parsed.group("/").unwrap();
    assert_eq!(root.attributes.len(), 2);
    assert_eq!(root.attributes[0].value.as_str(), Some("Mooring 7"));
    let dimcoords: Vec<_> =
        parsed.dimcoords().map(|(group, one)| (&*group.path, &*one.name)).collect();
    assert_eq!(dimcoords, [("/", "time"), ("/run1", "depth")], "{document}");
    let heat = pack.array("run1/heat.ra").unwrap().description().unwrap().unwrap();
    let coord = |name: &str| Extent::Coord(name.to_owned());
    assert_eq!(heat.shape, [coord("time"), coord("depth")]);
    assert!(document.contains("The first index of dims varies fastest"), "{document}");
}

#[test]
fn attributes_of_a_pack_survive_unpacking() {
    let (scratch, _, report) = opened(|pack| {
        pack.attribute("title", "Mooring 7:\n\nJune")?;
        pack.attribute("year", 2024)?;
        pack.array("a", &array![1_u8]).units("m").write()?;
        pack.array("b/c", &array![1_u8]).write()
    });
    let (directory, again) = (scratch.path().join("out"), scratch.path().join("again.zip"));
    extract(&report.target, &directory, &ExtractOptions::default()).unwrap();
    fs::remove_file(directory.join("manifest-sha256.txt")).unwrap();
    create(&directory, &again, &CreateOptions::default()).unwrap();
    assert!(fs::read(&report.target).unwrap() == fs::read(&again).unwrap());

    let path = directory.join("manifest.yaml");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("year: 2024") && text.contains("units: m"), "{text}");
    fs::write(path, text.replace("year: 2024", "year: 2025")).unwrap();
    let options = CreateOptions { force: true, ..CreateOptions::default() };
    let report = create(&directory, &again, &options).unwrap();
    assert_eq!(report.findings.len(), 0, "{:?}", report.findings);
    let text = Pack::open(&again).unwrap().read("manifest.yaml").unwrap();
    assert!(String::from_utf8(text).unwrap().contains("year: 2025"));
}

#[test]
fn attributes_of_groups_and_their_datatypes_are_kept() {
    let short = Attribute::new("operator", "N. N.").unwrap();
    let number = |value: f64| ra_pack::ndl::Value::Float(value);
    let scale = Attribute {
        name: "scale_factor".to_owned(),
        shape: Vec::new(),
        datatype: ra_pack::ndl::Datatype::Float32,
        value: number(0.01),
        storage: None,
        short: false,
    };
    let (_scratch, pack, _) = opened(|pack| {
        pack.group_attribute("run", "operator", "N. N.")?;
        pack.typed_attribute("empty/below", scale.clone())?;
        pack.array("run/a", &array![1_i16]).typed_attribute(scale.clone()).write()
    });
    let groups = pack.attributes().unwrap();
    let found: Vec<_> = groups.iter().map(|group| (&*group.path, &group.attributes[..])).collect();
    assert_eq!(found, [("/empty/below", &[scale.clone()][..]), ("/run", &[short])]);
    let description = pack.array("run/a").unwrap().description().unwrap().unwrap();
    assert_eq!(description.attributes, [scale]);
}

#[test]
fn contradicting_users_of_one_name_are_refused() {
    let (_scratch, refused) = written("x.zip", WriteOptions::default(), |pack| {
        pack.array("time", &array![1_u8, 2]).write()?;
        // A later array `run/time` could be nearer.
        pack.array("run/b", &array![1_u8, 2, 3]).dims(["time"]).write()
    });
    let Err(Error::Refused { path, findings }) = refused else { panic!("{refused:?}") };
    assert!(path.ends_with("x.zip"), "{path:?}");
    assert!(findings.iter().any(|finding| finding.code == Code::ShapeMismatch), "{findings:?}");
}

#[test]
fn a_writer_in_memory_gets_the_whole_archive() {
    let mut bytes = Vec::new();
    let mut pack = PackWriter::new(&mut bytes, WriteOptions::default()).unwrap();
    pack.array("a", &array![1.5_f64]).write().unwrap();
    let report = pack.finish().unwrap();
    drop(pack);
    assert_eq!(
        (report.target.as_path(), report.archive_bytes),
        (Path::new("pack.zip"), bytes.len() as u64)
    );
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("again.zip");
    fs::write(&path, bytes).unwrap();
    assert!(verify(&path, &VerifyOptions::default()).unwrap().is_valid());
    assert_eq!(
        Pack::open(&path).unwrap().array("a.ra").unwrap().read::<f64>().unwrap(),
        array![1.5].into_dyn()
    );
    // The top directory of a bag is named after the archive.
    let options = WriteOptions { layout: Layout::BagIt, ..WriteOptions::default() };
    let mut sink = Vec::new();
    let mut pack = PackWriter::new(&mut sink, options).unwrap();
    pack.file("a.txt", "a".as_bytes()).unwrap();
    pack.finish().unwrap();
    drop(pack);
    assert!(sink.windows(15).any(|bytes| bytes == b"pack/data/a.txt"));
}

#[test]
fn elements_written_in_pieces_are_counted() {
    let header = Header::new(ElementType::UINT16, vec![4, 3]).unwrap();
    let stream = |fill: &dyn Fn(&mut ArrayStream<'_, '_>) -> Result<(), Error>| {
        written("x.zip", WriteOptions::default(), |pack| {
            let mut stream = pack.array_stream("a", header.clone()).begin()?;
            fill(&mut stream)?;
            stream.finish()
        })
    };
    let (scratch, report) = stream(&|stream| {
        stream.write_elements(&[0_u16, 1, 2, 3])?;
        stream.write_all(&[4, 0, 5, 0, 6]).unwrap();
        stream.write_all(&[0, 7, 0]).unwrap();
        stream.write_elements(&[8_u16, 9, 10, 11])
    });
    report.unwrap();
    let pack = Pack::open(scratch.path().join("x.zip")).unwrap();
    let read = pack.array("a.ra").unwrap().read::<u16>().unwrap();
    assert_eq!(
        read,
        Array::from_shape_fn((4, 3), |(i, j)| u16::try_from(4 * j + i).unwrap()).into_dyn()
    );

    let few = stream(&|stream| stream.write_elements(&[0_u16; 11]));
    let many = stream(&|stream| stream.write_elements(&[0_u16; 13]));
    let other = stream(&|stream| stream.write_elements(&[0_i16; 12]));
    for ((scratch, result), words) in [
        (few, "`a.ra`: expected 24 bytes of data, found 22"),
        (many, "`a.ra`: expected 24 more bytes of data, found 26"),
        (other, "`a.ra`"),
    ] {
        let error = result.unwrap_err();
        assert!(error.to_string().starts_with(words), "{error}");
        assert_eq!(names_in(scratch.path()), [""; 0]);
    }
}

/// Reader that gives a few bytes, then an error.
struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the instrument is off"))
    }
}

#[test]
fn a_failed_or_dropped_writer_leaves_nothing() {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("x.zip");
    let begin = || PackWriter::create(&path, WriteOptions::default()).unwrap();
    let mut pack = begin();
    pack.array("a", &array![1_u8]).write().unwrap();
    assert_eq!(names_in(scratch.path()).len(), 2, "the archive and staged files are next to it");
    drop(pack);
    assert_eq!(names_in(scratch.path()), [""; 0]);

    let mut pack = begin();
    let error = pack.file("b.txt", Failing).unwrap_err();
    assert!(error.to_string().contains("x.zip/b.txt"), "{error}");
    // Also if the program continues.
    let error = pack.finish().unwrap_err();
    assert!(error.to_string().contains("`b.txt`"), "{error}");
    drop(pack);
    assert_eq!(names_in(scratch.path()), [""; 0]);

    let mut pack = begin();
    let header = Header::new(ElementType::UINT8, vec![2]).unwrap();
    drop(pack.array_stream("c", header).begin().unwrap());
    assert!(matches!(pack.finish(), Err(Error::Incomplete { .. })));
    drop(pack);
    assert_eq!(names_in(scratch.path()), [""; 0]);

    let progress = Progress::new();
    let options = WriteOptions { progress: progress.clone(), ..WriteOptions::default() };
    let mut pack = PackWriter::create(&path, options).unwrap();
    progress.cancel();
    assert!(matches!(pack.file("endless.bin", io::repeat(0)), Err(Error::Interrupted)));
    let wide = Array2::<f32>::zeros((300, 300));
    for array in [wide.view(), wide.slice(s![.., ..;2]), wide.t()] {
        let name = format!("{:?}", array.strides());
        assert!(matches!(pack.array(name, &array).write(), Err(Error::Interrupted)));
    }
    drop(pack);
    assert_eq!(names_in(scratch.path()), [""; 0]);

    fs::write(&path, "mine").unwrap();
    let refused = PackWriter::create(&path, WriteOptions::default());
    assert!(matches!(refused, Err(Error::AlreadyExists { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}

#[test]
fn repeated_names_are_refused_with_the_name_of_the_archive() {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("x.zip");
    let mut pack = PackWriter::create(&path, WriteOptions::default()).unwrap();
    pack.array("a", &array![1_u8]).write().unwrap();
    let codes = |result: Result<(), Error>| match result {
        Err(Error::Refused { path: of, findings }) => {
            assert_eq!(of, path);
            findings.iter().map(|finding| finding.code).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(codes(pack.array("a.ra", &array![2_u8]).write()), [Code::DuplicateName]);
    assert_eq!(codes(pack.file("a.yaml", "".as_bytes())), [Code::DuplicateName]);
    assert_eq!(codes(pack.file("a.ra/b", "".as_bytes())), [Code::FileAndDirectory]);
    for name in ["../a", "/a", "a//b", ""] {
        assert!(matches!(pack.file(name, "".as_bytes()), Err(Error::InvalidPath(_))), "{name}");
    }
    for name in ["manifest-sha256.txt", "bagit.txt"] {
        assert!(matches!(pack.file(name, "".as_bytes()), Err(Error::WrongTarget { .. })), "{name}");
    }
    assert!(pack.array("b", &array![1_u8]).dims(["x", "y"]).write().is_err());
    assert!(pack.array("b", &array![1_u8]).attribute("x", vec![vec![1]; 2]).write().is_err());
    assert!(pack.array("b", &array![1_u8]).order(Order::RowUnreversed).write().is_err());
    // A refused member does not prevent finishing the pack.
    pack.file("c.npy", "".as_bytes()).unwrap();
    pack.file("b.ra", "no array".as_bytes()).unwrap();
    let Err(Error::Refused { path: of, findings }) = pack.finish() else { panic!() };
    assert_eq!(of, path);
    assert!(!format!("{findings:?}").contains("unfinished"), "{findings:?}");
    drop(pack);
    assert_eq!(names_in(scratch.path()), [""; 0]);
}

#[test]
fn a_given_document_is_the_document_of_the_pack() {
    let text = "# mine\nattributes: {title: A}\n";
    let (_scratch, pack, _) = opened(|pack| {
        pack.file("manifest.yaml", text.as_bytes())?;
        pack.array("a", &array![1_u8]).write()
    });
    let document = String::from_utf8(pack.read("manifest.yaml").unwrap()).unwrap();
    assert!(document.starts_with("# mine\n") && document.contains("uint8"), "{document}");
    let (_scratch, pack, _) = opened(|pack| {
        pack.file("manifest.yaml", text.as_bytes())?;
        pack.attribute("institution", "B")?;
        pack.array("a", &array![1_u8]).write()
    });
    let document = String::from_utf8(pack.read("manifest.yaml").unwrap()).unwrap();
    assert!(
        document.starts_with("# mine\nattributes: {title: A, institution: B}\nndarrays:"),
        "{document}"
    );
}

/// Reader that gives some bytes, and then none, an error or more than requested.
struct Faulty(usize, fn(usize) -> io::Result<usize>);

impl Read for Faulty {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return self.1(buffer.len());
        }
        let count = self.0.min(buffer.len());
        self.0 -= count;
        Ok(count)
    }
}

#[test]
fn a_failed_member_is_never_archived_in_part() {
    type Fail = fn(usize) -> io::Result<usize>;
    let fails: [(&str, Fail); 2] =
        [("fails", |_| Err(io::Error::other("broken"))), ("lies", |asked| Ok(asked + 10))];
    for (kind, fail) in fails {
        for len in [0, 300_000] {
            let (_scratch, made) = written("x.zip", WriteOptions::default(), |pack| {
                assert!(matches!(pack.file("raw.bin", Faulty(len, fail)), Err(Error::Io { .. })));
                pack.file("notes.txt", "intact".as_bytes())
            });
            let Err(Error::Incomplete { name }) = made else { panic!("{kind} {len}: {made:?}") };
            assert_eq!(name, "raw.bin");
        }
    }
    let (_scratch, made) = written("x.zip", WriteOptions::default(), |pack| {
        let header = Header::new(ElementType::UINT8, vec![9]).unwrap();
        drop(pack.array_stream("a", header).begin()?);
        pack.file("notes.txt", "intact".as_bytes())
    });
    assert!(matches!(made, Err(Error::Incomplete { name }) if name == "a.ra"));
}

/// Adds large arrays: at once, in pieces, reordered, and again after they were removed.
fn add_large(pack: &mut PackWriter<'_>) -> Result<(), Error> {
    let rows = elements(&[1500, 700]);
    pack.array("a/row", &rows).order(Order::Row).write()?;
    pack.array("b/column", &rows).write()?;
    let header = Header::new(ElementType::UINT16, vec![2_000_000]).unwrap();
    let numbers: Vec<u16> = (0..65_521).cycle().take(2_000_000).collect();
    drop(pack.array_stream("c", header.clone()).begin()?);
    let mut stream = pack.array_stream("c", header).dims(["c"]).begin()?;
    let mut left = &numbers[..];
    for length in [1, 3000, 600_000, 17, 1_396_982] {
        let (piece, rest) = left.split_at(length);
        stream.write_elements(piece)?;
        left = rest;
    }
    stream.finish()?;
    pack.array("d", &Array::from_elem(900_000, 1_i32)).write()?;
    pack.remove("d")?;
    pack.array("d", &Array::from_elem(900_000, 2_i32)).write()
}

#[test]
#[ignore = "slow"]
fn large_arrays_give_the_archive_of_create() {
    for (name, layout, jobs, digests, block_digests) in [
        ("x.zip", Layout::Plain, None, vec![], None),
        ("x.zip", Layout::Plain, Some(1), vec![Algorithm::Sha256, Algorithm::Sha512], None),
        ("x.tar", Layout::Plain, None, vec![], Some(100_000)),
        ("x.zip", Layout::BagIt, None, vec![], None),
    ] {
        let options =
            CreateOptions { layout, jobs, digests, block_digests, ..CreateOptions::default() };
        let (scratch, report) = written(name, options.clone(), add_large);
        let written = report.unwrap().target;
        let verified = verify(&written, &VerifyOptions::default()).unwrap();
        assert_eq!((verified.arrays, verified.findings.len()), (4, 0), "{:?}", verified.findings);
        let [source, other] = ["source", "other"].map(|way| scratch.path().join(way));
        extract(&written, &source, &ExtractOptions::default()).unwrap();
        fs::create_dir(&other).unwrap();
        let source = if layout == Layout::BagIt { source.join("x/data") } else { source };
        create(source, other.join(name), &options).unwrap();
        assert!(fs::read(other.join(name)).unwrap() == fs::read(written).unwrap(), "{name}");
    }
}

#[test]
#[ignore = "slow"]
fn arrays_that_exceed_the_memory_are_staged_on_disk() {
    let elements = Array::from_elem(31 * 1024, 7_u8);
    let (_scratch, pack, report) = opened(|pack| {
        (0..2200).try_for_each(|number| pack.array(format!("run/{number}"), &elements).write())
    });
    assert_eq!(report.arrays, 2200);
    for name in ["run/0", "run/2199"] {
        assert_eq!(pack.array(name).unwrap().read::<u8>().unwrap(), elements.clone().into_dyn());
    }
}

#[test]
fn a_failed_update_leaves_the_old_archive() {
    let (scratch, report) =
        written("x.zip", WriteOptions::default(), |pack| pack.file("notes.txt", "old".as_bytes()));
    let archive = report.unwrap().target;
    let before = fs::read(&archive).unwrap();
    let options = WriteOptions { force: true, ..WriteOptions::default() };
    let mut pack = PackWriter::update(&archive, options).unwrap();
    let broken = Faulty(0, |_| Err(io::Error::other("broken")));
    assert!(pack.file("notes.txt", broken).is_err());
    pack.file("more.txt", "new".as_bytes()).unwrap();
    assert!(matches!(pack.finish(), Err(Error::Incomplete { .. })));
    assert_eq!(fs::read(&archive).unwrap(), before);
    drop(scratch);
}

#[test]
fn invalid_names_are_refused_and_change_nothing() {
    let (_scratch, pack, report) = opened(|pack| {
        let one = array![1.0];
        for name in ["", "x/", "dir/.ra", "a//b", "../a"] {
            assert!(matches!(pack.array(name, &one).write(), Err(Error::InvalidPath(_))), "{name}");
        }
        pack.array("a/b", &one).write()?;
        for name in ["a", "a/b.ra/c"] {
            let Err(Error::Refused { findings, .. }) = pack.file(name, io::empty()) else {
                panic!("{name}")
            };
            assert_eq!(findings[0].code, Code::FileAndDirectory, "{name}");
        }
        Ok(())
    });
    assert_eq!((report.arrays, pack.arrays().unwrap()), (1, vec!["a/b.ra".to_owned()]));
    assert!(pack.contains("a/b").unwrap() && !pack.contains("a").unwrap());
}

#[test]
fn patterns_exclude_only_files_of_directories() {
    let source = TempDir::new().unwrap();
    fs::write(source.path().join("left.txt"), "out").unwrap();
    let options = WriteOptions {
        exclude: ra_pack::inspect::Patterns::new(["a.ra", "left.txt"]).unwrap(),
        ..WriteOptions::default()
    };
    let (_scratch, report) = written("x.zip", options, |pack| {
        pack.array("a", &array![1.0]).write()?;
        pack.add(source.path(), ".")
    });
    let pack = Pack::open(report.unwrap().target).unwrap();
    assert!(pack.contains("a.ra").unwrap() && !pack.contains("left.txt").unwrap());
}

#[test]
fn attributes_are_made_from_common_types() {
    let (_scratch, pack, _) = opened(|pack| {
        let array = array![1_u8];
        pack.array("a", &array)
            .attribute("valid_range", [0.0, 40.0])
            .attribute("flags", [1_u8, 2].as_slice())
            .attribute("mixed", vec![ra_pack::ndl::Value::from(1), 2.5.into()])
            .attribute("large", vec![1, u64::MAX])
            .attribute("count", 3_u32)
            .write()
    });
    let described = pack.array("a").unwrap().description().unwrap().unwrap();
    let datatypes: Vec<_> =
        described.attributes.iter().map(|attribute| attribute.datatype.to_string()).collect();
    assert_eq!(datatypes, ["float64", "int64", "float64", "uint64", "int64"]);
    let (_scratch, made) =
        written("x.zip", WriteOptions::default(), |pack| pack.attribute("none", Vec::<i32>::new()));
    assert!(matches!(made, Err(Error::Unsupported(_))));
}

#[test]
fn options_that_contradict_each_other_are_refused_at_the_beginning() {
    for (name, compression) in [
        ("x.zip", Compression::Deflate { level: Some(0) }),
        ("x.zip", Compression::Deflate { level: Some(99) }),
        ("x.zip", Compression::Zstd { level: Some(99) }),
        ("x.tar.gz", Compression::Zstd { level: None }),
        ("x.tar", Compression::Deflate { level: None }),
    ] {
        let scratch = TempDir::new().unwrap();
        let options = WriteOptions { compression, ..WriteOptions::default() };
        let made = PackWriter::create(scratch.path().join(name), options);
        assert!(matches!(made, Err(Error::Options(_))), "{name} {compression:?}");
    }
}

/// A call of a writer.
#[derive(Debug, Clone)]
enum Call {
    Array { name: usize, length: usize, is_dropped: bool, fault: Fault },
    File { name: usize, fails: bool },
    Remove { name: usize },
    Finish,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    Attribute,
    Datatype,
    DimensionName,
    DimensionCount,
    FillValue,
}

const ARRAYS: [&str; 6] = ["t", "x", "y", "g/t", "g/x", "g/h/x"];
const FILES: [&str; 6] = ["x.yaml", "notes.txt", "g/t.ra", "g", "g/h/x.yml", "y.ra/file"];

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let fault = prop_oneof![
        8 => Just(Fault::None),
        1 => Just(Fault::Attribute),
        1 => Just(Fault::Datatype),
        1 => Just(Fault::DimensionName),
        1 => Just(Fault::DimensionCount),
        1 => Just(Fault::FillValue),
    ];
    // Long arrays are staged on disk.
    let length = prop_oneof![Just(2_usize), Just(3), Just(40_000)];
    let array = (0..ARRAYS.len(), length, proptest::bool::weighted(0.2), fault);
    let array = array.prop_map(|(name, length, is_dropped, fault)| Call::Array {
        name,
        length,
        is_dropped,
        fault,
    });
    let file = (0..FILES.len(), proptest::bool::weighted(0.3));
    let file = file.prop_map(|(name, fails)| Call::File { name, fails });
    let remove = (0..ARRAYS.len() + FILES.len()).prop_map(|name| Call::Remove { name });
    let call = prop_oneof![6 => array, 3 => file, 2 => remove, 1 => Just(Call::Finish)];
    proptest::collection::vec(call, 1..25)
}

/// The expected content of a writer: the bytes of each file, and the members that failed.
#[derive(Debug, Default, Clone)]
struct Model {
    files: std::collections::BTreeMap<String, Vec<u8>>,
    arrays: std::collections::BTreeMap<String, usize>,
    incomplete: std::collections::BTreeSet<String>,
}

impl Model {
    fn is_free(&self, name: &str) -> bool {
        let is_above = |one: &str, other: &str| {
            other.strip_prefix(one).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.files.keys().all(|other| !is_above(other, name) && !is_above(name, other))
    }

    fn group(array: &str) -> &str {
        array.rsplit_once('/').map_or("", |(group, _)| group)
    }

    /// Returns whether an array has the dimension `t`.
    fn uses(array: &str) -> bool {
        !array.ends_with('t')
    }

    /// Returns whether all arrays of one group agree about `t`.
    fn agrees(&self, array: &str, length: usize) -> bool {
        let group = |other: &&String| Self::group(other) == Self::group(array);
        self.arrays.iter().filter(|(other, _)| group(other)).all(|(_, other)| *other == length)
    }

    /// Returns whether every dimension `t` has the length of the nearest coordinate.
    fn is_consistent(&self) -> bool {
        self.arrays.iter().filter(|(array, _)| Self::uses(array)).all(|(array, length)| {
            let mut group = Self::group(array);
            loop {
                let name = if group.is_empty() { "t".to_owned() } else { format!("{group}/t") };
                match (self.arrays.get(&name), group.is_empty()) {
                    (Some(found), _) => return found == length,
                    (None, true) => return true,
                    (None, false) => group = Self::group(group),
                }
            }
        })
    }

    fn remove(&mut self, name: &str) -> bool {
        for name in [name.to_owned(), format!("{name}.ra")] {
            if self.incomplete.remove(&name) {
                return true;
            }
            let before = self.files.len();
            if self.files.contains_key(&name)
                && let Some(stem) = name.strip_suffix(".ra")
            {
                self.files.remove(&format!("{stem}.yaml"));
                self.files.remove(&format!("{stem}.yml"));
            }
            let below = format!("{name}/");
            self.files.retain(|file, _| *file != name && !file.starts_with(&below));
            let files = &self.files;
            self.arrays.retain(|array, _| files.contains_key(&format!("{array}.ra")));
            if self.files.len() < before {
                return true;
            }
        }
        false
    }
}

fn apply(pack: &mut PackWriter<'_>, model: &mut Model, call: &Call) {
    match *call {
        Call::Array { name, length, is_dropped, fault } => {
            let name = ARRAYS[name];
            let file = format!("{name}.ra");
            let description = format!("{name}.yaml");
            let elements = vec![u8::try_from(length % 256).unwrap(); length];
            let header = Header::new(ElementType::UINT8, vec![length as u64]).unwrap();
            let mut array = pack.array_stream(name, header.clone());
            if Model::uses(name) {
                array = array.dims(["t"]);
            }
            array = match fault {
                Fault::None => array,
                Fault::Attribute => array.attribute("a", vec![vec![1]; 2]),
                Fault::Datatype => array.datatype(ra_pack::ndl::Datatype::Float64),
                Fault::DimensionName => array.dims(["a/b"]),
                Fault::DimensionCount => array.dims(["t", "u"]),
                Fault::FillValue => array.fill_value("text"),
            };
            let is_right = fault == Fault::None
                && model.is_free(&file)
                && model.is_free(&description)
                && model.agrees(name, length);
            match array.begin() {
                Ok(mut stream) => {
                    assert!(is_right, "{call:?} {model:?}");
                    stream.write_all(&elements[..length - usize::from(is_dropped)]).unwrap();
                    if is_dropped {
                        model.incomplete.insert(file);
                        drop(stream);
                        return;
                    }
                    stream.finish().unwrap();
                    model.incomplete.remove(&file);
                    model.incomplete.remove(&description);
                    model.files.insert(file, [header.encode(), elements].concat());
                    model.files.insert(description, Vec::new());
                    model.arrays.insert(name.to_owned(), length);
                }
                Err(error) => assert!(!is_right, "{call:?} {model:?}: {error}"),
            }
        }
        Call::File { name, fails } => {
            let name = FILES[name];
            let is_free = model.is_free(name);
            let result =
                if fails { pack.file(name, Failing) } else { pack.file(name, "a: 1\n".as_bytes()) };
            assert_eq!(result.is_ok(), is_free && !fails, "{call:?} {model:?}: {result:?}");
            if is_free && fails {
                model.incomplete.insert(name.to_owned());
            } else if is_free {
                model.incomplete.remove(name);
                model.files.insert(name.to_owned(), b"a: 1\n".to_vec());
            }
        }
        Call::Remove { name } => {
            let name = ARRAYS.iter().chain(&FILES).nth(name).unwrap();
            let removed = pack.remove(name);
            assert_eq!(removed.is_ok(), model.remove(name), "{call:?} {model:?}: {removed:?}");
        }
        Call::Finish => {
            if !model.incomplete.is_empty() || !model.is_consistent() {
                let error = pack.finish().unwrap_err();
                let is_incomplete = matches!(error, Error::Incomplete { .. });
                assert_eq!(is_incomplete, !model.incomplete.is_empty(), "{error}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    #[ignore = "slow"]
    fn a_writer_has_what_was_accepted_after_any_calls(calls in calls()) {
        let scratch = TempDir::new().unwrap();
        let path = scratch.path().join("x.zip");
        let mut pack = PackWriter::create(&path, WriteOptions::default()).unwrap();
        let mut model = Model::default();
        for call in &calls {
            apply(&mut pack, &mut model, call);
        }
        // The rest can be finished after any refusal or failure.
        for name in model.incomplete.clone() {
            pack.remove(&name).unwrap();
        }
        for name in FILES {
            let is_array = name.split_once(".y").is_some_and(|(stem, _)| model.arrays.contains_key(stem));
            if name != "notes.txt"
                && !is_array
                && model.files.contains_key(name)
                && model.remove(name)
            {
                pack.remove(name).unwrap();
            }
        }
        let arrays: Vec<String> = model.arrays.keys().cloned().collect();
        for array in arrays {
            let is_described = model.files.get(&format!("{array}.yaml")).is_some_and(Vec::is_empty)
                && !model.files.contains_key(&format!("{array}.yml"));
            if !model.is_consistent() || !is_described {
                pack.remove(&array).unwrap();
                model.remove(&array);
            }
        }
        let report = pack.finish().unwrap();
        prop_assert!(pack.finish().is_err(), "it is finished");
        let verified = verify(&report.target, &VerifyOptions::default()).unwrap();
        prop_assert!(verified.is_valid(), "{:?}", verified.findings);
        let made = Pack::open(&report.target).unwrap();
        for (name, content) in &model.files {
            let found = made.read(name).unwrap();
            prop_assert!(content.is_empty() || found == *content, "{}", name);
        }
        let members: Vec<_> = made.members().unwrap();
        let files: Vec<_> = members.iter().map(|member| member.name.clone()).collect();
        for name in files.iter().filter(|name| !name.starts_with("manifest")) {
            let is_above = |file: &String| file.starts_with(&format!("{name}/"));
            prop_assert!(model.files.contains_key(&**name) || model.files.keys().any(is_above), "{}", name);
        }
        drop(pack);
        prop_assert_eq!(names_in(scratch.path()).len(), 2);
    }
}

#[test]
fn a_failed_finish_keeps_all_members_of_an_update() {
    for name in ["x.zip", "x.tar.zst"] {
        let (scratch, report) = written(name, WriteOptions::default(), |pack| {
            pack.array("t", &array![1_u8, 2]).write()?;
            pack.file("empty/old.txt", "old".as_bytes())?;
            pack.file("old.txt", "old".as_bytes())
        });
        let archive = report.unwrap().target;
        let mut pack = PackWriter::update(&archive, WriteOptions::default()).unwrap();
        pack.array("g/x", &array![1_u8, 2, 3]).dims(["t"]).write().unwrap();
        for name in ["a", "b", "c"] {
            pack.array(name, &elements(&[500, 70])).write().unwrap();
        }
        assert!(matches!(pack.finish(), Err(Error::Refused { .. })), "{name}");
        pack.remove("g/x").unwrap();
        pack.remove("b").unwrap();
        pack.remove("empty").unwrap();
        pack.array("g/x", &array![1_u8, 2]).dims(["t"]).write().unwrap();
        pack.finish().unwrap();
        let pack = Pack::open(&archive).unwrap();
        let mut arrays = pack.arrays().unwrap();
        arrays.sort();
        assert_eq!(arrays, ["a.ra", "c.ra", "g/x.ra", "t.ra"]);
        assert_eq!(pack.read("old.txt").unwrap(), b"old");
        assert!(!pack.contains("empty").unwrap() && !pack.contains("empty/old.txt").unwrap());
        drop(scratch);
    }
}

#[test]
fn a_failed_sink_does_not_lose_the_members() {
    /// A sink that fails once.
    struct Once(bool, std::sync::Arc<std::sync::Mutex<Vec<u8>>>);
    impl io::Write for Once {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if std::mem::take(&mut self.0) {
                return Err(io::Error::other("the network is down"));
            }
            self.1.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let received = std::sync::Arc::default();
    let sink = Once(true, std::sync::Arc::clone(&received));
    let add = |pack: &mut PackWriter<'_>| {
        pack.array("a", &array![1_u8]).write()?;
        pack.array("long", &elements(&[500, 70])).write()
    };
    let mut pack = PackWriter::new(sink, WriteOptions::default()).unwrap();
    add(&mut pack).unwrap();
    assert!(matches!(pack.finish(), Err(Error::Io { .. })));
    pack.array("later", &elements(&[500, 70])).write().unwrap();
    pack.finish().unwrap();
    let mut again = Vec::new();
    let mut other = PackWriter::new(&mut again, WriteOptions::default()).unwrap();
    add(&mut other).unwrap();
    other.array("later", &elements(&[500, 70])).write().unwrap();
    other.finish().unwrap();
    drop(other);
    assert_eq!(*received.lock().unwrap(), again);
}

#[test]
fn contradictions_are_found_when_an_array_is_added() {
    let scratch = TempDir::new().unwrap();
    let mut pack =
        PackWriter::create(scratch.path().join("x.zip"), WriteOptions::default()).unwrap();
    pack.array("time", &Array::from_elem(24, 1.0)).write().unwrap();
    let long = Array::from_elem(25, 1.0);
    let error = pack.array("x", &long).dims(["time"]).write().unwrap_err();
    let said = "`x.ra`: expected length 24 for the dimension `time`, as in `time.ra`, found 25";
    assert_eq!(error.to_string(), said);
    pack.array("g/x", &long).dims(["station"]).write().unwrap();
    let error = pack.array("g/station", &array![1.0]).write().unwrap_err();
    assert!(error.to_string().contains("found 1"), "{error}");
    let error = pack.array("y", &long).dims(["a/b"]).write().unwrap_err();
    assert!(error.to_string().contains("`a/b`"), "{error}");
    pack.array("y", &long).dims(["n"]).write().unwrap();
    let mut wrong = Attribute::new("range", vec![1, 2]).unwrap();
    wrong.shape = vec![3];
    assert!(matches!(pack.typed_attribute("", wrong.clone()), Err(Error::Refused { .. })));
    assert!(matches!(pack.typed_attribute("g", wrong.clone()), Err(Error::Refused { .. })));
    assert!(pack.array("z", &long).typed_attribute(wrong).write().is_err());
    assert!(matches!(pack.attribute("", 1), Err(Error::Refused { .. })));
    assert_eq!(pack.finish().unwrap().arrays, 3);
}
