//! Maps an archive into memory and looks at an array where it lies: nothing is read or copied.
//!
//! `cargo run --example zero_copy`
#![allow(clippy::print_stdout, reason = "an example tells what it does")]

use std::error::Error;
use std::path::Path;

use ndarray::{ArrayViewD, Axis};
use ra_pack::create::CreateOptions;
use ra_pack::{Pack, create};

#[allow(unsafe_code, reason = "mapping a file needs a promise")]
fn main() -> Result<(), Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
    let scratch = tempfile::tempdir()?;
    let archive = scratch.path().join("experiment.zip");
    // Members are stored as they are unless another compression is asked for.
    create(&source, &archive, &CreateOptions::default())?;

    // SAFETY: this program alone knows the archive, and does not change it while it is mapped.
    let pack = unsafe { Pack::map(&archive)? };
    let velocity: ArrayViewD<'_, f32> = pack.array("currents/velocity.ra")?.view()?;

    println!("velocity[component, bin, time]: {:?}", velocity.shape());
    println!("aligned to 64 bytes: {}", velocity.as_ptr().addr().is_multiple_of(64));
    let east = velocity.index_axis(Axis(0), 0);
    println!("mean speed east: {:.3} m/s", east.mean().ok_or("no samples")?);

    // A view proves nothing about the bytes. To have them checked first, read the member.
    let (bytes, vouched) = pack.copy_to("currents/velocity.ra", &mut std::io::sink())?;
    println!("{bytes} bytes, vouched for by the manifest: {vouched}");
    Ok(())
}
