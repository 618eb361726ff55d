//! The files that were added to a pack: their names, and where they are until the pack is finished.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;

use super::PackWriter;
use super::staged::{
    ArrivingContent, IN_MEMORY, NamedDimension, SHORT, StagedContent, StagedMember, belonging,
    below, in_the_way,
};
use crate::archive::MemberKind;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::pack::{self, PACK_DOCUMENT, is_array};
use crate::path::MemberPath;
use crate::ra::{Header, read_full};
use crate::write::survey::{EntrySource, SourceEntry};

/// Bytes of a file that are read first. A shorter file may stay in memory.
const HEAD: usize = 64 * 1024;
/// Bytes of a long file that are read at once.
const READ_AT_ONCE: usize = 2 * 1024 * 1024;

impl PackWriter<'_> {
    /// Removes an added file, an array with its description, or a directory with its content. Returns whether it
    /// existed.
    pub(super) fn withdraw(&mut self, name: &str) -> bool {
        let gone = belonging(&self.members, name, self.members.contains_key(name));
        for path in &gone {
            match self.members.remove(path).map(|member| member.content) {
                Some(StagedContent::Memory(content)) => self.memory -= content.len(),
                Some(StagedContent::Directory) => self.staged.discard(path),
                Some(StagedContent::Archive(_)) | None => {}
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

    /// Adds a file under a new name. If its content fails, it is incomplete.
    pub(super) fn stage(
        &mut self,
        path: &MemberPath,
        content: impl FnOnce(&mut Self) -> Result<StagedContent>,
    ) -> Result<()> {
        self.check_name(path, MemberKind::File)?;
        match content(self) {
            Ok(content) => self.put(path.clone(), StagedMember { content, length: None }),
            Err(error) => {
                self.fail(path);
                Err(self.in_words(error))
            }
        }
    }

    /// Adds a file under a new name, with the content that `write` writes. The content is aligned at an offset in it, if
    /// there is one.
    pub(crate) fn written(
        &mut self,
        name: &str,
        size: Option<u64>,
        align_at: Option<u64>,
        write: impl FnOnce(&mut ArrivingContent) -> Result<()>,
    ) -> Result<()> {
        let path = MemberPath::new(name)?;
        self.stage(&path, |this| {
            let size = size.unwrap_or(SHORT + 1);
            let mut arriving = this.begin_content(&path, size, align_at, false)?;
            write(&mut arriving)?;
            this.end_content(arriving)
        })
    }

    /// Reads the content of a file; its size is 0 if it is not known.
    pub(super) fn read_content(
        &mut self,
        path: &MemberPath,
        size: u64,
        content: &mut impl Read,
    ) -> Result<StagedContent> {
        let arriving = self.arrive(path, size, content)?;
        self.end_content(arriving)
    }

    /// Adds a file if its content is confirmed after it was read. Returns whether it is.
    pub(crate) fn add_confirmed<R: Read>(
        &mut self,
        path: &MemberPath,
        content: &mut R,
        is_confirmed: impl FnOnce(&mut R) -> bool,
    ) -> Result<bool> {
        self.check_name(path, MemberKind::File)?;
        let arriving = self.arrive(path, 0, content)?;
        if !is_confirmed(content) {
            self.staged.discard(path);
            return Ok(false);
        }
        let content = self.end_content(arriving)?;
        self.put(path.clone(), StagedMember { content, length: None })?;
        Ok(true)
    }

    /// Reads the content of a file without completing it.
    fn arrive(
        &mut self,
        path: &MemberPath,
        size: u64,
        content: &mut impl Read,
    ) -> Result<ArrivingContent> {
        let at = self.archive().join(path.as_str());
        let mut read = |block: &mut [u8]| read_full(content, block).map_err(Error::io("read", &at));
        let mut block = vec![0; HEAD];
        let mut count = read(&mut block)?;
        let head = block.split_at(count).0;
        let size = if count < block.len() { count as u64 } else { size.max(count as u64) };
        let header = Header::parse(head).ok().filter(|_| is_array(path.as_str()));
        let align_at = header.map(|header| header.header_len());
        let mut arriving = self.begin_content(path, size, align_at, false)?;
        arriving.append(head)?;
        while count == block.len() {
            if block.len() < READ_AT_ONCE {
                block = vec![0; READ_AT_ONCE];
            }
            count = read(&mut block)?;
            arriving.append(block.split_at(count).0)?;
        }
        Ok(arriving)
    }

    /// Names a dimension of an array whose coordinate is not in the pack.
    pub(crate) fn dimension(&mut self, array: &MemberPath, name: &str, length: u64) {
        let used = self.dims.entry((pack::group_of(array), name.to_owned()));
        let used = used.or_insert_with(|| NamedDimension { length, arrays: <_>::default() });
        used.arrays.insert(array.clone());
    }

    /// Begins the content of a file, in memory if it is short and there is room, unless it is to be `near` the member
    /// that was written last.
    pub(super) fn begin_content(
        &mut self,
        path: &MemberPath,
        size: u64,
        align_at: Option<u64>,
        near: bool,
    ) -> Result<ArrivingContent> {
        if let Some(memory) = self.memory_for(size).filter(|_| !near) {
            return Ok(ArrivingContent::Memory(memory));
        }
        // The description of the pack is written after the others.
        if self.begun.takes_members(&self.options) && path.as_str() != PACK_DOCUMENT {
            let arriving = self.begun.begin(path, size, align_at, &self.options)?;
            return Ok(ArrivingContent::Archive(Box::new(arriving)));
        }
        Ok(ArrivingContent::Directory(self.staged.begin(path)?, 0))
    }

    /// Ends the content of a file.
    pub(super) fn end_content(&mut self, arriving: ArrivingContent) -> Result<StagedContent> {
        Ok(match arriving {
            ArrivingContent::Memory(content) => StagedContent::Memory(content.into()),
            ArrivingContent::Archive(arriving) => {
                StagedContent::Archive(Box::new(self.begun.complete(*arriving)?))
            }
            ArrivingContent::Directory(..) => StagedContent::Directory,
        })
    }

    /// Records that the content of a file failed.
    pub(super) fn fail(&mut self, path: &MemberPath) {
        self.staged.discard(path);
        self.incomplete.insert(path.clone());
    }

    /// Adds a complete file, and records it in the journal.
    pub(super) fn put(&mut self, path: MemberPath, member: StagedMember) -> Result<()> {
        self.incomplete.remove(&path);
        if let Some(old) = &mut self.old {
            old.give_way(&path);
        }
        if let StagedContent::Memory(content) = &member.content {
            self.memory += content.len();
        }
        let recorded = match &member.content {
            StagedContent::Archive(written) => self.begun.record(&path, written),
            StagedContent::Memory(_) | StagedContent::Directory => Ok(()),
        };
        self.members.insert(path, member);
        recorded
    }

    /// Returns memory for a file of `len` bytes, if it is short and there is room.
    pub(super) fn memory_for(&self, len: u64) -> Option<Vec<u8>> {
        let len = usize::try_from(len).ok().filter(|_| len <= SHORT)?;
        let is_room = self.memory + len <= IN_MEMORY && self.options.journal.is_none();
        is_room.then(|| Vec::with_capacity(len))
    }

    /// Returns an error if a file or directory cannot have this name.
    pub(super) fn check_name(&self, path: &MemberPath, kind: MemberKind) -> Result<()> {
        let (name, is_file) = (path.as_str(), kind == MemberKind::File);
        if pack::is_reserved(name) {
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
        self.in_words(Error::Refused { path: self.archive().to_owned(), findings })
    }

    /// Closes the gaps that removed members left in the archive. A member that cannot be moved is incomplete.
    fn close_gaps(&mut self) -> Result<()> {
        self.begun.open(&self.options)?;
        let written = self.members.iter_mut().filter_map(|(path, member)| {
            let StagedContent::Archive(written) = &mut member.content else { return None };
            Some((path, written))
        });
        let mut written: Vec<_> = written.collect();
        written.sort_by_key(|(_, written)| written.range().start);
        let mut end = 0;
        for (path, written) in written {
            match self.begun.keep(written, end) {
                Ok(next) => end = next,
                Err(error) => {
                    let path = path.clone();
                    self.members.remove(&path);
                    self.incomplete.insert(path);
                    return Err(error);
                }
            }
        }
        self.begun.end = end;
        Ok(())
    }

    /// Returns the entries of files in memory and in the archive, of their directories and those that were added, and of
    /// the description of the pack.
    pub(super) fn entries(&mut self, document: Option<Vec<u8>>) -> Result<Vec<SourceEntry>> {
        self.close_gaps()?;
        let in_memory = |path, content| SourceEntry::new(path, EntrySource::InMemory(content));
        let files = self.members.iter().filter_map(|(path, member)| match &member.content {
            StagedContent::Memory(content) => Some(in_memory(path.clone(), Arc::clone(content))),
            StagedContent::Archive(written) => Some(self.begun.entry(path.clone(), written)),
            StagedContent::Directory => None,
        });
        let name = MemberPath::new(PACK_DOCUMENT)?;
        let document = document.map(|text| in_memory(name, text.into()));
        let mut entries: Vec<_> = files.chain(document).collect();
        let mut directories: BTreeSet<_> =
            self.directories.iter().map(MemberPath::as_str).collect();
        for entry in &entries {
            let path = entry.path.as_str();
            for directory in path.rmatch_indices('/').map(|(end, _)| path.split_at(end).0) {
                if !directories.insert(directory) {
                    break;
                }
            }
        }
        let directory = |path| Ok(SourceEntry::new(MemberPath::new(path)?, EntrySource::Directory));
        let directories = directories.into_iter().map(directory).collect::<Result<Vec<_>>>()?;
        entries.extend(directories);
        Ok(entries)
    }
}
