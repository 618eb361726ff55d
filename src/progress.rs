//! Progress of a running operation, and its cancellation from another thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The progress of a running operation. Put a clone into the options of the operation, and call
/// [`snapshot`](Self::snapshot) from another thread as often as you like.
///
/// [`cancel`](Self::cancel) stops the operation. The default records nothing and cannot be cancelled.
///
/// ```no_run
/// use ra_pack::{Progress, verify};
/// use ra_pack::verify::VerifyOptions;
///
/// let progress = Progress::new();
/// let options = VerifyOptions { progress: progress.clone(), ..VerifyOptions::default() };
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
    /// Whether the work is part of an operation that has its own stages.
    is_part: bool,
    /// Whether nothing is counted.
    is_silent: bool,
    /// The file that is being read, if bytes are counted for one file.
    file: Option<Arc<str>>,
}

#[derive(Default)]
struct ProgressState {
    stage: Mutex<&'static str>,
    bytes: AtomicU64,
    /// 0 if it is not known.
    bytes_total: AtomicU64,
    files: AtomicU64,
    files_total: AtomicU64,
    current: Mutex<String>,
    is_cancelled: AtomicBool,
}

/// The error of a cancelled operation.
#[derive(Debug)]
pub(crate) struct Cancelled;

/// The state of a running operation: its stage, and the bytes and files that are done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The current stage: `searching`, `reading`, `checking`, `packing`, `unpacking`, `converting`, `comparing`,
    /// `writing` or `finishing`; empty before the first. Each stage counts from 0.
    pub stage: &'static str,
    /// Bytes read so far.
    pub bytes: u64,
    /// Total bytes to read; `None` if not known.
    pub bytes_total: Option<u64>,
    /// Files finished so far.
    pub files: u64,
    /// Total number of files; `None` if not known.
    pub files_total: Option<u64>,
    /// A file that is being read, by its name in the pack.
    pub current: Option<String>,
}

impl Progress {
    /// Creates a progress that operations report to.
    pub fn new() -> Self {
        Self { state: Some(Arc::default()), ..Self::default() }
    }

    /// Returns the current state of the operation.
    pub fn snapshot(&self) -> Snapshot {
        let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let known = |number: &AtomicU64| Some(get(number)).filter(|number| *number > 0);
        let Some(state) = &self.state else { return Snapshot::default() };
        let current = locked(&state.current).clone();
        let (bytes_total, files_total) = (known(&state.bytes_total), known(&state.files_total));
        Snapshot {
            stage: *locked(&state.stage),
            // Some headers are read twice, so the count may exceed the total.
            bytes: get(&state.bytes).min(bytes_total.unwrap_or(u64::MAX)),
            bytes_total,
            files: get(&state.files).min(files_total.unwrap_or(u64::MAX)),
            files_total,
            current: Some(current).filter(|current| !current.is_empty()),
        }
    }

    /// Stops every operation and every pack that uses this progress or a clone of it. This cannot be undone. Each
    /// operation ends with [`Error::Interrupted`](crate::Error::Interrupted), usually within a tenth of a second. No
    /// incomplete output keeps its final name; [`extract`](crate::extract()) keeps the files that were complete.
    ///
    /// Two things can take longer: Zstandard finishes a block at its strongest levels, and the system finishes calls
    /// such as syncing a file. An operation that has begun to rename its outputs completes.
    pub fn cancel(&self) {
        if let Some(state) = &self.state {
            state.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether the operation was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.is_cancelled.load(Ordering::Relaxed))
    }

    /// Returns an error if the operation was cancelled.
    pub(crate) fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Returns a progress that can be cancelled and counts nothing.
    #[must_use]
    pub fn silent(&self) -> Self {
        Self { is_silent: true, ..self.clone() }
    }

    fn counted(&self) -> Option<&ProgressState> {
        self.state.as_deref().filter(|_| !self.is_silent)
    }

    /// Returns a progress for a part of the work: it counts bytes and begins no stage.
    pub(crate) fn part(&self) -> Self {
        Self { is_part: true, ..self.clone() }
    }

    /// Returns a progress for a long file that is read at the same time as others: each block names the file again.
    #[cfg(feature = "full")]
    pub(crate) fn of_file(&self, name: &str) -> Self {
        Self { file: self.state.is_some().then(|| name.into()), ..self.clone() }
    }

    /// Begins a stage and resets the counts. Pass 0 for totals that are not known.
    pub(crate) fn stage(&self, name: &'static str, bytes_total: u64, files_total: u64) {
        let Some(state) = self.counted().filter(|_| !self.is_part) else { return };
        *locked(&state.stage) = name;
        state.bytes_total.store(bytes_total, Ordering::Relaxed);
        state.files_total.store(files_total, Ordering::Relaxed);
        state.bytes.store(0, Ordering::Relaxed);
        state.files.store(0, Ordering::Relaxed);
        locked(&state.current).clear();
    }

    /// Sets the total number of files.
    pub(crate) fn expect_files(&self, files: usize) {
        if let Some(state) = self.counted().filter(|_| !self.is_part) {
            state.files_total.store(files as u64, Ordering::Relaxed);
        }
    }

    /// Counts bytes that were read.
    pub(crate) fn add(&self, bytes: usize) {
        if let Some(state) = self.counted() {
            state.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        if let Some(name) = &self.file {
            self.at(name);
        }
    }

    /// Sets the file that is being read.
    pub(crate) fn at(&self, name: &str) {
        if let Some(state) = self.counted() {
            let mut current = locked(&state.current);
            current.clear();
            current.push_str(name);
        }
    }

    /// Counts files that are finished.
    pub(crate) fn done(&self, files: usize) {
        if let Some(state) = self.counted() {
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
    fn snapshots_show_the_counts_and_each_stage_counts_from_zero() {
        let progress = Progress::new();
        let handle = progress.clone();
        assert_eq!(progress.snapshot().stage, "");
        handle.stage("reading", 10, 0);
        handle.expect_files(2);
        handle.at("a.ra");
        handle.add(4);
        handle.done(1);
        let now = progress.snapshot();
        assert_eq!((now.stage, now.bytes, now.bytes_total), ("reading", 4, Some(10)));
        assert_eq!((now.files, now.files_total), (1, Some(2)));
        assert_eq!(now.current.as_deref(), Some("a.ra"));
        handle.at("b.ra");
        handle.add(40);
        let now = progress.snapshot();
        assert_eq!((now.bytes, now.current.as_deref()), (10, Some("b.ra")));
        let long = handle.of_file("long.ra");
        handle.at("c.ra");
        long.add(1);
        assert_eq!(progress.snapshot().current.as_deref(), Some("long.ra"));
        handle.stage("finishing", 0, 0);
        let now = progress.snapshot();
        assert_eq!((now.bytes, now.bytes_total, now.files_total), (0, None, None));
    }

    #[test]
    fn a_clone_cancels_and_silent_progress_counts_nothing() {
        let progress = Progress::new();
        let silent = progress.silent();
        silent.add(3);
        assert_eq!(progress.snapshot().bytes, 0);
        assert!(silent.check().is_ok());
        progress.clone().cancel();
        assert!(silent.check().is_err() && progress.part().is_cancelled());
    }

    #[test]
    fn the_default_records_nothing() {
        let progress = Progress::default();
        progress.cancel();
        assert!(!progress.is_cancelled());
        progress.stage("reading", 1, 1);
        progress.at("a.ra");
        assert_eq!((progress.snapshot().stage, progress.snapshot().current), ("", None));
    }
}
