//! Formats of other tools: files that those wrote are read, and they read what is written.

mod npy; // .npy files, with numpy
mod npz; // .npz files, with numpy
mod pair; // support: an array as .ra and .yaml
