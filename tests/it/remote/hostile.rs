//! Malformed archives at a URL give the same answers as on disk. A plain tar is read as a stream, like a compressed
//! one, so it may report other errors for a member that is cut off.

use std::fs;
use std::path::Path;
use std::time::Duration;

use ra_pack::verify::VerifyOptions;
use ra_pack::{Container, verify};
use tempfile::TempDir;

use super::server::{Server, serve};

/// Returns the findings or the error of `verify`. The name of the target is left out.
fn answer(target: &Path) -> String {
    let name = target.to_str().unwrap();
    let text = match verify(target, &VerifyOptions::default()) {
        Ok(report) => format!("{:?} {:?} {:#?}", report.container, report.arrays, report.findings),
        Err(error) => error.to_string(),
    };
    text.replace(name, "TARGET")
}

/// Returns whether the file is a plain tar.
fn is_tar(name: &str) -> bool {
    Container::from_extension(name.as_ref()) == Some(Container::Tar)
}

#[test]
#[ignore = "slow"]
fn malformed_archives_give_the_same_findings_as_on_disk() {
    let place = TempDir::new().unwrap();
    let cases = crate::hostile::malformed();
    assert!(cases.len() > 100, "{}", cases.len());
    let names: Vec<_> =
        cases.iter().enumerate().map(|(at, (name, _))| format!("{at}/{name}")).collect();
    let files = names.iter().cloned().zip(cases.iter().map(|(_, bytes)| bytes.clone())).collect();
    let server = Server::start(files, Duration::ZERO, serve);
    let mut different = Vec::new();
    for (name, (_, bytes)) in names.iter().zip(&cases) {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        let (local, remote) = (answer(&path), answer(server.url(name).as_ref()));
        if remote != local && !(is_tar(name) && remote.contains("Error")) {
            different.push((name, local, remote));
        }
    }
    assert!(different.is_empty(), "{} differ: {:#?}", different.len(), different.first());
}
