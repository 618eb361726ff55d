//! Reads files below a directory by name.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::fs::File;
use crate::fs::directory::Directory;
use crate::path::MemberPath;

/// Opens files below a directory for reading. It keeps the last directory open, so nearby files open faster. Without
/// `follow`, replacing a directory with a link cannot redirect a read.
#[derive(Debug)]
pub(crate) struct Below {
    root: PathBuf,
    follow: bool,
    top: Option<Directory>,
    /// The most recently used directory below the root, and its name.
    last: Option<(String, Directory)>,
}

impl Below {
    /// Creates a reader for `root`. With `follow`, links below `root` are followed; otherwise they are errors.
    pub(crate) fn new(root: &Path, follow: bool) -> Self {
        Self { root: root.to_owned(), follow, top: None, last: None }
    }

    /// Opens a file for reading.
    pub(crate) fn open(&mut self, path: &MemberPath) -> Result<File> {
        let whole = self.root.join(path.as_str());
        if self.follow {
            return File::open(whole);
        }
        let directory = self.directory(path.parent());
        File::ordinary(directory.and_then(|directory| directory.open_file(path.file_name())), whole)
    }

    fn directory(&mut self, parent: Option<&str>) -> io::Result<&Directory> {
        let top = match &mut self.top {
            Some(top) => top,
            none => none.insert(Directory::open(&self.root)?),
        };
        let Some(parent) = parent else { return Ok(top) };
        let is_last = self.last.as_ref().is_some_and(|(last, _)| last == parent);
        if !is_last {
            let mut directory = None;
            for part in parent.split('/') {
                directory = Some(directory.as_ref().unwrap_or(top).enter(part)?);
            }
            self.last = directory.map(|directory| (parent.to_owned(), directory));
        }
        Ok(self.last.as_ref().map_or(top, |(_, directory)| directory))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read as _;

    use super::*;

    #[test]
    fn files_of_several_directories_are_opened_in_any_order() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        for name in ["x", "a/x", "a/b/x", "a/b/y"] {
            fs::write(root.path().join(name), name).unwrap();
        }
        for follow in [false, true] {
            let mut below = Below::new(root.path(), follow);
            for name in ["x", "a/b/x", "a/b/y", "a/x", "x", "a/b/x"] {
                let mut text = String::new();
                let mut file = below.open(&MemberPath::new(name).unwrap()).unwrap();
                file.read_to_string(&mut text).unwrap();
                assert_eq!(text, name);
                assert_eq!(file.path(), root.path().join(name));
            }
            assert!(below.open(&MemberPath::new("a/z").unwrap()).unwrap_err().is_not_found());
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_only_on_request() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        fs::write(root.path().join("a/x"), "x").unwrap();
        std::os::unix::fs::symlink("a", root.path().join("b")).unwrap();
        std::os::unix::fs::symlink("a/x", root.path().join("l")).unwrap();
        for name in ["b/x", "l"] {
            let path = MemberPath::new(name).unwrap();
            assert!(Below::new(root.path(), false).open(&path).is_err(), "{name}");
            assert!(Below::new(root.path(), true).open(&path).is_ok(), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_replaced_a_file_is_an_immediate_error() {
        let root = tempfile::tempdir().unwrap();
        let pipe = root.path().join("x");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let path = MemberPath::new("x").unwrap();
        let opened = [true, false].map(|follow| Below::new(root.path(), follow).open(&path));
        for refused in opened.into_iter().chain([File::open(&pipe)]) {
            let error = io::Error::from(refused.unwrap_err()).to_string();
            assert!(error.contains("cannot open"), "{error}");
        }
    }
}
