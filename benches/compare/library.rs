//! Arrays read in one process: by the library, by other crates, and by Python.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use ra_pack::{Pack, PackWriter, RawArray, WriteOptions};

use super::commands::{PYTHON, create};
use super::contestant::Kind;
use super::in_process::with_rawzip;
use super::measure::{Sample, succeeds};
use super::runner::Bench;
use super::samples::{Group, Row};
use super::workloads::{Tree, Workload};

/// The readers in the process of the samples.
const ONE: [(&str, Kind, &str); 4] = [
    ("Pack::open and one array", Kind::Ours, "checked against the manifest"),
    ("Pack::open and one array, unverified", Kind::Ours, "CRC-32"),
    ("rawzip, locate and scan", Kind::Limit, "CRC-32"),
    ("zip crate", Kind::Peer, "CRC-32; indexes all names"),
];
const READ: [(&str, Kind, &str); 4] = [
    ("Pack", Kind::Ours, "one zip, each array checked against the manifest"),
    ("Pack::read_each", Kind::Ours, "the same on both cores"),
    ("RawArray", Kind::Ours, "`.ra` files, no checksum"),
    ("rawarray crate", Kind::Peer, "`.ra` files, no checksum"),
];
const WRITE: [(&str, Kind, &str); 3] = [
    ("PackWriter", Kind::Ours, "one zip with descriptions and digests"),
    ("RawArray", Kind::Ours, "`.ra` files, no checksum"),
    ("rawarray crate", Kind::Peer, "`.ra` files, no checksum"),
];
/// Python writes and reads these. The paper of RawArray compares with HDF5 and PNG, and the page of `.ds` with `NetCDF`.
const PYTHON_FORMATS: [(&str, &str, &str); 6] = [
    ("h5py", "h5", "one file, no checksum"),
    ("NumPy", "npz", "one `.npz`, CRC-32"),
    ("h5py, a file each", "h5s", "no checksum"),
    ("netCDF4, a file each", "nc", "no checksum"),
    ("numpy.save", "npy", "`.npy` files, no checksum"),
    ("Pillow", "png", "PNG files, compressed"),
];
/// Above this number of arrays, no HDF5 or `NetCDF` file is written for each.
const MOST_FILES: u64 = 10_000;
const VIEW: [(&str, Kind, &str); 1] = [("Pack::map and view", Kind::Ours, "no copy")];

/// Measures one array of 100,000, all arrays of the workloads in the paper of RawArray, and a view.
pub(crate) fn run(bench: &Bench<'_>) {
    let one = Workload::Vectors;
    in_process(bench, "one", &ONE, one, "W1");
    for workload in Workload::OF_THE_PAPER {
        if bench.options.workloads.contains(&workload) {
            in_process(bench, "write", &WRITE, workload, &workload.name());
            in_process(bench, "read", &READ, workload, &workload.name());
        }
    }
    for workload in [Workload::Tiny, Workload::Large] {
        in_process(bench, "view", &VIEW, workload, &workload.name());
    }
}

fn in_process(
    bench: &Bench<'_>,
    job: &str,
    readers: &[(&str, Kind, &str)],
    workload: Workload,
    name: &str,
) {
    let tree = bench.tree(workload);
    let archive = bench.at("ours.zip");
    assert!(succeeds(&create(&bench.options.ra_pack, &tree.root, &archive)));
    let rounds = bench.options.rounds;
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["library", job])
        .args([&archive, &tree.root])
        .arg(rounds.to_string())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let times = String::from_utf8(output.stdout).unwrap();
    let mut rows: Vec<Row> =
        readers.iter().map(|(name, kind, what)| Row::new(*name, *kind, *what)).collect();
    for line in times.lines() {
        let (reader, seconds) = line.split_once('\t').unwrap();
        let row = &mut rows[reader.parse::<usize>().unwrap()];
        row.samples.push(seconds_only(seconds.parse().unwrap()));
    }
    let mut notes = Vec::new();
    if matches!(job, "read" | "write") && bench.options.peers {
        by_python(bench, &tree, job, workload, &mut rows, &mut notes);
    }
    let facts = [tree.arrays().count() as u64, tree.files.len() as u64, tree.bytes()];
    let operation = format!("library_{job}");
    let group = Group { operation, workload: name.to_owned(), facts, rows, notes };
    group.save(&bench.options.results);
    bench.clear();
}

pub(crate) fn seconds_only(wall: f64) -> Sample {
    Sample { wall, cpu: wall, peak: 0 }
}

fn by_python(
    bench: &Bench<'_>,
    tree: &Tree,
    job: &str,
    workload: Workload,
    rows: &mut Vec<Row>,
    notes: &mut Vec<String>,
) {
    let python = &bench.options.python;
    let root = tree.root.to_str().unwrap();
    let pictures = matches!(workload, Workload::Digits | Workload::Images);
    for (name, kind, what) in PYTHON_FORMATS {
        let is_for_few = matches!(kind, "h5s" | "nc");
        if kind == "png" && !pictures || is_for_few && tree.arrays().count() as u64 > MOST_FILES {
            continue;
        }
        let made = bench.at(kind);
        let run = || {
            let mut command = Command::new(python);
            command.args(["-c", PYTHON, "timed", job, kind, root]).arg(&made);
            command.output().ok().filter(|output| output.status.success())
        };
        let mut row = Row::new(name, Kind::Peer, what);
        // One more round, which is not counted.
        for round in 0..=bench.options.rounds {
            let Some(output) = run() else {
                notes.push(format!("{name}: skipped, because its modules are not installed"));
                break;
            };
            if round > 0 {
                let seconds = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
                row.samples.push(seconds_only(seconds));
            }
        }
        if !row.samples.is_empty() {
            rows.push(row);
        }
    }
}

/// Reads round by round, and prints the times.
pub(crate) fn role(arguments: &[String]) -> ExitCode {
    let [job, archive, root, rounds] = arguments else { panic!("{arguments:?}") };
    let (archive, root) = (Path::new(archive), Path::new(root));
    let members = Pack::open(archive).unwrap().members().unwrap();
    let names: Vec<String> = members
        .iter()
        .map(|member| member.name.clone())
        .filter(|path| path.ends_with(".ra"))
        .collect();
    let picked = &names[names.len() / 2];
    let files: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
    let bytes = fs::read(&files[names.len() / 2]).unwrap();
    let is_f32 = ra_pack::ra::Header::parse(&bytes).unwrap().element().elbyte() == 4;
    // One more round, which is not counted.
    for round in 0..=rounds.parse::<usize>().unwrap() {
        let time = |reader: usize, read: &mut dyn FnMut()| {
            let start = Instant::now();
            read();
            if round > 0 {
                println!("{reader}\t{:.9}", start.elapsed().as_secs_f64());
            }
        };
        match job.as_str() {
            "one" => one(archive, picked, &bytes, time),
            "read" if is_f32 => read::<f32>(archive, &names, &files, time),
            "read" => read::<u8>(archive, &names, &files, time),
            "write" if is_f32 => write::<f32>(archive, &names, &files, time),
            "write" => write::<u8>(archive, &names, &files, time),
            _ => view(archive, picked, time),
        }
    }
    ExitCode::SUCCESS
}

fn one(archive: &Path, name: &str, wanted: &[u8], time: impl Fn(usize, &mut dyn FnMut())) {
    let wanted: Vec<f32> = RawArray::from_bytes(wanted).unwrap().into();
    time(0, &mut || {
        let pack = Pack::open(archive).unwrap();
        let array = pack.array(name).unwrap().read_raw::<f32>().unwrap();
        assert_eq!(array.data(), wanted);
    });
    time(1, &mut || {
        let pack = Pack::open(archive).unwrap();
        let array = pack.array(name).unwrap().unverified().read_raw::<f32>().unwrap();
        assert_eq!(array.data(), wanted);
    });
    time(2, &mut || {
        with_rawzip(archive, name, |content| {
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes).unwrap();
            assert!(bytes.len() > 48);
        });
    });
    time(3, &mut || {
        let mut archive = zip::ZipArchive::new(File::open(archive).unwrap()).unwrap();
        let mut bytes = Vec::new();
        archive.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
        assert!(bytes.len() > 48);
    });
}

fn read<T>(
    archive: &Path,
    names: &[String],
    files: &[PathBuf],
    time: impl Fn(usize, &mut dyn FnMut()),
) where
    T: ra_pack::ra::Element + rawarray::RawArrayType,
{
    time(0, &mut || {
        let pack = Pack::open(archive).unwrap();
        for name in names {
            black_box(pack.array(name).unwrap().read::<T>().unwrap());
        }
    });
    time(1, &mut || {
        let pack = Pack::open(archive).unwrap();
        let read = pack
            .read_each(names, None, |array| array.read::<T>().map(|read| drop(black_box(read))));
        assert_eq!(read.unwrap().len(), names.len());
    });
    time(2, &mut || {
        for path in files {
            let file = File::open(path).unwrap();
            let len = file.metadata().unwrap().len();
            black_box(RawArray::<T>::read_sized(file, len).unwrap());
        }
    });
    time(3, &mut || {
        for file in files {
            black_box(rawarray::RawArray::<T>::read(file).unwrap());
        }
    });
}

fn write<T>(
    archive: &Path,
    names: &[String],
    files: &[PathBuf],
    time: impl Fn(usize, &mut dyn FnMut()),
) where
    T: ra_pack::ra::Element + rawarray::RawArrayType,
{
    let arrays: Vec<RawArray<T>> =
        files.iter().map(|file| RawArray::from_bytes(&fs::read(file).unwrap()).unwrap()).collect();
    let made = empty_tree(archive, &["made.zip".to_owned()]).remove(0);
    time(0, &mut || {
        let mut pack = PackWriter::create(&made, WriteOptions::default()).unwrap();
        for (name, array) in names.iter().zip(&arrays) {
            pack.array(name, &array.view().unwrap()).write().unwrap();
        }
        pack.finish().unwrap();
    });
    let paths = empty_tree(archive, names);
    time(1, &mut || {
        for (path, array) in paths.iter().zip(&arrays) {
            array.write_to(File::create(path).unwrap()).unwrap();
        }
    });
    let others: Vec<rawarray::RawArray<T>> =
        files.iter().map(|file| rawarray::RawArray::read(file).unwrap()).collect();
    let paths = empty_tree(archive, names);
    time(2, &mut || {
        for (path, array) in paths.iter().zip(&others) {
            array.write(path).unwrap();
        }
    });
}

/// Makes directories for files with these names, and returns the paths of the files.
fn empty_tree(archive: &Path, names: &[String]) -> Vec<PathBuf> {
    let root = archive.with_file_name("loose");
    let _ = fs::remove_dir_all(&root);
    let paths: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
    for path in &paths {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
    }
    paths
}

#[expect(unsafe_code, reason = "mapping a file needs a promise")]
fn view(archive: &Path, name: &str, time: impl Fn(usize, &mut dyn FnMut())) {
    // SAFETY: no other program writes below the directory of this run.
    let pack = unsafe { Pack::map(archive) }.unwrap();
    time(0, &mut || {
        let array = pack.array(name).unwrap();
        black_box(array.view::<f32>().unwrap().first().copied());
    });
}
