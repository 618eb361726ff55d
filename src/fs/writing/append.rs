//! A file of lines that several processes append to.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::sync_directory;
use crate::error::{Error, Result};
use crate::fs::exists;
use crate::fs::file::{File, without_waiting};
use crate::fs::positional;

/// A file that lines are appended to. Each line is on the disk when [`append`](Self::append) returns.
#[derive(Debug)]
pub(crate) struct LineFile {
    /// A lock of a file does not exclude other threads of this process.
    file: Mutex<fs::File>,
    /// A handle for syncing while other threads append.
    synced: fs::File,
    path: PathBuf,
}

impl LineFile {
    /// Opens a file to append to, which is created if needed.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let refused = |error| Error::io("open", path)(error);
        // A pipe or a device is refused before it is opened for writing.
        match without_waiting(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => drop(File::ordinary(opened, path.to_owned())?),
        }
        let is_new = !exists(path);
        let file = fs::File::options().read(true).append(true).create(true).open(path);
        let file = file.map_err(refused)?;
        if is_new {
            sync_directory(path)?;
        }
        let synced = file.try_clone().map_err(refused)?;
        Ok(Self { file: Mutex::new(file), synced, path: path.to_owned() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line, without its end, and syncs it to disk. If an earlier line has no end, because its writer was
    /// killed, the new line begins after a line end.
    ///
    /// Several processes may append: each line is one write at the end of the file. If it cannot be written
    /// completely, its beginning is removed again.
    pub(crate) fn append(&self, line: &str) -> Result<()> {
        let refused = |error| Error::io("write", &self.path)(error);
        {
            let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            // Some network file systems have no locks. There, a line is still one write.
            let is_locked = file.lock().is_ok();
            let written = append_to(&file, line, is_locked);
            if is_locked {
                let _ = file.unlock();
            }
            written.map_err(refused)?;
        }
        // Threads that wait here are synced together.
        self.synced.sync_data().map_err(refused)
    }
}

fn append_to(mut file: &fs::File, line: &str, is_locked: bool) -> io::Result<()> {
    let len = file.metadata()?.len();
    let mut last = [b'\n'];
    if let Some(at) = len.checked_sub(1) {
        positional::read(file, &mut last, at)?;
    }
    let begin = if last == [b'\n'] { "" } else { "\n" };
    let text = [begin, line, "\n"].concat();
    file.write_all(text.as_bytes()).inspect_err(|_| {
        // Without a lock, another process may have written after it.
        if is_locked {
            let _ = file.set_len(len);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_an_end_is_completed_first() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("log");
        LineFile::open(&path).unwrap().append("one").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
        fs::write(&path, "one\ntw").unwrap();
        let log = LineFile::open(&path).unwrap();
        log.append("three").unwrap();
        log.append("four").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntw\nthree\nfour\n");
    }

    #[test]
    fn lines_of_several_threads_and_handles_do_not_mix() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("log");
        let line = |thread: usize, number: usize| format!("{thread} {number} ").repeat(500);
        std::thread::scope(|scope| {
            for pair in 0..2 {
                let log = std::sync::Arc::new(LineFile::open(&path).unwrap());
                for thread in [2 * pair, 2 * pair + 1] {
                    let log = std::sync::Arc::clone(&log);
                    scope.spawn(move || {
                        (0..20).for_each(|number| log.append(&line(thread, number)).unwrap());
                    });
                }
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<_> = text.lines().collect();
        lines.sort_unstable();
        let mut expected: Vec<_> = (0..80).map(|number| line(number / 20, number % 20)).collect();
        expected.sort_unstable();
        assert_eq!(lines, expected);
    }
}
