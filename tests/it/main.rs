//! Every integration test, in one binary: it links once, and its modules share what they need.
//!
//! `cargo test --test it layers` runs the tests of one module.

#![cfg(test)] // says to clippy that nothing here is anything but tests

mod examples; // every program of examples/ runs
mod experiment; // support: a source directory, written without the library
mod foreign; // support: what other people's tools say about an archive
mod hostile; // archives that lie, and the answer to each
mod interop;
mod layers; // the direction of imports, and the room of each kind of line
mod readme; // the shell lines of README do what it shows
mod library; // arrays out of packs, by the public interface
mod raw_tar; // support: tar files by hand
mod raw_zip; // support: zip files by hand
mod sample; // examples/experiment is what its generator writes
