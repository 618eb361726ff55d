//! Names of arrays: file names for arbitrary ones, and names in messages.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::pack::{ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS, PACK_DOCUMENT};
use crate::path::{MemberPath, first_bytes};

/// Maximum size in bytes of a part of a name. With an extension and a number it fits into the 255 bytes that most file
/// systems allow.
const MAX_PART: usize = 220;

/// Maximum size in bytes of a whole name: less than the longest path that systems accept.
const MAX_NAME: usize = 2048;

/// Name of an array that has none.
pub(super) const NAMELESS: &str = "unnamed";

/// Maximum number of names in a message.
pub(super) const MAX_LISTED: usize = 20;

/// Returns the name of the array in a single file, which is that of the file.
pub(super) fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the name of an array without slash and extension: `run1/x` for `run1/x.ra` and `/run1/x`.
pub(super) fn member_name(member: &str) -> &str {
    let name = member.trim_start_matches('/');
    let end = name.strip_suffix(ARRAY_EXTENSION);
    end.and_then(|name| name.strip_suffix('.')).unwrap_or(name)
}

/// Returns file names for arrays, without extension and in the same order: `a/b/x` for the array `x` of the group
/// `/a/b`. Valid names are assigned first, so that replacements never change them. `taken` are names of other files.
pub(super) fn give_all<'n>(names: &[&str], taken: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut given = FileNames::default();
    for name in taken {
        given.files.insert(name.to_owned());
        given.directories.extend(directories(name).map(str::to_owned));
    }
    let mut all: Vec<_> =
        names.iter().map(|name| (valid(name) == *name).then(|| given.give(name))).collect();
    for (slot, name) in all.iter_mut().zip(names) {
        slot.get_or_insert_with(|| given.give(name));
    }
    all.into_iter().flatten().collect()
}

/// The names that were assigned.
#[derive(Debug, Default)]
struct FileNames {
    files: HashSet<String>,
    /// Directories of the files.
    directories: HashSet<String>,
    /// The next number to append to a name that is in use.
    next: HashMap<String, u64>,
}

impl FileNames {
    fn give(&mut self, name: &str) -> String {
        let mut valid = valid(name);
        if directories(&valid).any(|directory| self.files.contains(directory)) {
            // One of the directories of the name is a file.
            valid = shortened(&valid.replace('/', "_"));
        }
        let mut given = valid.clone();
        let mut number = self.next.get(&valid).copied().unwrap_or(2);
        while !self.is_free(&given) {
            given = format!("{valid}_{number}");
            number += 1;
        }
        self.next.insert(valid, number);
        self.files.extend(files(&given));
        self.directories.extend(directories(&given).map(str::to_owned));
        given
    }

    /// Returns whether a file and its description can have this name, and neither is the description of the pack.
    fn is_free(&self, name: &str) -> bool {
        files(name).iter().all(|file| {
            file != PACK_DOCUMENT
                && !self.files.contains(file)
                && !self.directories.contains(file)
                && MemberPath::new(file.as_str()).is_ok()
        }) && directories(name).all(|directory| !self.files.contains(directory))
    }
}

/// Returns the files of an array.
fn files(name: &str) -> [String; 2] {
    [ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS[0]].map(|extension| format!("{name}.{extension}"))
}

/// Returns the directories of a file.
fn directories(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(at, _)| name.split_at(at).0)
}

/// Returns the nearest valid file name.
fn valid(name: &str) -> String {
    let is_odd = |letter: char| letter == '\\' || letter.is_control();
    let parts = name.split('/').filter(|part| !part.is_empty()).map(|part| match part {
        "." | ".." => "_".repeat(part.len()),
        part => shortened(&part.replace(is_odd, "_")),
    });
    let mut valid = parts.collect::<Vec<_>>().join("/");
    if valid.len() > MAX_NAME {
        valid = shortened(&valid.replace('/', "_"));
    }
    if valid.is_empty() {
        NAMELESS.clone_into(&mut valid);
    }
    let is_drive =
        |bytes: &[u8]| matches!(bytes, [letter, b':', ..] if letter.is_ascii_alphabetic());
    if is_drive(valid.as_bytes()) {
        valid = valid.replacen(':', "_", 1);
    }
    valid
}

/// Shortens a part of a name to the length that file systems accept.
fn shortened(part: &str) -> String {
    first_bytes(part, MAX_PART).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_stay() {
        let mut names = FileNames::default();
        for name in ["x", "a/b/x", "a/x", "x.y", "Größe", "a b", "..x", "run1/manifest"] {
            assert_eq!(names.give(name), name);
        }
    }

    #[test]
    fn a_valid_name_is_kept_after_any_other_names() {
        assert_eq!(
            give_all(&["a//b", "", "a/b", "unnamed"], [].into_iter()),
            ["a/b_2", "unnamed_2", "a/b", "unnamed"]
        );
    }

    #[test]
    fn names_of_other_files_are_not_used_for_arrays() {
        assert_eq!(
            give_all(&["x", "y", "z/a", "d"], ["x.yaml", "y.txt", "z", "d/e.txt"].into_iter()),
            ["x_2", "y", "z_a", "d"]
        );
    }

    #[test]
    fn other_names_become_different_file_names() {
        let mut names = FileNames::default();
        for (name, given) in [
            ("", "unnamed"),
            ("/", "unnamed_2"),
            ("/etc/passwd", "etc/passwd"),
            ("../../x", "__/__/x"),
            ("./x", "_/x"),
            ("a\\b", "a_b"),
            ("a_b", "a_b_2"),
            ("c:x", "c_x"),
            ("a//b/", "a/b"),
            ("a/b", "a/b_2"),
            ("a\0b\n", "a_b_"),
            ("manifest", "manifest_2"),
            ("d.ra/x", "d.ra/x"),
            ("d", "d_2"),
            ("e", "e"),
            ("e.yaml/x", "e.yaml_x"),
        ] {
            assert_eq!(names.give(name), given, "{name:?}");
        }
        for long in ["x".repeat(70_000), "ab/".repeat(30_000)] {
            let (one, other) = (names.give(&long), names.give(&long));
            assert!(one != other && one.len() <= MAX_PART && other.len() <= 230);
        }
    }
}
