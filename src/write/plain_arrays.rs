//! Arrays in other formats, which are packed as plain files unless they are converted.

use std::collections::BTreeMap;

use crate::message;

/// Extensions of array formats that `convert` reads, except pictures, which are rarely meant as arrays.
pub(crate) const CONVERTIBLE: &[&str] =
    &["npy", "npz", "ds", "nc", "nc4", "cdf", "h5", "hdf5", "he5"];

/// Extensions of array formats that ra-pack cannot read.
pub(crate) const FOREIGN: &[&str] = &["mat", "fits", "parquet"];

/// Extensions of table formats that ra-pack cannot read and that need no tool to be read.
pub(crate) const TABLES: &[&str] = &["csv", "tsv"];

/// Advice for arrays in a format that ra-pack cannot read.
pub(crate) const SAVE: &str =
    "save the arrays as .npy or NetCDF files with Python, and convert those";

/// Counts the files in these formats, in words: `1 .mat file and 3 .npy files`. `None` if there are none.
pub(crate) fn counted<'n>(
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
        .map(|(end, count)| message::counted(*count, &format!(".{end} file")))
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
        let names = ["a.npy", "b/c.NPY", "x.mat", "notes.txt", "npy", "d.npz"];
        let counted = |formats: &[&[&str]]| counted(names.into_iter(), formats);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(counted(&[CONVERTIBLE]), some("2 .npy files and 1 .npz file"));
        assert_eq!(
            counted(&[CONVERTIBLE, FOREIGN]),
            some("1 .mat file, 2 .npy files and 1 .npz file")
        );
        assert_eq!(counted(&[TABLES]), None);
    }
}
