//! RawArray files by path, as the original library reads and writes them.

use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::fs::{File, PendingFile};
use crate::ra::{Element, RawArray};

impl<T: Element> RawArray<T> {
    /// Reads the file at `path`.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is damaged, or does not hold elements of type `T`.
    ///
    /// ```
    /// use ra_pack::RawArray;
    /// use std::io;
    /// # fn main() -> io::Result<()> {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("myarray.ra");
    /// let vec1: Vec<f32> = vec![1.0, 2.0, 3.0, 4.0];
    /// let ra: RawArray<f32> = vec1.clone().into();
    /// ra.write(&path)?;
    ///
    /// let vec2: Vec<f32> = RawArray::<f32>::read(&path)?.into();
    /// assert_eq!(vec1, vec2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = File::open(path)?;
        let len = file.len()?;
        Self::read_sized(file, len).map_err(|error| Error::array_file(path, error))
    }

    /// Writes the file at `path`, in the place of what may be there: the new file is complete before
    /// it gets the name.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let pending = PendingFile::create(path, true)?;
        let mut writer = io::BufWriter::new(pending.writer()?);
        self.write_to(&mut writer).map_err(Error::io("write", path))?;
        writer.into_inner().map_err(|error| Error::io("write", path)(error.into_error()))?;
        pending.sync()?;
        pending.persist()
    }
}
