//! Packs the experiment beside this program, verifies the archive, lists it, and reads one array.
//!
//! `cargo run --example pack_and_verify`
#![allow(clippy::print_stdout, reason = "an example tells what it does")]

use std::error::Error;
use std::path::Path;

use ndarray::{ArrayD, s};
use ra_pack::create::CreateOptions;
use ra_pack::list::ListOptions;
use ra_pack::verify::VerifyOptions;
use ra_pack::{Pack, create, list, verify};

fn main() -> Result<(), Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
    let scratch = tempfile::tempdir()?; // gone when the program ends
    let archive = scratch.path().join("experiment.zip");

    // Every description is checked against its array before anything is written.
    let made = create(&source, &archive, &CreateOptions::default())?;
    println!("Packed {} arrays as experiment.zip:", made.arrays);
    println!("  {} files of {} bytes in {} bytes.", made.members, made.bytes, made.archive_bytes);

    // Damage is no `Err`: the report lists everything that is wrong.
    let report = verify(&archive, &VerifyOptions::default())?;
    for finding in &report.findings {
        println!("  {finding}");
    }
    if !report.is_sound() {
        return Err("the archive is damaged".into());
    }
    println!("Verified {} files: each is what the manifest says.", report.members);

    println!("It holds these arrays:");
    let listing = list(&archive, &ListOptions::default())?;
    for member in listing.members() {
        if let Some(array) = &member.array {
            println!("  {:28} {:10} {:?}", member.name, array.type_name(), array.shape);
        }
    }

    // One array is read from its place in the archive; nothing is unpacked for it.
    let pack = Pack::open(&archive)?;
    let depth: ArrayD<f32> = pack.array("thermistors/depth.ra")?.read()?;
    let temperature: ArrayD<f32> = pack.array("thermistors/temperature.ra")?.read()?;
    println!("In the last hour the water was");
    for (depth, celsius) in depth.iter().zip(&temperature.slice(s![.., -1])) {
        println!("  {celsius:5.2} °C at {depth:2} m");
    }
    Ok(())
}
