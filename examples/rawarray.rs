//! The example of the original `rawarray` crate, with `ra_pack` instead of `rawarray`.
//!
//! `cargo run --example rawarray` writes `myarray.ra` to the current directory and reads it back.

use std::io;

use ra_pack::RawArray;

fn main() -> io::Result<()> {
    let vec1: Vec<f32> = vec![1.0, 2.0, 3.0, 4.0];
    let ra: RawArray<f32> = vec1.clone().into();
    ra.write("myarray.ra")?;

    let vec2: Vec<f32> = RawArray::<f32>::read("myarray.ra")?.into();
    assert_eq!(vec1, vec2);
    Ok(())
}
