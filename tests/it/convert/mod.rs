//! `ra-pack convert`: every format to every other, each option, and refusals.

mod forms; // each pair of formats
mod get_large; // `get` of arrays that are too large for memory
mod grouped; // NetCDF and HDF5 files
mod many; // formats that hold several arrays: packs, .npz, .ds
mod numpy; // NumPy reads our files, and we read NumPy's
mod options; // each option
mod properties; // any array and any pack survives conversion
mod refused; // refused conversions, which leave no output
mod tree; // directories of files, and several inputs

use std::fs;
use std::path::Path;

use crate::run::{Ran, ra};

/// Runs `ra-pack convert INPUT OUTPUT OPTION…`.
fn convert(input: &Path, output: &Path, options: &[&str]) -> Ran {
    ra("convert", &[input, output], options)
}

/// Returns the bytes of `values`, little-endian.
fn floats(values: impl IntoIterator<Item = u16>) -> Vec<u8> {
    values.into_iter().flat_map(|value| f32::from(value).to_le_bytes()).collect()
}

/// Returns an `.npy` file of version 1.0.
fn npy(descr: &str, fortran_order: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran_order { "True" } else { "False" };
    let mut text =
        format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}").into_bytes();
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(b' ');
    }
    text.push(b'\n');
    let len = u16::try_from(text.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00".as_slice(), &len, &text, data].concat()
}

/// Reads the description next to an array.
fn description(array: &Path) -> String {
    fs::read_to_string(array.with_extension("yaml")).unwrap()
}
