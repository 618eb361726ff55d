//! Which name of a file the key of an array becomes.

use std::collections::{HashMap, HashSet};

use crate::path::{InvalidPath, MemberPath, PathFault, escape};

/// The name for an array of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Where the array lies, `.ra` included.
    pub path: MemberPath,
    /// What is wrong with the key, when it could not be kept; nothing when it only met another one.
    pub fault: Option<PathFault>,
    /// That the key was not kept, in one sentence.
    pub loss: Option<String>,
}

/// The names for arrays of these keys, in the same order: `a/b/x` becomes `a/b/x.ra`.
///
/// A key that no path can be is changed: a part that is empty, `.` or `..` becomes `_`, as do backslashes,
/// NULs and the colon of a drive letter. If the name is taken `_2` follows it, or the next number that makes
/// it one of its own; a directory that would lie where a file does has another `_` at its end. Keys that can stay have their names
/// before those that cannot, so that no odd key moves a sound one. The same keys give the same names.
///
/// ```
/// use ra_pack::interchange::npz::paths;
///
/// let named = paths(["run/x", "", "../x", "C:\\x"]);
/// let paths: Vec<_> = named.iter().map(|named| named.path.as_str()).collect();
/// assert_eq!(paths, ["run/x.ra", "_.ra", "_/x.ra", "C__x.ra"]);
/// assert_eq!(named[0].loss, None);
/// ```
pub fn paths<'k>(keys: impl IntoIterator<Item = &'k str>) -> Vec<Named> {
    let keys: Vec<&str> = keys.into_iter().collect();
    let mut taken = Taken::default();
    let mut named: Vec<Option<Named>> = keys
        .iter()
        .map(|key| {
            let path = MemberPath::new(*key).ok().and_then(|_| file(key))?;
            taken.take(&path).then_some(Named { path, fault: None, loss: None })
        })
        .collect();
    for (key, slot) in keys.iter().zip(&mut named) {
        slot.get_or_insert_with(|| taken.renamed(key));
    }
    named.into_iter().flatten().collect()
}

/// The file of a sound key.
fn file(key: &str) -> Option<MemberPath> {
    MemberPath::new(format!("{key}.ra")).ok()
}

/// A key with nothing in it that no path can have.
fn mended(key: &str) -> String {
    let is_drive = matches!(key.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic());
    let letters = key.chars().enumerate().map(|(index, letter)| match letter {
        '\\' | '\0' => '_',
        ':' if is_drive && index == 1 => '_',
        letter => letter,
    });
    let letters: String = letters.collect();
    let parts: Vec<_> = letters
        .split('/')
        .map(|part| if matches!(part, "" | "." | "..") { "_" } else { part })
        .collect();
    parts.join("/")
}

/// The files and directories that there are.
#[derive(Default)]
struct Taken {
    files: HashSet<String>,
    directories: HashSet<String>,
    /// The number to try next for a name that was taken.
    next: HashMap<String, u64>,
}

impl Taken {
    /// Takes a path, when nothing stands in its way.
    fn take(&mut self, path: &MemberPath) -> bool {
        let above = || {
            let text = path.as_str();
            text.match_indices('/').filter_map(|(at, _)| text.get(..at))
        };
        let is_free = !self.files.contains(path.as_str())
            && !self.directories.contains(path.as_str())
            && !above().any(|directory| self.files.contains(directory));
        if is_free {
            self.directories.extend(above().map(str::to_owned));
            self.files.insert(path.as_str().to_owned());
        }
        is_free
    }

    /// A path whose directories are no files.
    fn below_no_file(&self, path: &str) -> String {
        let mut made = String::new();
        for part in path.split_inclusive('/') {
            match part.strip_suffix('/') {
                Some(directory) => {
                    made.push_str(directory);
                    while self.files.contains(&made) {
                        made.push('_');
                    }
                    made.push('/');
                }
                None => made.push_str(part),
            }
        }
        made
    }

    fn renamed(&mut self, key: &str) -> Named {
        let fault = MemberPath::new(key).err().map(|InvalidPath { kind, .. }| kind);
        let wanted = self.below_no_file(&mended(key));
        let mut number = self.next.get(&wanted).copied().unwrap_or(1);
        let path = loop {
            let candidate = match number {
                1 => wanted.clone(),
                number => format!("{wanted}_{number}"),
            };
            // What is too long for a name is called by its number alone.
            let path = file(&candidate).or_else(|| file(&format!("_{number}")));
            if let Some(path) = path
                && self.take(&path)
            {
                break path;
            }
            number = number.saturating_add(1);
        };
        self.next.insert(wanted, number.saturating_add(1));
        let why = match fault {
            Some(fault) => fault.to_string(),
            None => "is the name of two arrays, or of one and a directory".to_owned(),
        };
        let loss = format!("the key `{}` {why}; the array is now `{path}`", escape(key));
        Named { path, fault, loss: Some(loss) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(keys: &[&str]) -> Vec<String> {
        paths(keys.iter().copied())
            .into_iter()
            .map(|named| named.path.as_str().to_owned())
            .collect()
    }

    #[test]
    fn odd_keys_are_renamed_and_sound_ones_are_not() {
        let keys = [
            "",
            "/a",
            "a//b",
            "a/",
            "./a",
            "../../a",
            "a\\b",
            "C:\\x",
            "C:x",
            "a\0b",
            "teplota_°C",
        ];
        let expected = [
            "_.ra",
            "_/a.ra",
            "a/_/b.ra",
            "a/_.ra",
            "_/a_2.ra",
            "_/_/a.ra",
            "a_b.ra",
            "C__x.ra",
            "C_x.ra",
            "a_b_2.ra",
            "teplota_°C.ra",
        ];
        assert_eq!(names(&keys), expected);
        let named = paths(keys);
        assert!(named.iter().take(10).all(|named| named.loss.is_some() && named.fault.is_some()));
        assert_eq!(named[10].loss, None);
        assert_eq!(
            named[5].loss.as_deref(),
            Some(
                "the key `../../a` climbs out of its directory with `..`; the array is now `_/_/a.ra`"
            )
        );
    }

    #[test]
    fn a_sound_key_keeps_its_name_whatever_comes_before() {
        assert_eq!(names(&["", "_"]), ["__2.ra", "_.ra"]);
        assert_eq!(names(&["", "_", "__2", ".."]), ["__3.ra", "_.ra", "__2.ra", "__4.ra"]);
        // A file and a directory of one name.
        assert_eq!(names(&["x", "x.ra/y"]), ["x.ra", "x.ra_/y.ra"]);
        assert_eq!(names(&["x.ra/y", "x"]), ["x.ra/y.ra", "x_2.ra"]);
        let long = "a".repeat(65_534);
        assert_eq!(names(&[&long, "_1"]), ["_2.ra", "_1.ra"]);
    }

    proptest! {
        #[test]
        fn every_key_has_a_name_of_its_own(keys in proptest::collection::vec("[a./\\\\:_]{0,5}", 0..8)) {
            let named = paths(keys.iter().map(String::as_str));
            prop_assert_eq!(named.len(), keys.len());
            let distinct: HashSet<_> = named.iter().map(|named| named.path.clone()).collect();
            prop_assert_eq!(distinct.len(), keys.len());
            for one in &named {
                let below = format!("{}/", one.path.as_str());
                prop_assert!(!named.iter().any(|other| other.path.as_str().starts_with(&below)));
            }
        }
    }
}
