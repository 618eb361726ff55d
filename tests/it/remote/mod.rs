//! Packs at URLs: few requests, one version of the object, and answers of servers that are not what was asked.

mod faults;
mod hostile;
mod real;
mod requests;
mod secrets;
pub(crate) mod server;
pub(crate) mod store;
mod upload;
mod verified;

use std::path::Path;
use std::sync::OnceLock;

use ra_pack::write::CreateOptions;
use ra_pack::{PackWriter, WriteOptions, create};
use tempfile::TempDir;

use crate::run::Ran;

/// Returns the sample experiment as an archive with this name.
fn experiment(name: &str) -> Vec<u8> {
    let place = TempDir::new().unwrap();
    let archive = place.path().join(name);
    create(Path::new("examples/experiment"), &archive, &CreateOptions::default()).unwrap();
    std::fs::read(archive).unwrap()
}

/// Returns a zip of 8 arrays of 400 kB.
fn eight() -> Vec<u8> {
    static EIGHT: OnceLock<Vec<u8>> = OnceLock::new();
    EIGHT.get_or_init(|| arrays(8, 100_000)).clone()
}

/// Returns a zip of `count` arrays of `length` numbers each, `a00000.ra` and so on.
fn arrays(count: usize, length: usize) -> Vec<u8> {
    let place = TempDir::new().unwrap();
    let archive = place.path().join("x.zip");
    let mut pack = PackWriter::create(&archive, WriteOptions::default()).unwrap();
    for number in 0..count {
        let start = f32::from(u16::try_from(number).unwrap());
        let values: Vec<_> =
            std::iter::successors(Some(start), |value| Some(value + 1.0)).take(length).collect();
        let values = ndarray::Array1::from(values);
        pack.array(&format!("a{number:05}"), &values).dims(["x"]).write().unwrap();
    }
    pack.finish().unwrap();
    std::fs::read(archive).unwrap()
}

/// Runs the command without variables that could change its requests.
fn run(args: &[&str]) -> Ran {
    run_with(args, &[])
}

/// Runs the command with these variables.
fn run_with(args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = crate::experiment::ra_pack();
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().into_owned();
        let is_cloud = ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|start| text.starts_with(start));
        if is_cloud || text.to_ascii_lowercase().ends_with("_proxy") {
            command.env_remove(name);
        }
    }
    command.envs(variables.iter().copied());
    let output = command.args(args).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    Ran { code: output.status.code(), out: output.stdout, err }
}
