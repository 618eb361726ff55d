//! Describes the machine of the measurements.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use super::options::Options;

const FILE: &str = "machine.txt";

/// Stores the description next to the samples.
pub(crate) fn note(options: &Options) {
    let cpu = read("/proc/cpuinfo");
    let field = |text: &str, name: &str| {
        text.lines()
            .find(|line| line.starts_with(name))
            .and_then(|line| line.split_once(':'))
            .map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
    };
    let flags = field(&cpu, "flags");
    let has = |flag: &str| flags.split(' ').any(|word| word == flag);
    let extensions: Vec<&str> =
        ["sha_ni", "avx2", "avx512f"].into_iter().filter(|flag| has(flag)).collect();
    let memory = field(&read("/proc/meminfo"), "MemTotal");
    let kib: f64 = memory.trim_end_matches(" kB").parse().unwrap_or(0.0);
    let kernel = read("/proc/sys/kernel/osrelease");
    // Only the version: the suffix of the distribution does not matter.
    let kernel = kernel.split(|c: char| c == '-' || c.is_whitespace()).next().unwrap_or_default();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let version = Command::new(&options.ra_pack).arg("-V").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let lines = [
        format!(
            "- Processor: {}, {cores} cores ({})",
            field(&cpu, "model name"),
            extensions.join(", ")
        ),
        format!("- Memory: {:.1} GiB", kib / f64::from(1 << 20)),
        format!("- System: Linux {kernel}"),
        format!(
            "- Sources on {}, archives on {}",
            file_system(&options.data),
            file_system(&options.work)
        ),
        format!("- Program: {}, {}", version.unwrap_or_default(), "built by `cargo bench`"),
    ];
    fs::write(options.results.join(FILE), lines.join("\n") + "\n").unwrap();
}

pub(crate) fn noted(results: &Path) -> Option<String> {
    fs::read_to_string(results.join(FILE)).ok()
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Returns the type of the file system of a path: that of the longest mount point above it.
fn file_system(path: &Path) -> String {
    let mut best = (0, "unknown".to_owned());
    for line in read("/proc/self/mountinfo").lines() {
        let cells: Vec<&str> = line.split(' ').collect();
        let (Some(mount), Some(dash)) = (cells.get(4), cells.iter().position(|cell| *cell == "-"))
        else {
            continue;
        };
        if path.starts_with(mount) && mount.len() >= best.0 {
            best = (mount.len(), cells.get(dash + 1).copied().unwrap_or_default().to_owned());
        }
    }
    best.1
}
