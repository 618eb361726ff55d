//! Verification of many targets: small ones side by side, large ones one after the other with all threads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError, RwLock};
use std::thread::{self, Builder};

use super::report::Start;
use super::{VerifyOptions, VerifyReport, verify_from};
use crate::error::{Error, Result};
use crate::fs;
use crate::pipeline;

/// Smallest archive, in bytes, that is verified alone with all threads. The work for one below takes less than a second,
/// in which no other large one begins.
const ALONE_FROM: u64 = 32 << 20;

/// A verified target.
#[derive(Debug)]
#[non_exhaustive]
pub struct Verified {
    /// The report. It exists for every target.
    pub report: VerifyReport,
    /// The error if the target could not be verified; the report has its text.
    pub error: Option<Error>,
}

/// Verifies many targets, and passes each result to `take` in the order of the targets. Targets that cannot be read
/// have a report as well.
///
/// Targets are verified side by side on `options.jobs` threads, except large ones and directories, which use all
/// threads alone. A result is passed on as soon as all targets before it have ended, even if the next target is not
/// known yet. An error of `targets` ends the run after the results before it.
///
/// `ended` is called when a target ends, in any order and from any thread. It may change the report. After an error of
/// `ended`, or if `take` returns [`ControlFlow::Break`], no further target is begun.
///
/// # Errors
///
/// The error of `targets` or of `ended`, and [`Error::Interrupted`] if the progress of the options is cancelled. The
/// targets that were being verified then have no report.
///
/// ```
/// use std::ops::ControlFlow;
/// use ra_pack::verify::{VerifyOptions, verify_each};
///
/// let targets = ["examples/experiment", "no.zip"].map(|target| Ok(target.into()));
/// let mut good = Vec::new();
/// verify_each(targets, &VerifyOptions::default(), |_| Ok(()), |verified| {
///     good.push(verified.report.is_valid());
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(good, [false, false]); // a directory without a manifest, and no file
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn verify_each(
    targets: impl IntoIterator<Item = Result<PathBuf>, IntoIter: Send>,
    options: &VerifyOptions,
    ended: impl Fn(&mut VerifyReport) -> Result<()> + Sync,
    mut take: impl FnMut(Verified) -> ControlFlow<()>,
) -> Result<()> {
    let targets = targets.into_iter();
    let is_one = targets.size_hint().1 == Some(1);
    let jobs = if is_one { 1 } else { pipeline::jobs(options.jobs) };
    let mut one_job = options.clone();
    if !is_one {
        // The stages of several targets would reset each other's counts.
        one_job.progress = options.progress.part();
        options.progress.stage("checking", 0, 0);
    }
    let all_jobs = one_job.clone();
    one_job.jobs = Some(1);
    // Small targets share the machine; a large one waits for it.
    let machine = RwLock::new(());
    let targets = Mutex::new(targets.enumerate());
    let stopped = AtomicBool::new(false);
    let work = |target: Result<PathBuf>| -> Result<Verified> {
        let target = target?;
        let mut verified = if !is_one && is_small(&target) {
            let _shared = machine.read().unwrap_or_else(PoisonError::into_inner);
            verified(&target, &one_job)
        } else {
            let _alone = machine.write().unwrap_or_else(PoisonError::into_inner);
            verified(&target, &all_jobs)
        };
        if let Some(Error::Interrupted) = verified.error {
            // A run that was cancelled says nothing about the target.
            return Err(Error::Interrupted);
        }
        ended(&mut verified.report)?;
        Ok(verified)
    };
    let next = || {
        let next = || targets.lock().unwrap_or_else(PoisonError::into_inner).next();
        (!stopped.load(Ordering::Relaxed)).then(next).flatten()
    };
    let (send, results) = channel();
    let run = |send: Sender<_>| {
        while let Some((number, target)) = next() {
            let result = work(target);
            let is_last = result.is_err();
            stopped.fetch_or(is_last, Ordering::Relaxed);
            if send.send((number, result)).is_err() || is_last {
                return;
            }
        }
    };
    let mut failed = None;
    let mut deliver = |result: Result<Verified>| match result {
        Ok(verified) => take(verified),
        Err(error) => {
            failed.get_or_insert(error);
            ControlFlow::Break(())
        }
    };
    thread::scope(|scope| {
        let run = &run;
        let spawn = |_: &usize| {
            let send = send.clone();
            Builder::new().spawn_scoped(scope, move || run(send)).is_ok()
        };
        let workers = if jobs > 1 { (0..jobs).take_while(spawn).count() } else { 0 };
        if workers == 0 {
            while let Some((_, target)) = next() {
                if deliver(work(target)).is_break() {
                    return;
                }
            }
            return;
        }
        // The other senders end with the workers.
        drop(send);
        // The results that wait for one before them are few: while a large target is verified, no small one begins.
        let (mut waiting, mut first) = (BTreeMap::new(), 0);
        while let Ok((number, result)) = results.recv() {
            waiting.insert(number, result);
            while let Some(result) = waiting.remove(&first) {
                first += 1;
                if deliver(result).is_break() {
                    stopped.store(true, Ordering::Relaxed);
                    return;
                }
            }
        }
    });
    failed.map_or(Ok(()), Err)
}

fn verified(target: &Path, options: &VerifyOptions) -> Verified {
    let start = Start::now();
    match verify_from(target, options, start) {
        Ok(report) => Verified { report, error: None },
        Err(error) => {
            let report = VerifyReport::failed(target, options, start, &error);
            Verified { report, error: Some(error) }
        }
    }
}

/// Returns whether the target is worth only one thread. A file that cannot be opened takes no time.
fn is_small(target: &Path) -> bool {
    match fs::file_len(target) {
        Some(length) => length < ALONE_FROM,
        None => !fs::is_directory(target).unwrap_or(false),
    }
}
