//! Packs the experiment next to this program, verifies the archive, lists it, and reads one array.
//!
//! `cargo run --example pack_and_verify`
#![allow(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::path::Path;

use ndarray::{ArrayD, s};
use ra_pack::inspect::ListOptions;
use ra_pack::verify::VerifyOptions;
use ra_pack::write::CreateOptions;
use ra_pack::{Pack, create, list, verify};

fn main() -> Result<(), Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
    let scratch = tempfile::tempdir()?; // removed when the program ends
    let archive = scratch.path().join("experiment.zip");

    // Before anything is written, every description is checked against its array.
    let made = create(&source, &archive, &CreateOptions::default())?;
    println!("Packed {} arrays as experiment.zip:", made.arrays);
    println!("  {} files of {} bytes in {} bytes.", made.files, made.bytes, made.archive_bytes);

    // Damage is not an `Err`: the report lists all problems.
    let report = verify(&archive, &VerifyOptions::default())?;
    for finding in &report.findings {
        println!("  {finding}");
    }
    if !report.is_valid() {
        return Err("the archive is damaged".into());
    }
    println!("Verified {} files: all match the manifest.", report.files);

    println!("It contains these arrays:");
    let listing = list(&archive, &ListOptions::default())?;
    for member in listing.members() {
        if let Some(array) = &member.array {
            println!("  {:28} {:10} {:?}", member.name, array.type_name(), array.shape);
        }
    }

    // Only this array is read from the archive; nothing is unpacked.
    let pack = Pack::open(&archive)?;
    let depth: ArrayD<f32> = pack.array("thermistors/depth.ra")?.read()?;
    let temperature: ArrayD<f32> = pack.array("thermistors/temperature.ra")?.read()?;
    println!("In the last hour the water was");
    for (depth, celsius) in depth.iter().zip(&temperature.slice(s![.., -1])) {
        println!("  {celsius:5.2} °C at {depth:2} m");
    }
    Ok(())
}
