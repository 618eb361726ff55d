//! Reads one array, and a slice of another, straight out of a zip.
//!
//! `cargo run --example read_array`
#![allow(clippy::print_stdout, reason = "an example tells what it does")]

use std::path::Path;

use ndarray::{ArrayD, s};
use ra_pack::create::CreateOptions;
use ra_pack::{Pack, create};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
    let scratch = tempfile::tempdir()?;
    let archive = scratch.path().join("experiment.zip");
    create(&source, &archive, &CreateOptions::default())?;

    // Opening reads the end of the zip and nothing else.
    let pack = Pack::open(&archive)?;

    // A whole array is held against the manifest while it is read. In memory the first index is
    // the fastest, as in the file, so no element is moved.
    let temperature: ArrayD<f32> = pack.array("thermistors/temperature.ra")?.read()?;
    println!("temperature[depth, time]: {:?}", temperature.shape());
    println!("first profile: {:?}", temperature.slice(s![.., 0]).to_vec());

    // Of a slice only its bytes are read: here east and north of the uppermost bin, first day.
    let velocity = pack.array("currents/velocity.ra")?;
    let day: ArrayD<f32> = velocity.slice(s![.., 0, ..24])?;
    println!("velocity[component, bin 0, first day]: {:?}", day.shape());

    // This array's description says `order: row`: its shape lists the slowest index first.
    let counts = pack.array("thermistors/counts.ra")?;
    println!("counts in the file: {:?}", counts.shape()?);
    println!("counts[time, depth]: {:?}", counts.in_shape_order()?.shape()?);

    // Another type than the file's is an error that names both.
    if let Err(error) = pack.array("time.ra")?.read::<f32>() {
        println!("as f32: {error}");
    }
    Ok(())
}
