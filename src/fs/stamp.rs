//! The facts that show whether a file changed.

use std::fs;
use std::time::SystemTime;

use crate::time::Timestamp;

/// A snapshot of a file's metadata. If it does not change, neither did the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(super) len: u64,
    pub(super) modified: Option<SystemTime>,
    #[cfg(unix)]
    identity: Identity,
}

/// The file's identity and the time of its last status change, which programs cannot set. They detect a replacement
/// with the same length and modification time.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    /// Seconds and nanoseconds.
    changed: (i64, i64),
}

#[cfg(unix)]
impl Identity {
    fn of(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl Stamp {
    pub(super) fn of(metadata: &fs::Metadata) -> Self {
        Self {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            identity: Identity::of(metadata),
        }
    }

    /// Returns the facts that change with the file.
    pub(super) fn version(&self) -> Version {
        let modified = self.modified.map(Timestamp::from);
        Version { length: Some(self.len), modified, e_tag: None }
    }
}

/// The facts about an archive that change with its content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Version {
    pub(crate) length: Option<u64>,
    pub(crate) modified: Option<Timestamp>,
    /// The entity tag of an object of a server.
    pub(crate) e_tag: Option<String>,
}
