//! Runs one command, and measures its time, its processor time and its memory.
//!
//! A small separate process starts the command. A process inherits the memory peak of its parent, and this program may
//! have a list of a million names in memory.

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// The measurements of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// Seconds from start to end.
    pub(crate) wall: f64,
    /// Processor time in seconds, in the program and in the system.
    pub(crate) cpu: f64,
    /// The largest resident set of any one process, in KiB.
    pub(crate) peak: u64,
}

/// Runs a command without output; an error says how it failed.
pub(crate) fn measure(command: &[String]) -> Result<Sample, String> {
    let me = std::env::current_exe().unwrap();
    let output = Command::new(me).arg("measure").args(command).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let told: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match told[..] {
        [wall, cpu, peak] if output.status.success() => Ok(Sample { wall, cpu, peak: peak as u64 }),
        _ => Err(String::from_utf8_lossy(&output.stderr).trim().chars().take(400).collect()),
    }
}

/// Returns whether a command succeeds.
pub(crate) fn succeeds(command: &[String]) -> bool {
    let Some((program, arguments)) = command.split_first() else { return false };
    let quiet = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.is_ok_and(|status| status.success())
}

/// Runs in the small process.
pub(crate) fn role(command: &[String]) -> ExitCode {
    let (program, arguments) = command.split_first().unwrap();
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let status = match command.status() {
        Ok(status) => status,
        Err(error) => {
            eprintln!("{program}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let wall = start.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let cpu = seconds(usage.user_time()) + seconds(usage.system_time());
    // The unit of the peak is the byte on macOS, the KiB elsewhere.
    let peak = usage.max_rss() / if cfg!(target_os = "macos") { 1024 } else { 1 };
    println!("{wall:.6} {cpu:.6} {peak}");
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
