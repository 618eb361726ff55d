//! Progress on standard error: a line that is redrawn on a terminal, or lines of JSON for a calling program.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use ra_pack::Progress;
use ra_pack::path::escape;
use ra_pack::progress::Snapshot;
use serde::Serialize;

use super::stderr;
use super::text::{count, fit, fit_end, float, human_bytes};

/// Values of `--progress`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// A line on a terminal after one second, unless --quiet.
    Auto,
    /// No progress.
    Never,
    /// A line of JSON each half second, and a last one with `"done": true`.
    Json,
}

/// Time before a line is drawn.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two drawings of the line.
const FRAME: Duration = Duration::from_millis(100);
const LINE: Duration = Duration::from_millis(500);
/// Time over which the rate is averaged.
const WINDOW: Duration = Duration::from_secs(5);
/// Escape sequence that clears the line.
const ERASE: &str = "\r\x1b[K";

/// The meter whose line a signal handler clears.
static SCREEN: OnceLock<Arc<Meter>> = OnceLock::new();

/// Shows the progress of a command from its own thread.
#[derive(Debug)]
pub(crate) struct Meter {
    is_json: bool,
    progress: Progress,
    start: Instant,
    /// Whether a line is drawn. Printing requires this lock.
    screen: Mutex<bool>,
    is_over: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Meter {
    pub(crate) fn new(is_json: bool) -> Arc<Self> {
        let meter = Arc::new(Self {
            is_json,
            progress: Progress::new(),
            start: Instant::now(),
            screen: Mutex::new(false),
            is_over: AtomicBool::new(false),
            thread: Mutex::new(None),
        });
        let _ = SCREEN.set(Arc::clone(&meter));
        meter
    }

    /// Returns the progress of an operation and begins to show it.
    pub(crate) fn watch(self: &Arc<Self>) -> Progress {
        let mut thread = locked(&self.thread);
        if thread.is_none() {
            let meter = Arc::clone(self);
            // Without a thread, the operation runs and shows no progress.
            *thread = thread::Builder::new().spawn(move || meter.run()).ok();
        }
        self.progress.clone()
    }

    /// Clears the line. It is not drawn again while the guard exists.
    pub(crate) fn hold(&self) -> MutexGuard<'_, bool> {
        let mut is_drawn = locked(&self.screen);
        if std::mem::take(&mut *is_drawn) {
            stderr::write(ERASE);
        }
        is_drawn
    }

    /// Stops showing progress: prints the last line of JSON, or clears the line.
    pub(crate) fn finish(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = locked(&self.thread).take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
        let _held = self.hold();
        if self.is_json {
            stderr::write(&self.json(&self.progress.snapshot(), &Pace::default(), true));
        }
    }

    fn run(&self) {
        let mut pace = Pace::default();
        let wait = if self.is_json { LINE } else { FRAME };
        loop {
            thread::park_timeout(wait);
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let now = self.progress.snapshot();
            pace.note(&now);
            if self.is_json {
                let _held = self.hold();
                stderr::write(&self.json(&now, &pace, false));
            } else if self.start.elapsed() >= PATIENCE {
                let mut is_drawn = locked(&self.screen);
                let width = stderr::columns().unwrap_or(80);
                stderr::write(&format!("\r{}\x1b[K", line(&now, &pace, width)));
                *is_drawn = true;
            }
        }
    }

    fn json(&self, now: &Snapshot, pace: &Pace, done: bool) -> String {
        let line = ProgressLine {
            stage: now.stage,
            bytes: now.bytes,
            bytes_total: now.bytes_total,
            files: now.files,
            files_total: now.files_total,
            current: now.current.as_deref(),
            bytes_per_second: pace.bytes_per_second(),
            seconds: self.start.elapsed().as_secs_f64(),
            seconds_left: pace.left(now).map(|left| left.as_secs_f64()),
            done,
        };
        ra_pack::json::text(&line).map(|line| line + "\n").unwrap_or_default()
    }
}

/// Clears the line for good before a signal ends the program. A result that is being printed has cleared it already.
pub(crate) fn erase() {
    let Some(meter) = SCREEN.get() else { return };
    let begun = Instant::now();
    let is_drawn = loop {
        match meter.screen.try_lock() {
            Ok(is_drawn) => break is_drawn,
            Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if begun.elapsed() > FRAME => return,
            // Another thread is drawing it.
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    };
    if *is_drawn {
        stderr::write(ERASE);
    }
    // Keeps the lock, so that no other line is drawn.
    std::mem::forget(is_drawn);
}

/// The progress of a command. A line is printed on standard error every half second and at the end, among messages that
/// are not JSON.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ProgressLine<'a> {
    /// The stage, such as `packing`; empty before the first. Counts begin at 0 in each stage. Later versions may add
    /// stages.
    stage: &'a str,
    /// Number of bytes read in this stage.
    bytes: u64,
    /// Number of bytes to read; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_total: Option<u64>,
    /// Number of files completed in this stage.
    files: u64,
    /// Number of files in this stage; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    files_total: Option<u64>,
    /// Name in the pack of a file that is being read.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<&'a str>,
    /// Bytes per second over the last five seconds of the stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_second: Option<u64>,
    /// Seconds since the command started.
    seconds: f64,
    /// Estimated seconds until the end of the stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_left: Option<f64>,
    /// Whether this is the last line. The exit status shows the outcome.
    done: bool,
}

/// Returns the completed and the total number of bytes, or of files if the number of bytes is not known.
fn part_done(now: &Snapshot) -> Option<(u64, u64)> {
    let bytes = now.bytes_total.map(|total| (now.bytes, total));
    bytes.or(now.files_total.map(|total| (now.files, total)))
}

/// Recent rate of progress.
#[derive(Debug, Default)]
struct Pace {
    stage: &'static str,
    /// Times, with the number of bytes and files at each.
    seen: VecDeque<(Instant, u64, u64)>,
}

impl Pace {
    fn note(&mut self, now: &Snapshot) {
        let goes_back = self.seen.back().is_some_and(|(_, bytes, _)| *bytes > now.bytes);
        if self.stage != now.stage || goes_back {
            self.stage = now.stage;
            self.seen.clear();
        }
        self.seen.push_back((Instant::now(), now.bytes, now.files));
        while self.seen.front().is_some_and(|(then, ..)| then.elapsed() > WINDOW) {
            self.seen.pop_front();
        }
    }

    /// Returns the time between the first and the last entry, with the bytes and files completed in it.
    fn span(&self) -> Option<(Duration, u64, u64)> {
        let ((then, bytes, files), (now, more, done)) = (self.seen.front()?, self.seen.back()?);
        let time = now.checked_duration_since(*then).filter(|time| *time >= FRAME)?;
        Some((time, more.checked_sub(*bytes)?, done.checked_sub(*files)?))
    }

    fn bytes_per_second(&self) -> Option<u64> {
        let (time, bytes, _) = self.span().filter(|(_, bytes, _)| *bytes > 0)?;
        u64::try_from(u128::from(bytes) * 1000 / time.as_millis()).ok()
    }

    /// Estimates the remaining time.
    fn left(&self, now: &Snapshot) -> Option<Duration> {
        let (time, bytes, files) = self.span()?;
        let lately = if now.bytes_total.is_some() { bytes } else { files };
        let (done, total) = part_done(now)?;
        let left = u128::from(total.saturating_sub(done)) * time.as_millis();
        let left = u64::try_from(left.checked_div(lately.into())?).ok()?;
        Some(Duration::from_millis(left))
    }
}

/// Length of the bar, in columns.
const BAR: usize = 10;

/// Formats the line for a terminal, shorter than `width`.
fn line(now: &Snapshot, pace: &Pace, width: usize) -> String {
    let stage = if now.stage.is_empty() { "starting" } else { now.stage };
    let mut said = vec![match part_done(now) {
        None => stage.to_owned(),
        Some((done, total)) => {
            let part = |of: usize| count(float(done) * float(of) / float(total.max(1))).min(of);
            let (full, empty) = ("#".repeat(part(BAR)), ".".repeat(BAR - part(BAR)));
            format!("{stage} [{full}{empty}] {}%", part(100))
        }
    }];
    match now.bytes_total {
        Some(total) => said.push(format!("{}/{}", human_bytes(now.bytes), human_bytes(total))),
        None if now.bytes > 0 => said.push(human_bytes(now.bytes)),
        None => {}
    }
    said.extend(pace.bytes_per_second().map(|rate| format!("{}/s", human_bytes(rate))));
    if let Some(left) = pace.left(now) {
        let seconds = left.as_millis().div_ceil(1000);
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        said.push(match hours {
            0 => format!("{minutes}:{seconds:02} left"),
            _ => format!("{hours}:{minutes:02}:{seconds:02} left"),
        });
    }
    if let Some(total) = now.files_total.filter(|total| *total > 1) {
        said.push(format!("{}/{total}", now.files));
    }
    let line = said.join("  ");
    let Some(current) = &now.current else { return fit(&line, width.saturating_sub(1)) };
    let room = width.saturating_sub(line.len() + 3);
    let current = fit_end(&escape(current).to_string(), room);
    fit(&format!("{line}  {current}"), width.saturating_sub(1))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(bytes: u64, bytes_total: Option<u64>, files_total: Option<u64>) -> Snapshot {
        let mut now = Snapshot::default();
        (now.stage, now.bytes, now.bytes_total) = ("checking", bytes, bytes_total);
        (now.files, now.files_total) = (3, files_total);
        now.current = Some("run1/größe\u{1b}[2J.ra".to_owned());
        now
    }

    #[test]
    fn a_line_shows_the_known_numbers_and_fits() {
        let pace = Pace::default();
        let full = line(&now(512, Some(1024), Some(9)), &pace, 200);
        assert!(full.starts_with("checking [#####.....] 50%  512 B/1.0 KiB  3/9  run1/"), "{full}");
        assert!(!full.contains('\u{1b}'), "{full}");
        assert!(
            line(&now(0, None, Some(6)), &pace, 200).starts_with("checking [#####.....] 50%  3/6")
        );
        assert!(line(&now(5, None, None), &pace, 200).starts_with("checking  5 B  run1/"));
        for width in 0..100 {
            let line = line(&now(u64::MAX, Some(u64::MAX), Some(u64::MAX)), &pace, width);
            assert!(line.chars().count() < width.max(1), "{width}: {line}");
        }
    }

    #[test]
    fn the_rate_is_recent_and_restarts_with_each_stage() {
        let mut pace = Pace::default();
        let second = Duration::from_secs(1);
        let then = Instant::now().checked_sub(second).unwrap();
        pace.stage = "checking";
        pace.seen.push_back((then, 0, 0));
        pace.note(&now(1000, Some(3000), None));
        let rate = pace.bytes_per_second().unwrap();
        assert!((900..=1000).contains(&rate), "{rate}");
        let left = pace.left(&now(1000, Some(3000), None)).unwrap();
        assert!((second * 2..second * 3).contains(&left), "{left:?}");
        pace.note(&now(10, Some(3000), None));
        assert_eq!((pace.bytes_per_second(), pace.left(&now(10, Some(3000), None))), (None, None));
    }
}
