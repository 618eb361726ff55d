//! The example of the original RawArray crate, with `ra_pack` in the place of `rawarray`.
//!
//! `cargo run --example rawarray` writes `myarray.ra` into the current directory and reads it again.

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
