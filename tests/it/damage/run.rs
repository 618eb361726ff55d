//! Runs `verify` in this process on one changed copy after another.

use std::fs;
use std::path::Path;
use std::thread;

use ra_pack::verify;
use ra_pack::verify::VerifyOptions;
use tempfile::TempDir;

use super::changes::Change;
use super::kinds::{Kind, Sound};
use crate::bytes::sha256;

/// Returns the unreported changes.
pub(crate) fn unreported(kind: &Kind, sound: &Sound, changes: &[Change]) -> Vec<Change> {
    with_digest(kind, sound, changes, None)
}

/// Returns the unreported changes with the digest of the undamaged archive next to it.
pub(crate) fn unreported_beside_digest(
    kind: &Kind,
    sound: &Sound,
    changes: &[Change],
) -> Vec<Change> {
    let line = format!("{}  x{}\n", sha256(&sound.bytes), kind.ending);
    with_digest(kind, sound, changes, Some(&line))
}

fn with_digest(
    kind: &Kind,
    sound: &Sound,
    changes: &[Change],
    digest: Option<&str>,
) -> Vec<Change> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = changes.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let workers: Vec<_> = changes
            .chunks(share)
            .map(|changes| scope.spawn(move || Copy::new(kind, sound, digest).unreported(changes)))
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

/// A copy that is changed and restored.
struct Copy<'a> {
    kind: &'a Kind,
    sound: &'a Sound,
    scratch: TempDir,
}

impl<'a> Copy<'a> {
    fn new(kind: &'a Kind, sound: &'a Sound, digest: Option<&str>) -> Self {
        // Uses a file system in memory if there is one: half a million copies are written.
        let memory = Path::new("/dev/shm");
        let scratch = if memory.is_dir() {
            TempDir::new_in(memory).unwrap()
        } else {
            TempDir::new().unwrap()
        };
        let this = Self { kind, sound, scratch };
        if kind.ending.is_empty() {
            for (name, range) in &sound.files {
                this.write(name, &sound.bytes[range.clone()]);
            }
        } else {
            this.write("", &sound.bytes);
        }
        assert!(this.is_clean(), "{}: damaged before any change", kind.name);
        if let Some(digest) = digest {
            fs::write(this.scratch.path().join(format!("x{}.sha256", kind.ending)), digest)
                .unwrap();
            assert!(this.is_clean(), "{}: does not match its digest", kind.name);
        }
        this
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        let place = self.kind.place(self.scratch.path());
        if name.is_empty() { place } else { place.join(name) }
    }

    fn write(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        if name.ends_with('/') {
            return fs::create_dir_all(path).unwrap();
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn remove(&self, name: &str) {
        let path = self.path(name);
        let removed =
            if name.ends_with('/') { fs::remove_dir(path) } else { fs::remove_file(path) };
        removed.unwrap();
    }

    fn is_clean(&self) -> bool {
        let options = VerifyOptions { jobs: Some(1), ..VerifyOptions::default() };
        verify(self.path(""), &options).is_ok_and(|report| report.findings.is_empty())
    }

    fn unreported(&self, changes: &[Change]) -> Vec<Change> {
        changes.iter().filter(|change| self.survives(change)).cloned().collect()
    }

    fn survives(&self, change: &Change) -> bool {
        let changed = change.apply(self.sound);
        if self.sound.files.is_empty() {
            self.write("", &changed[0].1);
            return self.is_clean();
        }
        let was = |name: &str| {
            let found = self.sound.files.iter().find(|(file, _)| file == name);
            found.map(|(_, range)| &self.sound.bytes[range.clone()])
        };
        let differs = |(name, content): &&(String, Vec<u8>)| was(name) != Some(&content[..]);
        let gone: Vec<_> = self
            .sound
            .files
            .iter()
            .filter(|(name, _)| !changed.iter().any(|(other, _)| other == name))
            .collect();
        for (name, content) in changed.iter().filter(differs) {
            self.write(name, content);
        }
        for (name, _) in &gone {
            self.remove(name);
        }
        let clean = self.is_clean();
        for (name, _) in changed.iter().filter(differs) {
            match was(name) {
                Some(content) => self.write(name, content),
                None => self.remove(name),
            }
        }
        for (name, range) in gone {
            self.write(name, &self.sound.bytes[range.clone()]);
        }
        clean
    }
}
