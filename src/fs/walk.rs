//! Everything below a directory, and its files opened one after another.

use std::io;
use std::path::{Path, PathBuf};

use super::File;
use super::directory::Directory;
use crate::error::{Error, Result};
use crate::path::{InvalidPath, MemberPath};
use crate::progress::Progress;

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MemberKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic or hard link.
    Link,
    /// A device, a pipe, or another special file.
    Special,
}

impl MemberKind {
    fn of(kind: std::fs::FileType) -> Self {
        if kind.is_file() {
            Self::File
        } else if kind.is_dir() {
            Self::Directory
        } else if kind.is_symlink() {
            Self::Link
        } else {
            Self::Special
        }
    }
}

/// An entry below a directory that was walked.
#[derive(Debug, Clone)]
pub(crate) struct Walked {
    /// The name below the root, or the reason why no member can be called so.
    pub(crate) path: Result<MemberPath, InvalidPath>,
    pub(crate) kind: MemberKind,
}

/// Everything below `root`, files and directories, sorted by the bytes of their whole paths.
///
/// Links are reported as links, unless `follow`: then as what they lead to, and a loop is an error.
pub(crate) fn walk(root: &Path, follow: bool, progress: &Progress) -> Result<Vec<Walked>> {
    collect(root, walkdir::WalkDir::new(root).follow_links(follow), progress)
}

/// Everything in `root` itself, likewise.
pub(crate) fn entries(root: &Path) -> Result<Vec<Walked>> {
    collect(root, walkdir::WalkDir::new(root).max_depth(1), &Progress::default())
}

fn collect(root: &Path, walk: walkdir::WalkDir, progress: &Progress) -> Result<Vec<Walked>> {
    let mut found = Vec::new();
    for entry in walk.min_depth(1) {
        progress.check()?;
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(root).to_owned();
            Error::io("read", path)(error.into())
        })?;
        let kind = MemberKind::of(entry.file_type());
        let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
        found.push(Walked { path: member_path(below), kind });
    }
    found.sort_by(|a, b| name_of(a).cmp(name_of(b)));
    Ok(found)
}

fn name_of(walked: &Walked) -> &str {
    match &walked.path {
        Ok(path) => path.as_str(),
        Err(invalid) => &invalid.path,
    }
}

/// A path of this system below a root as the name of a member.
pub(super) fn member_path(below: &Path) -> Result<MemberPath, InvalidPath> {
    if cfg!(windows) {
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        return MemberPath::new(parts.join("/"));
    }
    MemberPath::from_bytes(below.as_os_str().as_encoded_bytes())
}

/// Opens files below a directory for reading. A name in the directory that was used last is found sooner than a
/// whole path, and who puts a link in the place of a directory leads no read elsewhere.
#[derive(Debug)]
pub(crate) struct Below {
    root: PathBuf,
    follow: bool,
    top: Option<Directory>,
    /// The directory below the root that was used last.
    last: Option<(String, Directory)>,
}

impl Below {
    /// With `follow` links are followed; without, none below `root` is.
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
    fn a_walk_is_sorted_by_whole_paths() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("a/c/d")).unwrap();
        fs::create_dir(directory.path().join("a-")).unwrap();
        for name in ["a/b", "a.x", "Z", "a/c/d/e", "a/c.x", "a-/x"] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        let sorted = ["Z", "a", "a-", "a-/x", "a.x", "a/b", "a/c", "a/c.x", "a/c/d", "a/c/d/e"];
        for follow in [false, true] {
            let names: Vec<_> = walk(directory.path(), follow, &Progress::default())
                .unwrap()
                .into_iter()
                .map(|walked| walked.path.unwrap().as_str().to_owned())
                .collect();
            assert_eq!(names, sorted);
        }
    }

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
    fn no_link_is_followed_unless_it_is_asked_for() {
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
    fn a_pipe_that_took_the_place_of_a_file_is_an_error_at_once() {
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
