//! Writes the arrays for `docs/describing.md`: a small field over time, depth, latitude and longitude.
//! `cargo run --example make_ocean` writes them to `ocean`.

use std::path::Path;
use std::{fs, io};

/// The lengths of time, depth, latitude and longitude.
const LENGTHS: [u64; 4] = [4, 3, 2, 5];

/// The fields `eltype` and `elbyte`.
type Element = (u64, u64);
const INT16: Element = (1, 2);
const UINT8: Element = (2, 1);
const FLOAT32: Element = (3, 4);
const FLOAT64: Element = (3, 8);

fn main() -> io::Result<()> {
    write_to(Path::new("ocean"))
}

/// Writes every array below `directory`.
pub(crate) fn write_to(directory: &Path) -> io::Result<()> {
    let write = |name: &str, (eltype, elbyte): Element, dims: &[u64], data: Vec<u8>| {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        let size = elbyte * dims.iter().product::<u64>();
        let ndims = dims.iter().map(|_| 1).sum();
        let mut file = b"rawarray".to_vec();
        for field in [0, eltype, elbyte, size, ndims].iter().chain(dims) {
            file.extend(field.to_le_bytes());
        }
        file.extend(data);
        fs::write(path, file)
    };
    let singles = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let times = [0.0_f64, 6.0, 12.0, 18.0];
    write("time.ra", FLOAT64, &[4], times.iter().flat_map(|time| time.to_le_bytes()).collect())?;
    write("depth.ra", FLOAT32, &[3], singles(&[5.0, 20.0, 80.0]))?;
    write("lat.ra", FLOAT32, &[2], singles(&[69.5, 70.0]))?;
    write("lon.ra", FLOAT32, &[5], singles(&[15.0, 15.5, 16.0, 16.5, 17.0]))?;
    // 4 · 3 · 2 · 5 cells, numbered in the order of the file; one of them is land.
    let land = |cell: &u8| *cell == 7;
    let celsius = |cell: u8| if land(&cell) { -999.0 } else { 4.0 + f32::from(cell) / 64.0 };
    let cells: Vec<f32> = (0..120).map(celsius).collect();
    write("model/temperature.ra", FLOAT32, &LENGTHS, singles(&cells))?;
    let flags = (0..120).map(|cell| if land(&cell) { 9 } else { 1 }).collect();
    write("model/quality.ra", UINT8, &LENGTHS, flags)?;
    let counts = (0..120_i16).flat_map(i16::to_le_bytes).collect();
    write("model/counts.ra", INT16, &[5, 2, 3, 4], counts)
}
