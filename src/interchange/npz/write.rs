//! Writes an `.npz` file, member by member.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, Read, Seek, Write};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use super::SUFFIX;
use super::unfailing::{Fault, Unfailing};
use crate::interchange::{Error, Variable, npy};
use crate::path::{MAX_PATH_BYTES, escape};

/// How members are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Compression {
    /// Not at all, as `numpy.savez` does.
    #[default]
    Stored,
    /// By deflate at level 6, as `numpy.savez_compressed` does.
    Deflated,
}

/// From which size on a member needs 64 bits for it. What cannot be compressed becomes a little larger by
/// deflate, so that one is far below the limit.
const LARGE: u64 = 0xfff0_0000;

/// Writes an `.npz` file.
///
/// The same arrays give the same file: members are in the order in which they are added and dated 1980-01-01.
/// Nothing but the directory is kept in memory. After an error, and until it is finished, what was written
/// is not to be kept.
///
/// See [`Reader`](super::Reader) for an example.
pub struct Writer<W: Write + Seek> {
    zip: ZipWriter<Unfailing<W>>,
    fault: Fault,
    compression: Compression,
    keys: HashSet<String>,
}

impl<W: Write + Seek> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("keys", &self.keys.len()).finish_non_exhaustive()
    }
}

impl<W: Write + Seek> Writer<W> {
    /// An `.npz` file without arrays. `out` is written from where it stands, which is to be its beginning.
    pub fn new(out: W, compression: Compression) -> Self {
        let fault = Fault::default();
        let zip = ZipWriter::new(Unfailing::new(out, fault.clone()));
        Self { zip, fault, compression, keys: HashSet::new() }
    }

    /// Adds an array. `key` is what numpy calls it; slashes in it make no difference to numpy.
    ///
    /// # Errors
    ///
    /// As [`npy::write`]; when the key is there already, holds a NUL or is too long for a zip. Nothing is
    /// written when the array has no counterpart.
    pub fn add(
        &mut self,
        key: &str,
        variable: &Variable,
        data: impl Read,
        options: &npy::WriteOptions,
    ) -> Result<npy::Plan, Error> {
        let plan = npy::Plan::new(variable, options)?;
        let name = format!("{key}{SUFFIX}");
        let refuse = |why: &str| {
            let reason = format!("the key `{}` {why}", escape(key));
            Err(Error::no_counterpart(reason, "give the array another name"))
        };
        if name.len() > MAX_PATH_BYTES {
            return refuse("is too long for a zip");
        }
        if key.contains('\0') {
            return refuse("holds a NUL, where Python ends a name");
        }
        if !self.keys.insert(key.to_owned()) {
            return refuse("is there already");
        }
        let (method, level) = match self.compression {
            Compression::Stored => (CompressionMethod::Stored, None),
            Compression::Deflated => (CompressionMethod::Deflated, Some(6)),
        };
        let file = SimpleFileOptions::DEFAULT
            .compression_method(method)
            .compression_level(level)
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(0o644)
            .system(System::Unix)
            .large_file(plan.file_len() >= LARGE);
        self.zip.start_file(name, file).map_err(failed)?;
        plan.write(&mut self.zip, data)?;
        self.fault.check()?;
        Ok(plan)
    }

    /// Writes the directory, and gives what was written to.
    ///
    /// # Errors
    ///
    /// When writing fails.
    pub fn finish(self) -> Result<W, Error> {
        let out = self.zip.finish().map_err(failed)?;
        self.fault.check()?;
        Ok(out.into_inner())
    }
}

fn failed(error: ZipError) -> Error {
    match error {
        ZipError::Io(error) => Error::from(error),
        error => Error::Io(io::Error::other(error)),
    }
}
