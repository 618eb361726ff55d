//! Arrays that grow along their slowest dimension until they are finished.

use std::fs;
use std::io::Write as _;

use proptest::prelude::*;
use ra_pack::archive::Compression;
use ra_pack::ndl::Order;
use ra_pack::ra::{ElementType, Header};
use ra_pack::verify::VerifyOptions;
use ra_pack::write::JournalOptions;
use ra_pack::{Error, Pack, PackWriter, WriteOptions, verify};
use tempfile::TempDir;

use crate::run::names_in;

/// An array, and how it is cut into the pieces that are written.
#[derive(Debug, Clone)]
struct Given {
    others: Vec<u64>,
    length: u64,
    cuts: Vec<usize>,
    is_row: bool,
    is_big_endian: bool,
    is_named: bool,
}

fn given() -> impl Strategy<Value = Given> {
    let others = prop::collection::vec(1_u64..40, 0..3);
    // Some are longer than arrays that wait in memory.
    let cuts = prop::collection::vec(0_usize..70_000, 0..4);
    (others, 0_u64..60, cuts, any::<[bool; 3]>()).prop_map(|(others, length, cuts, flags)| {
        let [is_row, is_big_endian, is_named] = flags;
        Given { others, length, cuts, is_row, is_big_endian, is_named }
    })
}

/// Writes the arrays, each of which grows or is written at once, and returns the archive.
fn archive(name: &str, options: WriteOptions, arrays: &[Given], grows: bool) -> Vec<u8> {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join(name);
    let mut pack = PackWriter::create(&path, options).unwrap();
    for (number, given) in arrays.iter().enumerate() {
        let header = |length| {
            let dims = given.others.iter().copied().chain([length]).collect();
            let header = Header::new(ElementType::INT16, dims).unwrap();
            if given.is_big_endian { header.big_endian() } else { header }
        };
        let len = usize::try_from(header(given.length).data_len()).unwrap();
        let bytes: Vec<u8> = (0..=250).cycle().take(len).collect();
        let order = if given.is_row { Order::Row } else { Order::Column };
        let named =
            given.is_named.then(|| (0..=given.others.len()).map(|nth| format!("d{number}{nth}")));
        let header = header(if grows { 77 } else { given.length });
        let array = pack.array_stream(format!("a{number}"), header).order(order).units("m");
        let array = if let Some(dims) = named { array.dims(dims) } else { array };
        let mut stream =
            if grows { array.grows().begin().unwrap() } else { array.begin().unwrap() };
        let mut cuts: Vec<_> = given.cuts.iter().map(|cut| *cut.min(&bytes.len())).collect();
        cuts.sort_unstable();
        let mut at = 0;
        for cut in cuts.into_iter().chain([bytes.len()]) {
            stream.write_all(&bytes[at..cut]).unwrap();
            at = cut;
        }
        stream.finish().unwrap();
    }
    pack.finish().unwrap();
    assert!(verify(&path, &VerifyOptions::default()).unwrap().is_valid());
    fs::read(path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn arrays_that_grow_have_the_bytes_of_those_written_at_once(
        arrays in prop::collection::vec(given(), 1..5),
        form in 0_usize..5,
    ) {
        let (name, options) = match form {
            0 => ("a.zip", WriteOptions::default()),
            1 => ("a.tar", WriteOptions::default()),
            2 => ("a.tar.gz", WriteOptions::default()),
            3 => {
                let compression = Compression::Deflate { level: None };
                ("a.zip", WriteOptions { compression, ..WriteOptions::default() })
            }
            _ => {
                let journal = Some(JournalOptions { sync_every: 1 });
                ("a.zip", WriteOptions { journal, ..WriteOptions::default() })
            }
        };
        let grown = archive(name, options.clone(), &arrays, true);
        prop_assert!(grown == archive(name, options, &arrays, false));
    }
}

#[test]
fn what_an_array_that_grew_contradicts_is_said_at_its_end() {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("a.zip");
    let mut pack = PackWriter::create(&path, WriteOptions::default()).unwrap();
    let header = Header::new(ElementType::UINT8, vec![4, 0]).unwrap();
    for (name, dims, written, expected) in [
        ("a", ["x", "t"], 9, "`a.ra`: expected whole slices of 4 bytes, found 9 bytes"),
        ("a", ["x", "t"], 8, ""),
        (
            "b",
            ["x", "t"],
            12,
            "`b.ra`: expected length 2 for the dimension `t`, as in `a.ra`, found 3",
        ),
        (
            "b",
            ["t", "x"],
            8,
            "`b.ra`: expected length 2 for the dimension `t`, as in `a.ra`, found 4",
        ),
        ("b", ["x", "t"], 8, ""),
    ] {
        let mut stream =
            pack.array_stream(name, header.clone()).dims(dims).grows().begin().unwrap();
        stream.write_all(&vec![1; written]).unwrap();
        match stream.finish() {
            Ok(()) => assert_eq!(expected, ""),
            Err(error) => {
                assert_eq!(error.to_string(), expected);
                assert!(matches!(pack.finish(), Err(Error::Incomplete { .. })));
            }
        }
    }
    for dims in [vec![], vec![0, 5]] {
        let header = Header::new(ElementType::UINT8, dims).unwrap();
        let error = pack.array_stream("c", header).grows().begin().unwrap_err().to_string();
        let reason = "an array cannot grow without dimensions, or if another one has the length 0";
        assert_eq!(error, format!("`c`: {reason}"));
    }
    // Nothing was begun.
    pack.finish().unwrap();
    let pack = Pack::open(&path).unwrap();
    assert_eq!(pack.array("b.ra").unwrap().header().unwrap().dims(), [4, 2]);
    assert_eq!(names_in(scratch.path()), ["a.zip", "a.zip.manifest-sha256.txt"]);
}
