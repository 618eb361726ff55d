//! What the reader gives for one member.

/// An entry as found: the name is not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TarEntry {
    /// As found, with the `/` at the end of a directory if there is one.
    pub(crate) name: Vec<u8>,
    pub(crate) kind: TarKind,
    /// Length of the data in bytes.
    pub(crate) size: u64,
    /// Where the first header of the entry begins, an extended one included.
    pub(crate) header_offset: u64,
    /// Where the data begins.
    pub(crate) data_offset: u64,
    /// Permission bits, 0 when they cannot be read.
    pub(crate) mode: u32,
    /// Seconds since 1970, 0 when they cannot be read.
    pub(crate) mtime: u64,
}

/// What an entry is. Only files and directories are plain; the others are for the caller to refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TarKind {
    File,
    Directory,
    Symlink {
        target: Vec<u8>,
    },
    HardLink {
        target: Vec<u8>,
    },
    /// A device, a FIFO, or a type that is not known, by its type flag.
    Special(u8),
}
