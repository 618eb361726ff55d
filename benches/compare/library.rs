//! Arrays read in one process: by the library, by other crates, and by Python.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use ra_pack::Pack;

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
const ALL: [(&str, Kind, &str); 4] = [
    (
        "Pack::read_each",
        Kind::Ours,
        "from one zip, each checked against the manifest, on both cores",
    ),
    ("Pack, every array", Kind::Ours, "from one zip, each checked against the manifest"),
    ("Pack, every array, unverified", Kind::Ours, "from one zip, CRC-32"),
    ("rawarray crate", Kind::Peer, "loose files, no checksum"),
];
const VIEW: [(&str, Kind, &str); 1] = [("Pack::map and view", Kind::Ours, "no copy")];

/// Measures one array of 100,000, all arrays of each small workload, and a view.
pub(crate) fn run(bench: &Bench<'_>) {
    let one = Workload::Vectors;
    in_process(bench, "one", &ONE, one, "W1");
    for workload in [Workload::Vectors, Workload::Squares, Workload::Digits, Workload::Images] {
        if bench.options.workloads.contains(&workload) {
            in_process(bench, "all", &ALL, workload, &workload.name());
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
    if job == "all" && bench.options.peers {
        by_python(bench, &tree, workload, &mut rows, &mut notes);
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
    workload: Workload,
    rows: &mut Vec<Row>,
    notes: &mut Vec<String>,
) {
    let python = &bench.options.python;
    let run = |arguments: &[&str]| {
        let output = Command::new(python).args(["-c", PYTHON]).args(arguments).output();
        output
            .ok()
            .filter(|output| output.status.success())
            .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let root = tree.root.to_str().unwrap();
    let pictures = matches!(workload, Workload::Digits | Workload::Images);
    for (name, kind, what) in [
        ("h5py", "h5", "one file, no checksum"),
        ("numpy.load", "npz", "one zip, CRC-32"),
        ("Pillow, PNG", "png", "one image for each array"),
    ] {
        if kind == "png" && !pictures {
            continue;
        }
        let made = bench.at(kind);
        let path = made.to_str().unwrap();
        if run(&[&format!("{kind}_create"), root, path]).is_none() {
            notes.push(format!("{name}: skipped, because its modules are not installed"));
            continue;
        }
        let mut row = Row::new(name, Kind::Peer, what);
        for _ in 0..bench.options.rounds {
            let seconds = run(&["timed", &format!("read_{kind}"), path]).unwrap();
            row.samples.push(seconds_only(seconds.parse().unwrap()));
        }
        rows.push(row);
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
            "all" if is_f32 => all::<f32>(archive, &names, &files, time),
            "all" => all::<u8>(archive, &names, &files, time),
            _ => view(archive, picked, time),
        }
    }
    ExitCode::SUCCESS
}

fn one(archive: &Path, name: &str, wanted: &[u8], time: impl Fn(usize, &mut dyn FnMut())) {
    let wanted: Vec<f32> = ra_pack::RawArray::from_bytes(wanted).unwrap().into();
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

fn all<T>(
    archive: &Path,
    names: &[String],
    files: &[PathBuf],
    time: impl Fn(usize, &mut dyn FnMut()),
) where
    T: ra_pack::ra::Element + rawarray::RawArrayType,
{
    time(0, &mut || {
        let pack = Pack::open(archive).unwrap();
        let read = pack
            .read_each(names, None, |array| array.read::<T>().map(|read| drop(black_box(read))));
        assert_eq!(read.unwrap().len(), names.len());
    });
    time(1, &mut || {
        let pack = Pack::open(archive).unwrap();
        for name in names {
            black_box(pack.array(name).unwrap().read::<T>().unwrap());
        }
    });
    time(2, &mut || {
        let pack = Pack::open(archive).unwrap();
        for name in names {
            black_box(pack.array(name).unwrap().unverified().read::<T>().unwrap());
        }
    });
    time(3, &mut || {
        for file in files {
            black_box(rawarray::RawArray::<T>::read(file).unwrap());
        }
    });
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
