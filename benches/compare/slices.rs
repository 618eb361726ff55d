//! Slices of a cube of 512 MiB: the bytes that are read, and the time.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use ndarray::{Axis, s};
use ra_pack::Pack;

use super::commands::{PYTHON, create};
use super::contestant::Kind;
use super::library::seconds_only;
use super::measure::succeeds;
use super::runner::Bench;
use super::samples::{Group, Row};
use super::workloads::Workload;

const NAME: &str = "large0.ra";
const SIDE: usize = 512;
const PARTS: [&str; 3] = ["row", "column", "plane"];

pub(crate) fn run(bench: &Bench<'_>) {
    let tree = bench.tree(Workload::Large);
    let archive = bench.at("ours.zip");
    assert!(succeeds(&create(&bench.options.ra_pack, &tree.root, &archive)));
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    let me = std::env::current_exe().unwrap();
    let python = &bench.options.python;
    // One cube is enough for HDF5.
    let (one, h5) = (bench.at("one"), bench.at("one.h5"));
    fs::create_dir(&one).unwrap();
    fs::hard_link(tree.root.join(NAME), one.join(NAME))
        .or_else(|_| fs::copy(tree.root.join(NAME), one.join(NAME)).map(drop))
        .unwrap();
    let make =
        [python.as_str(), "-c", PYTHON, "h5_create", one.to_str().unwrap(), h5.to_str().unwrap()];
    let with_python = bench.options.peers && succeeds(&make.map(str::to_owned));
    if bench.options.peers && !with_python {
        notes.push("h5py and NumPy: skipped, because they are not installed".to_owned());
    }
    let pack = Pack::open(&archive).unwrap();
    let (_, offset) = pack.array(NAME).unwrap().offsets().unwrap().unwrap();
    for _ in 0..bench.options.rounds {
        let mut ours = Command::new(&me);
        ours.arg("slices").arg(&archive);
        take(&mut ours, &mut rows);
        if with_python {
            let mut peer = Command::new(python);
            peer.args(["-c", PYTHON, "slices"]).arg(&h5).arg("large0").arg(&archive);
            take(peer.args([offset.to_string(), SIDE.to_string()]), &mut rows);
        }
    }
    let facts = [tree.arrays().count() as u64, tree.files.len() as u64, tree.bytes()];
    let (operation, workload) = ("slices".to_owned(), "W5".to_owned());
    Group { operation, workload, facts, rows, notes }.save(&bench.options.results);
    bench.clear();
}

/// Adds the results that a process prints: reader, slice, seconds, and bytes read if known.
fn take(command: &mut Command, rows: &mut Vec<Row>) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let name = format!("{}: {}", cells[1], cells[0]);
        let index = rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            let kind = if cells[0].starts_with("ra-pack") { Kind::Ours } else { Kind::Peer };
            rows.push(Row::new(name, kind, ""));
            rows.len() - 1
        });
        rows[index].bytes = cells.get(3).map_or(0, |bytes| bytes.parse().unwrap());
        rows[index].samples.push(seconds_only(cells[2].parse().unwrap()));
    }
}

pub(crate) fn role(arguments: &[String]) -> ExitCode {
    let archive = Path::new(&arguments[0]);
    let pack = Pack::open(archive).unwrap();
    let array = pack.array(NAME).unwrap();
    let at = SIDE / 3;
    for part in PARTS {
        let before = bytes_read();
        let start = Instant::now();
        let found = match part {
            "row" => array.slice::<f32>(s![.., at, at]),
            "column" => array.slice::<f32>(s![at, at, ..]),
            _ => array.slice::<f32>(s![.., at, ..]),
        };
        let seconds = start.elapsed().as_secs_f64();
        let read = bytes_read() - before;
        assert_eq!(found.unwrap(), expected(archive, part));
        println!("ra-pack slice\t{part}\t{seconds:.9}\t{read}");
    }
    mapped(archive, at);
    ExitCode::SUCCESS
}

/// Returns the number of bytes that this process has read from the system.
fn bytes_read() -> u64 {
    let text = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.map_or(0, |count| count.parse().unwrap())
}

#[expect(unsafe_code, reason = "mapping a file needs a promise")]
fn map(archive: &Path) -> Pack {
    // SAFETY: no other program writes below the directory of this run.
    unsafe { Pack::map(archive) }.unwrap()
}

/// Returns the same slice of a view of the complete array.
fn expected(archive: &Path, part: &str) -> ndarray::ArrayD<f32> {
    let pack = map(archive);
    let array = pack.array(NAME).unwrap();
    let view = array.view::<f32>().unwrap();
    let at = SIDE / 3;
    match part {
        "row" => view.index_axis(Axis(2), at).index_axis(Axis(1), at).to_owned(),
        "column" => view.index_axis(Axis(0), at).index_axis(Axis(0), at).to_owned(),
        _ => view.index_axis(Axis(1), at).to_owned(),
    }
}

fn mapped(archive: &Path, at: usize) {
    for part in PARTS {
        // Each slice has its own map, because the pages of a column are also those of the plane through it.
        let pack = map(archive);
        let start = Instant::now();
        let array = pack.array(NAME).unwrap();
        let view = array.view::<f32>().unwrap();
        let found = match part {
            "row" => view.slice(s![.., at, at]).to_owned().into_dyn(),
            "column" => view.slice(s![at, at, ..]).to_owned().into_dyn(),
            _ => view.slice(s![.., at, ..]).to_owned().into_dyn(),
        };
        println!("ra-pack view\t{part}\t{:.9}", start.elapsed().as_secs_f64());
        black_box(found);
    }
}
