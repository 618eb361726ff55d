//! The files that were added to a pack: their names, and where they are until the pack is finished.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::PackWriter;
use super::staged::{IN_MEMORY, SHORT, StagedMember, belonging, below, in_the_way};
use crate::archive::MemberKind;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::File;
use crate::pack::{self, BAG_DECLARATION, BLOCK_LIST, PACK_DOCUMENT};
use crate::path::MemberPath;
use crate::write::survey::{EntrySource, SourceEntry};

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
