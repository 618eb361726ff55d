//! Reads one array, and a slice of another, directly from a zip.
//!
//! `cargo run --example read_array`
#![allow(clippy::print_stdout, reason = "an example prints its results")]

use std::path::Path;

use ndarray::{ArrayD, s};
use ra_pack::write::CreateOptions;
use ra_pack::{Pack, create};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
    let scratch = tempfile::tempdir()?;
    let archive = scratch.path().join("experiment.zip");
    create(&source, &archive, &CreateOptions::default())?;

    // Opening a zip reads only its end.
    let pack = Pack::open(&archive)?;

    // A complete array is verified against the manifest while it is read. Memory has the order of the file, so no
    // element is moved.
    let temperature: ArrayD<f32> = pack.array("thermistors/temperature.ra")?.read()?;
    println!("temperature[depth, time]: {:?}", temperature.shape());
    println!("first profile: {:?}", temperature.slice(s![.., 0]).to_vec());

    // For a slice, only its bytes are read: here east and north of the uppermost bin on the first day.
    let velocity = pack.array("currents/velocity.ra")?;
    let day: ArrayD<f32> = velocity.slice(s![.., 0, ..24])?;
    println!("velocity[component, bin 0, first day]: {:?}", day.shape());

    // This description has `order: row`: its shape lists the slowest index first.
    let counts = pack.array("thermistors/counts.ra")?;
    println!("counts in the file: {:?}", counts.shape()?);
    println!("counts[time, depth]: {:?}", counts.in_shape_order()?.shape()?);

    // Reading as another type is an error that names both types.
    if let Err(error) = pack.array("time.ra")?.read::<f32>() {
        println!("as f32: {error}");
    }
    Ok(())
}
