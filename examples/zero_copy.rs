//! Maps an archive into memory and views an array in it: nothing is read or copied.
//!
//! `cargo run --example zero_copy`
#![allow(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::path::Path;

use ndarray::{ArrayViewD, Axis};
use ra_pack::write::CreateOptions;
use ra_pack::{Pack, create};

#[allow(unsafe_code, reason = "mapping a file needs a promise")]
fn main() -> Result<(), Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
    let scratch = tempfile::tempdir()?;
    let archive = scratch.path().join("experiment.zip");
    // By default, members are stored without compression.
    create(&source, &archive, &CreateOptions::default())?;

    // SAFETY: only this program knows the archive, and it does not change the archive while it is mapped.
    let pack = unsafe { Pack::map(&archive)? };
    let array = pack.array("currents/velocity.ra")?;
    let velocity: ArrayViewD<'_, f32> = array.view()?;

    println!("velocity[component, bin, time]: {:?}", velocity.shape());
    println!("aligned to 64 bytes: {}", velocity.as_ptr().addr().is_multiple_of(64));
    let east = velocity.index_axis(Axis(0), 0);
    println!("mean speed east: {:.3} m/s", east.mean().ok_or("no samples")?);

    // A view is not verified. Read the member to verify its bytes.
    let (bytes, is_verified) = pack.copy_to("currents/velocity.ra", &mut std::io::sink())?;
    println!("{bytes} bytes, verified against the manifest: {is_verified}");
    Ok(())
}
