//! `ra-pack convert`: every form into every other, what each option does, and what is refused.

mod forms; // each pair of forms
mod get_large; // `get` by the same way, for what is too large for memory
mod many; // forms that hold several arrays: packs, .npz, .ds
mod numpy; // what numpy makes of what we write
mod options; // each option
mod properties; // any array, any pack: what goes out comes back
mod refused; // what is not done, and what is left when it is not
mod tree; // directories of files, and several inputs

use std::fs;
use std::path::Path;

use crate::run::{Ran, ra};

/// Runs `ra-pack convert INPUT OUTPUT OPTION…`.
fn convert(input: &Path, output: &Path, options: &[&str]) -> Ran {
    ra("convert", &[input, output], options)
}

/// The bytes of `values` in little-endian order.
fn floats(values: impl IntoIterator<Item = u16>) -> Vec<u8> {
    values.into_iter().flat_map(|value| f32::from(value).to_le_bytes()).collect()
}

/// An `.npy` file of version 1.0, by hand.
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

/// The description beside an array.
fn description(array: &Path) -> String {
    fs::read_to_string(array.with_extension("yaml")).unwrap()
}
