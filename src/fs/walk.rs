//! Lists the files below a directory.

use std::path::Path;

use crate::error::{Error, Result};
use crate::path::{InvalidPath, MemberPath};
use crate::progress::Progress;

/// The kind of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MemberKind {
    /// An ordinary file.
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

/// An entry below a directory.
#[derive(Debug, Clone)]
pub(crate) struct Walked {
    /// The name below the root, or the reason why it is not a valid member name.
    pub(crate) path: Result<MemberPath, InvalidPath>,
    pub(crate) kind: MemberKind,
}

/// Lists all files and directories below `root`, sorted by the bytes of their complete paths.
///
/// Links are listed as links. With `follow`, they are listed as their targets, apart from those that lead to nothing
/// that can be read, or to a directory above them.
pub(crate) fn walk(root: &Path, follow: bool, progress: &Progress) -> Result<Vec<Walked>> {
    collect(root, walkdir::WalkDir::new(root).follow_links(follow), progress)
}

/// Lists the entries of `root` itself, sorted.
pub(crate) fn entries(root: &Path) -> Result<Vec<Walked>> {
    collect(root, walkdir::WalkDir::new(root).max_depth(1), &Progress::default())
}

fn collect(root: &Path, walk: walkdir::WalkDir, progress: &Progress) -> Result<Vec<Walked>> {
    let mut found = Vec::new();
    for entry in walk.min_depth(1) {
        progress.check()?;
        let (path, kind) = match entry {
            Ok(entry) => (entry.path().to_owned(), MemberKind::of(entry.file_type())),
            Err(error) => {
                let path = error.path().unwrap_or(root).to_owned();
                if error.depth() == 0 || !super::is_link(&path) {
                    return Err(Error::io("read", path)(error.into()));
                }
                (path, MemberKind::Link)
            }
        };
        found.push(Walked { path: member_path(path.strip_prefix(root).unwrap_or(&path)), kind });
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

/// Converts a path below a root to a member name.
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
    fn a_walk_is_sorted_by_complete_paths() {
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
}
