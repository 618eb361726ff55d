//! A writer for who cannot bear that writing fails.

use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The first error of a writer.
#[derive(Clone, Default)]
pub(super) struct Fault(Arc<Mutex<Option<io::Error>>>);

impl Fault {
    /// Takes the error out: it is told once.
    pub(super) fn check(&self) -> io::Result<()> {
        let error = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(()), Err)
    }
}

/// A writer that keeps its first error to itself and from then on writes nothing. Who makes a zip tries to
/// complete it after an error, which is of no use and ends in a panic.
pub(super) struct Unfailing<W> {
    inner: W,
    fault: Fault,
    has_failed: bool,
    /// Where it is, and how far it came.
    at: u64,
    len: u64,
}

impl<W> Unfailing<W> {
    pub(super) fn new(inner: W, fault: Fault) -> Self {
        Self { inner, fault, has_failed: false, at: 0, len: 0 }
    }

    pub(super) fn into_inner(self) -> W {
        self.inner
    }

    /// Does `work` unless something failed before.
    fn attempt(&mut self, work: impl FnOnce(&mut W) -> io::Result<()>) {
        if self.has_failed {
            return;
        }
        if let Err(error) = work(&mut self.inner) {
            self.has_failed = true;
            *self.fault.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }
}

impl<W: Write> Write for Unfailing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(|inner| inner.write_all(bytes));
        self.at = self.at.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        self.len = self.len.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt(W::flush);
        Ok(())
    }
}

impl<W: Seek> Seek for Unfailing<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        let at = at.ok_or(io::ErrorKind::InvalidInput)?;
        self.attempt(|inner| inner.seek(SeekFrom::Start(at)).map(drop));
        self.at = at;
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interchange::npz::{Compression, Writer};
    use crate::interchange::{Variable, npy};

    /// Takes so many bytes and no more.
    struct Full(io::Cursor<Vec<u8>>, usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.get_ref().len() + bytes.len() > self.1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Full {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn wherever_the_disk_is_full_that_is_an_error_and_no_panic() {
        let mut file = Vec::new();
        let written = npy::Reader::new(
            &b"\x93NUMPY\x01\x00\x37\x00{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}abc"
                [..],
        );
        let variable: Variable = written.unwrap().variable("x").unwrap();
        let mut write = |compression, limit| {
            let mut writer = Writer::new(Full(io::Cursor::new(Vec::new()), limit), compression);
            let options = npy::WriteOptions::new();
            writer.add("x", &variable, &b"abc"[..], &options)?;
            file = writer.finish()?.0.into_inner();
            Ok::<_, crate::interchange::Error>(file.len())
        };
        for compression in [Compression::Stored, Compression::Deflated] {
            let whole = write(compression, usize::MAX).unwrap();
            for limit in 0..whole {
                assert!(write(compression, limit).is_err(), "{limit} of {whole}");
            }
        }
    }
}
