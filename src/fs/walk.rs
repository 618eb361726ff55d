//! Everything below a directory.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::parallel;
use crate::path::{InvalidPath, MemberPath};

/// Directories that one job takes at a time: fewer are not worth another thread.
const STEP: usize = 4;

/// What a directory entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Special,
}

impl Kind {
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
    pub(crate) kind: Kind,
}

/// Everything below `root`, files and directories, sorted by the bytes of their whole paths.
///
/// Links are reported as links, unless `follow`: then as what they lead to, and a loop is an error.
pub(crate) fn walk(root: &Path, follow: bool, jobs: usize) -> Result<Vec<Walked>> {
    if follow {
        return collect(root, walkdir::WalkDir::new(root).follow_links(true));
    }
    let mut found = Vec::new();
    let mut level = vec![PathBuf::new()];
    while !level.is_empty() {
        let list = |(): &mut (), range: std::ops::Range<usize>| {
            let directories = level.get(range).unwrap_or_default();
            directories.iter().map(|directory| list(root, directory)).collect::<Result<Vec<_>>>()
        };
        let lists = parallel::map_ranges(jobs, level.len(), STEP, || (), list)?;
        level = Vec::new();
        for mut list in lists.into_iter().flatten() {
            found.append(&mut list.entries);
            level.append(&mut list.directories);
        }
    }
    // What lies in each directory is in order already, which the sort makes use of.
    found.sort_by(|a, b| name_of(a).cmp(name_of(b)));
    Ok(found)
}

/// What lies in one directory.
struct List {
    entries: Vec<Walked>,
    /// The directories among it, by their paths below the root.
    directories: Vec<PathBuf>,
}

fn list(root: &Path, directory: &Path) -> Result<List> {
    let path = root.join(directory);
    let mut list = List { entries: Vec::new(), directories: Vec::new() };
    for entry in std::fs::read_dir(&path).map_err(Error::io("read", &path))? {
        let entry = entry.map_err(Error::io("read", &path))?;
        let below = directory.join(entry.file_name());
        let kind =
            entry.file_type().map_err(|error| Error::io("read", root.join(&below))(error))?;
        list.entries.push(Walked { path: member_path(&below), kind: Kind::of(kind) });
        if kind.is_dir() {
            list.directories.push(below);
        }
    }
    list.entries.sort_unstable_by(|a, b| name_of(a).cmp(name_of(b)));
    list.directories.sort_unstable();
    Ok(list)
}

/// What lies in `root` itself, likewise.
pub(crate) fn entries(root: &Path) -> Result<Vec<Walked>> {
    collect(root, walkdir::WalkDir::new(root).max_depth(1))
}

fn collect(root: &Path, walk: walkdir::WalkDir) -> Result<Vec<Walked>> {
    let mut found = Vec::new();
    for entry in walk.min_depth(1) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(root).to_owned();
            Error::io("read", path)(error.into())
        })?;
        let kind = Kind::of(entry.file_type());
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

#[cfg(test)]
mod tests {
    use std::fs;

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
        for (follow, jobs) in [(false, 1), (false, 3), (true, 1)] {
            let names: Vec<_> = walk(directory.path(), follow, jobs)
                .unwrap()
                .into_iter()
                .map(|walked| walked.path.unwrap().as_str().to_owned())
                .collect();
            assert_eq!(names, sorted);
        }
    }
}
