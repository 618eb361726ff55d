//! Checks results. A contestant with a wrong result is not measured.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use super::contestant::{Check, Contestant};
use super::measure::succeeds;
use super::workloads::Tree;

/// Checks the result of a contestant's command number `index`.
pub(crate) fn check(
    contestant: &Contestant,
    index: usize,
    tree: &Tree,
    python: &str,
) -> Result<(), String> {
    let out = contestant.out.as_deref().unwrap_or(Path::new(""));
    match &contestant.check {
        Check::Success => Ok(()),
        Check::Zip => zip(out, tree),
        Check::Tar => tar(out, tree),
        Check::Tree => extracted(out, tree),
        Check::Same(expected) => {
            let expected = &expected[index % expected.len()];
            same(out, expected)
        }
        Check::Accepted(command) if succeeds(command) => Ok(()),
        Check::Accepted(command) => Err(format!("{command:?} failed")),
        Check::Refuses(archive) => refuses(&contestant.commands[index], archive, tree),
        Check::Arrays(kind) => {
            let count = Command::new(python)
                .args(["-c", super::commands::PYTHON, "count", kind])
                .arg(out)
                .output()
                .map_err(|error| error.to_string())?;
            let count = String::from_utf8_lossy(&count.stdout).trim().to_owned();
            expect("arrays", &tree.arrays().count().to_string(), &count)
        }
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, wanted: &T, found: &T) -> Result<(), String> {
    if wanted == found {
        Ok(())
    } else {
        Err(format!("{what}: expected {wanted:?}, found {found:?}"))
    }
}

fn same(path: &Path, wanted: &Path) -> Result<(), String> {
    let open = |path| File::open(path).map_err(|error| error.to_string());
    match equal(open(path)?, open(wanted)?) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("{} is not {}", path.display(), wanted.display())),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Returns whether both have the same bytes. Files may be larger than memory.
fn equal(mut one: impl Read, mut other: impl Read) -> Result<bool, std::io::Error> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    loop {
        a.clear();
        b.clear();
        one.by_ref().take(1 << 20).read_to_end(&mut a)?;
        other.by_ref().take(1 << 20).read_to_end(&mut b)?;
        if a != b {
            return Ok(false);
        }
        if a.is_empty() {
            return Ok(true);
        }
    }
}

fn compare(content: impl Read, path: &str, tree: &Tree) -> Result<(), String> {
    match equal(content, File::open(tree.root.join(path)).unwrap()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("`{path}` differs")),
        Err(error) => Err(format!("`{path}`: {error}")),
    }
}

fn zip(archive: &Path, tree: &Tree) -> Result<(), String> {
    let file = File::open(archive).map_err(|error| error.to_string())?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| error.to_string())?;
    for (path, size) in &tree.files {
        let Ok(mut raw) = archive
            .index_for_name(path)
            .ok_or(())
            .and_then(|index| archive.by_index_raw(index).map_err(|_| ()))
        else {
            return Err(format!("`{path}` is missing"));
        };
        expect(path, size, &raw.size())?;
        // If the reader does not support the compression, only the size is checked.
        if raw.compression() == zip::CompressionMethod::Stored {
            compare(&mut raw, path, tree)?;
        }
    }
    Ok(())
}

fn tar(archive: &Path, tree: &Tree) -> Result<(), String> {
    let file = File::open(archive).map_err(|error| error.to_string())?;
    let mut wanted: HashMap<&str, u64> =
        tree.files.iter().map(|(path, size)| (path.as_str(), *size)).collect();
    for entry in tar::Archive::new(file).entries().map_err(|error| error.to_string())? {
        let entry = entry.map_err(|error| error.to_string())?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let path = path.trim_start_matches("./");
        if wanted.remove(path).is_some() {
            compare(entry, path, tree)?;
        }
    }
    expect("files not in the tar", &0, &wanted.len())
}

fn extracted(root: &Path, tree: &Tree) -> Result<(), String> {
    tree.files.iter().try_for_each(|(path, _)| match File::open(root.join(path)) {
        Ok(file) => compare(file, path, tree),
        Err(error) => Err(format!("`{path}`: {error}")),
    })
}

/// Flips a byte in the middle of an array in a stored zip, runs the command, and flips it back.
fn refuses(command: &[String], archive: &Path, tree: &Tree) -> Result<(), String> {
    let picked = tree.picks()[1];
    let file = File::options().read(true).write(true).open(archive).unwrap();
    let at = {
        let mut zip = zip::ZipArchive::new(&file).map_err(|error| error.to_string())?;
        let index = zip.index_for_name(picked).ok_or("the array is missing")?;
        let member = zip.by_index_raw(index).map_err(|error| error.to_string())?;
        member.data_start().ok_or("the array has no data")? + member.compressed_size() * 2 / 3
    };
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    let refused = !succeeds(command);
    file.write_all_at(&byte, at).unwrap();
    if refused { Ok(()) } else { Err("an archive with a flipped byte was accepted".to_owned()) }
}
