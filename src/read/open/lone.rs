//! Opening an array file with its description as a pack of one array.

use std::path::Path;
use std::sync::OnceLock;

use super::{Pack, PackState};
use crate::archive::Archive;
use crate::error::Result;
use crate::pack::Placement;
use crate::progress::Progress;
use crate::read::single_file::{self, is_array_file};

impl Pack {
    /// Opens an array file as a pack, with its description and the coordinates that the description names. Also returns
    /// the name of the array in the pack.
    ///
    /// The root of the pack is the nearest directory above the file that contains everything that the description
    /// refers to, as for [`validate`](crate::validate()). Only [`verify`](Self::verify) uses the manifests there.
    ///
    /// # Errors
    ///
    /// [`Error::NotAnArray`](crate::Error::NotAnArray) if the file is not an array, and [`Error::Io`](crate::Error::Io)
    /// if it cannot be opened.
    pub fn of_array(path: impl AsRef<Path>) -> Result<(Self, String)> {
        Self::of_array_watched(path, &Progress::default())
    }

    /// Opens an array file as [`Pack::of_array`] does, and reports the progress of reads to `progress`.
    ///
    /// # Errors
    ///
    /// As [`Pack::of_array`].
    pub fn of_array_watched(path: impl AsRef<Path>, progress: &Progress) -> Result<(Self, String)> {
        if !is_array_file(path.as_ref())? {
            return Err(single_file::not_an_array(path.as_ref()));
        }
        let single_file = single_file::gather(path.as_ref(), None)?;
        single_file.refuse_other_formats(path.as_ref())?;
        let name = single_file.subject.as_str().to_owned();
        // The directory need not be a pack and may be large, so only the known files are listed.
        let archive = Archive::of_files(&single_file.root, single_file.files(), progress);
        let mut state = PackState::new(archive, OnceLock::from(Placement::plain()));
        state.known.manifest = OnceLock::from(None);
        state.lone = Some((path.as_ref().to_owned(), name.clone()));
        Ok((Self::of_state(state), name))
    }

    /// Returns the path of the archive, directory or array file as it was given.
    pub(crate) fn given(&self) -> &Path {
        self.lone().map_or(self.state.archive.path(), |(path, _)| path)
    }

    /// Returns the path of the array file as it was given, and its name in the pack; `None` if a whole pack was opened.
    pub(crate) fn lone(&self) -> Option<(&Path, &str)> {
        self.state.lone.as_ref().map(|(path, name)| (path.as_path(), name.as_str()))
    }
}
