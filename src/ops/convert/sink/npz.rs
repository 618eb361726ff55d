//! Arrays of numpy in a zip.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::data::Arranged;
use super::super::item::Item;
use super::super::options::ConvertOptions;
use super::super::rawarray::Metadata;
use super::npy::write_options;
use super::{Way, WriteArrays, refused, settle};
use crate::archive::Compression;
use crate::error::{Error, Result};
use crate::fs::{File, PendingFile};
use crate::interchange::{npy, npz};

/// Bytes that are written at once.
const BLOCK: usize = 256 * 1024;

/// An `.npz` file that is being written.
pub(super) struct NpzSink {
    file: PendingFile,
    writer: Option<npz::Writer<Unfailing<BufWriter<File>>>>,
    fault: Fault,
    options: npy::WriteOptions,
}

impl NpzSink {
    pub(super) fn begin(output: &Path, options: &ConvertOptions) -> Result<Self> {
        let file = PendingFile::create(output, options.force)?;
        let compression = match options.compression {
            None | Some(Compression::Stored) => npz::Compression::Stored,
            Some(_) => npz::Compression::Deflated,
        };
        let inner = BufWriter::with_capacity(BLOCK, file.file().try_clone()?);
        let fault = Fault::default();
        let out = Unfailing { inner, fault: Arc::clone(&fault), at: 0, len: 0 };
        let writer = Some(npz::Writer::new(out, compression));
        Ok(Self { file, writer, fault, options: write_options(options) })
    }

    /// The error that the writer was not told of.
    fn check(&self) -> Result<()> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        match fault.take() {
            Some(error) => Err(Error::io("write", self.file.file().path())(error)),
            None => Ok(()),
        }
    }
}

impl WriteArrays for NpzSink {
    fn array(
        &mut self,
        name: &str,
        item: &Item,
        data: Arranged<'_>,
        _: &Metadata,
        losses: &mut Vec<String>,
        way: Way<'_>,
    ) -> Result<bool> {
        let Some(mut writer) = self.writer.take() else { return Ok(false) };
        let variable = item.to_variable()?;
        let len = data.len;
        let data = data.into_passing(way.beside, way.jobs)?;
        let added = data.read_by(len, |data| writer.add(name, &variable, data, &self.options));
        self.writer = Some(writer);
        self.check()?;
        losses.extend(added.map_err(|source| refused(item, source))?.losses);
        Ok(false)
    }

    fn finish(mut self: Box<Self>, _: &mut Vec<String>) -> Result<u64> {
        if let Some(writer) = self.writer.take() {
            let path = self.file.file().path();
            let out = writer.finish().map_err(|error| match error {
                crate::interchange::Error::Io(error) => Error::io("write", path)(error),
                source => Error::Interchange { name: path.to_string_lossy().into_owned(), source },
            })?;
            let mut inner = out.inner;
            inner.flush().map_err(Error::io("write", path))?;
        }
        self.check()?;
        let bytes = self.file.file().len()?;
        let this = *self;
        settle(this.file)?;
        Ok(bytes)
    }
}

/// The first error of a writer.
type Fault = Arc<Mutex<Option<io::Error>>>;

/// A writer that keeps its first error to itself and from then on writes nothing. Who makes a zip tries to
/// complete it after an error, which is of no use and ends in a panic.
struct Unfailing<W> {
    inner: W,
    fault: Fault,
    /// Where it is, and how far it came.
    at: u64,
    len: u64,
}

impl<W> Unfailing<W> {
    /// Does `work` unless something failed before.
    fn attempt(&mut self, work: impl FnOnce(&mut W) -> io::Result<()>) {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if fault.is_none() {
            *fault = work(&mut self.inner).err();
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
