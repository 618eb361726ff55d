//! Files that the command itself reads and writes: lists of names, tables and pages.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::iter;
use std::path::{Path, PathBuf};

use clap::Args;
use ra_pack::{Container, Error};

/// Manifests that make a directory a pack.
const MANIFESTS: [&str; 2] = ["manifest-sha256.txt", "manifest-sha512.txt"];

/// Longest name in a list, in bytes. No system has longer paths.
const MAX_NAME: u64 = 1 << 16;

// A list of names in a file, for the commands that take many. clap would show a doc comment as the help of the command.
#[derive(Debug, Args)]
pub(crate) struct FilesFrom {
    /// Read names from this file, one per line; `-` reads standard input.
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,

    /// Expect names that end in a NUL byte, as written by `find -print0`.
    #[arg(short = '0', long, requires = "files_from")]
    null: bool,
}

impl FilesFrom {
    /// Whether a list is given, even an empty one.
    pub(crate) fn is_given(&self) -> bool {
        self.files_from.is_some()
    }

    /// Returns the names one by one as they arrive: the program that writes them may still be running.
    pub(crate) fn names(
        &self,
    ) -> ra_pack::Result<impl Iterator<Item = ra_pack::Result<PathBuf>> + Send + use<>> {
        let end = if self.null { 0 } else { b'\n' };
        let mut path = self.files_from.clone().unwrap_or_default();
        let mut reader: Option<Box<dyn BufRead + Send>> = if !self.is_given() {
            None
        } else if path == Path::new("-") {
            path = "<stdin>".into();
            Some(Box::new(BufReader::new(io::stdin())))
        } else {
            let file = fs::File::open(&path).map_err(refused("open", &path))?;
            Some(Box::new(BufReader::new(file)))
        };
        Ok(iter::from_fn(move || {
            let name = next_name(reader.as_mut()?, end, &path).transpose()?;
            if name.is_err() {
                reader = None;
            }
            Some(name.and_then(path_of))
        }))
    }
}

/// Returns the targets; with `recursive`, all packs in these directories and below: archives, and directories with a
/// manifest.
pub(crate) fn packs(roots: &[PathBuf], recursive: bool) -> ra_pack::Result<Vec<PathBuf>> {
    if !recursive {
        return Ok(roots.to_vec());
    }
    let (mut left, mut found) = (roots.to_vec(), Vec::new());
    left.reverse();
    while let Some(path) = left.pop() {
        let is_archive = path.is_file() && Container::from_extension(&path).is_some();
        if is_archive || MANIFESTS.iter().any(|name| path.join(name).is_file()) {
            found.push(path);
        } else if roots.contains(&path) || path.is_dir() && !path.is_symlink() {
            let entries = fs::read_dir(&path).map_err(refused("open", &path))?;
            let below = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
            let mut below = below.map_err(refused("read", &path))?;
            below.sort_by(|one, other| other.cmp(one));
            left.append(&mut below);
        }
    }
    let none = || Error::Options("no archive and no manifest was found".into());
    Some(found).filter(|found| !found.is_empty()).ok_or_else(none)
}

/// Reads the next name of a list at `path`, and skips empty lines.
fn next_name(reader: &mut dyn BufRead, end: u8, path: &Path) -> ra_pack::Result<Option<Vec<u8>>> {
    let mut name = Vec::new();
    while name.is_empty() {
        let read = (&mut *reader).take(MAX_NAME).read_until(end, &mut name);
        if read.map_err(refused("read", path))? == 0 {
            return Ok(None);
        }
        let ends = name.pop_if(|last| *last == end).is_some();
        if !ends && name.len() as u64 == MAX_NAME {
            let shown = ra_pack::path::escape_path(path);
            let why = format!("a name in `{shown}` is longer than {MAX_NAME} bytes");
            return Err(Error::Limit(why.into()));
        }
        if end == b'\n' {
            name.pop_if(|last| *last == b'\r');
        }
    }
    Ok(Some(name))
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "on other systems, not all bytes are a name")]
fn path_of(name: Vec<u8>) -> ra_pack::Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Ok(std::ffi::OsString::from_vec(name).into())
}

#[cfg(not(unix))]
fn path_of(name: Vec<u8>) -> ra_pack::Result<PathBuf> {
    String::from_utf8(name)
        .map(PathBuf::from)
        .map_err(|_| Error::Options("a name in the list is not UTF-8".to_owned().into()))
}

/// Writes a text to a file in a directory, which is created if needed. Replaces an existing file atomically.
pub(crate) fn write(directory: &Path, name: &str, text: &str) -> ra_pack::Result<()> {
    fs::create_dir_all(directory).map_err(refused("make", directory))?;
    ra_pack::files::write_new(&directory.join(name), true, |out| out.write_all(text.as_bytes()))
}

/// Longest text that is read, in bytes: more than any table of arrays needs.
const MAX_TEXT: u64 = 1 << 26;

/// Reads the text of a file, or of standard input for `-`.
pub(crate) fn text(path: &Path) -> ra_pack::Result<String> {
    let mut text = String::new();
    let mut read = if path == Path::new("-") {
        io::stdin().lock().take(MAX_TEXT).read_to_string(&mut text)
    } else {
        let file = fs::File::open(path).map_err(refused("open", path))?;
        file.take(MAX_TEXT).read_to_string(&mut text)
    };
    if read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::InvalidData) {
        read = Err(io::Error::other("it is not UTF-8; save it as UTF-8"));
    }
    let count = read.map_err(refused("read", path))?;
    if count as u64 == MAX_TEXT {
        let shown = ra_pack::path::escape_path(path);
        return Err(Error::Limit(format!("`{shown}` is larger than {MAX_TEXT} bytes").into()));
    }
    Ok(text)
}

/// Reads the first bytes of a file.
pub(crate) fn bytes(path: &Path, most: u64) -> ra_pack::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(refused("open", path))?;
    file.take(most).read_to_end(&mut bytes).map_err(refused("read", path))?;
    Ok(bytes)
}

/// Returns the size of a file in bytes.
pub(crate) fn size(path: &Path) -> ra_pack::Result<u64> {
    Ok(fs::metadata(path).map_err(refused("read", path))?.len())
}

fn refused(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { action, path: path.clone(), source }
}
