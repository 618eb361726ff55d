//! Blocks of elements and readers of files give the same data as a complete read, and are checked at their end.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use ra_pack::archive::Compression;
use ra_pack::ra::Element;
use ra_pack::write::{CreateOptions, Layout};
use ra_pack::{Error, Pack, create};
use tempfile::TempDir;

use crate::cancel;
use crate::experiment::{Experiment, FLOAT64, INT16, UINT8, le, raw_array};

const WAYS: [(&str, Compression, Layout); 7] = [
    ("a.zip", Compression::Stored, Layout::Plain),
    ("a.zip", Compression::Deflate { level: None }, Layout::Plain),
    ("a.zip", Compression::Zstd { level: None }, Layout::BagIt),
    ("a.tar", Compression::Stored, Layout::Plain),
    ("a.tar", Compression::Stored, Layout::BagIt),
    ("a.tar.gz", Compression::Stored, Layout::Plain),
    ("a.tar.zst", Compression::Stored, Layout::Plain),
];

fn numbers() -> Vec<u8> {
    le(f64::to_le_bytes, (0..30_000_u16).map(|number| f64::from(number).sqrt()))
}

fn source() -> Experiment {
    let mut big = raw_array(INT16, &[3, 2], &le(i16::to_be_bytes, 1..=6));
    big[8] = 1; // big-endian
    // An LZ4 block of literals.
    let mut encoded = b"rawarray".to_vec();
    encoded.extend([2, 2, 1, 9, 1, 8].into_iter().flat_map(u64::to_le_bytes));
    encoded.extend([0x80, 1, 2, 3, 4, 5, 6, 7, 8]);
    let mut trailing = raw_array(UINT8, &[4], &[1, 2, 3, 4]);
    trailing.extend(b"and more");
    Experiment::new()
        .array("long.ra", FLOAT64, &[30, 1000], &numbers())
        .array("empty.ra", FLOAT64, &[0, 7], &[])
        .array("scalar.ra", FLOAT64, &[], &1.5_f64.to_le_bytes())
        .file("big.ra", big)
        .file("encoded.ra", encoded)
        .file("trailing.ra", trailing)
        .file("void.txt", "")
        .file("notes.txt", "a note\n".repeat(100_000))
}

fn pack(source: &Path, target: &Path, (compression, layout): (Compression, Layout)) -> Pack {
    let options = CreateOptions { compression, layout, describe: true, ..CreateOptions::default() };
    create(source, target, &options).unwrap();
    Pack::open(target).unwrap()
}

/// Checks that the blocks of an array hold its elements at the stated indices.
fn assert_blocks<T: Element + PartialEq + std::fmt::Debug>(
    pack: &Pack,
    name: &str,
    has_manifest: bool,
) {
    let array = pack.array(name).unwrap();
    let whole = array.read_raw::<T>().unwrap();
    for elements in [0, 1, 7, 1000, 29_999, 30_000, usize::MAX] {
        if elements < 2 && whole.data().len() > 100 {
            continue;
        }
        let mut blocks = array.blocks::<T>(elements).unwrap();
        let mut found = Vec::new();
        for block in &mut blocks {
            let block = block.unwrap();
            assert_eq!(block.start, found.len() as u64);
            assert!((1..=elements.max(1)).contains(&block.elements.len()));
            found.extend(block.elements);
        }
        assert_eq!(found, whole.data(), "{name}");
        assert_eq!(blocks.is_verified(), has_manifest, "{name}");
        assert!(blocks.next().is_none());
        assert_eq!(blocks.finish().unwrap(), has_manifest);
    }
}

fn assert_streams(pack: &Pack, has_manifest: bool) {
    assert_blocks::<f64>(pack, "long.ra", has_manifest);
    assert_blocks::<f64>(pack, "empty.ra", has_manifest);
    assert_blocks::<f64>(pack, "scalar.ra", has_manifest);
    assert_blocks::<i16>(pack, "big.ra", has_manifest);
    assert_blocks::<u8>(pack, "encoded.ra", has_manifest);
    assert_blocks::<u8>(pack, "trailing.ra", has_manifest);
    for name in ["long.ra", "void.txt", "notes.txt"] {
        let mut content = Vec::new();
        let mut reader = pack.reader(name).unwrap();
        assert!(!reader.is_verified());
        reader.read_to_end(&mut content).unwrap();
        assert_eq!(content, pack.read(name).unwrap());
        assert_eq!(reader.is_verified(), has_manifest, "{name}");
        assert_eq!(reader.read(&mut [0; 10]).unwrap(), 0);
        assert_eq!(reader.finish().unwrap(), has_manifest);
    }
}

#[test]
fn streams_give_the_same_data_as_a_complete_read() {
    let source = source();
    assert_streams(&Pack::open(source.path()).unwrap(), false);
    for (name, compression, layout) in WAYS {
        let place = TempDir::new().unwrap();
        assert_streams(&pack(source.path(), &place.path().join(name), (compression, layout)), true);
    }
}

#[test]
fn an_unfinished_stream_is_an_error_and_blocks_no_other_reader() {
    let source = source();
    for (name, compression, layout) in WAYS {
        let place = TempDir::new().unwrap();
        let pack = pack(source.path(), &place.path().join(name), (compression, layout));
        let array = pack.array("long.ra").unwrap();
        let mut blocks = array.blocks::<f64>(100).unwrap();
        let mut reader = pack.reader("notes.txt").unwrap();
        for nth in 0..5 {
            assert_eq!(blocks.next().unwrap().unwrap().start, nth * 100);
            let mut line = [0; 7];
            reader.read_exact(&mut line).unwrap();
            assert_eq!(&line, b"a note\n");
            // Other reads work at the same time.
            assert_eq!(array.read::<f64>().unwrap().len(), 30_000);
        }
        assert!(!blocks.is_verified() && !reader.is_verified());
        drop(blocks);
        assert!(reader.finish().unwrap(), "{name}");
        let mut blocks = array.blocks::<f64>(100).unwrap();
        blocks.next();
        assert!(blocks.finish().unwrap());
        assert!(matches!(array.blocks::<f32>(100), Err(Error::Array { .. })));
        let unverified = array.unverified().blocks::<f64>(100).unwrap();
        assert!(!unverified.finish().unwrap());
    }
}

#[test]
fn damage_at_the_end_is_reported_with_the_last_block() {
    let source = source();
    let place = TempDir::new().unwrap();
    let last = numbers().split_off(30_000 * 8 - 8);
    for name in ["a.zip", "a.tar", "a.tar.zst", "directory"] {
        let target = place.path().join(name);
        if name == "directory" {
            pack(source.path(), &place.path().join("b.zip"), (Compression::Stored, Layout::Plain));
            let options = ra_pack::write::ExtractOptions::default();
            ra_pack::extract(place.path().join("b.zip"), &target, &options).unwrap();
            let file = target.join("long.ra");
            let mut bytes = fs::read(&file).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(&file, bytes).unwrap();
        } else {
            pack(source.path(), &target, (Compression::Stored, Layout::Plain));
            let mut bytes = fs::read(&target).unwrap();
            if name == "a.tar.zst" {
                bytes = zstd::decode_all(&bytes[..]).unwrap();
            }
            let at = bytes.windows(8).position(|window| window == last).unwrap();
            bytes[at] ^= 1;
            if name == "a.tar.zst" {
                bytes = zstd::encode_all(&bytes[..], 1).unwrap();
            }
            fs::write(&target, bytes).unwrap();
        }
        let pack = Pack::open(&target).unwrap();
        let array = pack.array("long.ra").unwrap();
        for elements in [1000, 777, 30_000] {
            let mut blocks = array.blocks::<f64>(elements).unwrap();
            let sound = (&mut blocks).take_while(Result::is_ok).count();
            assert_eq!(sound, 30_000_usize.div_ceil(elements) - 1, "{name}");
            assert!(blocks.next().is_none() && !blocks.is_verified());
            assert!(blocks.finish().is_err());
        }
        let mut blocks = array.blocks::<f64>(30_000).unwrap();
        let error = blocks.next().unwrap().unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{name}: {error:?}");
        assert!(matches!(array.blocks::<f64>(9).unwrap().finish(), Err(Error::Damaged { .. })));

        let mut reader = pack.reader("long.ra").unwrap();
        let size = array.file_size();
        let mut content = vec![0; usize::try_from(size).unwrap()];
        let error = reader.read_exact(&mut content).unwrap_err().downcast::<Error>();
        assert!(matches!(error, Ok(Error::Damaged { .. })), "{name}: {error:?}");
        assert!(reader.read(&mut content).is_err() && !reader.is_verified());
    }
}

#[test]
#[ignore = "slow"]
fn blocks_of_an_array_larger_than_memory_are_read() {
    const MANY: usize = 1 << 20;
    let place = TempDir::new().unwrap();
    cancel::long_array(place.path());
    let stream = place.path().join("a.tar.zst");
    cancel::long_stream(&stream, cancel::zstd);
    for target in [place.path(), &stream] {
        let pack = Pack::open(target).unwrap();
        let array = pack.array("long.ra").unwrap();
        assert!(array.header().unwrap().elements() > cancel::LONG / 2);
        let mut blocks = array.blocks::<u8>(MANY).unwrap();
        for nth in 0..100 {
            let block = blocks.next().unwrap().unwrap();
            assert_eq!(block.start, nth * MANY as u64);
            assert_eq!(block.elements, [0; 4].repeat(MANY / 4));
        }
        assert!(!blocks.is_verified());
        let mut start = [0; 8];
        pack.reader("long.ra").unwrap().read_exact(&mut start).unwrap();
        assert_eq!(&start, b"rawarray");
        // Memory limits by archive size do not apply to a directory.
        let all = array.blocks::<u8>(usize::MAX);
        assert!(target == place.path() || matches!(all, Err(Error::TooLarge { .. })));
    }
}
