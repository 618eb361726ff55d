//! Faults: a run is killed or interrupted, the disk is full, a call fails, or a file changes while it is read. Each run
//! leaves no archive or a complete one, no leftovers, and an unchanged source. The faults are real.

mod at_once; // two runs at the same time on the same files
mod audit; // logs of verifications
mod every_call; // a run killed at, or failing, each of its file system calls
mod full; // full disks
mod kill; // runs killed and interrupted at any time
mod large; // large members, hashed during copying: damaged, truncated, full disks
mod reads; // files that change while they are read, short reads, and reads that fail
mod rights; // files without permissions
mod scenario; // support: small runs, and checks after each
mod shim; // support: faults of single reads and writes
mod side_by_side; // several large members that are read at once
mod strace; // support: a run killed at or failing one call

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::foreign::complaint;
use crate::skips::skip;

/// Returns pseudorandom bytes that hardly compress.
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

fn is_root(scratch: &Path) -> bool {
    fs::metadata(scratch).unwrap().uid() == 0
}

fn is_unfinished(name: &str) -> bool {
    name.ends_with(".ra-pack-unfinished")
}

/// A small mounted disk, unmounted when dropped.
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
            skip(&format!("cannot mount a small disk: {refusal}"));
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
