//! Where the bytes of a tar come from: a file that can be passed over without reading it, or a stream
//! that must be read.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// A source that can be read from its start to its end and passed over in between.
pub(crate) trait Skip: Read {
    /// Passes over `count` bytes and returns how many there were: fewer only at the end.
    ///
    /// # Errors
    ///
    /// When the source cannot be read or moved.
    fn skip(&mut self, count: u64) -> io::Result<u64>;
}

impl<S: Skip + ?Sized> Skip for &mut S {
    fn skip(&mut self, count: u64) -> io::Result<u64> {
        (**self).skip(count)
    }
}

/// Headers of small members lie close together; one read fetches several.
const READ_AHEAD: usize = 16 << 10;

/// A file: data that nobody asks for is not read.
#[derive(Debug)]
pub(crate) struct Seeking<R> {
    inner: BufReader<R>,
    position: u64,
    len: u64,
}

impl<R: Read + Seek> Seeking<R> {
    /// Starts at the beginning of `inner`, wherever it stands.
    ///
    /// # Errors
    ///
    /// When `inner` cannot tell its length or be moved.
    pub(crate) fn new(mut inner: R) -> io::Result<Self> {
        let len = inner.seek(SeekFrom::End(0))?;
        inner.rewind()?;
        Ok(Self { inner: BufReader::with_capacity(READ_AHEAD, inner), position: 0, len })
    }
}

impl<R: Read> Read for Seeking<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.position = self.position.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(count)
    }
}

impl<R: Read + Seek> Skip for Seeking<R> {
    fn skip(&mut self, count: u64) -> io::Result<u64> {
        let count = count.min(self.len.saturating_sub(self.position));
        let distance = i64::try_from(count).map_err(io::Error::other)?;
        self.inner.seek_relative(distance)?;
        self.position = self.position.saturating_add(count);
        Ok(count)
    }
}

/// A stream, such as a decompressor: what is passed over is read and thrown away.
#[derive(Debug)]
pub(crate) struct Streaming<R> {
    inner: R,
    scratch: Box<[u8]>,
}

impl<R: Read> Streaming<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, scratch: vec![0; 64 << 10].into() }
    }
}

impl<R: Read> Read for Streaming<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer)
    }
}

impl<R: Read> Skip for Streaming<R> {
    fn skip(&mut self, count: u64) -> io::Result<u64> {
        let mut left = count;
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(self.scratch.len());
            let Some(buffer) = self.scratch.get_mut(..wanted) else { break };
            match self.inner.read(buffer) {
                Ok(0) => break,
                Ok(read) => left = left.saturating_sub(u64::try_from(read).unwrap_or(u64::MAX)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count.saturating_sub(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(mut source: impl Skip) -> Vec<u8> {
        let mut bytes = [0; 3];
        source.read_exact(&mut bytes).unwrap();
        assert_eq!(source.skip(40_000).unwrap(), 40_000);
        let mut seen = bytes.to_vec();
        source.read_exact(&mut bytes).unwrap();
        seen.extend(bytes);
        assert_eq!(source.skip(u64::MAX).unwrap(), 60_000 - 40_006);
        assert_eq!(source.skip(1).unwrap(), 0);
        assert_eq!(source.read(&mut bytes).unwrap(), 0);
        seen
    }

    #[test]
    fn a_file_and_a_stream_pass_over_the_same_bytes() {
        let bytes: Vec<u8> = (0..=250).cycle().take(60_000).collect();
        let expected = [0, 1, 2, bytes[40_003], bytes[40_004], bytes[40_005]];
        assert_eq!(walk(Streaming::new(&bytes[..])), expected);
        let mut cursor = io::Cursor::new(&bytes);
        cursor.set_position(17);
        let seeking = Seeking::new(cursor).unwrap();
        assert_eq!(walk(seeking), expected);
    }
}
