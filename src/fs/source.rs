//! Sources: bytes that a program provides instead of a file.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use super::file::positional;
#[cfg(feature = "remote")]
use super::remote::CachedObject;
use crate::progress::Progress;

/// Bytes read by position: memory, a file, or an object in a store that serves ranges.
/// [`Pack::open_source`](crate::Pack::open_source) opens an archive from a source.
///
/// Bytes in memory (`Vec<u8>`, `&'static [u8]`, `Arc<[u8]>`) and [`std::fs::File`] are sources. [`Seekable`] makes a
/// source from anything that is [`Read`] and [`Seek`]. Several threads may read at once. The bytes and their number
/// must not change while they are read.
///
/// ```
/// use std::io;
/// use ra_pack::read::ReadAt;
///
/// /// An object in a store. A real implementation would request a range.
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
#[expect(clippy::len_without_is_empty, reason = "an archive is never empty")]
pub trait ReadAt: Send + Sync {
    /// Reads bytes from `offset` into `buffer` and returns their number. It may be smaller than the buffer, and is 0
    /// only at the end.
    ///
    /// ra-pack reads archives in blocks of 16 KiB to 1 MiB, and looks up names in blocks of a few kilobytes that it
    /// does not cache. A source with high latency should fetch larger blocks and cache them.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the bytes cannot be read. ra-pack retries after [`io::ErrorKind::Interrupted`].
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Returns the number of bytes. Called once, when the archive is opened.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the length is not known.
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

/// A source made from a [`Read`] and [`Seek`]. Only one thread reads at a time.
#[derive(Debug)]
pub struct Seekable<R>(Mutex<R>);

impl<R: Read + Seek + Send> Seekable<R> {
    /// Makes a source of all bytes of `reader`, from its beginning.
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

/// The storage of a [`File`](super::File).
pub(super) enum Place {
    System(fs::File),
    Source {
        source: Arc<dyn ReadAt>,
        len: u64,
    },
    #[cfg(feature = "remote")]
    Remote(Arc<CachedObject>),
    /// A copy of a remote object without a name.
    #[cfg(feature = "remote")]
    Downloaded(Arc<fs::File>),
}

impl Place {
    /// Reads from an offset. `progress` cancels waiting for a remote object.
    #[cfg_attr(
        not(feature = "remote"),
        expect(unused_variables, reason = "local reads do not wait")
    )]
    pub(super) fn read_at(
        &self,
        buffer: &mut [u8],
        offset: u64,
        progress: &Progress,
    ) -> io::Result<usize> {
        let (source, len) = match self {
            Self::System(file) => return positional::read(file, buffer, offset),
            Self::Source { source, len } => (source, len),
            #[cfg(feature = "remote")]
            Self::Remote(object) => return object.read_at(offset, buffer, progress),
            #[cfg(feature = "remote")]
            Self::Downloaded(file) => return positional::read(file, buffer, offset),
        };
        // A source may return more bytes than its length.
        let left = usize::try_from(len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        let count = source.read_at(offset, buffer.split_at_mut(room).0)?;
        if count <= room {
            return Ok(count);
        }
        Err(io::Error::other(format!("the source returned {count} bytes for a buffer of {room}")))
    }

    /// Returns the file of the system. Sources are an error.
    pub(super) fn system(&self) -> io::Result<&fs::File> {
        match self {
            Self::System(file) => Ok(file),
            #[cfg(feature = "remote")]
            Self::Remote(_) | Self::Downloaded(_) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "it is at a URL, and this needs a file; download it first",
            )),
            Self::Source { .. } => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "it is a source of the program, which can only be read by position",
            )),
        }
    }
}
