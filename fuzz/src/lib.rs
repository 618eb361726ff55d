//! What must hold for any bytes. Each function is one target of the fuzzer; `replay` gives it the files
//! of `seeds/` and `regressions/`, without a fuzzer.

mod formats;
mod readers;
mod verified;

pub use formats::{manifest, ndl, ra_decode};
pub use verified::{tar_verify, zip_verify};

/// A target: its name, and what must not panic.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("ra_decode", ra_decode),
    ("ndl", ndl),
    ("manifest", manifest),
    ("zip_verify", zip_verify),
    ("tar_verify", tar_verify),
];
