//! The files of a pack that is being written: those in memory, and what a name takes with it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use crate::finding::{Code, Finding};
use crate::pack::{ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS, is_array};
use crate::path::{MemberPath, escape};

/// Maximum size in bytes of arrays that are kept in memory: making a file takes longer than writing this many bytes.
pub(super) const SHORT: u64 = 32 * 1024;
/// Bytes of short arrays and their descriptions that one writer keeps in memory.
pub(super) const IN_MEMORY: usize = 64 * 1024 * 1024;

/// A file that was added.
#[derive(Debug, Default)]
pub(super) struct StagedMember {
    /// The bytes of a file in memory; the others are in the directory of staged files.
    pub(super) content: Option<Arc<[u8]>>,
    /// The length of a 1-D array, which others may use as a coordinate.
    pub(super) length: Option<u64>,
}

/// A dimension that arrays of one group call by the same name.
#[derive(Debug)]
pub(super) struct NamedDimension {
    pub(super) length: u64,
    pub(super) arrays: BTreeSet<MemberPath>,
}

/// Returns the names below a directory.
pub(super) fn below<'m, T>(
    members: &'m BTreeMap<MemberPath, T>,
    name: &str,
) -> impl Iterator<Item = &'m str> + use<'m, T> {
    let directory = format!("{name}/");
    let after = members.range::<str, _>((Bound::Included(&*directory), Bound::Unbounded));
    after.map(|(path, _)| path.as_str()).take_while(move |path| path.starts_with(&directory))
}

/// Returns the paths that are removed with a name: itself, those below it, and the description of an array.
pub(super) fn belonging<T>(
    members: &BTreeMap<MemberPath, T>,
    name: &str,
    is_file: bool,
) -> Vec<MemberPath> {
    let stem =
        name.strip_suffix(&format!(".{ARRAY_EXTENSION}")).filter(|_| is_file && is_array(name));
    let descriptions = stem.into_iter().flat_map(|stem| {
        DESCRIPTION_EXTENSIONS.map(|extension| Cow::Owned(format!("{stem}.{extension}")))
    });
    let names = below(members, name).chain([name]).map(Cow::Borrowed).chain(descriptions);
    names.filter_map(|name| Some(members.get_key_value(&*name)?.0.clone())).collect()
}

/// Returns an error if a file exists where `name` needs a directory, or if there are files `below` it.
pub(super) fn in_the_way(
    name: &str,
    is_file: impl Fn(&str) -> bool,
    below: Option<&str>,
) -> Option<Finding> {
    let mut above = name.match_indices('/').map(|(end, _)| name.split_at(end).0);
    let other = above.find(|above| is_file(above)).or(below)?;
    let message = format!("the file cannot be added: `{}` exists", escape(other));
    let finding = Finding::new(Code::FileAndDirectory, message).in_member(name);
    Some(finding.hint("choose another name, or remove the other file"))
}
