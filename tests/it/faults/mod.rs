//! What happens when a run is killed or interrupted, the disk is full, or the source changes under
//! it: no archive or a whole one, nothing left over, the source as it was. All of it for real.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::experiment::{Experiment, ra_pack, read_tree};
use crate::foreign::complaint;
use crate::run::{create, extract, names_in, pack, ra};

/// Numbers that hardly compress, the same ones every time.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Says that a test was not made, or fails when it has to be.
fn skip(why: &str) {
    let is_required = std::env::var_os("RA_PACK_REQUIRE_TOOLS").is_some_and(|value| value == "1");
    assert!(!is_required, "{why}, and RA_PACK_REQUIRE_TOOLS is 1");
    writeln!(io::stderr(), "SKIPPED: {why}").unwrap();
}

fn is_root(scratch: &Path) -> bool {
    fs::metadata(scratch).unwrap().uid() == 0
}

fn start(arguments: &[&Path]) -> Child {
    let mut command = Command::new(ra_pack().get_program());
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Sends SIGINT, as Ctrl-C does.
fn interrupt(child: &Child) {
    complaint(Command::new("sh").arg("-c").arg(format!("kill -INT {}", child.id()))).unwrap();
}

fn is_unfinished(name: &str) -> bool {
    name.ends_with(".ra-pack-unfinished")
}

/// A hundred and twenty million bytes that take no place on the disk, and a few small files.
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

/// Three hundred files, so that a run is interrupted between and within them.
fn many() -> Experiment {
    (0..300_u64).fold(Experiment::new(), |experiment, index| {
        experiment.file(&format!("{}/{index}.bin", index % 7), noise(index, 20_000))
    })
}

/// How long a whole run takes, so that it can be stopped at moments all over it.
fn duration(arguments: &[&Path]) -> Duration {
    let start_of_run = Instant::now();
    assert!(start(arguments).wait().unwrap().success());
    start_of_run.elapsed()
}

#[test]
fn a_killed_create_leaves_no_archive_or_a_whole_one_and_the_next_run_names_the_leftover() {
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

#[test]
fn a_killed_extract_leaves_whole_files_under_their_names_only() {
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
                if let Some(expected) = source.get(&name) {
                    assert!(content == *expected, "{name} is not whole");
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

/// A small disk of its own, unmounted when dropped.
struct Disk(TempDir);

impl Disk {
    fn mount(size: &str) -> Option<Self> {
        let directory = TempDir::new().unwrap();
        if !cfg!(target_os = "linux") || !is_root(directory.path()) {
            skip("a full disk needs root on Linux");
            return None;
        }
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(directory.path());
        if let Err(refusal) = complaint(&mut mount) {
            skip(&format!("no small disk can be mounted: {refusal}"));
            return None;
        }
        Some(Self(directory))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_leaves_no_archive_and_nothing_else() {
    let Some(disk) = Disk::mount("1m") else { return };
    let experiment = Experiment::new()
        .file("a.bin", noise(1, 900_000))
        .file("b.bin", noise(2, 900_000))
        .file("c.txt", "small");
    let before = read_tree(experiment.path());
    for (name, method) in [
        ("x.zip", "stored"),
        ("x.zip", "deflate"),
        ("x.zip", "zstd"),
        ("x.tar", "stored"),
        ("x.tar.gz", "stored"),
        ("x.tar.zst", "stored"),
    ] {
        for layout in ["plain", "bagit"] {
            let options = ["--compression", method, "--layout", layout, "--archive-digest"];
            let ran = create(experiment.path(), &disk.path().join(name), &options).exits(2);
            ran.says(&[name, "No space left"]);
            assert_eq!(names_in(disk.path()), [""; 0], "{name} {method}");
        }
    }
    // What spills over into a scratch file has as little room.
    let experiment = experiment.file("a.bin", noise(3, 6_000_000));
    for method in ["deflate", "zstd"] {
        let ran = create(experiment.path(), &disk.path().join("x.zip"), &["--compression", method]);
        ran.exits(2).says(&["No space left"]);
        assert_eq!(names_in(disk.path()), [""; 0]);
    }
    let experiment = experiment.file("a.bin", &before["a.bin"]);
    assert!(read_tree(experiment.path()) == before);
    // What was there is still there.
    let kept = disk.path().join("x.zip");
    fs::write(&kept, "mine").unwrap();
    create(experiment.path(), &kept, &["--force"]).exits(2);
    assert_eq!(names_in(disk.path()), ["x.zip"]);
    assert_eq!(fs::read_to_string(kept).unwrap(), "mine");
}

#[test]
fn a_disk_that_is_full_to_the_last_byte_of_the_archive_leaves_nothing() {
    let Some(disk) = Disk::mount("1m") else { return };
    // The room ends at, before and after the end of the archive and of its manifest.
    for fill in (600_000..1_048_576).step_by(4096 * 9) {
        let experiment = Experiment::new().file("a.bin", noise(1, 400_000));
        fs::write(disk.path().join("fill"), vec![0; fill]).unwrap();
        let archive = disk.path().join("x.zip");
        let ran = create(experiment.path(), &archive, &[]);
        match ran.code {
            Some(0) => {
                ra("verify", &[&archive], &[]).exits(0);
                fs::remove_file(&archive).unwrap();
                fs::remove_file(disk.path().join("x.zip.manifest-sha256.txt")).unwrap();
            }
            Some(2) => {}
            _ => panic!("{}", ran.said()),
        }
        assert_eq!(names_in(disk.path()), ["fill"], "{fill}");
    }
}

#[test]
fn a_disk_that_fills_while_unpacking_leaves_whole_files_only() {
    let Some(disk) = Disk::mount("1m") else { return };
    let mut experiment = Experiment::new().file("z.bin", noise(1, 900_000));
    for index in 0..10 {
        experiment = experiment.file(&format!("{index}.bin"), noise(index, 90_000));
    }
    let source = read_tree(experiment.path());
    let scratch = TempDir::new().unwrap();
    for ending in [".zip", ".tar", ".tar.gz", ".tar.zst"] {
        let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &[]);
        let into = disk.path().join("into");
        extract(&archive, &into, &[]).exits(2).says(&["No space left"]);
        for (name, content) in read_tree(&into) {
            assert!(!is_unfinished(&name), "{name}");
            let is_generated = name.starts_with("manifest");
            assert!(is_generated || content == source[&name], "{name} is not whole");
        }
        fs::remove_dir_all(into).unwrap();
        let out = disk.path().join("out.bin");
        fs::write(disk.path().join("fill"), vec![0; 500_000]).unwrap();
        let option = ["z.bin", "-o", out.to_str().unwrap()];
        ra("get", &[&archive], &option).exits(2).says(&["No space left"]);
        assert_eq!(names_in(disk.path()), ["fill"]);
        fs::remove_file(disk.path().join("fill")).unwrap();
    }
}

/// Packs while `change` is done to a file over and over again: an error that names the file, and
/// nothing else.
fn assert_noticed(change: impl Fn(&File, u64) + Sync) {
    let experiment = Experiment::new().file("a.txt", "small").file("run1/changing.bin", "");
    let path = experiment.path().join("run1/changing.bin");
    for (name, method) in
        [("x.zip", "stored"), ("x.zip", "deflate:2"), ("x.tar", "stored"), ("x.tar.zst", "zstd:1")]
    {
        File::create(&path).unwrap().set_len(40_000_000).unwrap();
        let scratch = TempDir::new().unwrap();
        let done = AtomicBool::new(false);
        let ran = thread::scope(|scope| {
            scope.spawn(|| {
                let file = File::options().write(true).open(&path).unwrap();
                let mut turn = 0;
                while !done.load(Ordering::Relaxed) {
                    turn += 1;
                    change(&file, turn);
                    thread::sleep(Duration::from_micros(300));
                }
            });
            let archive = scratch.path().join(name);
            let ran = create(experiment.path(), &archive, &["--compression", method]);
            done.store(true, Ordering::Relaxed);
            ran
        });
        ran.exits(2).says(&["run1/changing.bin", "changed while it was read"]);
        assert_eq!(names_in(scratch.path()), [""; 0], "{name}");
    }
}

#[test]
fn a_file_that_grows_while_it_is_read_is_noticed() {
    assert_noticed(|file, turn| file.set_len(40_000_000 + turn).unwrap());
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_noticed() {
    assert_noticed(|file, turn| {
        file.set_len(40_000_000_u64.saturating_sub(turn * 100_000)).unwrap();
    });
}

#[test]
fn a_file_that_is_overwritten_while_it_is_read_is_noticed() {
    assert_noticed(|file, turn| file.write_all_at(&turn.to_le_bytes(), turn % 1000).unwrap());
}

#[test]
fn a_file_that_is_replaced_by_one_of_its_size_and_time_while_it_is_read_is_noticed() {
    let aside = TempDir::new().unwrap();
    let long_ago = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let experiment = Experiment::new().file("run1/changing.bin", "");
    let path = experiment.path().join("run1/changing.bin");
    let lay = |path: &Path| {
        let file = File::create(path).unwrap();
        file.set_len(40_000_000).unwrap();
        file.set_modified(long_ago).unwrap();
    };
    for (name, method) in [("x.zip", "stored"), ("x.zip", "deflate:2"), ("x.tar", "stored")] {
        lay(&path);
        let scratch = TempDir::new().unwrap();
        let done = AtomicBool::new(false);
        let ran = thread::scope(|scope| {
            scope.spawn(|| {
                let other = aside.path().join("other");
                while !done.load(Ordering::Relaxed) {
                    lay(&other);
                    fs::rename(&other, &path).unwrap();
                    thread::sleep(Duration::from_millis(1));
                }
            });
            let archive = scratch.path().join(name);
            let ran = create(experiment.path(), &archive, &["--compression", method]);
            done.store(true, Ordering::Relaxed);
            ran
        });
        ran.exits(2).says(&["run1/changing.bin", "changed while it was read"]);
        assert_eq!(names_in(scratch.path()), [""; 0], "{name}");
    }
}

#[test]
fn a_file_that_may_not_be_read_is_named_and_nothing_is_written() {
    let experiment = Experiment::new().file("a.txt", "").file("run1/secret.txt", "x");
    if is_root(experiment.path()) {
        // Not a matter of what is installed, so never a failure.
        writeln!(io::stderr(), "SKIPPED: root may read every file").unwrap();
        return;
    }
    let secret = experiment.path().join("run1/secret.txt");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    create(experiment.path(), &archive, &[]).exits(2).says(&["run1/secret.txt"]);
    assert_eq!(names_in(scratch.path()), [""; 0]);
    create(experiment.path(), &archive, &["--exclude", "secret.txt"]).exits(0);
}

#[test]
fn a_directory_that_may_not_be_written_is_named() {
    let Some(disk) = Disk::mount("1m") else { return };
    let mut remount = Command::new("mount");
    complaint(remount.args(["-o", "remount,ro"]).arg(disk.path())).unwrap();
    let experiment = Experiment::new().file("a.txt", "x");
    let archive = disk.path().join("x.zip");
    create(experiment.path(), &archive, &[]).exits(2).says(&[disk.path().to_str().unwrap()]);
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.zip", &[]);
    extract(&archive, disk.path(), &[]).exits(2).says(&[disk.path().to_str().unwrap()]);
}

#[test]
fn a_source_that_cannot_be_written_is_packed() {
    let Some(disk) = Disk::mount("1m") else { return };
    fs::write(disk.path().join("a.txt"), "x").unwrap();
    let mut remount = Command::new("mount");
    complaint(remount.args(["-o", "remount,ro"]).arg(disk.path())).unwrap();
    let scratch = TempDir::new().unwrap();
    for name in ["x.zip", "x.tar.gz"] {
        let archive = scratch.path().join(name);
        create(disk.path(), &archive, &[]).exits(0);
        ra("verify", &[&archive], &[]).exits(0);
    }
}
