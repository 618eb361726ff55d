//! The files of a pack that is being written: where they are, and what a name takes with it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::Bound;
use std::sync::Arc;

use crate::archive::{Arriving, WrittenMember};
use crate::error::Result;
use crate::finding::{Code, Finding};
use crate::fs::File;
use crate::pack::{ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS, is_array};
use crate::path::{MemberPath, escape};

/// Maximum size in bytes of files that are kept in memory.
pub(super) const SHORT: u64 = 32 * 1024;
/// Bytes of short files that one writer keeps in memory.
pub(super) const IN_MEMORY: usize = 64 * 1024 * 1024;

/// A file that was added.
#[derive(Debug)]
pub(super) struct StagedMember {
    pub(super) content: StagedContent,
    /// The length of a 1-D array, which others may use as a coordinate.
    pub(super) length: Option<u64>,
}

/// The place of a file until the pack is finished.
#[derive(Debug)]
pub(super) enum StagedContent {
    Memory(Arc<[u8]>),
    Archive(Box<WrittenMember>),
    /// The directory of staged files.
    Directory,
}

/// A file whose content arrives.
#[derive(Debug)]
pub(crate) enum ArrivingContent {
    Memory(Vec<u8>),
    Archive(Box<Arriving>),
    /// A file in the directory, and its length.
    Directory(File, u64),
}

impl ArrivingContent {
    /// Appends bytes.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Memory(content) => content.extend_from_slice(bytes),
            Self::Archive(arriving) => arriving.write(bytes)?,
            Self::Directory(file, len) => {
                file.write_all_at(bytes, *len)?;
                *len += bytes.len() as u64;
            }
        }
        Ok(())
    }

    /// Writes bytes at an offset of content that is not in memory. [`placed`](Self::placed) follows.
    pub(super) fn place(&self, bytes: &[u8], at: u64) -> Result<()> {
        match self {
            Self::Memory(_) => unreachable!("content in memory is appended"),
            Self::Archive(arriving) => arriving.place(bytes, at),
            Self::Directory(file, _) => file.write_all_at(bytes, at),
        }
    }

    /// Ends the placing of bytes. They now have the length `len`.
    pub(super) fn placed(&mut self, len: u64) -> Result<()> {
        if let Self::Archive(arriving) = self { arriving.hash_placed(len) } else { Ok(()) }
    }
}

impl Write for ArrivingContent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
