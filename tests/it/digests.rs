//! The digests in manifests equal those of Python's hashlib.

use std::fs;

use tempfile::TempDir;

use crate::python::Python;
use crate::run;

/// Prints the digests of all files below a directory, in the format of a manifest.
const HASHLIB: &str = r#"
import hashlib, os, sys
root = sys.argv[1]
lines = []
for directory, _, names in os.walk(root):
    for name in names:
        path = os.path.join(directory, name)
        digest = hashlib.sha256(open(path, "rb").read()).hexdigest()
        lines.append((os.path.relpath(path, root).encode(), digest.encode()))
for name, digest in sorted(lines):
    sys.stdout.buffer.write(digest + b"  " + name + b"\n")
"#;

/// Returns bytes without a pattern.
fn noise(seed: usize, length: usize) -> Vec<u8> {
    let mut state = u64::try_from(seed).unwrap() * 2 + 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

/// Lengths around the sizes of padding, blocks, reads and writes. There are enough files of each length that they are
/// hashed one, two and sixteen at a time, and in between.
#[test]
#[ignore = "slow"]
fn manifests_have_the_digests_of_hashlib() {
    let Some(python) = Python::with(&["hashlib"]) else { return };
    let source = TempDir::new().unwrap();
    let mut small = vec![0, 1, 55, 56, 63, 64, 65, 119, 120, 127, 128, 1023, 1024, 1025];
    small.extend([64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 256 * 1024 - 1, 256 * 1024 + 1]);
    let large = [512 * 1024, 512 * 1024 + 1, 512 * 1024 + 63, 1 << 20, (1 << 20) + 64];
    let lengths = small.iter().cycle().take(19 * 7).chain(large.iter().cycle().take(23));
    for (number, length) in lengths.enumerate() {
        let directory = source.path().join(format!("{}", number % 5));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("{number:03}.bin")), noise(number, *length)).unwrap();
    }
    let given = python.command().args(["-c", HASHLIB]).arg(source.path()).output().unwrap();
    let expected = String::from_utf8(given.stdout).unwrap();
    assert_eq!(expected.lines().count(), 19 * 7 + 23, "{}", String::from_utf8_lossy(&given.stderr));
    let scratch = TempDir::new().unwrap();
    for (name, options) in [
        ("stored.zip", &["-j2"][..]),
        ("alone.zip", &["-j1"]),
        ("packed.zip", &["--compression", "deflate"]),
        ("plain.tar", &[]),
        ("plain.tar.zst", &[]),
    ] {
        let archive = scratch.path().join(name);
        run::create(source.path(), &archive, options).exits(0);
        let manifest =
            fs::read_to_string(scratch.path().join(format!("{name}.manifest-sha256.txt"))).unwrap();
        let listed: Vec<_> =
            manifest.lines().filter(|line| !line.ends_with("  manifest.yaml")).collect();
        assert_eq!(listed, expected.lines().collect::<Vec<_>>(), "{name}");
        run::ra("verify", &[&archive], &[]).exits(0);
    }
}
