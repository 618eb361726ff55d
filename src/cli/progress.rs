//! How far a command is, on standard error: a line that is drawn again and again on a terminal, or lines of
//! JSON for a program in front of this one.

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

use super::output::{columns, json_text, to_stderr};
use super::text::{count, fit, fit_end, float, human_bytes};

/// How `--progress` is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// A line on a terminal, from a second on, unless --quiet.
    Auto,
    /// Not at all.
    Never,
    /// A line of JSON each half second, and a last one with `"done": true`.
    Json,
}

/// The time before a line is drawn.
const PATIENCE: Duration = Duration::from_secs(1);
/// Ten pictures in a second look like movement.
const FRAME: Duration = Duration::from_millis(100);
const LINE: Duration = Duration::from_millis(500);
/// The time over which the rate is taken.
const WINDOW: Duration = Duration::from_secs(5);
/// Back to the beginning of the line, and clear it.
const ERASE: &str = "\r\x1b[K";

/// The one line that a signal has to clear. The handler has no other way to it.
static SCREEN: OnceLock<Arc<Meter>> = OnceLock::new();

/// Shows how far a command is, beside it.
#[derive(Debug)]
pub(crate) struct Meter {
    is_json: bool,
    progress: Progress,
    start: Instant,
    /// Whether a line is drawn; who holds it may print.
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

    /// The progress of an operation; from here on it is shown.
    pub(crate) fn watch(self: &Arc<Self>) -> Progress {
        let mut thread = locked(&self.thread);
        if thread.is_none() {
            let meter = Arc::clone(self);
            // Where there is no thread to be had, the work is done unseen.
            *thread = thread::Builder::new().spawn(move || meter.run()).ok();
        }
        self.progress.clone()
    }

    /// Clears the line; it is not drawn while what is returned is there.
    pub(crate) fn hold(&self) -> MutexGuard<'_, bool> {
        let mut is_drawn = locked(&self.screen);
        if std::mem::take(&mut *is_drawn) {
            to_stderr(ERASE);
        }
        is_drawn
    }

    /// Ends it, with the last line of JSON or without any line.
    pub(crate) fn finish(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = locked(&self.thread).take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
        let _held = self.hold();
        if self.is_json {
            to_stderr(&self.json(&self.progress.snapshot(), &Pace::default(), true));
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
                to_stderr(&self.json(&now, &pace, false));
            } else if self.start.elapsed() >= PATIENCE {
                let mut is_drawn = locked(&self.screen);
                let width = columns().unwrap_or(80);
                to_stderr(&format!("\r{}\x1b[K", line(&now, &pace, width)));
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
        json_text(&line).map(|line| line + "\n").unwrap_or_default()
    }
}

/// Clears the line for good, before the program is stopped. Whoever prints for longer than a moment has cleared it.
pub(crate) fn erase() {
    let Some(meter) = SCREEN.get() else { return };
    let begun = Instant::now();
    let is_drawn = loop {
        match meter.screen.try_lock() {
            Ok(is_drawn) => break is_drawn,
            Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if begun.elapsed() > FRAME => return,
            // It is being drawn.
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    };
    if *is_drawn {
        to_stderr(ERASE);
    }
    // Nobody draws another one.
    std::mem::forget(is_drawn);
}

/// The progress of a command. A line is printed on standard error each half second, and a last one when the command ends,
/// among messages that are no JSON.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ProgressLine<'a> {
    /// The stage, such as `packing`; empty before the first. Each stage counts from 0, and later versions may have
    /// others.
    stage: &'a str,
    /// Bytes that were read in this stage.
    bytes: u64,
    /// Bytes that there are to read; absent when that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_total: Option<u64>,
    /// Files that were done in this stage.
    files: u64,
    /// Files that there are; absent when that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    files_total: Option<u64>,
    /// A file that is being read, by its name in the pack.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<&'a str>,
    /// Bytes in a second, over the last five seconds of the stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_second: Option<u64>,
    /// Seconds since the command began.
    seconds: f64,
    /// Seconds that the stage will go on, if it goes on as it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_left: Option<f64>,
    /// Whether this is the last line; the exit status tells how the command ended.
    done: bool,
}

/// What was done and what there is to do: bytes where their number is known, otherwise files.
fn part_done(now: &Snapshot) -> Option<(u64, u64)> {
    let bytes = now.bytes_total.map(|total| (now.bytes, total));
    bytes.or(now.files_total.map(|total| (now.files, total)))
}

/// How fast it goes of late.
#[derive(Debug, Default)]
struct Pace {
    stage: &'static str,
    /// Moments, and the bytes and files at each.
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

    /// The time between the first and the last moment, and what was done in it.
    fn span(&self) -> Option<(Duration, u64, u64)> {
        let ((then, bytes, files), (now, more, done)) = (self.seen.front()?, self.seen.back()?);
        let time = now.checked_duration_since(*then).filter(|time| *time >= FRAME)?;
        Some((time, more.checked_sub(*bytes)?, done.checked_sub(*files)?))
    }

    fn bytes_per_second(&self) -> Option<u64> {
        let (time, bytes, _) = self.span().filter(|(_, bytes, _)| *bytes > 0)?;
        u64::try_from(u128::from(bytes) * 1000 / time.as_millis()).ok()
    }

    /// How long it takes yet.
    fn left(&self, now: &Snapshot) -> Option<Duration> {
        let (time, bytes, files) = self.span()?;
        let lately = if now.bytes_total.is_some() { bytes } else { files };
        let (done, total) = part_done(now)?;
        let left = u128::from(total.saturating_sub(done)) * time.as_millis();
        let left = u64::try_from(left.checked_div(lately.into())?).ok()?;
        Some(Duration::from_millis(left))
    }
}

/// Columns of the bar itself.
const BAR: usize = 10;

/// The line on a terminal, shorter than `width`.
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
    fn a_line_says_what_is_known_and_fits() {
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
    fn the_rate_is_that_of_late_and_begins_anew_with_a_stage() {
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
