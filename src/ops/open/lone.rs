//! An array file with its description as a pack of one array.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::super::single_file::{self, is_array_file};
use super::{Pack, PackState};
use crate::archive::Archive;
use crate::error::Result;
use crate::pack::Placement;
use crate::progress::Progress;

impl Pack {
    /// Opens an array file with its description and the coordinates that this names as a pack, and gives the name of
    /// the array in it.
    ///
    /// Names are those below the nearest directory above from which everything is found that the description of
    /// the array refers to, as for [`validate`](crate::validate()). Of the manifests there only
    /// [`verify`](Self::verify) takes notice.
    ///
    /// # Errors
    ///
    /// [`Error::NotAnArray`](crate::Error::NotAnArray), and when nothing is at `path`.
    pub fn of_array(path: impl AsRef<Path>) -> Result<(Self, String)> {
        Self::of_array_watched(path, &Progress::default())
    }

    /// As [`Pack::of_array`], and tells `progress` how far the reading is.
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
        // Nobody said that the directory is a pack, and it may be a large one.
        let archive = Archive::of_files(&single_file.root, single_file.files(), progress);
        let mut state = PackState::new(archive, OnceLock::from(Placement::plain()));
        state.manifest = OnceLock::from(None);
        state.lone = Some((path.as_ref().to_owned(), name.clone()));
        Ok((Self { state: Arc::new(state), max_bytes: u64::MAX }, name))
    }

    /// The archive, directory or array file, by its path as given.
    pub(in crate::ops) fn given(&self) -> &Path {
        self.lone().map_or(self.state.archive.path(), |(path, _)| path)
    }

    /// The array file that was opened, by its path as given, and its name in the pack; nothing for a whole pack.
    pub(in crate::ops) fn lone(&self) -> Option<(&Path, &str)> {
        self.state.lone.as_ref().map(|(path, name)| (path.as_path(), name.as_str()))
    }
}
