//! An open file that is read and written by position, and its metadata.

use std::fmt;
use std::fs;
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cached::Uncached;
use super::remote;
use super::source::{Provided, ReadAt, Source, Storage};
use super::stamp::Version;
use crate::error::{Error, Result};
use crate::file_kind::{FileKind, SNIFFED};
use crate::path::url::is_url;
use crate::progress::Progress;

/// Bytes of a file that are read at once.
const LINE_BUFFER: usize = 64 * 1024;

/// Number of bytes per system call. It bounds the delay of progress reports and of cancelling.
const PIECE: usize = 4 << 20;

/// A file with its path, or a source with its name. Reads and writes take an offset, so several threads can share it. A
/// source can only be read.
pub(crate) struct File {
    place: Storage,
    path: PathBuf,
    /// Counts the bytes that are read, and cancels reads and writes.
    pub(super) watch: Progress,
    /// The ranges that leave the cache of the system after they were read.
    uncached: Option<Arc<Uncached>>,
}

impl Drop for File {
    fn drop(&mut self) {
        if let (Storage::System(file), Some(uncached)) = (&self.place, &self.uncached) {
            uncached.leave(file);
        }
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("File").field(&self.path).finish()
    }
}

impl File {
    /// Wraps an open file of the system.
    pub(super) fn of_system(file: fs::File, path: PathBuf) -> Self {
        Self { place: Storage::System(file), path, watch: Progress::default(), uncached: None }
    }

    /// Wraps a source of the program; `path` is its name in messages.
    pub(crate) fn of_source(source: Arc<dyn ReadAt>, path: PathBuf) -> Result<Self> {
        let len = source.len().map_err(Error::io("access", &path))?;
        Ok(Self::of_object(Arc::new(Provided { source, len }), path))
    }

    /// Returns whether the file is at its path, so that there may be other files next to it.
    pub(crate) fn is_at_path(&self) -> bool {
        matches!(self.place, Storage::System(_))
    }

    /// Returns the file of the system. Sources are an error.
    pub(super) fn system(&self) -> io::Result<&fs::File> {
        match &self.place {
            Storage::System(file) => Ok(file),
            Storage::Other(source) => Err(io::Error::new(io::ErrorKind::Unsupported, source.why())),
        }
    }

    /// Reports subsequent reads to `progress`.
    pub(crate) fn watched(mut self, progress: &Progress) -> Self {
        self.watch = progress.clone();
        self
    }

    /// Returns where reads are reported.
    pub(crate) fn progress(&self) -> &Progress {
        &self.watch
    }

    /// Opens an ordinary file for reading. Anything else is an immediate error: a pipe has no length, and opening one
    /// may block.
    pub(crate) fn open(path: impl Into<PathBuf>) -> Result<Self> {
        Self::open_watched(path, &Progress::default())
    }

    /// Opens a file as [`Self::open`] does, or the object at a URL. Reports reads to `progress`, which also cancels
    /// waiting for a server.
    pub(crate) fn open_watched(path: impl Into<PathBuf>, progress: &Progress) -> Result<Self> {
        let path = path.into();
        if is_url(&path) {
            let (object, path) = remote::open(&path, progress)?;
            return Ok(Self::of_object(object, path).watched(progress));
        }
        let opened = without_waiting(&path);
        Ok(Self::ordinary(opened, path)?.watched(progress))
    }

    /// Wraps the object of a server.
    pub(super) fn of_object(object: Arc<dyn Source>, path: PathBuf) -> Self {
        Self { place: Storage::Other(object), path, watch: Progress::default(), uncached: None }
    }

    fn source(&self) -> &dyn Source {
        match &self.place {
            Storage::System(file) => file,
            Storage::Other(source) => &**source,
        }
    }

    /// Returns whether each read far from the last one waits for a server, and so does a second read of the same bytes.
    pub(crate) fn costly_seek(&self) -> bool {
        self.source().costly_seek()
    }

    /// Returns how many of `jobs` threads should read at once at distant places.
    pub(crate) fn readers(&self, jobs: usize) -> usize {
        jobs.min(self.source().most_readers())
    }

    /// Returns whether a range can be read without waiting for a server.
    pub(crate) fn is_at_hand(&self, range: Range<u64>) -> bool {
        self.source().is_at_hand(range)
    }

    /// Announces that all bytes of a range will be read, so that they are requested in large parts.
    pub(crate) fn announce(&self, range: Range<u64>) {
        self.source().announce(range);
    }

    /// Returns whether a range was announced, or need not be.
    pub(crate) fn is_announced(&self, range: Range<u64>) -> bool {
        self.source().is_announced(range)
    }

    /// Returns whether all bytes are read in their order, or can be read in any order.
    pub(crate) fn is_read_whole(&self) -> bool {
        self.source().is_read_whole()
    }

    /// Requests ascending ranges at once, so that later reads of them do not wait. Ranges at most `gap` bytes apart become
    /// one.
    pub(crate) fn fetch(&self, ranges: &[Range<u64>], gap: u64) -> Result<()> {
        let fetched = self.source().fetch(ranges, gap, &self.watch);
        fetched.map_err(|error| self.unreadable(error))
    }

    /// Calls `plan`, which finds ranges and announces or fetches them, unless finding them would be for nothing.
    pub(crate) fn plan(&self, plan: impl FnOnce() -> Result<()>) -> Result<()> {
        if self.costly_seek() { plan() } else { Ok(()) }
    }

    /// Counts bytes that were read.
    fn count(&self, bytes: usize) {
        self.watch.add(bytes);
        if let (Storage::System(file), Some(uncached)) = (&self.place, &self.uncached) {
            uncached.count(file, bytes);
        }
    }

    /// Returns the error of a read.
    fn unreadable(&self, error: io::Error) -> Error {
        match self.source().change(&error) {
            Some(what) => self.changed(what),
            None => Error::io("read", &self.path)(error),
        }
    }

    /// Returns the opened file if it is an ordinary one.
    pub(super) fn ordinary(opened: io::Result<fs::File>, path: PathBuf) -> Result<Self> {
        let kind = match &opened {
            Ok(file) => file.metadata(),
            // A socket cannot be opened.
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
        let uncached = Uncached::of(&file).map(Arc::new);
        let mut file = Self::of_system(file, path);
        file.uncached = uncached;
        Ok(file)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Detects the kind of the file from its first bytes.
    pub(crate) fn kind(&self) -> Result<FileKind> {
        Ok(FileKind::of(&self.start()?))
    }

    /// Reads the first bytes, which determine the kind of the file.
    pub(crate) fn start(&self) -> Result<Vec<u8>> {
        let mut start = vec![0; SNIFFED];
        let filled = self.read_at(&mut start, 0)?;
        start.truncate(filled);
        Ok(start)
    }

    /// Returns the current length in bytes.
    pub(crate) fn len(&self) -> Result<u64> {
        self.source().len().map_err(Error::io("access", &self.path))
    }

    /// Returns the facts that change with the file. A source has only a length.
    pub(crate) fn version(&self) -> Result<Version> {
        self.source().version().map_err(Error::io("access", &self.path))
    }

    /// Creates the error for a file that changed while it was in use.
    pub(crate) fn changed(&self, what: impl Into<String>) -> Error {
        Error::Changed { path: self.path.clone(), what: what.into() }
    }

    /// Reads at `offset` until `buffer` is full or the file ends. Returns the number of bytes read.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            self.watch.check()?;
            let rest = rest.split_at_mut(rest.len().min(PIECE)).0;
            let at = offset.saturating_add(filled as u64);
            match self.source().read_at(rest, at, &self.watch) {
                Ok(0) => break,
                Ok(count) => {
                    self.count(count);
                    filled += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unreadable(error)),
            }
        }
        Ok(filled)
    }

    /// Fills `buffer` from `offset`. An earlier end of the file is an error.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        if self.read_at(buffer, offset)? == buffer.len() {
            return Ok(());
        }
        Err(Error::io("read", &self.path)(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the file became shorter while it was read",
        )))
    }

    /// Copies `len` bytes from `offset` to the offset `to` of `target`. An earlier end of the file is an error. Moves
    /// the positions of both files.
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
            // The system copies directly between files if it can.
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

    /// Syncs the file to disk.
    pub(crate) fn sync(&self) -> Result<()> {
        self.system().and_then(fs::File::sync_all).map_err(Error::io("write", &self.path))
    }

    /// Moves the position to the beginning, for [`Read`] and [`writer`](Self::writer).
    pub(crate) fn rewind(&self) -> Result<()> {
        self.system().and_then(|mut file| file.rewind()).map_err(Error::io("read", &self.path))
    }

    /// Maps the file into memory.
    ///
    /// # Safety
    ///
    /// The file must not be changed or truncated while the map exists. Its bytes would change under shared references,
    /// and reading beyond the new end would end the process.
    #[expect(unsafe_code, reason = "callers promise that the mapped file does not change")]
    pub(crate) unsafe fn map(&self) -> Result<FileMap> {
        // SAFETY: the caller promises that the file does not change, as `Mmap::map` requires.
        let map = self.system().and_then(|file| unsafe { memmap2::Mmap::map(file) });
        map.map(FileMap).map_err(Error::io("map", &self.path))
    }

    /// Duplicates the handle of the open file.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        let file = self.system().and_then(fs::File::try_clone);
        let file = file.map_err(Error::io("open", &self.path))?;
        let mut file = Self::of_system(file, self.path.clone()).watched(&self.watch);
        file.uncached.clone_from(&self.uncached);
        Ok(file)
    }
}

/// A file mapped into memory.
#[derive(Debug)]
pub(crate) struct FileMap(memmap2::Mmap);

impl FileMap {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Flags that keep `open` from blocking on a pipe without a writer and from taking a controlling terminal.
#[cfg(unix)]
pub(super) const WITHOUT_WAITING: i32 = libc::O_NONBLOCK | libc::O_NOCTTY;

/// Opens a path without blocking.
#[cfg(unix)]
pub(super) fn without_waiting(path: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    fs::File::options().read(true).custom_flags(WITHOUT_WAITING).open(path)
}

/// Opens a path.
#[cfg(not(unix))]
pub(super) fn without_waiting(path: &Path) -> io::Result<fs::File> {
    fs::File::open(path)
}

/// Returns the name of a kind of file that is not an ordinary file.
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

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watch.check().map_err(Error::from)?;
        let count = self.system()?.read(buffer.split_at_mut(buffer.len().min(PIECE)).0)?;
        self.count(count);
        Ok(count)
    }
}

/// Writes at the current position.
impl io::Write for &File {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.watch.check().map_err(Error::from)?;
        self.system()?.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes at the current position.
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

/// Returns whether the content of a file is exactly `bytes`.
pub(crate) fn holds(path: &Path, bytes: &[u8]) -> Result<bool> {
    use io::BufRead as _;
    if is_url(path) {
        let file = File::open(path)?;
        return Ok(file.len()? == bytes.len() as u64 && read_limited(path, file.len()?)? == bytes);
    }
    let mut reader = io::BufReader::with_capacity(LINE_BUFFER, File::open(path)?);
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

/// Returns the facts that change with an ordinary file, or with the object at a URL, which takes one request for a byte.
pub(crate) fn version(path: &Path) -> Result<Version> {
    if is_url(path) {
        return remote::version(path);
    }
    File::open(path)?.version()
}

/// Reads a complete file of at most `limit` bytes.
pub(crate) fn read_limited(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let file = File::open(path)?;
    if is_url(path) {
        let mut bytes = vec![0; usize::try_from(file.len()?.min(limit)).unwrap_or(usize::MAX)];
        file.announce(0..bytes.len() as u64);
        file.read_exact_at(&mut bytes, 0)?;
        return if file.len()? > limit { Err(too_long(path, limit)) } else { Ok(bytes) };
    }
    read_all(file.system().map_err(Error::io("read", path))?, path, limit)
}

/// Reads an input that is not a file, such as a pipe, to its end. Returns `None` for files.
pub(crate) fn read_once(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {}
        // Opening it later reports the error.
        _ => return Ok(None),
    }
    let file = fs::File::open(path).map_err(Error::io("open", path))?;
    read_all(&file, path, limit).map(Some)
}

fn read_all(file: &fs::File, path: &Path, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    if bytes.len() as u64 > limit {
        return Err(too_long(path, limit));
    }
    Ok(bytes)
}

fn too_long(path: &Path, limit: u64) -> Error {
    Error::io("read", path)(io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!("it is longer than {limit} bytes"),
    ))
}
