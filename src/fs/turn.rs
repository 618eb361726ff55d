//! Locks between runs. They end with the process and leave no file; where a file system has none, work goes on
//! without.

use std::fs;
use std::path::Path;

use super::parent_of;
use crate::progress::Progress;

/// The turn of this run in a directory; it ends when this is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Turn {
    _directory: Option<fs::File>,
}

impl Turn {
    /// Waits until no other run has its turn in the directory of `target`. For files that belong together and get
    /// their names one by one: two runs at once would leave some of the one and some of the other.
    ///
    /// Never taken twice: the second waits for the first.
    pub(crate) fn beside(target: &Path, progress: &Progress) -> Self {
        Self::take(parent_of(target), false, progress)
    }

    /// Waits until no other run has its turn in `directory`; those that are `shared` have it together.
    pub(crate) fn take(directory: &Path, shared: bool, progress: &Progress) -> Self {
        // Elsewhere a locked file cannot be read by others, and a directory is not opened.
        let opened = if cfg!(unix) { fs::File::open(directory).ok() } else { None };
        let is_ours = |file: &fs::File| {
            let at_once = if shared { file.try_lock_shared() } else { file.try_lock() };
            match at_once {
                Err(fs::TryLockError::WouldBlock) => {
                    progress.stage("waiting for another run", 0, 0);
                    if shared { file.lock_shared() } else { file.lock() }.is_ok()
                }
                at_once => at_once.is_ok(),
            }
        };
        Self { _directory: opened.filter(is_ours) }
    }
}

/// Marks an open temporary file or directory as one that somebody writes.
pub(super) fn mark(temporary: &fs::File) {
    if cfg!(unix) {
        // Without locks a file of another run that still writes it looks left over.
        let _ = temporary.try_lock();
    }
}

/// Whether some run writes the temporary file or directory at `path`.
pub(super) fn is_marked(path: &Path) -> bool {
    let is_marked =
        |file: fs::File| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock));
    cfg!(unix) && super::file::without_waiting(path).is_ok_and(is_marked)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_turn_in_a_directory_ends_before_the_next_begins() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        let progress = Progress::default();
        if !cfg!(unix) || fs::File::open(&path).unwrap().try_lock().is_err() {
            return;
        }
        let first = Turn::take(&path, false, &progress);
        let (tell, told) = mpsc::channel();
        let second = thread::spawn(move || {
            let turn = Turn::beside(&path.join("x"), &Progress::default());
            tell.send(()).unwrap();
            drop(turn);
        });
        assert!(told.recv_timeout(Duration::from_millis(50)).is_err());
        drop(first);
        told.recv().unwrap();
        second.join().unwrap();
        // Neither waits for the other.
        let _one = Turn::take(directory.path(), true, &progress);
        let _other = Turn::take(directory.path(), true, &progress);
    }
}
