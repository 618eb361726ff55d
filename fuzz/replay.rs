//! Runs each target on its files in `seeds/` and `regressions/`, and prints their number.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use ra_pack_fuzz::TARGETS;

fn main() -> Result<(), Box<dyn Error>> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, _) in TARGETS {
        if !home.join("fuzz_targets").join(name).with_extension("rs").is_file() {
            return Err(format!("{name} has no target").into());
        }
    }
    check_seeds(&home.join("seeds"))?;
    let of_no_target = |path: &PathBuf| !TARGETS.iter().any(|(name, _)| path.ends_with(name));
    if let Some(path) = files_of(&home.join("regressions"))?.into_iter().find(of_no_target) {
        return Err(format!("{} belongs to no target", path.display()).into());
    }
    let mut all = 0;
    for (name, target) in TARGETS {
        let mut files = files_of(&home.join("seeds").join(name))?;
        if files.is_empty() {
            return Err(format!("{name} has no seeds").into());
        }
        files.extend(files_of(&home.join("regressions").join(name))?);
        for file in &files {
            // After a panic, the last line shows the file.
            println!("{name}: {}", file.strip_prefix(home).unwrap_or(file).display());
            target(&fs::read(file)?);
        }
        all += files.len();
    }
    println!("{all} files passed");
    Ok(())
}

/// Checks that the seeds are those that `seeds` writes. Files that ra-pack itself wrote may differ, because another
/// version may write different bytes.
fn check_seeds(home: &Path) -> Result<(), Box<dyn Error>> {
    let mut expected = BTreeSet::new();
    for seed in ra_pack_fuzz::seeds()? {
        let path = home.join(seed.target).join(&seed.name);
        if fs::read(&path).ok().is_none_or(|bytes| !seed.made && bytes != seed.bytes) {
            return Err(other_seeds(&path));
        }
        if !expected.insert(path.clone()) {
            return Err(format!("two seeds have the name {}", path.display()).into());
        }
    }
    for directory in files_of(home)? {
        for path in files_of(&directory)? {
            if !expected.contains(&path) {
                return Err(other_seeds(&path));
            }
        }
    }
    Ok(())
}

fn other_seeds(path: &Path) -> Box<dyn Error> {
    let path = path.display();
    format!("{path} differs from the output of `cargo run --example seeds`").into()
}

/// Returns the files in a directory, sorted; none if it does not exist.
fn files_of(directory: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}
