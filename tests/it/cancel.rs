//! A cancelled operation ends soon, leaves no partial output, and returns `Error::Interrupted`.

use std::fs::{self, File};
use std::io::{Write as _, sink};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ra_pack::archive::Compression;
use ra_pack::convert::{ArrayFormat, ConvertOptions};
use ra_pack::convert::{GetOptions, get_to};
use ra_pack::describe::{DescribeOptions, describe_target};
use ra_pack::diff::{DiffOptions, diff_arrays, diff_members};
use ra_pack::inspect::ListOptions;
use ra_pack::inspect::ValidateOptions;
use ra_pack::inspect::{InfoOptions, OutlineOptions, outline};
use ra_pack::progress::Snapshot;
use ra_pack::read::StatisticsOptions;
use ra_pack::verify::{VerifyOptions, VerifyReport, verify_each};
use ra_pack::write::ExtractOptions;
use ra_pack::write::{CreateOptions, ManifestOptions, manifest_of};
use ra_pack::{
    Error, Pack, Progress, Result, convert, create, diff, extract, get, info, list, validate,
    verify,
};
use tempfile::TempDir;

use crate::experiment::Experiment;
use crate::raw_tar;

/// Size of a sparse array that takes longer to read than any test waits, in bytes.
pub(crate) const LONG: u64 = 1 << 36;

/// Longest time until a cancelled operation ends. Other tests use the processors at the same time.
const BOUND: Duration = Duration::from_secs(3);

fn header(len: u64) -> Vec<u8> {
    let fields = [0, 2, 1, len, 1, len].map(u64::to_le_bytes);
    [b"rawarray", fields.as_flattened()].concat()
}

/// Writes a long array into a directory and returns its path.
pub(crate) fn long_array(directory: &Path) -> PathBuf {
    let path = directory.join("long.ra");
    let mut file = File::create(&path).unwrap();
    file.write_all(&header(LONG)).unwrap();
    file.set_len(LONG + 56).unwrap();
    path
}

/// Writes a compressed tar of a long array, as a stream of many equal frames or gzip members.
pub(crate) fn long_stream(path: &Path, pack: fn(&[u8]) -> Vec<u8>) {
    const TIMES: u64 = 1 << 10;
    const PIECE: u64 = 1 << 26;
    let mut entry = raw_tar::Entry::file("long.ra", &[]);
    let len = TIMES * PIECE - 512;
    let mut size = [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    size[4..].copy_from_slice(&len.to_be_bytes());
    entry.size = Some(size);
    let tar = raw_tar::tar(&[entry]);
    let mut first = [&tar[..512], &header(len - 56)].concat();
    first.resize(usize::try_from(PIECE).unwrap(), 0);
    let zeros = pack(&vec![0; usize::try_from(PIECE).unwrap()]);
    let mut file = File::create(path).unwrap();
    file.write_all(&pack(&first)).unwrap();
    for _ in 1..TIMES {
        file.write_all(&zeros).unwrap();
    }
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Runs an operation that would take minutes, and cancels it from another thread after it has started.
fn is_cancelled<T>(name: &str, run: impl FnOnce(&Progress) -> Result<T>) {
    let (progress, has_ended) = (Progress::new(), AtomicBool::new(false));
    let (result, took) = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let is_at_work = |now: Snapshot| now.bytes > 0 || now.current.is_some();
            while !is_at_work(progress.snapshot()) && !has_ended.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(2));
            }
            thread::sleep(Duration::from_millis(20));
            progress.cancel();
            Instant::now()
        });
        let result = run(&progress);
        let ended = Instant::now();
        has_ended.store(true, Ordering::Relaxed);
        (result, ended.saturating_duration_since(watcher.join().unwrap()))
    });
    assert!(matches!(result, Err(Error::Interrupted)), "{name}: {:?}", result.err());
    assert!(took < BOUND, "{name}: {took:?}");
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_cancelled_write_leaves_nothing() {
    let (place, outputs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let source = place.path();
    let long = long_array(source);
    fs::write(
        source.join("long.yaml"),
        format!("ndarrays:\n  long: {{shape: [{LONG}], type: uint8}}\n"),
    )
    .unwrap();
    let output = |name: &str| outputs.path().join(name);
    let deflate = Compression::Deflate { level: None };
    for (name, compression) in [
        ("a.zip", Compression::Stored),
        ("a.zip", deflate),
        ("a.tar", Compression::Stored),
        ("a.tar.gz", Compression::Stored),
        ("a.tar.zst", Compression::Zstd { level: Some(3) }),
    ] {
        for jobs in [1, 2] {
            is_cancelled(name, |progress| {
                let progress = progress.clone();
                let options = CreateOptions {
                    progress,
                    compression,
                    jobs: Some(jobs),
                    ..CreateOptions::default()
                };
                create(source, output(name), &options)
            });
        }
    }
    for name in ["a.npy", "a.ra", "a.npz", "a.csv", "a.zip"] {
        is_cancelled(name, |progress| {
            let options =
                ConvertOptions { progress: progress.clone(), ..ConvertOptions::default() };
            convert(&long, output(name), &options)
        });
    }
    for format in [None, Some(ArrayFormat::Npy), Some(ArrayFormat::Csv)] {
        is_cancelled("get", |progress| {
            let options =
                GetOptions { progress: progress.clone(), format, ..GetOptions::default() };
            get(source, "long.ra", output("a"), &options)
        });
    }
    for (name, pack) in [("a.tar.zst", zstd as fn(&[u8]) -> _), ("a.tar.gz", gzip)] {
        let stream = source.join(name);
        long_stream(&stream, pack);
        is_cancelled(name, |progress| {
            let options =
                ExtractOptions { progress: progress.clone(), ..ExtractOptions::default() };
            extract(&stream, output("out"), &options)
        });
    }
    assert_eq!(names(outputs.path()), [""; 0]);
}

#[test]
fn reading_can_be_cancelled() {
    let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let arrays = [&one, &other].map(|place| long_array(place.path()));
    let [a, b] = [one.path(), other.path()];
    let stream = a.join("../").join(a.file_name().unwrap()).with_extension("tar.zst");
    long_stream(&stream, zstd);
    for target in [a, &stream] {
        is_cancelled("verify", |progress| {
            let options = VerifyOptions { progress: progress.clone(), ..VerifyOptions::default() };
            verify(target, &options)
        });
        is_cancelled("verify of several", |progress| {
            let options = VerifyOptions { progress: progress.clone(), ..VerifyOptions::default() };
            let targets = [target, target].map(|target| Ok(target.to_owned()));
            let ended = |report: &mut VerifyReport| panic!("the target has a report: {report:?}");
            verify_each(targets, &options, ended, |_| ControlFlow::Continue(()))
        });
        is_cancelled("manifest", |progress| {
            let options =
                ManifestOptions { progress: progress.clone(), ..ManifestOptions::default() };
            manifest_of(target, &options)
        });
        is_cancelled("statistics", |progress| {
            let pack = Pack::open_watched(target, progress)?;
            pack.array("long.ra")?.statistics(&StatisticsOptions::default())
        });
        is_cancelled("copy", |progress| {
            Pack::open_watched(target, progress)?.copy_to("long.ra", &mut sink())
        });
        is_cancelled("get to", |progress| {
            let options = GetOptions { progress: progress.clone(), ..GetOptions::default() };
            get_to(target, "long.ra", &mut sink(), &options)
        });
        is_cancelled("diff of members", |progress| {
            let options = DiffOptions { progress: progress.clone(), ..DiffOptions::default() };
            diff_members(target, b, "long.ra", &options)
        });
        is_cancelled("diff of packs", |progress| {
            let options = DiffOptions { progress: progress.clone(), ..DiffOptions::default() };
            diff(b, target, &options)
        });
    }
    for (name, list) in [
        (
            "list",
            (|target, progress| {
                let options = ListOptions { progress: progress.clone(), ..ListOptions::default() };
                list(target, &options).map(drop)
            }) as fn(&Path, &Progress) -> Result<()>,
        ),
        ("validate", |target, progress| {
            let options =
                ValidateOptions { progress: progress.clone(), ..ValidateOptions::default() };
            validate(target, &options).map(drop)
        }),
        ("info", |target, progress| {
            let options = InfoOptions { progress: progress.clone(), ..InfoOptions::default() };
            info(target, &options).map(drop)
        }),
        ("outline", |target, progress| {
            let options =
                OutlineOptions { progress: progress.clone(), ..OutlineOptions::default() };
            outline(target, &options).map(drop)
        }),
        ("describe", |target, progress| {
            let options =
                DescribeOptions { progress: progress.clone(), ..DescribeOptions::default() };
            describe_target(target, &options).map(drop)
        }),
    ] {
        is_cancelled(name, |progress| list(&stream, progress));
    }
    is_cancelled("diff of arrays", |progress| {
        let options = DiffOptions { progress: progress.clone(), ..DiffOptions::default() };
        diff_arrays(&arrays[0], &arrays[1], &options)
    });
    fs::remove_file(stream).unwrap();
}

#[test]
fn reading_many_or_no_arrays_can_be_cancelled() {
    let source = Experiment::standard();
    let names = vec!["run1/temperature.ra"; 1 << 20];
    for name in ["a.zip", "a.tar.zst"] {
        let place = TempDir::new().unwrap();
        let archive = place.path().join(name);
        create(source.path(), &archive, &CreateOptions::default()).unwrap();
        is_cancelled(name, |progress| {
            let pack = Pack::open_watched(&archive, progress)?;
            pack.read_each(&names, None, |array| Ok::<_, Error>(array.read::<f32>()?.len()))
        });
        // Cancelled before the operation begins.
        let progress = Progress::new();
        progress.cancel();
        let options = VerifyOptions { progress: progress.clone(), ..VerifyOptions::default() };
        assert!(matches!(verify(&archive, &options), Err(Error::Interrupted)));
        let options = CreateOptions { progress, force: true, ..CreateOptions::default() };
        let before = fs::read(&archive).unwrap();
        let again = create(source.path(), &archive, &options);
        assert!(matches!(again, Err(Error::Interrupted)), "{again:?}");
        assert_eq!(fs::read(&archive).unwrap(), before);
    }
}
