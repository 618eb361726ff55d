//! One command: its time, its processor time, its memory, and how it ended.
//!
//! The command is started by a small process of its own. A process inherits the peak of the memory of
//! whoever started it, and this program may hold a list of a million names.

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// What one run took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// Seconds from start to end.
    pub(crate) wall: f64,
    /// Seconds of all processors, in the program and in the system for it.
    pub(crate) cpu: f64,
    /// The largest resident set of any one process, in KiB.
    pub(crate) peak: u64,
}

/// Runs a command without output; `Err` says how it failed.
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

/// Whether a command says yes.
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

/// What the small process does.
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
