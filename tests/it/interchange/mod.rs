//! Formats of other tools: we read their files, and they read ours.

mod digits; // support: bytes as digits
mod ds; // .ds files, with both versions of ds-format
mod npy; // .npy files, with NumPy
mod npz; // .npz files, with NumPy
mod pair; // support: an array as .ra and .yaml
mod png; // pictures, with Python's zlib

use digits::{hex, unhex};
