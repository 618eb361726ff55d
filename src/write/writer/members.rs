//! The files that were added to a pack: their names, and where they are until the pack is finished.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use super::{IN_MEMORY, PackWriter, SHORT};
use crate::archive::MemberKind;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::File;
use crate::pack::{
    self, ARRAY_EXTENSION, BAG_DECLARATION, BLOCK_LIST, DESCRIPTION_EXTENSIONS, PACK_DOCUMENT,
    is_array,
};
use crate::path::{MemberPath, escape};
use crate::write::survey::{EntrySource, SourceEntry};

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

impl PackWriter<'_> {
    /// Removes an added file, an array with its description, or a directory with its content. Returns whether it
    /// existed.
    pub(super) fn withdraw(&mut self, name: &str) -> bool {
        let gone = belonging(&self.members, name, self.members.contains_key(name));
        for path in &gone {
            match self.members.remove(path).and_then(|member| member.content) {
                Some(content) => self.memory -= content.len(),
                None => self.staged.discard(path),
            }
            self.dims.retain(|_, dimension| {
                dimension.arrays.remove(path);
                !dimension.arrays.is_empty()
            });
        }
        let directories = self.directories.len();
        self.directories.retain(|path| {
            path.as_str() != name && !path.as_str().starts_with(&format!("{name}/"))
        });
        !gone.is_empty() || self.directories.len() < directories
    }

    /// Stages a file of the pack under a new name. If its content fails, it is incomplete.
    pub(super) fn stage(
        &mut self,
        path: &MemberPath,
        write: impl FnOnce(&File) -> Result<()>,
    ) -> Result<()> {
        self.check_name(path, MemberKind::File)?;
        let written = self.staged.begin(path).and_then(|file| write(&file));
        if let Err(error) = written {
            self.fail(path);
            return Err(self.in_words(error));
        }
        self.put(path.clone(), StagedMember::default());
        Ok(())
    }

    /// Records that the content of a file failed.
    pub(super) fn fail(&mut self, path: &MemberPath) {
        self.staged.discard(path);
        self.incomplete.insert(path.clone());
    }

    /// Adds a complete file.
    pub(super) fn put(&mut self, path: MemberPath, member: StagedMember) {
        self.incomplete.remove(&path);
        if let Some(old) = &mut self.old {
            old.give_way(&path);
        }
        self.memory += member.content.as_ref().map_or(0, |content| content.len());
        self.members.insert(path, member);
    }

    /// Returns memory for a file of `len` bytes, if it is short and there is room.
    pub(super) fn memory_for(&self, len: u64) -> Option<Vec<u8>> {
        let len = usize::try_from(len).ok().filter(|_| len <= SHORT)?;
        (self.memory + len <= IN_MEMORY).then(|| Vec::with_capacity(len))
    }

    /// Returns an error if a file or directory cannot have this name.
    pub(super) fn check_name(&self, path: &MemberPath, kind: MemberKind) -> Result<()> {
        let (name, is_file) = (path.as_str(), kind == MemberKind::File);
        let is_generated = name == BAG_DECLARATION
            || name == BLOCK_LIST
            || pack::is_signature(name)
            || pack::manifest_algorithm(name).is_some();
        if is_generated {
            return Err(Error::wrong_target(name, "is reserved for a file that is generated"));
        }
        let finding = if is_file && self.members.contains_key(path) {
            let finding =
                Finding::new(Code::DuplicateName, "a member of this name was already added");
            Some(finding.in_member(name).hint("choose another name"))
        } else {
            let is_there = |above: &str| self.members.contains_key(above);
            let mut below = below(&self.members, name);
            let mut directories = self.directories.iter().map(MemberPath::as_str);
            let is_in = |directory: &&str| {
                directory
                    .strip_prefix(name)
                    .is_some_and(|end| end.is_empty() || end.starts_with('/'))
            };
            let below = below.next().or_else(|| directories.find(is_in));
            let same = Some(name).filter(|name| !is_file && is_there(name));
            in_the_way(name, is_there, same.or(below.filter(|_| is_file)))
        };
        if let Some(finding) = finding {
            return Err(self.refused(vec![finding]));
        }
        match &self.old {
            Some(old) if is_file => old.check_room(path, self.replaces),
            _ => Ok(()),
        }
    }

    pub(super) fn refused(&self, findings: Vec<Finding>) -> Error {
        self.in_words(Error::Refused { path: self.archive.clone(), findings })
    }

    /// Returns the entries of files in memory, of all directories, and of the description of the pack.
    pub(super) fn in_memory(&self, document: Option<Vec<u8>>) -> Result<Vec<SourceEntry>> {
        let in_memory = self.members.iter().filter_map(|(path, member)| {
            Some((path.clone(), Arc::clone(member.content.as_ref()?)))
        });
        let name = MemberPath::new(PACK_DOCUMENT)?;
        let files: Vec<_> = in_memory.chain(document.map(|text| (name, text.into()))).collect();
        let mut directories: BTreeSet<_> =
            self.directories.iter().map(MemberPath::as_str).collect();
        for (path, _) in &files {
            let path = path.as_str();
            for directory in path.rmatch_indices('/').map(|(end, _)| path.split_at(end).0) {
                if !directories.insert(directory) {
                    break;
                }
            }
        }
        let directory = |path| Ok(SourceEntry::new(MemberPath::new(path)?, EntrySource::Directory));
        let mut entries = directories.into_iter().map(directory).collect::<Result<Vec<_>>>()?;
        entries.extend(
            files
                .into_iter()
                .map(|(path, content)| SourceEntry::new(path, EntrySource::InMemory(content))),
        );
        Ok(entries)
    }
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
