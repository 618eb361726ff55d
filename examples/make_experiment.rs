//! Writes the arrays of `examples/experiment`: six days of a made-up mooring in a made-up fjord.
//!
//! Every value is computed by the formulas below; the descriptions next to the arrays are written by hand.
//! `cargo run --example make_experiment [DIRECTORY]` writes the arrays again.

#![expect(clippy::disallowed_methods, reason = "all results are rounded to a few digits")]

use std::f64::consts::TAU;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Number of hourly samples. 149 hours are twelve tides, so the tide is one line of the spectrum.
const SAMPLES: u16 = 149;

/// Period of the principal lunar tide, M2, in hours.
const TIDE: f64 = 12.4206;

/// Depths of the thermistors, in metres below the surface.
const DEPTHS: [f32; 10] = [1.0, 3.0, 6.0, 10.0, 14.0, 18.0, 24.0, 32.0, 44.0, 60.0];

/// Centres of the current meter's bins, in metres below the surface.
const BINS: [f32; 6] = [8.0, 16.0, 24.0, 32.0, 40.0, 48.0];

/// Scale of a thermistor count, and the temperature at zero counts, in °C.
const SCALE: f64 = 0.0005;
const OFFSET: f64 = 10.0;

/// The value of a missing sample.
const NO_COUNT: i16 = i16::MIN;
const NO_TEMPERATURE: f32 = -999.0;

/// Flags of a sample, as oceanography numbers them (`OceanSITES`, table 2).
const GOOD: u8 = 1;
const PROBABLY_GOOD: u8 = 2;
const BAD: u8 = 4;
const MISSING: u8 = 9;

/// The fields `eltype` and `elbyte`.
type Element = (u64, u64);
const INT16: Element = (1, 2);
const UINT8: Element = (2, 1);
const FLOAT32: Element = (3, 4);
const FLOAT64: Element = (3, 8);
const COMPLEX64: Element = (4, 8);

fn main() -> io::Result<()> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
    write_to(&env::args_os().nth(1).map_or(beside, PathBuf::from))
}

/// Writes every array below `directory`.
pub(crate) fn write_to(directory: &Path) -> io::Result<()> {
    let write = |name: &str, element, dims: &[u64], data: Vec<u8>| {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        fs::write(path, raw_array(element, dims, &data))
    };
    let hours = || (0..SAMPLES).map(f64::from);
    let times = u64::from(SAMPLES);
    write("time.ra", FLOAT64, &[times], hours().flat_map(f64::to_le_bytes).collect())?;
    write("sea_floor_depth.ra", FLOAT64, &[], 63.5_f64.to_le_bytes().to_vec())?;

    // In the order of the file, with the first index fastest: depth, then time.
    let samples = || (0..SAMPLES).flat_map(|hour| (0..).zip(DEPTHS).map(move |at| (hour, at)));
    let counts = || samples().map(|(hour, (sensor, depth))| count(sensor, depth, hour));
    let quality = samples().map(|(hour, (sensor, _))| quality(sensor, hour));
    let temperature = counts().map(temperature);
    let dims = [10, times];
    write("thermistors/depth.ra", FLOAT32, &[10], bytes(DEPTHS))?;
    write("thermistors/counts.ra", INT16, &dims, counts().flat_map(i16::to_le_bytes).collect())?;
    write("thermistors/temperature.ra", FLOAT32, &dims, bytes(temperature))?;
    write("thermistors/quality.ra", UINT8, &dims, quality.collect())?;

    let velocity = hours().flat_map(|hour| BINS.map(|depth| velocity(depth, hour)));
    let velocity = velocity.flatten().map(single);
    write("currents/bin.ra", FLOAT32, &[6], bytes(BINS))?;
    write("currents/velocity.ra", FLOAT32, &[2, 6, times], bytes(velocity))?;

    let frequencies = || (0..SAMPLES).map(|k| f64::from(k) - f64::from(SAMPLES / 2));
    let per_day = frequencies().map(|k| k * 24.0 / f64::from(SAMPLES));
    let spectrum = BINS.into_iter().flat_map(|bin| frequencies().map(move |k| rotary(bin, k)));
    let spectrum = spectrum.flatten().map(single);
    write(
        "currents/frequency.ra",
        FLOAT64,
        &[times],
        per_day.flat_map(f64::to_le_bytes).collect(),
    )?;
    write("currents/spectrum.ra", COMPLEX64, &[times, 6], bytes(spectrum))
}

/// Returns a complete RawArray file: eight-byte little-endian fields, then the data.
fn raw_array((eltype, elbyte): Element, dims: &[u64], data: &[u8]) -> Vec<u8> {
    let flags = 0;
    let size = elbyte * dims.iter().product::<u64>();
    let ndims = dims.iter().map(|_| 1).sum();
    let mut file = b"rawarray".to_vec();
    for field in [flags, eltype, elbyte, size, ndims].iter().chain(dims) {
        file.extend(field.to_le_bytes());
    }
    file.extend(data);
    file
}

/// Returns the water temperature in °C: a thermocline that the tide moves up and down by 5 m, and a surface heated by
/// the sun.
fn water(depth: f64, hour: f64) -> f64 {
    let thermocline = 18.0 + 5.0 * (TAU * hour / TIDE - 0.6).cos();
    let day = 0.6 * (-depth / 4.0).exp() * (TAU * (hour - 9.0) / 24.0).sin();
    6.0 + 5.5 * (1.0 - ((depth - thermocline) / 6.0).tanh()) + day
}

/// Returns the count stored by the logger, with the two faults of the record.
fn count(sensor: u16, depth: f32, hour: u16) -> i16 {
    let water = water(f64::from(depth), f64::from(hour));
    let spike = if quality(sensor, hour) == BAD { 6000.0 } else { 0.0 };
    match quality(sensor, hour) {
        MISSING => NO_COUNT,
        _ => counts_of((water - OFFSET) / SCALE + spike),
    }
}

/// Returns the flag of a sample. A plug at 24 m came loose for four hours, one sample at 10 m is a spike, and in the
/// first hour the line was still settling.
fn quality(sensor: u16, hour: u16) -> u8 {
    match (sensor, hour) {
        (6, 70..=73) => MISSING,
        (3, 41) => BAD,
        (_, 0) => PROBABLY_GOOD,
        _ => GOOD,
    }
}

fn temperature(count: i16) -> f32 {
    match count {
        NO_COUNT => NO_TEMPERATURE,
        _ => single(OFFSET + SCALE * f64::from(count)),
    }
}

/// Returns the velocity east and north in m/s, in steps of 1 mm/s: a tidal ellipse that turns counterclockwise and lags
/// with depth, its first overtide, and a mean flow.
fn velocity(depth: f32, hour: f64) -> [f64; 2] {
    let depth = f64::from(depth);
    let tide = TAU * hour / TIDE - depth / 60.0;
    let strength = 1.0 - depth / 100.0;
    let mean = 0.08 * (-depth / 20.0).exp();
    let east = strength * (0.32 * tide.cos() + 0.04 * (2.0 * tide).cos()) + mean;
    let north = strength * 0.11 * tide.sin() - 0.5 * mean;
    [east, north].map(|speed| (speed * 1000.0).round() / 1000.0)
}

/// Returns one line of the spectrum of east + i·north, with `k` cycles in the record: real part, imaginary part. It is
/// rounded to 2⁻²⁴ m/s, so that the cosines of different machines make the same file.
fn rotary(bin: f32, k: f64) -> [f64; 2] {
    let mut sum = [0.0, 0.0];
    for hour in (0..SAMPLES).map(f64::from) {
        let [east, north] = velocity(bin, hour);
        let (sine, cosine) = (-TAU * k * hour / f64::from(SAMPLES)).sin_cos();
        let [re, im] = sum;
        sum = [re + east * cosine - north * sine, im + east * sine + north * cosine];
    }
    let resolution = f64::from(1_u32 << 24);
    sum.map(|part| (part / f64::from(SAMPLES) * resolution).round() / resolution)
}

fn bytes(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
fn single(value: f64) -> f32 {
    value as f32
}

#[expect(clippy::cast_possible_truncation, reason = "rounded before")]
fn counts_of(value: f64) -> i16 {
    value.round() as i16
}
