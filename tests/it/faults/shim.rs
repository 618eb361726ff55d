//! Support: a library loaded into the binary that makes single reads and writes short or fail, or changes the file. All
//! reads and writes of contents use the C library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::experiment::ra_pack;
use crate::foreign::{complaint, installed};
use crate::run::Ran;

/// Returns the library, built once; `None` if it cannot be built.
fn library() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<(TempDir, PathBuf)>> = OnceLock::new();
    let build = || {
        if !cfg!(all(target_os = "linux", target_env = "gnu")) {
            super::skip("faults of single reads need Linux and the GNU C library");
            return None;
        }
        if !installed(&["cc"]) {
            return None;
        }
        let directory = TempDir::new().unwrap();
        let library = directory.path().join("shim.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/faults/shim.c");
        let mut command = Command::new("cc");
        complaint(command.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source))
            .unwrap();
        Some((directory, library))
    };
    BUILT.get_or_init(build).as_ref().map(|(_, library)| &**library)
}

/// Runs the binary with faults in files below `below`, given by `settings` of `shim.c`.
pub(super) fn run(arguments: &[String], below: &Path, settings: &[(&str, &str)]) -> Option<Ran> {
    let mut command = ra_pack();
    command.env("LD_PRELOAD", library()?).env("FAULT_BELOW", below).args(arguments);
    let output = command.envs(settings.iter().copied()).output().unwrap();
    Some(Ran {
        code: output.status.code(),
        out: output.stdout,
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}
