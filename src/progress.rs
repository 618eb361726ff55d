//! How far an operation has come, told by those who read to whoever watches from another thread, who may cancel it.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A look at an operation from outside, while it runs. Give one to its options, keep a clone, and ask that
/// for a [`snapshot`](Self::snapshot) from another thread, as often as wanted.
///
/// [`cancel`](Self::cancel) stops the operation. The default watches nothing, costs nothing and cannot be cancelled.
///
/// ```no_run
/// use ra_pack::{Progress, verify};
/// use ra_pack::verify::VerifyOptions;
///
/// let progress = Progress::new();
/// let mut options = VerifyOptions::default();
/// options.progress = progress.clone();
/// std::thread::scope(|scope| {
///     let run = scope.spawn(|| verify("exp.zip", &options));
///     while !run.is_finished() {
///         let now = progress.snapshot();
///         println!("{}: {} of {:?} bytes", now.stage, now.bytes, now.bytes_total);
///         std::thread::sleep(std::time::Duration::from_millis(100));
///     }
/// });
/// ```
#[derive(Clone, Default)]
pub struct Progress {
    state: Option<Arc<ProgressState>>,
    /// Whether it is a part of something that has its own stages.
    is_part: bool,
    /// Whether nothing is told.
    is_silent: bool,
    /// The file that bytes are counted for, if it is one.
    file: Option<Arc<str>>,
}

#[derive(Default)]
struct ProgressState {
    stage: Mutex<&'static str>,
    bytes: AtomicU64,
    /// 0 when it is not known.
    bytes_total: AtomicU64,
    files: AtomicU64,
    files_total: AtomicU64,
    current: Mutex<String>,
    is_cancelled: AtomicBool,
}

/// The reason why an operation goes no further.
#[derive(Debug)]
pub(crate) struct Cancelled;

/// The state of a running operation: its stage, and the bytes and files that are done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// What is being done: `searching`, `reading`, `checking`, `packing`, `unpacking`, `converting`,
    /// `comparing`, `writing`, `finishing`; empty before anything is. Each stage counts from 0.
    pub stage: &'static str,
    /// Bytes that were read.
    pub bytes: u64,
    /// Bytes that there are to read; nothing when that is not known.
    pub bytes_total: Option<u64>,
    /// Files that were done.
    pub files: u64,
    /// Files that there are; nothing when that is not known.
    pub files_total: Option<u64>,
    /// A file that is being read, by its name in the pack.
    pub current: Option<String>,
}

impl Progress {
    /// One that is fed by the operation that it is given to.
    pub fn new() -> Self {
        Self { state: Some(Arc::default()), ..Self::default() }
    }

    /// What the operation is at.
    pub fn snapshot(&self) -> Snapshot {
        let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let known = |number: &AtomicU64| Some(get(number)).filter(|number| *number > 0);
        let Some(state) = &self.state else { return Snapshot::default() };
        let current = locked(&state.current).clone();
        let (bytes_total, files_total) = (known(&state.bytes_total), known(&state.files_total));
        Snapshot {
            stage: *locked(&state.stage),
            // A header is read twice here and there, which is not worth to be counted exactly.
            bytes: get(&state.bytes).min(bytes_total.unwrap_or(u64::MAX)),
            bytes_total,
            files: get(&state.files).min(files_total.unwrap_or(u64::MAX)),
            files_total,
            current: Some(current).filter(|current| !current.is_empty()),
        }
    }

    /// Stops every operation and every pack that this or a clone of it was given to, for good. Each ends with
    /// [`Error::Interrupted`](crate::Error::Interrupted) at its next read or write, or after its next block where
    /// it computes, which is within a tenth of a second. An operation that writes leaves nothing under the names
    /// that it was to give; [`extract`](crate::extract()) leaves the files that were complete.
    ///
    /// A block of megabytes that Zstandard compresses at one of its strongest levels is compressed to its end before,
    /// and so is what the system does by itself, as putting a file on the disk. An operation that has given the
    /// first name goes on to its end.
    pub fn cancel(&self) {
        if let Some(state) = &self.state {
            state.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.is_cancelled.load(Ordering::Relaxed))
    }

    /// Refuses to go on when it was cancelled.
    pub(crate) fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// For work that is stopped with the rest, and of which nothing is told.
    pub(crate) fn silent(&self) -> Self {
        Self { is_silent: true, ..self.clone() }
    }

    fn told(&self) -> Option<&ProgressState> {
        self.state.as_deref().filter(|_| !self.is_silent)
    }

    /// For a part of the work: what it reads counts, and it begins no stage of its own.
    pub(crate) fn part(&self) -> Self {
        Self { is_part: true, ..self.clone() }
    }

    /// For a long file that others are read beside: it is named again by each of its blocks.
    pub(crate) fn of_file(&self, name: &str) -> Self {
        Self { file: self.state.is_some().then(|| name.into()), ..self.clone() }
    }

    /// Begins to count anew. Numbers that are not known are 0.
    pub(crate) fn stage(&self, name: &'static str, bytes_total: u64, files_total: u64) {
        let Some(state) = self.told().filter(|_| !self.is_part) else { return };
        *locked(&state.stage) = name;
        state.bytes_total.store(bytes_total, Ordering::Relaxed);
        state.files_total.store(files_total, Ordering::Relaxed);
        state.bytes.store(0, Ordering::Relaxed);
        state.files.store(0, Ordering::Relaxed);
        locked(&state.current).clear();
    }

    /// Tells how many files there are, as soon as that is known.
    pub(crate) fn expect_files(&self, files: usize) {
        if let Some(state) = self.told() {
            state.files_total.store(files as u64, Ordering::Relaxed);
        }
    }

    /// Counts bytes that were read.
    pub(crate) fn add(&self, bytes: usize) {
        if let Some(state) = self.told() {
            state.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        if let Some(name) = &self.file {
            self.at(name);
        }
    }

    /// Says which file is being read.
    pub(crate) fn at(&self, name: &str) {
        if let Some(state) = self.told() {
            let mut current = locked(&state.current);
            current.clear();
            current.push_str(name);
        }
    }

    /// Counts files that were done.
    pub(crate) fn done(&self, files: usize) {
        if let Some(state) = self.told() {
            state.files.fetch_add(files as u64, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.state.is_some() { "Progress(watched)" } else { "Progress" })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_seen_and_each_stage_counts_anew() {
        let progress = Progress::new();
        let told = progress.clone();
        assert_eq!(progress.snapshot().stage, "");
        told.stage("reading", 10, 0);
        told.expect_files(2);
        told.at("a.ra");
        told.add(4);
        told.done(1);
        let now = progress.snapshot();
        assert_eq!((now.stage, now.bytes, now.bytes_total), ("reading", 4, Some(10)));
        assert_eq!((now.files, now.files_total), (1, Some(2)));
        assert_eq!(now.current.as_deref(), Some("a.ra"));
        told.at("b.ra");
        told.add(40);
        let now = progress.snapshot();
        assert_eq!((now.bytes, now.current.as_deref()), (10, Some("b.ra")));
        let long = told.of_file("long.ra");
        told.at("c.ra");
        long.add(1);
        assert_eq!(progress.snapshot().current.as_deref(), Some("long.ra"));
        told.stage("finishing", 0, 0);
        let now = progress.snapshot();
        assert_eq!((now.bytes, now.bytes_total, now.files_total), (0, None, None));
    }

    #[test]
    fn a_clone_cancels_and_what_is_silent_counts_nothing() {
        let progress = Progress::new();
        let silent = progress.silent();
        silent.add(3);
        assert_eq!(progress.snapshot().bytes, 0);
        assert!(silent.check().is_ok());
        progress.clone().cancel();
        assert!(silent.check().is_err() && progress.part().is_cancelled());
    }

    #[test]
    fn nobody_watches_by_default() {
        let progress = Progress::default();
        progress.cancel();
        assert!(!progress.is_cancelled());
        progress.stage("reading", 1, 1);
        progress.at("a.ra");
        assert_eq!((progress.snapshot().stage, progress.snapshot().current), ("", None));
    }
}
