//! Gives each target the files of `seeds/` and `regressions/`, and says how many there were.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = 0;
    for (name, target) in ra_pack_fuzz::TARGETS {
        let mut files = Vec::new();
        for directory in ["seeds", "regressions"] {
            files.extend(files_of(&home.join(directory).join(name))?);
        }
        for file in &files {
            // A panic of the target says which file it was.
            println!("{name}: {}", file.strip_prefix(home).unwrap_or(file).display());
            target(&fs::read(file)?);
        }
        if files.is_empty() {
            return Err(format!("{name} has no file to begin with").into());
        }
        all += files.len();
    }
    println!("{all} files, each of them as it must be");
    Ok(())
}

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
