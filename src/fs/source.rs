//! Sources: bytes that a program provides instead of a file.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::positional;
use super::stamp::{Stamp, Version};
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
pub(super) enum Storage {
    System(fs::File),
    Other(Arc<dyn Source>),
}

/// Bytes of a file, of the program or of a server.
///
/// Hints say what is read next. They do nothing unless each request takes long.
pub(super) trait Source: Send + Sync {
    /// Reads at least one byte, unless it is the end. `progress` cancels waiting.
    fn read_at(&self, buffer: &mut [u8], offset: u64, progress: &Progress) -> io::Result<usize>;

    fn len(&self) -> io::Result<u64>;

    /// Returns the facts that change with the bytes.
    fn version(&self) -> io::Result<Version> {
        Ok(Version { length: Some(self.len()?), ..Version::default() })
    }

    /// Returns why it is not a file of the system.
    fn why(&self) -> &'static str {
        "it is at a URL, and this needs a file; download it first"
    }

    /// Returns whether each read far from the last one waits for a server, and so does a second read of the same bytes.
    fn costly_seek(&self) -> bool {
        false
    }

    /// Returns the number of threads that should read at once at distant places.
    fn most_readers(&self) -> usize {
        usize::MAX
    }

    /// Returns whether a range can be read without waiting for a server.
    fn is_at_hand(&self, _range: Range<u64>) -> bool {
        true
    }

    /// Announces that all bytes of a range will be read, in any order.
    fn announce(&self, _range: Range<u64>) {}

    /// Returns whether a range was announced, or need not be.
    fn is_announced(&self, _range: Range<u64>) -> bool {
        true
    }

    /// Returns whether all bytes are read in their order, or can be read in any order.
    fn is_read_whole(&self) -> bool {
        true
    }

    /// Requests several ascending ranges at once, and waits for all. Ranges become one if the gap between them is at
    /// most `gap` bytes.
    fn fetch(&self, _ranges: &[Range<u64>], _gap: u64, _progress: &Progress) -> io::Result<()> {
        Ok(())
    }

    /// Returns what changed if the error is that of a changed object.
    fn change(&self, _error: &io::Error) -> Option<String> {
        None
    }
}

impl Source for fs::File {
    fn read_at(&self, buffer: &mut [u8], offset: u64, _: &Progress) -> io::Result<usize> {
        positional::read(self, buffer, offset)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn version(&self) -> io::Result<Version> {
        Ok(Stamp::of(&self.metadata()?).version())
    }
}

/// A source of the program with its length.
pub(super) struct Provided {
    pub(super) source: Arc<dyn ReadAt>,
    pub(super) len: u64,
}

impl Source for Provided {
    fn read_at(&self, buffer: &mut [u8], offset: u64, _: &Progress) -> io::Result<usize> {
        // A source may return more bytes than its length.
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        let count = self.source.read_at(offset, buffer.split_at_mut(room).0)?;
        if count <= room {
            return Ok(count);
        }
        Err(io::Error::other(format!("the source returned {count} bytes for a buffer of {room}")))
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn why(&self) -> &'static str {
        "it is a source of the program, which can only be read by position"
    }
}
