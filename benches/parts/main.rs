//! The speed of single parts: `cargo bench --bench parts`.
//!
//! Sizes of 1,000, 10,000 and 100,000 show whether time is proportional to size.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark that fails must stop with a message"
)]

mod hashing; // a large file packed and verified, compared with hashing alone
mod header; // the header of an array
mod manifest; // lists of digests
mod ndl; // descriptions: a plain one, any document, the document of a pack
mod read; // one array by its name: viewed, read, and read into existing memory
mod structure; // every byte of a zip checked, except the content of members
mod transposed; // arrays in another order than that of the file

/// The numbers of items.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

/// Number of members in a directory, and of arrays in a group.
const TOGETHER: usize = 100;

fn main() {
    divan::main();
}
