//! How fast the parts are, each by itself: `cargo bench --bench parts`.
//!
//! Sizes of 1,000, 10,000 and 100,000 show that time grows with size and not faster.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot go on must stop, and say where"
)]

mod hashing; // a large file packed and verified, against the bare digest
mod header; // the header of an array
mod manifest; // lists of digests
mod ndl; // descriptions: the plain few lines, any document, a whole pack
mod read; // one array by its name: viewed, read, and read into memory that is there
mod structure; // every byte of a zip accounted for, without its content
mod transposed; // arrays in another order than that of the file

/// How many of whatever is counted.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

/// Members that share a directory, arrays that share a group.
const TOGETHER: usize = 100;

fn main() {
    divan::main();
}
