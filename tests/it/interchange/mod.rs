//! Formats of other tools: files that those wrote are read, and they read what is written.

mod digits; // support: bytes as digits
mod ds; // .ds files, with both versions of ds-format
mod npy; // .npy files, with numpy
mod npz; // .npz files, with numpy
mod pair; // support: an array as .ra and .yaml
mod png; // pictures, with Python's zlib

use digits::{hex, unhex};
