//! One open file, read and written by position, and what it looked like.

use std::fmt;
use std::fs;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::source::{Place, ReadAt};
use crate::error::{Error, Result};
use crate::file_kind::{FileKind, SNIFFED};
use crate::progress::Progress;

/// Bytes that the system reads or copies at once before anybody hears of it, or can stop it.
const PIECE: usize = 4 << 20;

/// A file and its path, or a source and what it is called. Reads and writes say where, so that several threads can share
/// it. A source is read by position; whatever else is tried with it is an error.
pub(crate) struct File {
    place: Place,
    path: PathBuf,
    /// Whoever counts the bytes that are read, and may stop reads and writes.
    pub(super) watch: Progress,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("File").field(&self.path).finish()
    }
}

impl File {
    /// A file of the system whose path is known.
    pub(super) fn of_system(file: fs::File, path: PathBuf) -> Self {
        Self { place: Place::System(file), path, watch: Progress::default() }
    }

    /// The bytes of a program, under a name for messages.
    pub(crate) fn of_source(source: Arc<dyn ReadAt>, path: PathBuf) -> Result<Self> {
        let len = source.len().map_err(Error::io("look at", &path))?;
        Ok(Self { place: Place::Source { source, len }, path, watch: Progress::default() })
    }

    /// Whether its path leads to it, so that there may be others beside it.
    pub(crate) fn is_at_path(&self) -> bool {
        matches!(self.place, Place::System(_))
    }

    /// The file of the system, for what can be done with nothing else.
    pub(super) fn system(&self) -> io::Result<&fs::File> {
        self.place.system()
    }

    /// Has the bytes counted that are read from here on.
    pub(crate) fn watched(mut self, progress: &Progress) -> Self {
        self.watch = progress.clone();
        self
    }

    /// Whoever counts them.
    pub(crate) fn progress(&self) -> &Progress {
        &self.watch
    }

    /// Opens an ordinary file for reading. Anything else is an error at once: a pipe has no length, and opening one
    /// may wait for ever.
    pub(crate) fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let opened = without_waiting(&path);
        Self::ordinary(opened, path)
    }

    /// The file that was opened at `path` without waiting, when it is an ordinary one.
    pub(super) fn ordinary(opened: io::Result<fs::File>, path: PathBuf) -> Result<Self> {
        let kind = match &opened {
            Ok(file) => file.metadata(),
            // A socket cannot be opened at all.
            Err(_) => fs::metadata(&path),
        };
        let strange = kind.as_ref().ok().and_then(|metadata| strange(metadata.file_type()));
        let opened = match strange {
            Some(what) => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("it is {what}, not an ordinary file"),
            )),
            None => opened,
        };
        let file = opened.map_err(Error::io("open", &path))?;
        Ok(Self::of_system(file, path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What the file is by its first bytes.
    pub(crate) fn kind(&self) -> Result<FileKind> {
        Ok(FileKind::of(&self.start()?))
    }

    /// The first bytes of the file, from which its kind is known.
    pub(crate) fn start(&self) -> Result<Vec<u8>> {
        let mut start = vec![0; SNIFFED];
        let filled = self.read_at(&mut start, 0)?;
        start.truncate(filled);
        Ok(start)
    }

    /// Its length in bytes at this moment.
    pub(crate) fn len(&self) -> Result<u64> {
        match &self.place {
            Place::Source { len, .. } => Ok(*len),
            Place::System(_) => Ok(self.metadata()?.len()),
        }
    }

    fn metadata(&self) -> Result<fs::Metadata> {
        self.system().and_then(fs::File::metadata).map_err(Error::io("look at", &self.path))
    }

    /// What the file looks like at this moment.
    pub(crate) fn stamp(&self) -> Result<Stamp> {
        let metadata = self.metadata()?;
        Ok(Stamp {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            identity: Identity::of(&metadata),
        })
    }

    /// An error when it does not look as it did.
    pub(crate) fn check_unchanged(&self, stamp: &Stamp) -> Result<()> {
        let now = self.stamp()?;
        if now == *stamp {
            return Ok(());
        }
        Err(self.changed(if now.len() == stamp.len() {
            "it was written to".to_owned()
        } else {
            format!("its length went from {} to {} bytes", stamp.len(), now.len())
        }))
    }

    /// Fills `target`, which is as long as the file was, with all of the file; it must be as it was from
    /// beginning to end.
    pub(crate) fn read_unchanged(&mut self, target: &mut [u8], stamp: &Stamp) -> Result<()> {
        self.read_exact(target).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.changed("it became shorter"),
            _ => Error::io("read", &self.path)(error),
        })?;
        self.check_unchanged(stamp)
    }

    /// The error that says that it is no longer what it was.
    pub(crate) fn changed(&self, what: impl Into<String>) -> Error {
        Error::Changed { path: self.path.clone(), what: what.into() }
    }

    /// Reads at `offset` until `buffer` is full or the file ends; gives the bytes read.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            self.watch.check()?;
            let rest = rest.split_at_mut(rest.len().min(PIECE)).0;
            let at = offset.saturating_add(filled as u64);
            match self.place.read_at(rest, at) {
                Ok(0) => break,
                Ok(count) => {
                    self.watch.add(count);
                    filled += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("read", &self.path)(error)),
            }
        }
        Ok(filled)
    }

    /// Fills `buffer` from `offset`; a file that ends before that is an error.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        if self.read_at(buffer, offset)? == buffer.len() {
            return Ok(());
        }
        Err(Error::io("read", &self.path)(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the file became shorter while it was read",
        )))
    }

    /// Writes all of `buffer` at `offset`.
    pub(crate) fn write_all_at(&self, mut buffer: &[u8], mut offset: u64) -> Result<()> {
        while !buffer.is_empty() {
            self.watch.check()?;
            let written = self.system().and_then(|file| positional::write(file, buffer, offset));
            match written {
                Ok(0) => {
                    return Err(Error::io("write", &self.path)(io::ErrorKind::WriteZero.into()));
                }
                Ok(count) => {
                    buffer = buffer.split_at(count).1;
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("write", &self.path)(error)),
            }
        }
        Ok(())
    }

    /// Copies `len` bytes from `offset` on into `target`, where they begin at `to`; a file that ends
    /// before that is an error. The positions of both files move.
    pub(crate) fn copy_to(&self, offset: u64, len: u64, target: &Self, to: u64) -> Result<()> {
        let seek = |file: &Self, at: u64| {
            let moved = file.system().and_then(|mut system| system.seek(io::SeekFrom::Start(at)));
            moved.map_err(Error::io("read", &file.path))
        };
        seek(self, offset)?;
        seek(target, to)?;
        let mut copied = 0;
        while copied < len {
            self.watch.check()?;
            let piece = (len - copied).min(PIECE as u64);
            // The system copies from file to file without a detour, where it can.
            let copy = || io::copy(&mut self.system()?.take(piece), &mut target.system()?);
            let now = copy().map_err(Error::io("write", &target.path))?;
            self.watch.add(usize::try_from(now).expect("a piece at most"));
            copied += now;
            if now < piece {
                return Err(self.changed(format!("it became shorter by {} bytes", len - copied)));
            }
        }
        Ok(())
    }

    /// Writes everything to the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        self.system().and_then(fs::File::sync_all).map_err(Error::io("write", &self.path))
    }

    /// Goes back to the beginning, from where [`Read`] reads and [`writer`](Self::writer) writes.
    pub(crate) fn rewind(&self) -> Result<()> {
        self.system().and_then(|mut file| file.rewind()).map_err(Error::io("read", &self.path))
    }

    /// Maps the file into memory.
    ///
    /// # Safety
    ///
    /// Nobody may change or shorten the file while the map lives: its bytes would change under
    /// shared references, and touching pages beyond a shortened end stops the process.
    #[expect(
        unsafe_code,
        reason = "a memory map is only as stable as its file; callers promise that"
    )]
    pub(crate) unsafe fn map(&self) -> Result<FileMap> {
        // SAFETY: the caller promises what `Mmap::map` asks for, that the file does not change.
        let map = self.system().and_then(|file| unsafe { memmap2::Mmap::map(file) });
        map.map(FileMap).map_err(Error::io("map", &self.path))
    }

    /// A second handle of the same open file.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        let file = self.system().and_then(fs::File::try_clone);
        let file = file.map_err(Error::io("open", &self.path))?;
        Ok(Self::of_system(file, self.path.clone()).watched(&self.watch))
    }
}

/// A file as bytes in memory.
#[derive(Debug)]
pub(crate) struct FileMap(memmap2::Mmap);

impl FileMap {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Flags of open by which a pipe without a writer is there at once, and a terminal is not taken over.
#[cfg(unix)]
pub(super) const WITHOUT_WAITING: i32 = libc::O_NONBLOCK | libc::O_NOCTTY;

/// Opens whatever has the name.
#[cfg(unix)]
pub(super) fn without_waiting(path: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    fs::File::options().read(true).custom_flags(WITHOUT_WAITING).open(path)
}

/// Opens whatever has the name.
#[cfg(not(unix))]
pub(super) fn without_waiting(path: &Path) -> io::Result<fs::File> {
    fs::File::open(path)
}

/// What something is that is not an ordinary file.
fn strange(kind: fs::FileType) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return Some("a pipe");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
    }
    match kind {
        kind if kind.is_file() => None,
        kind if kind.is_dir() => Some("a directory"),
        kind if kind.is_symlink() => Some("a link"),
        _ => Some("a device"),
    }
}

/// What a file looked like at some moment. When it looks the same later, nobody wrote to it between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    identity: Identity,
}

/// Which file it is, and when the system last changed anything about it, which nobody can set back: a
/// file of the same length and time that took its place is another.
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
    /// Its length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Time of the last change, in seconds since 1970 UTC, not before 0.
    pub(crate) fn modified(&self) -> u64 {
        let since = self.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        since.map_or(0, |since| since.as_secs())
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watch.check().map_err(Error::from)?;
        let count = self.system()?.read(buffer.split_at_mut(buffer.len().min(PIECE)).0)?;
        self.watch.add(count);
        Ok(count)
    }
}

/// Writes from where the file is.
impl io::Write for &File {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.watch.check().map_err(Error::from)?;
        self.system()?.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Likewise.
impl io::Write for File {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        (&*self).write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for File {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.system()?.seek(to)
    }
}

/// Reads and writes at an offset; a position that moves with it is not used by anybody.
pub(super) mod positional {
    use std::fs::File;
    use std::io;
    #[cfg(unix)]
    use std::os::unix::fs::FileExt;
    #[cfg(windows)]
    use std::os::windows::fs::FileExt;

    pub(in crate::fs) fn read(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        #[cfg(unix)]
        return file.read_at(buffer, offset);
        #[cfg(windows)]
        return file.seek_read(buffer, offset);
    }

    pub(super) fn write(file: &File, buffer: &[u8], offset: u64) -> io::Result<usize> {
        #[cfg(unix)]
        return file.write_at(buffer, offset);
        #[cfg(windows)]
        return file.seek_write(buffer, offset);
    }
}

/// Whether a file holds these bytes and no others.
pub(crate) fn holds(path: &Path, bytes: &[u8]) -> Result<bool> {
    use io::BufRead as _;
    const BLOCK: usize = 64 * 1024;
    let mut reader = io::BufReader::with_capacity(BLOCK, File::open(path)?);
    let mut rest = bytes;
    loop {
        let found = reader.fill_buf().map_err(Error::io("read", path))?;
        let Some(after) = rest.strip_prefix(found) else { return Ok(false) };
        let count = found.len();
        if count == 0 {
            return Ok(rest.is_empty());
        }
        rest = after;
        reader.consume(count);
    }
}

/// Reads a whole file that may not be longer than `limit` bytes.
pub(crate) fn read_limited(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let file = File::open(path)?;
    read_all(file.system().map_err(Error::io("read", path))?, path, limit)
}

/// Reads what a user named to its end, when it is not a file but a pipe or a device, which can be read only once.
pub(crate) fn read_once(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {}
        // Whoever opens it says why it cannot be.
        _ => return Ok(None),
    }
    let file = fs::File::open(path).map_err(Error::io("open", path))?;
    read_all(&file, path, limit).map(Some)
}

fn read_all(file: &fs::File, path: &Path, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    if bytes.len() as u64 > limit {
        return Err(Error::io("read", path)(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is longer than {limit} bytes"),
        )));
    }
    Ok(bytes)
}
