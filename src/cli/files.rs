//! The few files that the tool itself reads and writes: lists of names, and pages.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use ra_pack::Error;

/// Longest name in a list. No system has longer ones, so that what is longer is no list.
const MAX_NAME: u64 = 1 << 16;

/// A list of names in a file, for the commands that take many.
#[derive(Debug, Args)]
pub(crate) struct FilesFrom {
    /// Also take the names in this file, one on each line; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,

    /// The names in the file end in a zero byte, as `find -print0` writes them.
    #[arg(long, requires = "files_from")]
    null: bool,
}

impl FilesFrom {
    /// Whether there is a list, which may have no name in it.
    pub(crate) fn is_given(&self) -> bool {
        self.files_from.is_some()
    }

    /// Gives the names one after the other, as they come in: who writes them may still be at work.
    pub(crate) fn names(&self) -> ra_pack::Result<impl Iterator<Item = ra_pack::Result<PathBuf>>> {
        let end = if self.null { 0 } else { b'\n' };
        let path = self.files_from.as_deref();
        let reader: Option<Box<dyn BufRead>> = match path {
            None => None,
            Some(path) if path == Path::new("-") => Some(Box::new(io::stdin().lock())),
            Some(path) => {
                let file = fs::File::open(path).map_err(refused("open", path))?;
                Some(Box::new(BufReader::new(file)))
            }
        };
        let shown = path.map_or_else(PathBuf::new, |path| {
            if path == Path::new("-") { "<stdin>".into() } else { path.to_owned() }
        });
        Ok(Names { reader, end, shown })
    }
}

struct Names {
    reader: Option<Box<dyn BufRead>>,
    end: u8,
    shown: PathBuf,
}

impl Iterator for Names {
    type Item = ra_pack::Result<PathBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let reader = self.reader.as_mut()?;
            let mut name = Vec::new();
            match reader.take(MAX_NAME).read_until(self.end, &mut name) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => {
                    self.reader = None;
                    return Some(Err(refused("read", &self.shown)(error)));
                }
            }
            let ends = name.pop_if(|last| *last == self.end).is_some();
            if !ends && u64::try_from(name.len()).is_ok_and(|len| len == MAX_NAME) {
                self.reader = None;
                let shown = ra_pack::escape_path(&self.shown).to_string();
                let why = format!("a name in `{shown}` has more than {MAX_NAME} bytes");
                return Some(Err(Error::Unsupported(why)));
            }
            if self.end == b'\n' {
                name.pop_if(|last| *last == b'\r');
            }
            // An empty line names nothing.
            if !name.is_empty() {
                return Some(path_of(name));
            }
        }
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not all bytes are a name")]
fn path_of(name: Vec<u8>) -> ra_pack::Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Ok(std::ffi::OsString::from_vec(name).into())
}

#[cfg(not(unix))]
fn path_of(name: Vec<u8>) -> ra_pack::Result<PathBuf> {
    String::from_utf8(name)
        .map(PathBuf::from)
        .map_err(|_| Error::Unsupported("a name in the list is not UTF-8".to_owned()))
}

/// Writes a text to a directory, which is made when it is not there, and replaces an older one in one step.
pub(crate) fn write(directory: &Path, name: &str, text: &str) -> ra_pack::Result<()> {
    fs::create_dir_all(directory).map_err(refused("make", directory))?;
    ra_pack::write_new(&directory.join(name), true, |out| out.write_all(text.as_bytes()))
}

fn refused(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { action, path: path.clone(), source }
}
