//! Arrays whose data other processes write to their place in the archive.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use ndarray::{Array2, array};
use ra_pack::archive::Compression;
use ra_pack::ra::{ElementType, Header};
use ra_pack::verify::VerifyOptions;
use ra_pack::write::JournalOptions;
use ra_pack::{Error, Pack, PackWriter, WriteOptions, verify};
use tempfile::TempDir;

use crate::run::names_in;

/// Longer than arrays that wait in memory.
const SHAPE: (usize, usize) = (200, 300);

fn header() -> Header {
    Header::new(ElementType::UINT16, vec![300, 200]).unwrap()
}

fn elements() -> Array2<u16> {
    Array2::from_shape_fn(SHAPE, |(i, j)| u16::try_from(i * 300 + j).unwrap())
}

/// Opens the file as another process does.
fn open(path: &Path) -> File {
    OpenOptions::new().write(true).open(path).unwrap()
}

fn write_at(file: &mut File, offset: u64, bytes: &[u8]) {
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn placed_data_gives_the_bytes_of_a_writer_that_writes_it() {
    let bytes: Vec<u8> = elements().iter().flat_map(|element| element.to_le_bytes()).collect();
    for name in ["a.zip", "a.tar"] {
        let made = [false, true].map(|is_placed| {
            let scratch = TempDir::new().unwrap();
            let archive = scratch.path().join(name);
            let mut pack = PackWriter::create(&archive, WriteOptions::default()).unwrap();
            pack.array("before", &elements()).write().unwrap();
            let mut stream = pack.array_stream("a", header()).dims(["x", "t"]).begin().unwrap();
            if is_placed {
                let (path, offset) = stream.place().unwrap().unwrap();
                let mut file = open(&path);
                // The end first: the file is as long as it needs to be.
                assert!(file.metadata().unwrap().len() >= offset + bytes.len() as u64);
                write_at(&mut file, offset + 60_000, &bytes[60_000..]);
                write_at(&mut file, offset, &bytes[..60_000]);
                stream.finish_placed().unwrap();
            } else {
                stream.write_all(&bytes).unwrap();
                stream.finish().unwrap();
            }
            pack.array("after", &elements()).write().unwrap();
            pack.finish().unwrap();
            assert!(verify(&archive, &VerifyOptions::default()).unwrap().is_valid());
            fs::read(archive).unwrap()
        });
        assert_eq!(made[0], made[1], "{name}");
    }
}

#[test]
fn data_has_no_place_where_this_writer_must_write_it() {
    let scratch = TempDir::new().unwrap();
    let place = |pack: &mut PackWriter<'_>, header| {
        let mut stream = pack.array_stream("a", header).begin().unwrap();
        let place = stream.place().unwrap();
        let refused = stream.finish_placed().unwrap_err().to_string();
        assert_eq!(refused, "`a.ra`: other processes did not write this array");
        place
    };
    let create = |options| PackWriter::create(scratch.path().join("a.zip"), options).unwrap();
    let deflate = Compression::Deflate { level: None };
    let compressed = WriteOptions { compression: deflate, ..WriteOptions::default() };
    assert_eq!(place(&mut create(compressed), header()), None);
    let journal = Some(JournalOptions::default());
    let journal = WriteOptions { journal, ..WriteOptions::default() };
    assert_eq!(place(&mut create(journal), header()), None);
    let sink = PackWriter::new(Vec::new(), WriteOptions::default());
    assert_eq!(place(&mut sink.unwrap(), header()), None);
    let short = Header::new(ElementType::UINT16, vec![3]).unwrap();
    assert_eq!(place(&mut create(WriteOptions::default()), short), None);

    let mut pack = create(WriteOptions::default());
    let mut stream = pack.array_stream("a", header()).begin().unwrap();
    stream.write_elements(&[0_u16]).unwrap();
    assert_eq!(stream.place().unwrap(), None);
}

#[test]
fn late_processes_do_not_write_to_what_replaces_a_dropped_array() {
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("a.zip");
    let mut pack = PackWriter::create(&archive, WriteOptions::default()).unwrap();
    pack.array("before", &elements()).write().unwrap();
    let mut stream = pack.array_stream("a", header()).begin().unwrap();
    let (path, offset) = stream.place().unwrap().unwrap();
    let mut late = open(&path);
    drop(stream);
    assert!(matches!(pack.finish(), Err(Error::Incomplete { .. })));
    pack.array("a", &elements()).write().unwrap();
    assert!(!path.exists());
    write_at(&mut late, 0, &vec![7; usize::try_from(offset).unwrap() + 120_000]);
    pack.array("small", &array![1_u8]).write().unwrap();
    pack.finish().unwrap();
    assert!(verify(&archive, &VerifyOptions::default()).unwrap().is_valid());
    let pack = Pack::open(&archive).unwrap();
    assert_eq!(pack.array("a.ra").unwrap().read::<u16>().unwrap(), elements().into_dyn());
    assert_eq!(names_in(scratch.path()), ["a.zip", "a.zip.manifest-sha256.txt"]);
}

#[test]
fn bytes_that_change_after_the_digest_are_reported() {
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("a.zip");
    let mut pack = PackWriter::create(&archive, WriteOptions::default()).unwrap();
    let mut stream = pack.array_stream("a", header()).begin().unwrap();
    let (path, offset) = stream.place().unwrap().unwrap();
    let mut late = open(&path);
    stream.finish_placed().unwrap();
    pack.finish().unwrap();
    assert!(!path.exists());
    write_at(&mut late, offset, &[1]);
    let report = verify(&archive, &VerifyOptions::default()).unwrap();
    assert!(report.findings.iter().any(|finding| finding.member.as_deref() == Some("a.ra")));
    assert!(!report.is_valid());
}
