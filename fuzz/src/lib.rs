//! The properties that hold for any bytes. Each function is one target of the fuzzer; `replay` runs it on the files of
//! `seeds/` and `regressions/`, without a fuzzer.

mod bags;
mod formats;
mod grouped;
mod interchange;
mod npy;
mod readers;
mod script;
mod seeds;
mod signatures;
mod tars;
mod verified;
mod zips;

pub use bags::{bag_tags, bag_verify};
pub use formats::{block_list, manifest, ndl, ra_decode};
pub use grouped::grouped;
pub use interchange::{ds, png};
pub use npy::npy;
pub use seeds::{Seed, seeds};
pub use signatures::signature;
pub use verified::{tar_structure, tar_verify, zip_structure, zip_verify};

/// A target: its name, and the function that must not panic.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("ra_decode", ra_decode),
    ("ndl", ndl),
    ("manifest", manifest),
    ("block_list", block_list),
    ("npy", npy),
    ("bag_tags", bag_tags),
    ("bag_verify", bag_verify),
    ("zip_verify", zip_verify),
    ("tar_verify", tar_verify),
    ("ds", ds),
    ("png", png),
    ("grouped", grouped),
    ("zip_structure", zip_structure),
    ("tar_structure", tar_structure),
    ("signature", signature),
];
