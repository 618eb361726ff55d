//! Bytes that a program gives where others have a file.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use super::file::positional;

/// Bytes that are read by position: memory, a file, or a store of the program's own, such as an object that is fetched
/// by ranges. [`Pack::open_source`](crate::Pack::open_source) opens the archive in them.
///
/// Bytes in memory are sources (`Vec<u8>`, `&'static [u8]`, `Arc<[u8]>`), and so is a [`std::fs::File`];
/// [`Seekable`] makes one of whatever is [`Read`] and [`Seek`]. Several threads may read at once. The bytes
/// and their number may not change while they are read.
///
/// ```
/// use std::io;
/// use ra_pack::open::ReadAt;
///
/// /// An object of a store, of which this would fetch a range.
/// struct Object(Vec<u8>);
///
/// impl ReadAt for Object {
///     fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
///         self.0.read_at(offset, buffer)
///     }
///
///     fn len(&self) -> io::Result<u64> {
///         ReadAt::len(&self.0)
///     }
/// }
/// ```
#[expect(clippy::len_without_is_empty, reason = "nobody asks whether an archive is empty")]
pub trait ReadAt: Send + Sync {
    /// Reads into `buffer` what begins `offset` bytes after the beginning, and gives the number of bytes. That may be
    /// less than the buffer has room for, and is 0 only at the end. An archive is read in blocks of 16 KiB to 1 MiB,
    /// and where it is looked up in pieces of some kilobytes, of which neighbours are not kept: a store with a long
    /// way to it had better fetch larger blocks and keep them.
    ///
    /// # Errors
    ///
    /// When they cannot be read. [`io::ErrorKind::Interrupted`] is tried again.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// The number of bytes; asked for once, when the archive is opened.
    ///
    /// # Errors
    ///
    /// When it is not known.
    fn len(&self) -> io::Result<u64>;
}

impl ReadAt for [u8] {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..));
        rest.unwrap_or_default().read(buffer)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.as_slice().read_at(offset, buffer)
    }

    fn len(&self) -> io::Result<u64> {
        ReadAt::len(self.as_slice())
    }
}

impl ReadAt for fs::File {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        positional::read(self, buffer, offset)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

impl<S: ReadAt + ?Sized> ReadAt for &S {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buffer)
    }

    fn len(&self) -> io::Result<u64> {
        (**self).len()
    }
}

impl<S: ReadAt + ?Sized> ReadAt for Arc<S> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buffer)
    }

    fn len(&self) -> io::Result<u64> {
        (**self).len()
    }
}

/// A source of whatever is [`Read`] and [`Seek`]. One thread reads at a time.
#[derive(Debug)]
pub struct Seekable<R>(Mutex<R>);

impl<R: Read + Seek + Send> Seekable<R> {
    /// All that the reader holds, from its beginning.
    pub fn new(reader: R) -> Self {
        Self(Mutex::new(reader))
    }
}

impl<R: Read + Seek + Send> ReadAt for Seekable<R> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reader.seek(SeekFrom::Start(offset))?;
        reader.read(buffer)
    }

    fn len(&self) -> io::Result<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).seek(SeekFrom::End(0))
    }
}

/// Where the bytes of a [`File`](super::File) are.
pub(super) enum Place {
    System(fs::File),
    Source { source: Arc<dyn ReadAt>, len: u64 },
}

impl Place {
    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let (source, len) = match self {
            Self::System(file) => return positional::read(file, buffer, offset),
            Self::Source { source, len } => (source, len),
        };
        // A source may be read beyond the end that it tells.
        let left = usize::try_from(len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        let count = source.read_at(offset, buffer.split_at_mut(room).0)?;
        if count <= room {
            return Ok(count);
        }
        Err(io::Error::other(format!("the source gave {count} bytes where {room} were asked for")))
    }

    /// The file of the system, for what can be done with nothing else.
    pub(super) fn system(&self) -> io::Result<&fs::File> {
        match self {
            Self::System(file) => Ok(file),
            Self::Source { .. } => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "it is a source of the program, which is read by position and in no other way",
            )),
        }
    }
}
