//! NumPy arrays to RawArray: transposed, and in the same order.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::commands::PYTHON;
use super::contestant::{Check, Contestant, Kind, words};
use super::runner::Bench;
use super::workloads::Workload;

/// 512 MiB of `float32` each.
const SHAPES: [(&str, &[u64]); 2] = [("cube", &[512, 512, 512]), ("matrix", &[16_384, 8_192])];
/// Small versions for a short run.
const SMALL: [(&str, &[u64]); 2] = [("cube", &[24, 20, 28]), ("matrix", &[96, 200])];

pub(crate) fn run(bench: &Bench<'_>) {
    let is_small = bench.options.workloads == [Workload::Tiny];
    let tree = bench.tree(Workload::Tiny);
    for (name, shape) in if is_small { SMALL } else { SHAPES } {
        let (rows, columns) = (bench.at(&format!("{name}.npy")), bench.at("expected.ra"));
        write_npy(&rows, shape);
        write_transposed(&columns, shape);
        let ours = |title: &str, out: &Path, rest: Vec<String>| {
            let command =
                [words![&bench.options.ra_pack, "convert", "--force", &rows, out], rest].concat();
            Contestant::new(title, Kind::Ours, command)
        };
        let (out, kept, saved, copy) =
            (bench.at("out.ra"), bench.at("kept.ra"), bench.at("saved.npy"), bench.at("copy"));
        let python = &bench.options.python;
        let contestants = vec![
            Contestant::new(
                "transposed: numpy", // words: the name of a row of the page
                Kind::Peer,
                words![python, "-c", PYTHON, "fortran", &rows, &saved],
            )
            .what("`numpy.save` of `numpy.asfortranarray` of `numpy.load`, not synced")
            .needs(&["py:numpy"])
            .makes(&saved, Check::Success),
            ours("transposed: ra-pack convert", &out, vec![])
                .what("synced")
                .makes(&out, Check::Same(vec![columns])),
            Contestant::new("as it lies: cp", Kind::Limit, words!["cp", &rows, &copy])
                .what("not synced")
                .makes(&copy, Check::Success),
            ours("as it lies: ra-pack convert --order row", &kept, words!["--order", "row"])
                .what("synced")
                .makes(&kept, Check::Success),
        ];
        bench.compete("convert", name, &tree, contestants, bench.options.rounds);
        bench.clear();
    }
}

fn elements(shape: &[u64]) -> u64 {
    shape.iter().product()
}

/// Returns an element by its index in the order of the file.
fn element(number: u64) -> [u8; 4] {
    (number.wrapping_mul(0x9e37_79b9) as u32).to_le_bytes()
}

/// Writes a row-major array.
fn write_npy(path: &Path, shape: &[u64]) {
    let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
    let mut text =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", extents.join(", "));
    text.push_str(&" ".repeat(117 - text.len()));
    text.push('\n');
    let mut file = BufWriter::new(fs::File::create(path).unwrap());
    file.write_all(b"\x93NUMPY\x01\x00\x76\x00").unwrap();
    file.write_all(text.as_bytes()).unwrap();
    (0..elements(shape)).for_each(|number| file.write_all(&element(number)).unwrap());
    file.flush().unwrap();
}

/// Writes a column-major array, one element after the other.
fn write_transposed(path: &Path, shape: &[u64]) {
    let mut file = BufWriter::new(fs::File::create(path).unwrap());
    let count = elements(shape);
    file.write_all(b"rawarray").unwrap();
    let fields = [0, 3, 4, count * 4, shape.len() as u64];
    fields.iter().chain(shape).for_each(|field| file.write_all(&field.to_le_bytes()).unwrap());
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    let mut index = vec![0; shape.len()];
    for _ in 0..count {
        let number = index.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
        file.write_all(&element(number)).unwrap();
        for (at, extent) in index.iter_mut().zip(shape) {
            *at += 1;
            if *at < *extent {
                break;
            }
            *at = 0;
        }
    }
    file.flush().unwrap();
}
