//! Arrays of other formats as a temporary pack, for programs that only read them.

use std::path::{Path, PathBuf};

use super::convert;
use super::format::ArrayFormat;
use super::names::name_of;
use super::options::ConvertOptions;
use crate::error::Result;
use crate::fs::{self, PendingDirectory};
use crate::pack::ARRAY_EXTENSION;
use crate::progress::Progress;

/// The arrays of a file in another format, converted to a directory that is deleted with this value. The directory is in
/// that of the system for temporary files, and takes as much space as the elements.
#[derive(Debug)]
pub struct TemporaryPack {
    path: PathBuf,
    directory: PathBuf,
    _pending: PendingDirectory,
}

impl TemporaryPack {
    /// Converts the file at `path`, if its name is that of a NumPy, `NetCDF`, HDF5 or ds-format file. Returns `None` for
    /// other files.
    ///
    /// # Errors
    ///
    /// As [`convert`](crate::convert()).
    pub fn of(path: impl AsRef<Path>, progress: &Progress) -> Result<Option<Self>> {
        use ArrayFormat::{Ds, Hdf5, NetCdf, Npy, Npz};
        let path = path.as_ref();
        let format = ArrayFormat::from_extension(path);
        let Some(format @ (Npy | Npz | NetCdf | Hdf5 | Ds)) = format else { return Ok(None) };
        if !fs::exists(path) || fs::is_directory(path)? {
            return Ok(None);
        }
        let (pending, directory) = PendingDirectory::of_system("arrays")?;
        let end = if format == Npy { format!(".{ARRAY_EXTENSION}") } else { String::new() };
        let target = directory.join(name_of(path) + &end);
        let options = ConvertOptions {
            from: Some(format),
            progress: progress.clone(),
            ..ConvertOptions::default()
        };
        convert(path, &target, &options)?;
        let directory = if format == Npy { directory } else { target.clone() };
        Ok(Some(Self { path: target, directory, _pending: pending }))
    }

    /// Returns the path of the pack, which is a directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the path of the pack, or of the array if the format is for one array.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
