//! How far an operation has come, told by those who read to whoever watches from another thread.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A look at an operation from outside, while it runs. Give one to its options, keep a clone, and ask that
/// for a [`snapshot`](Self::snapshot) from another thread, as often as wanted.
///
/// The default watches nothing, and costs nothing.
///
/// ```no_run
/// use ra_pack::{Progress, verify};
/// use ra_pack::verify::VerifyOptions;
///
/// let progress = Progress::new();
/// let options = VerifyOptions { progress: progress.clone(), ..VerifyOptions::default() };
/// std::thread::scope(|scope| {
///     let run = scope.spawn(|| verify("exp.zip".as_ref(), &options));
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
}

/// What an operation is at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
        let Some(state) = self.state.as_ref().filter(|_| !self.is_part) else { return };
        *locked(&state.stage) = name;
        state.bytes_total.store(bytes_total, Ordering::Relaxed);
        state.files_total.store(files_total, Ordering::Relaxed);
        state.bytes.store(0, Ordering::Relaxed);
        state.files.store(0, Ordering::Relaxed);
        locked(&state.current).clear();
    }

    /// Tells how many files there are, as soon as that is known.
    pub(crate) fn expect_files(&self, files: usize) {
        if let Some(state) = &self.state {
            state.files_total.store(files as u64, Ordering::Relaxed);
        }
    }

    /// Counts bytes that were read.
    pub(crate) fn add(&self, bytes: usize) {
        if let Some(state) = &self.state {
            state.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        if let Some(name) = &self.file {
            self.at(name);
        }
    }

    /// Says which file is being read.
    pub(crate) fn at(&self, name: &str) {
        if let Some(state) = &self.state {
            let mut current = locked(&state.current);
            current.clear();
            current.push_str(name);
        }
    }

    /// Counts files that were done.
    pub(crate) fn done(&self, files: usize) {
        if let Some(state) = &self.state {
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
    fn nobody_watches_by_default() {
        let progress = Progress::default();
        progress.stage("reading", 1, 1);
        progress.at("a.ra");
        assert_eq!((progress.snapshot().stage, progress.snapshot().current), ("", None));
    }
}
