//! Packs in memory, in readers and in custom stores give the same contents as in a file.

use std::io::{self, Cursor};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ra_pack::digest::Algorithm;
use ra_pack::read::{ReadAt, Seekable};
use ra_pack::verify::VerifyOptions;
use ra_pack::write::CreateOptions;
use ra_pack::{Error, Pack, Progress, create};
use tempfile::TempDir;

const CONTAINERS: [&str; 4] = ["a.zip", "a.tar", "a.tar.gz", "a.tar.zst"];

/// Returns the sample experiment as an archive.
fn packed(name: &str) -> Vec<u8> {
    let place = TempDir::new().unwrap();
    let archive = place.path().join(name);
    create(Path::new("examples/experiment"), &archive, &CreateOptions::default()).unwrap();
    std::fs::read(archive).unwrap()
}

/// Name and content of a file, and its shape if it is an array.
type File = (String, Vec<u8>, Vec<u64>);

/// Reads all files and arrays of a pack.
fn contents(pack: &Pack) -> ra_pack::Result<Vec<File>> {
    let members = pack.members()?.into_iter().map(|member| member.name);
    let mut names: Vec<_> = members.filter(|name| name.contains('.')).collect();
    names.sort();
    let content = |name: String| {
        let array = pack.array(&name)?;
        let shape = if Path::new(&name).extension().is_some_and(|extension| extension == "ra") {
            array.read_any()?;
            array.shape()?
        } else {
            Vec::new()
        };
        Ok((name.clone(), pack.read(&name)?, shape))
    };
    names.into_iter().map(content).collect()
}

/// Store with a function that answers reads.
struct Store<F> {
    len: u64,
    read: F,
}

impl<F: Fn(u64, &mut [u8]) -> io::Result<usize> + Send + Sync> ReadAt for Store<F> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (self.read)(offset, buffer)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }
}

#[test]
fn a_source_gives_the_same_contents_as_a_file() {
    for name in CONTAINERS {
        let bytes = packed(name);
        let place = TempDir::new().unwrap();
        let path = place.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let expected = contents(&Pack::open(&path).unwrap()).unwrap();
        assert!(expected.len() >= 20, "{name}");

        let by_one = bytes.clone();
        let one_byte = Store {
            len: by_one.len() as u64,
            read: move |offset, buffer: &mut [u8]| {
                let few = buffer.len().min(1);
                by_one.read_at(offset, &mut buffer[..few])
            },
        };
        let leaked: &'static [u8] = bytes.clone().leak();
        let cut = Cursor::new([&bytes[..], b"no more of it"].concat());
        let packs = [
            Pack::open_source(bytes.clone()),
            Pack::open_source(leaked),
            Pack::open_source(Arc::<[u8]>::from(bytes.clone())),
            Pack::open_source(Seekable::new(Cursor::new(bytes.clone()))),
            Pack::open_source(std::fs::File::open(&path).unwrap()),
            Pack::open_source(Store {
                len: bytes.len() as u64,
                read: move |offset, buffer: &mut [u8]| cut.get_ref().read_at(offset, buffer),
            }),
            Pack::open_source(one_byte),
        ];
        for (nth, pack) in packs.into_iter().enumerate() {
            let pack = pack.unwrap();
            assert_eq!(contents(&pack).unwrap(), expected, "{name}, {nth}");
            assert_eq!(pack.file_size().unwrap(), Some(bytes.len() as u64));
        }
    }
}

#[test]
fn a_failed_read_of_a_source_is_an_error_with_its_name() {
    for name in CONTAINERS {
        let bytes = packed(name);
        let len = bytes.len() as u64;
        // Lets each read fail in turn.
        let mut calls = 0;
        for fails in 0.. {
            let (bytes, nth) = (bytes.clone(), Arc::new(AtomicU64::new(0)));
            let count = Arc::clone(&nth);
            let read = move |offset, buffer: &mut [u8]| match count.fetch_add(1, Ordering::Relaxed)
            {
                now if now == fails => Err(io::Error::other("the store is away")),
                _ => bytes.read_at(offset, buffer),
            };
            let store = Store { len, read };
            let pack = Pack::open_source_watched(store, "s3://bucket/a", &Progress::default());
            let result = pack.and_then(|pack| contents(&pack));
            calls = nth.load(Ordering::Relaxed);
            match result {
                Err(Error::Io { path, source, .. }) => {
                    assert_eq!(path, Path::new("s3://bucket/a"));
                    assert_eq!(source.to_string(), "the store is away");
                }
                Err(error) => panic!("{name}, {fails}: {error:?}"),
                Ok(_) if fails >= calls => break,
                // A line of a manifest is then searched for in the whole manifest.
                Ok(_) => {}
            }
            assert!(fails < 2000, "{name}: {calls}");
        }
        assert!(calls > 2, "{name}");
    }
}

#[test]
fn a_source_with_a_wrong_length_is_an_error() {
    for name in CONTAINERS {
        let bytes = packed(name);
        let len = bytes.len() as u64;
        let whole = contents(&Pack::open_source(bytes.clone()).unwrap()).unwrap();
        for wrong in [0, 1, 100, len / 2, len - 1, len + 1, len + 1000, 1 << 40, u64::MAX] {
            let bytes = bytes.clone();
            let read = move |offset, buffer: &mut [u8]| bytes.read_at(offset, buffer);
            let pack =
                Pack::open_source_watched(Store { len: wrong, read }, name, &Progress::default());
            // Bytes after the end of a tar are not read; a tar cut between members has fewer members.
            let result = pack.and_then(|pack| contents(&pack));
            assert!(result.is_err() || wrong > len || name == "a.tar", "{name}: {wrong}");
            assert!(!result.is_ok_and(|found| found == whole) || wrong > len, "{name}: {wrong}");
        }
        let bytes = bytes.clone();
        let read = move |offset, buffer: &mut [u8]| {
            bytes.read_at(offset, buffer)?;
            Ok(buffer.len() + 1)
        };
        let error = Pack::open_source(Store { len, read }).unwrap_err();
        let Error::Io { source, .. } = error else { panic!("{error:?}") };
        assert!(source.to_string().contains("for a buffer of"), "{source}");
    }
}

#[test]
fn reading_a_source_can_be_cancelled() {
    let progress = Progress::new();
    let pack = Pack::open_source_watched(packed("a.zip"), "a", &progress).unwrap();
    assert!(pack.read("time.ra").is_ok());
    progress.cancel();
    assert!(matches!(pack.read("time.ra"), Err(Error::Interrupted)));
}

#[test]
fn verify_reads_a_compressed_tar_once_and_once_more_for_all_that_is_late() {
    let place = TempDir::new().unwrap();
    let source = place.path().join("source");
    std::fs::create_dir(&source).unwrap();
    // Bytes that cannot be compressed.
    let noise = std::iter::successors(Some(1_u64), |seed| {
        Some(seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    });
    let noise: Vec<u8> =
        noise.take(300_000).flat_map(|seed| seed.to_be_bytes()[..6].to_vec()).collect();
    std::fs::write(source.join("noise.bin"), noise).unwrap();
    let late = CreateOptions {
        digests: vec![Algorithm::Sha256, Algorithm::Sha512],
        block_digests: Some(1 << 16),
        ..CreateOptions::default()
    };
    for (options, passes) in [(CreateOptions::default(), 1), (late, 2)] {
        for name in ["a.tar.gz", "a.tar.zst"] {
            let archive = place.path().join(format!("{passes}{name}"));
            create(&source, &archive, &options).unwrap();
            let bytes = std::fs::read(archive).unwrap();
            let (len, read) = (bytes.len() as u64, Arc::new(AtomicU64::new(0)));
            let counter = Arc::clone(&read);
            let counting = move |offset, buffer: &mut [u8]| {
                let count = bytes.read_at(offset, buffer)?;
                counter.fetch_add(count as u64, Ordering::Relaxed);
                Ok(count)
            };
            let pack = Pack::open_source(Store { len, read: counting }).unwrap();
            assert!(pack.verify(&VerifyOptions::default()).unwrap().is_valid());
            // The beginning and the end are read to know what it is.
            let read = read.load(Ordering::Relaxed);
            assert!(
                (passes * len..passes * len + len / 4).contains(&read),
                "{name}: {read} of {len}"
            );
        }
    }
}
