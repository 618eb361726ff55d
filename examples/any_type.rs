//! Reads every array of a pack. The element type comes from the file.
//!
//! `cargo run --example any_type`
#![allow(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::path::Path;

use ra_pack::ra::parse_slice;
use ra_pack::{AnyArray, Pack};

fn main() -> Result<(), Box<dyn Error>> {
    // A directory is opened like an archive.
    let pack = Pack::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment"))?;
    for member in pack.members()? {
        if Path::new(&member.name).extension().is_none_or(|extension| extension != "ra") {
            continue;
        }
        let array = pack.array(&member.name)?;

        // The header has the type and the dimensions; no element is read for it.
        let header = array.header()?;
        println!("{}: {} {:?}", member.name, header.element(), header.dims());

        // Match the types that your program needs. Other arrays can still be copied, sliced or written.
        match array.read_any()? {
            AnyArray::F32(values) => {
                println!("  least {:?}", values.iter().copied().reduce(f32::min));
            }
            AnyArray::F64(values) => {
                println!("  least {:?}", values.iter().copied().reduce(f64::min));
            }
            AnyArray::I16(values) => println!("  least {:?}", values.iter().min()),
            AnyArray::U8(values) => println!("  least {:?}", values.iter().min()),
            other => println!("  {} elements are not compared", other.element()),
        }

        // A slice as text, for example from a user: the first index of the first dimension, and all of the others.
        if header.ndims() > 0 {
            let slice = parse_slice("0, ...", header.dims())?;
            println!("  [0, ...] {:?}", array.slice_any(slice)?.dims());
        }
    }
    Ok(())
}
