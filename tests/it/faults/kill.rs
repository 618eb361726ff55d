//! Runs with several threads, killed and interrupted at different times.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{is_unfinished, noise};
use crate::experiment::{Experiment, ra_pack, read_tree};
use crate::foreign::complaint;
use crate::run::{create, extract, names_in, pack, ra};

fn start(arguments: &[&Path]) -> Child {
    let mut command = Command::new(ra_pack().get_program());
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Sends SIGINT, like Ctrl-C.
fn interrupt(child: &Child) {
    signal(child, "INT");
}

fn signal(child: &Child, name: &str) {
    complaint(Command::new("sh").arg("-c").arg(format!("kill -{name} {}", child.id()))).unwrap();
}

/// Returns a sparse file of 120 million bytes, and a few small files.
fn large() -> Experiment {
    let mut experiment = Experiment::new();
    for index in 0..20_u64 {
        experiment = experiment.file(&format!("small/{index}.txt"), noise(index, 3000));
    }
    for name in ["a.bin", "b.bin"] {
        File::create(experiment.path().join(name)).unwrap().set_len(60_000_000).unwrap();
    }
    experiment
}

/// Returns three hundred files, so that a run is interrupted between and within files.
fn many() -> Experiment {
    (0..300_u64).fold(Experiment::new(), |experiment, index| {
        experiment.file(&format!("{}/{index}.bin", index % 7), noise(index, 20_000))
    })
}

/// Returns the duration of a complete run, to stop others at times within it.
fn duration(arguments: &[&Path]) -> Duration {
    let start_of_run = Instant::now();
    assert!(start(arguments).wait().unwrap().success());
    start_of_run.elapsed()
}

#[test]
#[ignore = "slow"]
fn a_killed_create_leaves_no_archive_or_a_complete_one_and_the_next_run_reports_leftovers() {
    let experiment = large();
    for (name, method) in
        [("x.zip", "stored"), ("x.zip", "zstd"), ("x.tar", "stored"), ("x.tar.zst", "stored")]
    {
        let scratch = TempDir::new().unwrap();
        let archive = scratch.path().join(name);
        let compression = format!("--compression={method}");
        let arguments = [
            "create".as_ref(),
            experiment.path(),
            "-o".as_ref(),
            &archive,
            compression.as_ref(),
            "--force".as_ref(),
        ];
        let whole = duration(&arguments);
        for step in 0..4_u32 {
            for name in names_in(scratch.path()).iter().filter(|name| !is_unfinished(name)) {
                fs::remove_file(scratch.path().join(name)).unwrap();
            }
            let mut child = start(&arguments);
            thread::sleep(whole * (2 * step + 1) / 9);
            child.kill().unwrap();
            child.wait().unwrap();
            if archive.exists() {
                ra("verify", &[&archive], &[]).exits(0);
            }
        }
        let left: Vec<_> =
            names_in(scratch.path()).into_iter().filter(|name| is_unfinished(name)).collect();
        let ran = create(experiment.path(), &archive, &["--force"]).exits(0);
        assert!(!left.is_empty(), "no run was killed in the middle");
        for leftover in left.iter().filter(|left| !left.contains("manifest")) {
            assert!(
                ran.err.contains(&format!("{leftover}` was left by an interrupted run")),
                "{}",
                ran.err
            );
        }
        ra("verify", &[&archive], &[]).exits(0);
    }
}

/// Whether the file system of `directory` does not support unnamed files.
fn needs_names(directory: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, Mode, OFlags, openat};
        openat(CWD, directory, OFlags::RDWR | OFlags::TMPFILE, Mode::RUSR).is_err()
    }
    #[cfg(not(target_os = "linux"))]
    {
        directory.exists()
    }
}

#[test]
#[ignore = "slow"]
fn a_killed_extract_leaves_only_complete_files() {
    let experiment = many();
    let source = read_tree(experiment.path());
    let scratch = TempDir::new().unwrap();
    for ending in [".zip", ".tar.gz"] {
        let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &[]);
        let into = scratch.path().join(format!("into{ending}"));
        let arguments = ["extract".as_ref(), &*archive, "-C".as_ref(), &into, "--force".as_ref()];
        let whole = duration(&arguments);
        for step in 0..4_u32 {
            fs::remove_dir_all(&into).unwrap();
            let mut child = start(&arguments);
            thread::sleep(whole * (2 * step + 1) / 9);
            child.kill().unwrap();
            child.wait().unwrap();
            fs::create_dir_all(&into).unwrap();
            for (name, content) in read_tree(&into) {
                assert!(!is_unfinished(&name) || needs_names(scratch.path()), "{name} was left");
                if let Some(expected) = source.get(&name) {
                    assert!(content == *expected, "{name} is not complete");
                }
            }
        }
        let left = "3/.half.bin.abc.ra-pack-unfinished";
        fs::create_dir_all(into.join("3")).unwrap();
        fs::write(into.join(left), "half").unwrap();
        let ran = extract(&archive, &into, &["--force"]).exits(0);
        let mut tree = read_tree(&into);
        for leftover in tree.keys().filter(|name| is_unfinished(name)) {
            let path = into.join(leftover).into_os_string().into_string().unwrap();
            assert!(
                ran.err.contains(&format!("`{path}` was left by an interrupted run")),
                "{}",
                ran.err
            );
        }
        assert!(tree.contains_key(left));
        tree.retain(|name, _| source.contains_key(name));
        assert!(tree == source);
    }
}

#[test]
fn an_interrupted_create_leaves_nothing_and_exits_with_130() {
    let experiment = large();
    for (name, method) in
        [("x.zip", "stored"), ("x.zip", "zstd"), ("x.tar", "stored"), ("x.tar.gz", "stored")]
    {
        let scratch = TempDir::new().unwrap();
        let archive = scratch.path().join(name);
        let compression = format!("--compression={method}");
        let arguments =
            ["create".as_ref(), experiment.path(), "-o".as_ref(), &archive, compression.as_ref()];
        let mut child = start(&arguments);
        while names_in(scratch.path()).is_empty() && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(10));
        interrupt(&child);
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{name} {status}");
        assert_eq!(names_in(scratch.path()), [""; 0], "{name}");
    }
}

#[test]
fn an_interrupted_extract_leaves_no_temporary_file_at_any_moment() {
    let experiment = many();
    let source = read_tree(experiment.path());
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.zip", &[]);
    let into = scratch.path().join("into");
    let arguments = ["extract".as_ref(), &*archive, "-C".as_ref(), &into, "-j8".as_ref()];
    let whole = duration(&arguments);
    let mut interrupted = 0;
    for step in 0..10_u32 {
        fs::remove_dir_all(&into).unwrap();
        let mut child = start(&arguments);
        while !into.exists() && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(whole * step / 20);
        interrupt(&child);
        let status = child.wait().unwrap();
        assert!(matches!(status.code(), Some(0 | 130)), "{status}");
        interrupted += u32::from(status.code() == Some(130));
        for (name, content) in read_tree(&into) {
            assert!(!is_unfinished(&name), "{name} was left");
            assert!(source.get(&name).is_none_or(|expected| content == *expected), "{name}");
        }
    }
    assert!(interrupted >= 2, "{interrupted}");
}

/// Returns a description and a sparse array that takes longer to read than any test waits.
fn huge() -> Experiment {
    let bytes = 64_u64 << 30;
    let mut header = b"rawarray".to_vec();
    for field in [0, 2, 1, bytes, 1, bytes] {
        header.extend(u64::to_le_bytes(field));
    }
    let experiment =
        Experiment::new().file("a.ra", header).describe("a.yaml", &format!("[{bytes}]"), "uint8");
    let array = File::options().write(true).open(experiment.path().join("a.ra")).unwrap();
    array.set_len(56 + bytes).unwrap();
    experiment
}

/// Longest time until a run ends after a signal, on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(2);

#[test]
fn a_signal_is_handled_at_once_in_the_middle_of_a_huge_file() {
    let experiment = huge();
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.tar.gz");
    let create = ["create".as_ref(), experiment.path(), "-o".as_ref(), &archive];
    for (name, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let mut child = start(&create);
        thread::sleep(Duration::from_millis(300));
        assert!(child.try_wait().unwrap().is_none(), "the run has ended already");
        let told = Instant::now();
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(status), "{name}");
        assert!(told.elapsed() < AT_ONCE, "{name}: {:?}", told.elapsed());
        assert_eq!(names_in(scratch.path()), [""; 0], "{name}");
    }
}

#[test]
fn a_signal_is_handled_while_another_program_signs() {
    let experiment = many();
    let scratch = TempDir::new().unwrap();
    let (archive, begun) = (scratch.path().join("x.zip"), scratch.path().join("begun"));
    let sign = format!("sh -c 'echo > {}; exec sleep 5' sign", begun.display());
    let mut child = start(&[
        "create".as_ref(),
        experiment.path(),
        "-o".as_ref(),
        &archive,
        "--sign-with".as_ref(),
        sign.as_ref(),
    ]);
    while !begun.exists() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    let told = Instant::now();
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(told.elapsed() < AT_ONCE, "{:?}", told.elapsed());
    assert!(names_in(scratch.path()).iter().all(|name| !is_unfinished(name)));
}
