//! What happens when a run is killed or interrupted, the disk is full, a call fails, or a file changes
//! while it is read: no archive or a whole one, nothing left over, the source as it was. All of it for
//! real.

mod at_once; // two runs at the same time on the same files
mod every_call; // a run stopped at, or refused, every one of its calls about files
mod full; // disks without room
mod kill; // runs killed and interrupted at any moment
mod large; // large members, hashed beside the copying: damaged, cut off, without room
mod reads; // files that change while they are read, short reads, and reads that fail
mod rights; // what may not be read or written
mod scenario; // support: small runs, and what must hold after each
mod shim; // support: faults of single reads and writes
mod side_by_side; // large members that are read several at once: each is judged by itself
mod strace; // support: one call of a run fails, or is its last

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::foreign::complaint;
use crate::skips::skip;

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

fn is_root(scratch: &Path) -> bool {
    fs::metadata(scratch).unwrap().uid() == 0
}

fn is_unfinished(name: &str) -> bool {
    name.ends_with(".ra-pack-unfinished")
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
