//! Arrays in formats of others, which are files like all others as long as nobody converts them.

use std::collections::BTreeMap;

/// Formats that `convert` reads, by what the names of their files end in. Pictures mostly are just that.
pub(super) const CONVERTIBLE: &[&str] = &["npy", "npz", "ds"];

/// Formats of arrays that are not read.
pub(super) const FOREIGN: &[&str] =
    &["nc", "nc4", "cdf", "h5", "hdf5", "he5", "mat", "fits", "parquet"];

/// Formats of tables that are not read, and that people read without a tool.
pub(super) const TABLES: &[&str] = &["csv", "tsv"];

/// The page with a program for each of the formats that are not read.
pub(super) const PAGE: &str = "docs/from-other-formats.md";

/// How many of the files are in one of the formats, in words: `1 .nc file and 3 .npy files`. Nothing for none.
pub(super) fn counted<'n>(
    names: impl Iterator<Item = &'n str>,
    formats: &[&[&str]],
) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        let Some(end) = crate::path::extension(name).map(str::to_ascii_lowercase) else { continue };
        if formats.iter().any(|formats| formats.contains(&&*end)) {
            *counts.entry(end).or_default() += 1;
        }
    }
    let files: Vec<_> = counts
        .iter()
        .map(|(end, count)| format!("{count} .{end} file{}", if *count == 1 { "" } else { "s" }))
        .collect();
    match &files[..] {
        [] => None,
        [only] => Some(only.clone()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_by_their_formats() {
        let names = ["a.npy", "b/c.NPY", "x.nc", "notes.txt", "npy", "d.npz"];
        let counted = |formats: &[&[&str]]| counted(names.into_iter(), formats);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(counted(&[CONVERTIBLE]), some("2 .npy files and 1 .npz file"));
        assert_eq!(
            counted(&[CONVERTIBLE, FOREIGN]),
            some("1 .nc file, 2 .npy files and 1 .npz file")
        );
        assert_eq!(counted(&[TABLES]), None);
    }
}
